import * as Msat from "@satrail/bitcoin/Msat"
import * as Characters from "../base/Characters.ts"
import { isText } from "../base/Metadata.ts"

// A search looks for one text in a company's order ids, metadata, descriptions, ids, hashes and amounts.

/** A record found by a search, with the way in which it matched. `kind` is the name of its record type. */
export interface Hit {
  readonly kind: string
  readonly id: string
  readonly by: (typeof ways)[number]
}

/** What a search found. */
export interface Found {
  readonly hits: ReadonlyArray<Hit>
  /** False if more records may match than were read. */
  readonly isAll: boolean
}

/** The ways in which a string can match a record. A field is null if the string cannot match that way. */
export interface Sought {
  /** The text as given. Letters match regardless of case; beyond ASCII, this depends on the store. */
  readonly text: string
  /** The lowest and highest id that begin with the text. */
  readonly ids: readonly [first: string, last: string] | null
  /** 32 bytes in hex: a payment hash or a transaction id. */
  readonly hash: string | null
  /** The range of msat amounts that round down to this number of satoshis. */
  readonly amounts: readonly [least: Msat.Msat, most: Msat.Msat] | null
}

/** Maximum length of the search text, maximum number of results of each kind, and number of newest records whose descriptions are compared. */
export const limits = { characters: 200, each: 20, looks: 2000 } as const

/** The ways in which a record can match. If several apply, the first is shown. */
export const ways = ["order", "text", "id", "hash", "transaction", "amount"] as const

/** Returns whether these are all matches: whether no kind has as many as are read of it. */
export const isAll = (hits: ReadonlyArray<Hit>): boolean =>
  [...Map.groupBy(hits, ({ kind }) => kind).values()].every(({ length }) => length < limits.each)

/** Minimum number of digits required to search for an id. */
const leastDigits = 6

const uuid = (digits: string): string =>
  [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join("-")

const idsOf = (text: string): Sought["ids"] => {
  const digits = text.replaceAll("-", "")
  if (!/^[0-9a-f]+$/.test(digits) || digits.length < leastDigits || digits.length > 32) return null
  return [uuid(digits.padEnd(32, "0")), uuid(digits.padEnd(32, "f"))]
}

const most = 21_000_000 * 100_000_000

const amountsOf = (text: string): Sought["amounts"] => {
  const digits = text.replaceAll(/[,\s_]|sats?$/g, "")
  const sats = Number(digits)
  if (!/^\d{1,16}$/.test(digits) || sats < 1 || sats > most) return null
  return [Msat.make(BigInt(sats) * 1000n), Msat.make(BigInt(sats) * 1000n + 999n)]
}

/** Parses a search text. Returns undefined if nothing can match it. */
export const sought = (given: string): Sought | undefined => {
  const text = given.trim()
  if (text === "" || Characters.count(text) > limits.characters || !isText(text)) return undefined
  const lower = text.toLowerCase()
  return { text, ids: idsOf(lower), hash: /^[0-9a-f]{64}$/.test(lower) ? lower : null, amounts: amountsOf(lower) }
}
