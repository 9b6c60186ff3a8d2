import { sha256 } from "@satrail/bitcoin/Sha256"
import { Redacted } from "effect"

const isPlain = (value: object): boolean => [Object.prototype, null].includes(Object.getPrototypeOf(value))

const canonical = (value: unknown): unknown => {
  if (typeof value === "bigint") return `${value}n`
  if (typeof value === "function") throw new Error("a function has no meaning that can be compared")
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(canonical)
  if (value instanceof Set) return [...value].map(canonical).toSorted()
  if (value instanceof Date) return value.getTime()
  if (Redacted.isRedacted(value)) return canonical(Redacted.value(value))
  if (!isPlain(value)) throw new Error("only plain values have a meaning that can be compared")
  const given = Object.entries(value).filter(([, one]) => one !== undefined && one !== null)
  return Object.fromEntries(
    given.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, canonical(one)])
  )
}

/**
 * Digest of what a request asks for: an operation and its decoded fields. Null means the same as an omitted field. The
 * order of fields does not count, nor does that of the items in a Set. Any other difference changes the digest.
 */
export const digest = (operation: string, asked: unknown): string =>
  sha256.hex(JSON.stringify(canonical([operation, asked])))
