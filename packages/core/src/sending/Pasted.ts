import * as Bip21 from "@satrail/bitcoin/Bip21"
import { Result } from "effect"

// The text that people paste or scan, before it is known what it contains. Destination parses the result.

/**
 * Characters without a visible form: zero-width, bidirectional and format characters, fillers and controls. A joiner
 * after a non-ASCII letter is not removed, because it makes a different domain name (IDNA 2008, RFC 5892, appendix A).
 */
const invisible = /(?!(?<=(?!\p{ASCII})[\p{L}\p{M}])[\u200c\u200d])[\p{Default_Ignorable_Code_Point}\p{Cc}\u2800]/gu

/** ASCII in the width of East Asian input methods, such as `＠`. */
const wide = /[\uff01-\uff5e]/g

const quotes = "\"'`*“”„‟‘’‚‛«»‹›「」『』（）【】《》〈〉"
/** Wallets and profiles write ⚡ before or after a Lightning address. */
const opening = new RegExp(`^[\\s<({[⚡${quotes}]+`)
const ending = `[\\s>)}\\]⚡${quotes}.,;!?。、]`
// This pattern matches only where such a run starts, or it would take the square of the length of a long run.
const closing = new RegExp(`(?<!${ending})${ending}+$`)

/**
 * Removes what a text picks up on its way here: invisible characters, wide forms of ASCII, and the quotes, brackets and
 * punctuation around it. White space inside remains. An ellipsis at the end remains, because it shows that the text was
 * cut off.
 */
export const clean = (text: string): string =>
  text
    .replace(invisible, (one) => (/[\t-\r]/.test(one) ? one : ""))
    .replace(wide, (one) => String.fromCharCode(one.charCodeAt(0) - 0xfee0))
    .replace(opening, "")
    .replace(closing, (tail) => (/\.\s*\./.test(tail) ? tail : ""))
    .replaceAll(/&amp;/gi, "&")
    .replace(/^%e2%82%bf/i, "₿")
    .replace(/^web\+(?=[a-z]+:)/i, "")

const beginning = /(?:bitcoin|lightning|lnurl[pwc]?|keyauth|https?):|ln(?:bc|bcrt|tb|tbs|url|o)(?:\d+[munp]?)?1|(?:bc|bcrt|tb)1/
/** Something payable after white space, except where a line break splits a URI or an invoice. */
const second = new RegExp(`(?<!(?:[:=/?&]|\\bln)\\s*)\\s(?:${beginning.source})`, "i")

const named = /([?&](?:label|message)=)[^&]*/gi

/** Returns whether a clean text contains more than one destination, so it is unclear which one to pay. */
export const isSeveral = (text: string): boolean =>
  second.test(Bip21.isBip21(text) ? text.replace(/https?:/gi, "") : text) ||
  (Bip21.isBip21(text) && /\s\S*@/.test(text.replace(named, "$1")))

/** Returns whether a clean text is a link in Markdown or HTML, whose label and target may differ. */
export const isMarkup = (text: string): boolean => /\]\s*\(|^(?:a\s[^>]*)?href\s*=/i.test(text)

/** An address with parameters that lost its `bitcoin:`. */
const schemeless = /^(?:bc1|bcrt1|tb1|[123mn])[0-9a-z]{20,90}\?/i

/** Returns the `bitcoin:` URI that a clean text is, or undefined. */
export const uriOf = (text: string): string | undefined =>
  Bip21.isBip21(text) ? joinedUri(text) : schemeless.test(text) ? joinedUri(`bitcoin:${text}`) : undefined

/** Removes white space, such as line breaks in an email. */
export const joined = (text: string): string => text.replaceAll(/\s+/g, "")

/**
 * Removes white space from a `bitcoin:` URI, except inside an amount, where `0.1 5` could mean two amounts, and inside
 * text for people.
 */
export const joinedUri = (text: string): string =>
  text.replaceAll(/\s*([?&=])\s*/g, "$1").replaceAll(/(?:^[^?]*|[?&](?!(?:amount|label|message)=)[^&]*)/gi, joined)

/** Text without its URI scheme. */
export interface Bare {
  readonly text: string
  /** Undefined if there was no scheme. */
  readonly scheme?: "lightning" | "lnurl" | "mailto"
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Removes parameters, such as those that track clicks. An amount makes the text invalid instead, because it would be lost. */
const withoutParameters = (text: string): string => (/[?&#]amount=/i.test(text) ? text : text.replace(/[?#].*$/s, ""))

/** Removes a scheme in every form that wallets, shops and QR codes use. `lnurlp:` and its kind become LUD-17's `lnurlp://`. */
export const bare = (text: string): Bare => {
  const [, kind, place = ""] = /^(lnurl[pwc]|keyauth):\s*(?:\/\/)?(.*)$/is.exec(text) ?? []
  if (kind !== undefined) return { text: /^lnurlp$/i.test(kind) && /^lnurl1/i.test(place) ? place : `${kind}://${place}` }
  const [, scheme, slashes, rest = ""] = /^(lightning|lnurl|mailto):\s*(\/\/)?(.*)$/is.exec(text) ?? []
  if (scheme === undefined) return { text }
  const body = slashes === undefined ? rest : rest.replace(/\/$/, "")
  const name = scheme.toLowerCase()
  // A URL's percent-encoding is part of it.
  if (name !== "lightning" && name !== "lnurl") return { text: decoded(body), scheme: "mailto" }
  return { text: /:\/\/|^(?:lnurl[pwc]|keyauth):/i.test(body) ? bare(body).text : decoded(withoutParameters(body)), scheme: name }
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
