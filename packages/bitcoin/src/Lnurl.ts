import { bech32 } from "@scure/base"
import { Result, Schema } from "effect"
import { isPublicName, schemeOf } from "./LightningAddressText.ts"

/**
 * The URL for requesting a payment (LUD-06). `url` was decoded from `text`, which is an LNURL in lower case or
 * an `lnurlp://` address.
 */
export interface Lnurl {
  readonly url: string
  readonly text: string
}

/** The text is not a payable LNURL. */
export class LnurlInvalid extends Schema.TaggedError<LnurlInvalid>()("LnurlInvalid", {
  reason: Schema.Literals(["bech32", "url", "not_https", "host", "unsupported"]),
  message: Schema.String
}) {}

const refuse = (reason: LnurlInvalid["reason"], message: string) =>
  Result.fail(new LnurlInvalid({ reason, message }))

/** The purposes of LNURLs that can't be paid, by scheme (LUD-17) and by `tag` (LUD-04, LUD-08). */
const purposes: ReadonlyMap<string, string> = new Map([
  ["lnurlw", "lets you withdraw"],
  ["withdrawRequest", "lets you withdraw"],
  ["keyauth", "logs you in"],
  ["login", "logs you in"],
  ["lnurlc", "opens a channel"],
  ["channelRequest", "opens a channel"]
])

/** Returns the purpose of an LNURL with this `tag`, as text; undefined if it can be paid. */
export const otherPurpose = (tag: string): string | undefined => purposes.get(tag)

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Parses a URL whose host appears to be public. */
const publicUrl = (text: string): Result.Result<URL, LnurlInvalid> => {
  // Check the raw text, because `URL` silently drops or rewrites these characters.
  const url = /[\s\p{Cc}\\]/u.test(text) ? null : URL.parse(text)
  if (url === null) return refuse("url", "The LNURL does not contain a URL")
  if (url.username !== "" || url.password !== "" || !isPublicName(url.hostname)) {
    return refuse("host", "The LNURL must point to a public domain, without a user name or an IP address")
  }
  if (url.protocol !== `${schemeOf(url.hostname)}:`)
    return refuse("not_https", "The LNURL must use https, or http for an .onion address")
  return Result.succeed(url)
}

const checkUrl = (text: string): Result.Result<string, LnurlInvalid> =>
  Result.flatMap(publicUrl(text), (url) => {
    const purpose = otherPurpose(url.searchParams.get("tag") ?? "")
    return purpose === undefined
      ? Result.succeed(url.href)
      : refuse("unsupported", `This LNURL ${purpose}, so it cannot be paid`)
  })

/** Returns the URL in a bech32 LNURL (LUD-01), whatever it is for; undefined if there is none. */
export const urlIn = (text: string): string | undefined => {
  const decoded = bech32.decodeUnsafe(text, false)
  const bytes = decoded && decoded.prefix === "lnurl" && bech32.fromWordsUnsafe(decoded.words)
  return bytes ? new TextDecoder().decode(bytes) : undefined
}

/** Decodes a bech32 LNURL (LUD-01), in upper or lower case and of any length, or `lnurlp://` (LUD-17). */
export const decode = (text: string): Result.Result<Lnurl, LnurlInvalid> => {
  const [, scheme = "", rest = ""] = /^([a-z]+):\/\/(.*)$/i.exec(text) ?? []
  const kind = scheme.toLowerCase()
  const purpose = purposes.get(kind)
  if (purpose !== undefined)
    return refuse("unsupported", `A ${kind} address ${purpose}, so it cannot be paid`)
  if (kind === "lnurlp") {
    const secure = checkUrl(`https://${rest}`)
    const checked =
      Result.isFailure(secure) && secure.failure.reason === "not_https" ? checkUrl(`http://${rest}`) : secure
    return Result.map(checked, (url) => ({ url, text: `lnurlp://${url.slice(url.indexOf("//") + 2)}` }))
  }
  const decoded = bech32.decodeUnsafe(text, false)
  const bytes = decoded && decoded.prefix === "lnurl" && bech32.fromWordsUnsafe(decoded.words)
  if (!bytes) return refuse("bech32", "The LNURL's checksum is wrong. Check for a typo or missing characters")
  try {
    return Result.map(checkUrl(utf8.decode(bytes)), (url) => ({ url, text: text.toLowerCase() }))
  } catch {
    return refuse("url", "The LNURL does not contain text")
  }
}

/** Encodes a URL as a bech32 LNURL in lower case. Upper case takes less space in a QR code. */
export const encode = (url: string): string =>
  bech32.encode("lnurl", bech32.toWords(new TextEncoder().encode(url)), false)
