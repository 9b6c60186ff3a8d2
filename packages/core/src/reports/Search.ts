import * as LightningAddressText from "@satrail/bitcoin/LightningAddressText"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Network from "@satrail/bitcoin/Network"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { Result } from "effect"
import * as Characters from "../base/Characters.ts"
import { isText } from "../base/Metadata.ts"
import * as Destination from "../sending/Destination.ts"
import * as Pasted from "../sending/Pasted.ts"

// A search looks for one text in a company's order ids, metadata, descriptions, ids, hashes, recipients and amounts.

/** A record found by a search, with the way in which it matched. `kind` is the name of its record type. */
export interface Hit {
  readonly kind: string
  readonly id: string
  readonly by: (typeof ways)[number]
}

export interface Found {
  readonly hits: ReadonlyArray<Hit>
  /** False if more records may match than were read. */
  readonly isAll: boolean
}

/** The ways in which a string can match a record. A field is null if the string cannot match that way. */
export interface Sought {
  /**
   * The text as given; null if it is longer than a search compares. Letters match regardless of case; beyond ASCII,
   * this depends on the store.
   */
  readonly text: string | null
  /** The lowest and highest id that begin with the text. */
  readonly ids: readonly [first: string, last: string] | null
  /** 32 bytes in hex: a payment hash or a transaction id, or the payment hash of an invoice. */
  readonly hash: string | null
  /** The payment hash if the text is a preimage, the proof of a payment. */
  readonly preimageHash: string | null
  /** An on-chain address, as it is stored. */
  readonly address: string | null
  /** A Lightning invoice, offer, LNURL or Lightning address, as a withdrawal to it is stored. */
  readonly recipient: string | null
  /** The Lightning address that the text or its LNURL stands for, such as `shop@example.com`. */
  readonly lightningAddress: string | null
  /** The range of msat amounts that round down to this number of satoshis. */
  readonly amounts: readonly [least: Msat.Msat, most: Msat.Msat] | null
}

/**
 * Maximum length of the search text that is compared, maximum number of results of each kind, and number of newest
 * records whose descriptions and recipients are compared.
 */
export const limits = { characters: 200, each: 20, looks: 2000 } as const

/** The ways in which a record can match. If several apply, the first is shown. */
export const ways = ["order", "text", "id", "hash", "transaction", "recipient", "link", "amount"] as const

/** Returns whether these are all matches: whether no kind has as many as are read of it. */
export const isAll = (hits: ReadonlyArray<Hit>): boolean =>
  [...Map.groupBy(hits, ({ kind }) => kind).values()].every(({ length }) => length < limits.each)

/** Minimum number of digits required to search for an id. */
const leastDigits = 6

const uuid = (digits: string): string =>
  [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20)
  ].join("-")

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

/** The text that identifies a record in pasted text: without what surrounds it, or from the page that shows the record. */
const pasted = (text: string): string => {
  const clean = Pasted.clean(text)
  if (
    Pasted.isLink(clean) &&
    Pasted.fallbacks(clean).length === 0 &&
    LightningAddressText.ofUrl(clean) === undefined
  )
    return (
      URL.parse(clean)
        ?.pathname.split("/")
        .findLast((part) => part !== "") ?? clean
    )
  return clean.replace(/^([0-9a-f]{64}):\d+$/i, "$1")
}

/** The URL in a text that a person pasted. */
export const linkIn = (text: string): string => {
  const clean = Pasted.clean(text)
  const [lnurl = clean] = Pasted.isLink(clean) ? Pasted.fallbacks(clean) : []
  return Lnurl.urlIn(Pasted.joined(Pasted.bare(lnurl).text)) ?? text
}

/** The payment methods in this text, on every network. */
const payable = (text: string): ReadonlyArray<Destination.Destination> =>
  Network.all.flatMap((network) => Result.getOrElse(Destination.methods(text, network), () => []))

type Payee = Pick<Sought, "hash" | "address" | "recipient" | "lightningAddress">

const noPayee: Payee = { hash: null, address: null, recipient: null, lightningAddress: null }

const payeeOf = (destination: Destination.Destination): Payee => {
  const recipient = Destination.text(destination)
  switch (destination._tag) {
    case "ChainAddress":
      return { ...noPayee, address: recipient }
    case "LightningInvoice":
      return { ...noPayee, recipient, hash: destination.invoice.paymentHash }
    case "LightningAddress":
      return { ...noPayee, recipient, lightningAddress: destination.address.address }
    case "Lnurl":
      return {
        ...noPayee,
        recipient,
        lightningAddress: LightningAddressText.ofUrl(destination.lnurl.url)?.address ?? null
      }
    case "Bolt12Offer":
      return { ...noPayee, recipient }
  }
}

/** A `bitcoin:` URI may contain an offer, an invoice and an address for the same payment. */
const payees = (text: string): Payee =>
  payable(text)
    .map(payeeOf)
    .reduce(
      (found, one) => ({
        hash: found.hash ?? one.hash,
        address: found.address ?? one.address,
        recipient: found.recipient ?? one.recipient,
        lightningAddress: found.lightningAddress ?? one.lightningAddress
      }),
      noPayee
    )

/** Parses a search text. Returns undefined if nothing can match it. */
export const sought = (given: string): Sought | undefined => {
  const trimmed = given.trim()
  if (trimmed === "" || trimmed.length > Destination.maxLength || !isText(trimmed)) return undefined
  const text = Characters.count(trimmed) > limits.characters ? null : trimmed
  const found = pasted(trimmed)
  const payee = payees(found)
  if (text === null && payee.hash === null && payee.address === null && payee.recipient === null)
    return undefined
  const lower = found.toLowerCase()
  const isHash = /^[0-9a-f]{64}$/.test(lower)
  return {
    text,
    ids: idsOf(lower),
    ...payee,
    hash: isHash ? lower : payee.hash,
    preimageHash: isHash ? Preimage.hashOf(Preimage.make(lower)) : null,
    amounts: amountsOf(lower)
  }
}
