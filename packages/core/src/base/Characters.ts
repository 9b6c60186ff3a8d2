import { Schema } from "effect"

// Characters are Unicode code points, as JSON Schema and PostgreSQL count them: an emoji is one here, and two in JavaScript's `length`.

export const count = (text: string): number => [...text].length

/** Text of at most so many. */
export const atMost = (most: number) =>
  Schema.makeFilter((text: string) => (count(text) <= most ? undefined : `At most ${most} characters`), {
    toJsonSchema: () => ({ maxLength: most })
  })
