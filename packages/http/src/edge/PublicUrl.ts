import { Context } from "effect"

/** The URL at which browsers reach the service. Passkeys work only at this URL. Undefined if it is not configured. */
export const PublicUrl = Context.Reference<string | undefined>("@satrail/http/edge/PublicUrl", {
  defaultValue: () => undefined
})

/** Returns whether browsers accept a host as the owner of passkeys: a domain, not an IP address. */
const isDomain = (hostname: string): boolean => !/^[\d.]+$|^\[/.test(hostname)

/** The owner of passkeys (WebAuthn relying party), and its invitation links. */
export interface Party {
  readonly id: string
  readonly origin: string
  /** Returns a link with the invitation in its fragment, which browsers never send to a server. */
  readonly linkOf: (invitation: string) => string
}

/** Returns the owner of passkeys at a public URL. Undefined unless it is `https` with a domain, or `localhost`. */
export const partyOf = (publicUrl: string | undefined): Party | undefined => {
  const url = URL.parse(publicUrl ?? "")
  if (url === null || !isDomain(url.hostname)) return undefined
  const isLocal = url.hostname === "localhost" || url.hostname.endsWith(".localhost")
  if (url.protocol !== "https:" && !isLocal) return undefined
  return {
    id: url.hostname,
    origin: url.origin,
    linkOf: (invitation) => `${publicUrl}/console#join=${invitation}`
  }
}
