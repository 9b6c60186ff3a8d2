import * as Bip21 from "@satrail/bitcoin/Bip21"
import { Result } from "effect"
import * as Cleaning from "./Cleaning.ts"

// The text that people paste or scan, before it is known what it contains. Destination parses the result.

export const clean = Cleaning.clean

const beginning = new RegExp(`^(?:${Cleaning.beginning})`, "i")
/** An address of the old form, in which cases are always mixed. In a part of an invoice or LNURL they never are. */
const old = /^(?=.*[a-z])(?=.*[A-Z])[13mn2][1-9A-HJ-NP-Za-km-z]{25,34}$/
const name = /^[^\s@:]+@[^\s@]+$/

const isPayment = (word: string): boolean => beginning.test(word) || old.test(word) || name.test(word)

const texts = /([?&](?:label|message)=)[^&]*/gi

/** The words of a clean text. A line break after a scheme or inside a URI does not end a word. */
const words = (text: string): ReadonlyArray<string> =>
  text
    .replaceAll(/((?:bitcoin|lightning|lnurl[pwc]?|keyauth|https?):|[=/?&]|\bln)\s+/gi, "$1")
    .split(/[\s,;|]+/)

/** Returns whether a clean text contains more than one destination, so it is unclear which one to pay. */
export const isSeveral = (text: string): boolean => {
  if (!Bip21.isBip21(text)) return words(text).filter(isPayment).length > 1
  const [, ...others] = words(text.replaceAll(/https?:/gi, ""))
  const [, ...unlabeled] = words(text.replaceAll(texts, "$1"))
  return others.some((word) => beginning.test(word)) || unlabeled.some((word) => /^\S*@/.test(word))
}

/** Returns whether a clean text contains one destination and other words, which may be about it. */
export const isSurrounded = (text: string): boolean => {
  if (Bip21.isBip21(text)) return false
  const all = words(text)
  const at = all.findIndex(isPayment)
  return at > 0 || (at === 0 && all.length > 1 && name.test(all[0] ?? ""))
}

/** Returns whether a clean text is a link in Markdown or HTML, whose label and target may differ. */
export const isMarkup = (text: string): boolean => /\]\s*\(|^(?:a\s[^>]*)?href\s*=/i.test(text)

/** An address with parameters that lost its `bitcoin:`. */
const schemeless = /^(?:bc1|bcrt1|tb1|[123mn])[0-9a-z]{20,90}\?/i

/** A `bitcoin:` URI whose address is another payment. */
const misplaced = /^bitcoin:(?:\/\/)?((ln(?:bc|tb|url1))|lno1)([^?#]*)\??/i

/**
 * Returns the `bitcoin:` URI that a clean text is, or undefined. An invoice, an LNURL or an offer in the place of its
 * address moves to the parameter where it belongs.
 */
export const uriOf = (text: string): string | undefined => {
  if (schemeless.test(text)) return joinedUri(`bitcoin:${text}`)
  if (!Bip21.isBip21(text) || /^[^?#]*@/.test(text)) return undefined
  return joinedUri(text)
    .replace(/^[^?#]*/, (address) => address.replaceAll(/%(?:20|09|0[ad])/gi, ""))
    .replace(misplaced, (_, begin: string, lightning: string | undefined, rest: string) => {
      const value = (begin + rest).replace(/\/$/, "")
      return `bitcoin:?${lightning === undefined ? "lno" : "lightning"}=${value}&`
    })
}

/** Removes white space, such as line breaks in an email. */
export const joined = (text: string): string => text.replaceAll(/\s+/g, "")

/**
 * Removes white space from a `bitcoin:` URI, except inside an amount, where `0.1 5` could mean two amounts, and inside
 * text for people.
 */
export const joinedUri = (text: string): string =>
  text
    .replaceAll(/\s*([?&=])\s*/g, "$1")
    .replaceAll(/(?:^[^?]*|[?&](?!(?:amount|label|message)=)[^&]*)/gi, joined)

/** Text without its URI scheme and parameters. */
export interface Bare {
  readonly text: string
  /** Undefined if there was no scheme. */
  readonly scheme?: "lightning" | "lnurl" | "mailto"
  /** Names in lower case, and decoded values. */
  readonly parameters: ReadonlyArray<readonly [name: string, value: string]>
}

/** Separates parameters, such as those that track clicks, from an invoice, LNURL, offer or name. */
const parted = (text: string): Pick<Bare, "text" | "parameters"> => {
  const [body = "", ...others] = text.split(/[?&#]/)
  const parameters = others.flatMap((other) => {
    const [, key = "", value = ""] = /^\s*([^=]*?)\s*(?:=(.*))?$/s.exec(other) ?? []
    return key === "" ? [] : [[key.toLowerCase(), Cleaning.decoded(value).trim()] as const]
  })
  return { text: Cleaning.decoded(body.trim().replace(/\/$/, "")), parameters }
}

/**
 * Removes a scheme in every form that wallets, shops and QR codes use, and the parameters after it. `lnurlp:` and its
 * kind become LUD-17's `lnurlp://`.
 */
export const bare = (text: string): Bare => {
  const [, kind, place = ""] = /^(lnurl[pwc]|keyauth):\s*(?:\/\/)?(.*)$/is.exec(text) ?? []
  if (kind !== undefined) {
    // Some programs put the scheme before an LNURL, a name or a whole web address.
    if (/^lnurlp$/i.test(kind) && /^(?:lnurl1|[^/?#:]+@)/i.test(place)) return parted(place)
    return { text: `${kind}://${place.replace(/^https?:\/\//i, "")}`, parameters: [] }
  }
  const [, scheme, rest = ""] = /^(lightning|lnurl|mailto|acct|bitcoin):\s*(?:\/\/)?(.*)$/is.exec(text) ?? []
  if (scheme === undefined)
    return isLink(text) || /^[a-z][a-z0-9+.-]*:/i.test(text) ? { text, parameters: [] } : parted(text)
  const given = scheme.toLowerCase()
  // A name is all that bitcoin: is removed from.
  if (given === "lightning" || given === "bitcoin") return { ...parted(rest), scheme: "lightning" }
  return { ...parted(rest), scheme: given === "lnurl" ? "lnurl" : "mailto" }
}

/** Returns whether a text is a web address. */
export const isLink = (text: string): boolean => /^https?:/i.test(text)

/** Returns the distinct values of a web address's `lightning` parameters (LUD-01, "Fallback scheme"). */
export const fallbacks = (link: string): ReadonlyArray<string> => {
  const [, ...queries] = joined(link).split(/[?#]/)
  const values = queries.flatMap((query) => Result.getOrElse(Bip21.pairs(query), () => []))
  const given = values.flatMap(([name, value]) => (name === "lightning" && value !== "" ? [value] : []))
  return [...new Map(given.map((value) => [value.toLowerCase(), value])).values()]
}
