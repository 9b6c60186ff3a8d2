import { Result, Schema } from "effect"

/** A Lightning address (LUD-16) and its URL, in lower case and with the domain in punycode. */
export interface LightningAddressText {
  readonly handle: string
  readonly domain: string
  /** `<handle>@<domain>` */
  readonly address: string
  readonly url: string
}

/** The text is not a Lightning address. */
export class LightningAddressInvalid extends Schema.TaggedError<LightningAddressInvalid>()(
  "LightningAddressInvalid",
  {
    reason: Schema.Literals(["malformed", "handle", "domain"]),
    message: Schema.String
  }
) {}

/** Maximum length of a handle, as in an email address (RFC 5321, section 4.5.3.1.1). */
export const maxHandleLength = 64

/** Maximum length of a domain name (RFC 1035, section 2.3.4). */
export const maxDomainLength = 253

/** A handle that we issue: LUD-16's characters without tags, and no dot at either end. */
export const HandleSchema = Schema.String.check(
  Schema.isPattern(/^[a-z0-9_-](?:[a-z0-9_.-]*[a-z0-9_-])?$/),
  Schema.isMaxLength(maxHandleLength)
)

const refuse = (reason: LightningAddressInvalid["reason"], message: string) =>
  Result.fail(new LightningAddressInvalid({ reason, message }))

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
const hostname = new RegExp(`^(?:${label}\\.)+(?!\\d+$)${label}$`)

/**
 * Returns whether a host, as formatted by `URL`, is a public name: not an IP address, `localhost` or any
 * other single word.
 */
export const isPublicName = (host: string): boolean => host.length <= maxDomainLength && hostname.test(host)

/**
 * Normalizes a domain to lower case and punycode: `Bücher.example` becomes `xn--bcher-kva.example`. Refuses
 * ports, paths, IP addresses and single words.
 */
export const normaliseDomain = (text: string): Result.Result<string, LightningAddressInvalid> => {
  // Check the raw text, because URL drops or decodes these characters and would turn another text into this
  // domain.
  const host = /[\s\p{Cc}\p{Cf}/\\?#@:%[\]]/u.test(text) ? "" : (URL.parse(`https://${text}`)?.hostname ?? "")
  return isPublicName(host)
    ? Result.succeed(host)
    : refuse("domain", "The domain must be a public name such as example.com, without a port or a path")
}

/**
 * Returns `http` for Tor names, because an onion address already authenticates the server, and `https` for
 * other names.
 */
export const schemeOf = (host: string): "https" | "http" => (host.endsWith(".onion") ? "http" : "https")

/** Returns the URL of a Lightning address. */
export const urlOf = ({ handle, domain }: Pick<LightningAddressText, "handle" | "domain">): string =>
  `${schemeOf(domain)}://${domain}/.well-known/lnurlp/${handle}`

/** Returns the Lightning address with this URL; undefined if there is none. */
export const ofUrl = (url: string): LightningAddressText | undefined => {
  const [, domain = "", handle = ""] = /^https?:\/\/([^/]+)\/\.well-known\/lnurlp\/([^/]+)$/.exec(url) ?? []
  return Result.getOrUndefined(parse(`${handle}@${domain}`))
}

/** Parses `user@domain`. Upper case becomes lower case. Tags (`user+tag`) belong to the handle. */
export const parse = (text: string): Result.Result<LightningAddressText, LightningAddressInvalid> => {
  const [user = "", name, ...others] = text.split("@")
  if (name === undefined || others.length > 0)
    return refuse("malformed", "A Lightning address must have the form user@example.com")
  if (!/^[a-z0-9_.+-]+$/i.test(user) || user.length > maxHandleLength) {
    return refuse(
      "handle",
      `The part before the @ must have 1 to ${maxHandleLength} of the characters a-z 0-9 - _ . +`
    )
  }
  const handle = user.toLowerCase()
  // A handle of one or two dots would be a relative path in the URL.
  if (handle === "." || handle === "..")
    return refuse("handle", "The part before the @ must not consist of dots only")
  return Result.map(normaliseDomain(name), (domain) => ({
    handle,
    domain,
    address: `${handle}@${domain}`,
    url: urlOf({ handle, domain })
  }))
}
