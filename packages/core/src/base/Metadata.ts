import { Effect, Schema } from "effect"
import * as Characters from "./Characters.ts"
import { Invalid } from "./Invalid.ts"

/** What a caller may attach: at most 50 keys of at most 40 characters, values of at most 500. */
export const limits = { keys: 50, keyCharacters: 40, valueCharacters: 500 } as const

/** Keys and values of the caller's own, given back as they came. */
export const Metadata = Schema.Record(Schema.String, Schema.String)
export type Metadata = typeof Metadata.Type

export const empty: Metadata = {}

/** What one key says: records are found by it. */
export interface Label {
  readonly key: string
  readonly value: string
}

/** Whether metadata has this label. */
export const has = (metadata: Metadata | null, { key, value }: Label): boolean =>
  metadata !== null && Object.hasOwn(metadata, key) && metadata[key] === value

/** What is wrong with metadata. `path` is the key, or nothing where it is the whole or a key that is too long to repeat. */
export interface Issue {
  readonly path: readonly [] | readonly [key: string]
  readonly message: string
}

const issueOf = ([key, value]: readonly [string, string]): Issue | undefined => {
  if (key === "" || Characters.count(key) > limits.keyCharacters)
    return { path: [], message: `A key has 1 to ${limits.keyCharacters} characters, this one has ${Characters.count(key)}` }
  if (Characters.count(value) > limits.valueCharacters)
    return { path: [key], message: `At most ${limits.valueCharacters} characters, this has ${Characters.count(value)}` }
  if (!isText(key) || !isText(value)) return { path: [key], message: "Keys and values must be well-formed text without NUL characters" }
  return undefined
}

/**
 * Every way in which metadata breaks the limits, none when it may be kept. PostgreSQL text holds no NUL, and a lone surrogate is no
 * character, so neither may be in it.
 */
export const issues = (metadata: Metadata): ReadonlyArray<Issue> => {
  const entries = Object.entries(metadata)
  // Not key by key as well: there may be thousands.
  if (entries.length > limits.keys) return [{ path: [], message: `At most ${limits.keys} keys, this has ${entries.length}` }]
  return entries.map(issueOf).filter((issue) => issue !== undefined)
}

/** Holds metadata to the limits. Says the first of its issues. */
export const check = (metadata: Metadata): Effect.Effect<void, Invalid> => {
  const [first] = issues(metadata)
  return first === undefined
    ? Effect.void
    : Effect.fail(new Invalid({ path: ["metadata", ...first.path].join("."), message: first.message }))
}

/** Holds a label that records are looked for by to what may be in metadata. */
export const checkLabel = ({ key, value }: Label): Effect.Effect<void, Invalid> => {
  const [issue] = issues({ [key]: value })
  if (issue === undefined) return Effect.void
  const path = Characters.count(value) > limits.valueCharacters || !isText(value) ? "metadata_value" : "metadata_key"
  return Effect.fail(new Invalid({ path, message: issue.message }))
}

/** Whether every store can keep it and give it back unchanged. */
export const isText = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

/** Why a text of at most so many characters is not kept, undefined where it is. */
export const textIssue = (text: string, most: number): string | undefined => {
  if (Characters.count(text) > most) return `At most ${most} characters`
  return isText(text) ? undefined : "Well-formed text without NUL characters"
}
