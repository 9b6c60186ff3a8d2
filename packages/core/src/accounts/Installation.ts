import { schemeOf } from "@satrail/bitcoin/LightningAddressText"
import type { Network } from "@satrail/bitcoin/Network"
import { Context } from "effect"

/** Returns the base URL of links to a host and path: http for this machine and Tor names, https for all others. */
export const originOf = (host: string): string => {
  const name = host.replace(/(?::\d+)?(?:\/.*)?$/, "")
  const isHere = name === "localhost" || name === "127.0.0.1" || name === "[::1]"
  return `${isHere ? "http" : schemeOf(name)}://${host}`
}

/** Settings of the whole installation. They have no defaults. */
export class Installation extends Context.Service<
  Installation,
  {
    readonly network: Network
    /** The domain of Lightning addresses. */
    readonly domain: string
    /** Host of pages and voucher links, with an optional port and path. Defaults to `domain`. */
    readonly linkHost?: string | undefined
  }
>()("@satrail/core/accounts/Installation") {}
