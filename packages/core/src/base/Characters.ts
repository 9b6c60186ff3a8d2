import { Schema } from "effect"

// Characters are Unicode code points, as in JSON Schema and PostgreSQL. An emoji counts as one here, but as
// two in JavaScript's `length`.

export const count = (text: string): number => [...text].length

/** Text with at most `most` characters. */
export const atMost = (most: number) =>
  Schema.makeFilter((text: string) => (count(text) <= most ? undefined : `must have at most ${most} characters`), {
    toJsonSchema: () => ({ maxLength: most })
  })
