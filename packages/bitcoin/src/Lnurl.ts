import { bech32 } from "@scure/base"
import { Result, Schema } from "effect"
import { isPublicName, schemeOf } from "./LightningAddressText.ts"

/** Where to ask for a payment (LUD-06). `text` is the LNURL in lower case, or the `lnurlp://` address, that stood for `url`. */
export interface Lnurl {
  readonly url: string
  readonly text: string
}

/** The text is no LNURL that can be paid. */
export class LnurlInvalid extends Schema.TaggedError<LnurlInvalid>()("LnurlInvalid", {
  reason: Schema.Literals(["bech32", "url", "not_https", "host", "unsupported"]),
  message: Schema.String
}) {}

const refuse = (reason: LnurlInvalid["reason"], message: string) => Result.fail(new LnurlInvalid({ reason, message }))

/** What the other LNURLs are for, by scheme (LUD-17) and by `tag` (LUD-04, LUD-08). */
const purposes: ReadonlyMap<string, string> = new Map([
  ["lnurlw", "lets you withdraw"],
  ["withdrawRequest", "lets you withdraw"],
  ["keyauth", "logs you in"],
  ["login", "logs you in"],
  ["lnurlc", "opens a channel"],
  ["channelRequest", "opens a channel"]
])

/** What an LNURL is for that cannot be paid, in words, by its `tag`. */
export const otherPurpose = (tag: string): string | undefined => purposes.get(tag)

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** A URL that leads to somewhere public, as far as that can be seen. */
const publicUrl = (text: string): Result.Result<URL, LnurlInvalid> => {
  // Looked for before parsing, because URL quietly drops or turns these.
  const url = /[\s\p{Cc}\\]/u.test(text) ? null : URL.parse(text)
  if (url === null) return refuse("url", "The LNURL does not contain a URL")
  if (url.username !== "" || url.password !== "" || !isPublicName(url.hostname)) {
    return refuse("host", "The LNURL must point to a public name, without a user or an IP address")
  }
  if (url.protocol !== `${schemeOf(url.hostname)}:`) return refuse("not_https", "The LNURL must use https, or http for an .onion address")
  return Result.succeed(url)
}

const checkUrl = (text: string): Result.Result<string, LnurlInvalid> =>
  Result.flatMap(publicUrl(text), (url) => {
    const purpose = otherPurpose(url.searchParams.get("tag") ?? "")
    return purpose === undefined ? Result.succeed(url.href) : refuse("unsupported", `This LNURL ${purpose}: it cannot be paid`)
  })

/** Reads a bech32 LNURL (LUD-01), upper or lower case and of any length, or `lnurlp://` (LUD-17). */
export const decode = (text: string): Result.Result<Lnurl, LnurlInvalid> => {
  const [, scheme = "", rest = ""] = /^([a-z]+):\/\/(.*)$/i.exec(text) ?? []
  const kind = scheme.toLowerCase()
  const purpose = purposes.get(kind)
  if (purpose !== undefined) return refuse("unsupported", `A ${kind} address ${purpose}: it cannot be paid`)
  if (kind === "lnurlp") {
    const secure = checkUrl(`https://${rest}`)
    const checked = Result.isFailure(secure) && secure.failure.reason === "not_https" ? checkUrl(`http://${rest}`) : secure
    return Result.map(checked, (url) => ({ url, text: `lnurlp://${url.slice(url.indexOf("//") + 2)}` }))
  }
  const decoded = bech32.decodeUnsafe(text, false)
  const bytes = decoded && decoded.prefix === "lnurl" && bech32.fromWordsUnsafe(decoded.words)
  if (!bytes) return refuse("bech32", "The LNURL has a typing error, or is cut off: its checksum does not fit")
  try {
    return Result.map(checkUrl(utf8.decode(bytes)), (url) => ({ url, text: text.toLowerCase() }))
  } catch {
    return refuse("url", "The LNURL does not contain text")
  }
}

/** The URL as a bech32 LNURL in lower case. In a QR code upper case takes less room. */
export const encode = (url: string): string => bech32.encode("lnurl", bech32.toWords(new TextEncoder().encode(url)), false)
