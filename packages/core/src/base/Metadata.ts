import { Effect, Schema } from "effect"
import * as Characters from "./Characters.ts"
import { Invalid } from "./Invalid.ts"

/** Limits for metadata: at most 50 keys of at most 40 characters, and values of at most 500. */
export const limits = { keys: 50, keyCharacters: 40, valueCharacters: 500 } as const

/** A caller's custom keys and values, returned unchanged. */
export const Metadata = Schema.Record(Schema.String, Schema.String)
export type Metadata = typeof Metadata.Type

export const empty: Metadata = {}

/** One key and its value, by which records can be found. */
export interface Label {
  readonly key: string
  readonly value: string
}

/** Returns whether metadata has this label. */
export const has = (metadata: Metadata | null, { key, value }: Label): boolean =>
  metadata !== null && Object.hasOwn(metadata, key) && metadata[key] === value

/**
 * A violation of the limits. `path` is the key, or empty if the issue concerns the metadata as a whole or a key
 * that is too long to repeat.
 */
export interface Issue {
  readonly path: readonly [] | readonly [key: string]
  readonly message: string
}

const issueOf = ([key, value]: readonly [string, string]): Issue | undefined => {
  if (key === "" || Characters.count(key) > limits.keyCharacters)
    return {
      path: [],
      message: `must have keys of 1 to ${limits.keyCharacters} characters (got ${Characters.count(key)})`
    }
  if (Characters.count(value) > limits.valueCharacters)
    return {
      path: [key],
      message: `must have at most ${limits.valueCharacters} characters (got ${Characters.count(value)})`
    }
  if (!isText(key) || !isText(value))
    return { path: [key], message: "must be well-formed text without NUL characters, like its value" }
  return undefined
}

/**
 * Returns every violation of the limits. PostgreSQL text cannot contain NUL, and a lone surrogate is not a
 * character, so neither is allowed.
 */
export const issues = (metadata: Metadata): ReadonlyArray<Issue> => {
  const entries = Object.entries(metadata)
  // Don't check each key, because there may be thousands.
  if (entries.length > limits.keys)
    return [{ path: [], message: `must have at most ${limits.keys} keys (got ${entries.length})` }]
  return entries.map(issueOf).filter((issue) => issue !== undefined)
}

/** Checks metadata against the limits. Fails with the first issue. */
export const check = (metadata: Metadata): Effect.Effect<void, Invalid> => {
  const [first] = issues(metadata)
  return first === undefined
    ? Effect.void
    : Effect.fail(new Invalid({ path: ["metadata", ...first.path].join("."), message: first.message }))
}

/** Checks a label used as a search filter against the limits of metadata. */
export const checkLabel = ({ key, value }: Label): Effect.Effect<void, Invalid> => {
  const [issue] = issues({ [key]: value })
  if (issue === undefined) return Effect.void
  const path =
    Characters.count(value) > limits.valueCharacters || !isText(value) ? "metadata_value" : "metadata_key"
  return Effect.fail(new Invalid({ path, message: issue.message }))
}

/** Returns whether every store can store the text and return it unchanged. */
export const isText = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

/** Returns why a string cannot be stored with at most `most` characters; undefined if it can. */
export const textIssue = (text: string, most: number): string | undefined => {
  if (Characters.count(text) > most)
    return `must have at most ${most} characters (got ${Characters.count(text)})`
  return isText(text) ? undefined : "must be well-formed text without NUL characters"
}
