import { Effect, Schema } from "effect"
import { Invalid } from "./Invalid.ts"

/** What a caller may attach: at most 50 keys of at most 40 characters, values of at most 500. */
export const limits = { keys: 50, keyCharacters: 40, valueCharacters: 500 } as const

/** Keys and values of the caller's own, given back as they came. */
export const Metadata = Schema.Record(Schema.String, Schema.String)
export type Metadata = typeof Metadata.Type

export const empty: Metadata = {}

const characters = (text: string): number => [...text].length

/** Holds metadata to the limits. PostgreSQL text holds no NUL, and a lone surrogate is no character, so neither may be in it. */
export const check = (metadata: Metadata): Effect.Effect<void, Invalid> => {
  const entries = Object.entries(metadata)
  const refuse = (path: string, message: string) => Effect.fail(new Invalid({ path, message }))
  if (entries.length > limits.keys) return refuse("metadata", `At most ${limits.keys} keys, this has ${entries.length}`)
  for (const [key, value] of entries) {
    if (key === "" || characters(key) > limits.keyCharacters)
      return refuse("metadata", `A key has 1 to ${limits.keyCharacters} characters, this one has ${characters(key)}`)
    if (characters(value) > limits.valueCharacters)
      return refuse(`metadata.${key}`, `At most ${limits.valueCharacters} characters, this has ${characters(value)}`)
    if (!isText(key) || !isText(value)) return refuse(`metadata.${key}`, "Keys and values must be well-formed text without NUL characters")
  }
  return Effect.void
}

/** Whether every store can keep it and give it back unchanged. */
export const isText = (text: string): boolean => text.isWellFormed() && !text.includes("\0")
