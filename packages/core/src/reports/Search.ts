import * as LightningAddressText from "@satrail/bitcoin/LightningAddressText"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Network from "@satrail/bitcoin/Network"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { Result } from "effect"
import * as Characters from "../base/Characters.ts"
import type * as CompanyId from "../base/CompanyId.ts"
import * as Decimal from "../base/Decimal.ts"
import { isText } from "../base/Metadata.ts"
import type { Rated } from "../base/Rated.ts"
import * as Destination from "../sending/Destination.ts"
import * as Pasted from "../sending/Pasted.ts"

// A search looks for one text in order ids, references, emails, metadata, descriptions, ids, hashes, recipients and
// amounts: those of a company, or some of those of all companies.

/** A record found by a search, with the way in which it matched. `kind` is the name of its record type. */
export interface Hit {
  readonly kind: string
  readonly companyId: CompanyId.CompanyId
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
  /** The lowest text in hex that begins with the text, and the lowest one after all of these. */
  readonly hexes: readonly [first: string, after: string] | null
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
  /** An amount in fiat, in decimal digits without trailing zeros. `currency` is null if the text names none. */
  readonly fiat: { readonly amount: string; readonly currency: string | null } | null
}

/**
 * Maximum length of the search text that is compared, maximum number of results of each kind, and number of newest
 * records whose descriptions and recipients are compared.
 */
export const limits = { characters: 200, each: 20, looks: 2000 } as const

/** The ways in which a record can match. If several apply, the first is shown. */
export const ways = [
  "order",
  "reference",
  "text",
  "id",
  "hash",
  "transaction",
  "recipient",
  "link",
  "email",
  "value",
  "amount"
] as const

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

const hexesOf = (text: string): Sought["hexes"] =>
  /^[0-9a-f]+$/.test(text) && text.length >= leastDigits && text.length <= 64 ? [text, `${text}g`] : null

/** Signs of currencies, as the pages write them. */
const signs: Readonly<Record<string, string>> = {
  "€": "eur",
  "£": "gbp",
  "¥": "jpy",
  "₹": "inr",
  $: "usd",
  us$: "usd",
  ca$: "cad",
  a$: "aud",
  nz$: "nzd",
  mx$: "mxn",
  r$: "brl"
}

/** The digits of a number with a decimal point, without separators of thousands. */
const digitsOf = (text: string): string => {
  const bare = text.replaceAll(/[\s'’]/g, "")
  const at =
    bare.includes(".") && bare.includes(",") ? Math.max(bare.lastIndexOf("."), bare.lastIndexOf(",")) : -1
  if (at >= 0) return `${bare.slice(0, at).replaceAll(/[.,]/g, "")}.${bare.slice(at + 1)}`
  return /^\d{1,3}(?:,\d{3})+$/.test(bare) ? bare.replaceAll(",", "") : bare.replace(",", ".")
}

const fiatOf = (text: string): Sought["fiat"] => {
  const [, before = "", digits = "", after = ""] =
    /^([a-z]{0,3}[€$£¥₹]?|[€$£¥₹]?)\s*(\d[\d.,'’\s]*)(\s*[a-z]{3}|[€$£¥₹])?$/.exec(text) ?? []
  const named = `${before}${after}`.trim()
  const currency = signs[named] ?? (/^[a-z]{3}$/.test(named) ? named : null)
  if (named !== "" && currency === null) return null
  const number = digitsOf(digits.trim())
  const decimal = /^\d{1,15}(?:\.\d{1,8})?$/.test(number)
    ? Result.getOrUndefined(Decimal.parse(number))
    : undefined
  return decimal === undefined ? null : { amount: Decimal.format(decimal), currency }
}

/**
 * Returns whether an amount in msat is worth this amount of fiat at a rate, as it is shown or as it was requested: within
 * half a cent, or within a satoshi.
 */
export const isWorth = (
  { amount, rate, fiatCurrency }: { readonly amount: bigint | null } & Pick<Rated, "rate" | "fiatCurrency">,
  fiat: Sought["fiat"]
): boolean => {
  if (fiat === null || amount === null || rate === null || !isRate.test(rate)) return false
  if (fiat.currency !== null && fiat.currency !== fiatCurrency) return false
  const off = Math.abs((Number(amount) * Number(rate)) / 100_000_000_000 - Number(fiat.amount))
  return off <= Math.max(0.005, Number(rate) / 100_000_000)
}

/** A rate that stores compare. */
export const isRate = /^[0-9]{1,18}([.][0-9]{1,18})?$/

const most = 21_000_000 * 100_000_000

const amountsOf = (text: string): Sought["amounts"] => {
  const digits = text.replaceAll(/[,\s_]|sats?$/g, "")
  const sats = Number(digits)
  if (!/^\d{1,16}$/.test(digits) || sats < 1 || sats > most) return null
  return [Msat.make(BigInt(sats) * 1000n), Msat.make(BigInt(sats) * 1000n + 999n)]
}

/** An id, a reference, a hash or a transaction. */
const coded =
  /(?<![\w-])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}(?:[0-9a-f]{32})?)(?![\w-])/gi

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
  // An elided text stands for its beginning, and one id or hash in a longer text for that text.
  const whole = /^([0-9a-f-]{6,})(?:…|\.{3})[0-9a-f-]+$/i.exec(clean)?.[1] ?? clean
  const named = new Set(whole.match(coded))
  return named.size === 1 ? [...named].join("") : whole.replace(/^receipt-([0-9a-f]{8})(?:\.txt)?$/i, "$1")
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
    hexes: hexesOf(lower),
    ...payee,
    hash: isHash ? lower : payee.hash,
    preimageHash: isHash ? Preimage.hashOf(Preimage.make(lower)) : null,
    amounts: amountsOf(lower),
    fiat: fiatOf(trimmed.toLowerCase())
  }
}
