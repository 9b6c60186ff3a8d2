import { Schema } from "effect"

// Characters are Unicode code points, as in JSON Schema and PostgreSQL. An emoji counts as one here, but as
// two in JavaScript's `length`.

export const count = (text: string): number => [...text].length

/** Converts only A to Z to lower case. `toLowerCase` would also turn the Kelvin sign into an ordinary k. */
export const lowerAscii = (text: string): string =>
  text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** Text with at most `most` characters. */
export const atMost = (most: number) =>
  Schema.makeFilter(
    (text: string) => (count(text) <= most ? undefined : `must have at most ${most} characters`),
    {
      toJsonSchema: () => ({ maxLength: most })
    }
  )
