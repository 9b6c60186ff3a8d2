import { Result, Schema } from "effect"

/** A Lightning address as it is written (LUD-16), and the URL that it stands for. All in lower case, the domain in punycode. */
export interface LightningAddressText {
  readonly handle: string
  readonly domain: string
  /** `<handle>@<domain>` */
  readonly address: string
  readonly url: string
}

/** The text is no Lightning address. */
export class LightningAddressInvalid extends Schema.TaggedError<LightningAddressInvalid>()("LightningAddressInvalid", {
  reason: Schema.Literals(["malformed", "handle", "domain"]),
  message: Schema.String
}) {}

/** The longest handle, as in an e-mail address (RFC 5321, section 4.5.3.1.1). */
export const maxHandleLength = 64

/** The longest domain name (RFC 1035, section 2.3.4). */
export const maxDomainLength = 253

/** A handle that we issue: LUD-16's letters without tags, no dot at either end. */
export const HandleSchema = Schema.String.check(
  Schema.isPattern(/^[a-z0-9_-](?:[a-z0-9_.-]*[a-z0-9_-])?$/),
  Schema.isMaxLength(maxHandleLength)
)

const refuse = (reason: LightningAddressInvalid["reason"], message: string) => Result.fail(new LightningAddressInvalid({ reason, message }))

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
const hostname = new RegExp(`^(?:${label}\\.)+(?!\\d+$)${label}$`)

/** Whether a host, as `URL` writes it, is a public name: no IP address, not `localhost` or any other single word. */
export const isPublicName = (host: string): boolean => host.length <= maxDomainLength && hostname.test(host)

/** A domain in lower case and punycode: `Bücher.example` is `xn--bcher-kva.example`. No port, path, IP address or single word. */
export const normaliseDomain = (text: string): Result.Result<string, LightningAddressInvalid> => {
  // Looked for before parsing, because URL drops or decodes these and would turn another text into this domain.
  const host = /[\s\p{Cc}\p{Cf}/\\?#@:%[\]]/u.test(text) ? "" : (URL.parse(`https://${text}`)?.hostname ?? "")
  return isPublicName(host)
    ? Result.succeed(host)
    : refuse("domain", "The domain must be a public name like example.com, without a port or a path")
}

/** Clear names are reached by https, Tor's by http: the onion address is the key already. */
export const schemeOf = (host: string): "https" | "http" => (host.endsWith(".onion") ? "http" : "https")

/** The URL that a Lightning address stands for. */
export const urlOf = ({ handle, domain }: Pick<LightningAddressText, "handle" | "domain">): string =>
  `${schemeOf(domain)}://${domain}/.well-known/lnurlp/${handle}`

/** Reads `user@domain`. Upper case is taken as lower case. Tags (`user+tag`) belong to the handle. */
export const parse = (text: string): Result.Result<LightningAddressText, LightningAddressInvalid> => {
  const [user = "", name, ...others] = text.split("@")
  if (name === undefined || others.length > 0) return refuse("malformed", "A Lightning address has the form user@example.com")
  if (!/^[a-z0-9_.+-]+$/i.test(user) || user.length > maxHandleLength) {
    return refuse("handle", `The part before the @ has 1 to ${maxHandleLength} of the characters a-z 0-9 - _ . +`)
  }
  const handle = user.toLowerCase()
  // A handle of dots would be taken for a directory in the URL.
  if (handle === "." || handle === "..") return refuse("handle", "The part before the @ must not be dots only")
  return Result.map(normaliseDomain(name), (domain) => ({
    handle,
    domain,
    address: `${handle}@${domain}`,
    url: urlOf({ handle, domain })
  }))
}
