import { schemeOf } from "@satrail/bitcoin/LightningAddressText"
import type { Network } from "@satrail/bitcoin/Network"
import { Context } from "effect"

/** Where a link leads: by http to this machine and to Tor's names, by https to all others. */
export const originOf = (host: string): string => {
  const name = host.replace(/:\d+$/, "")
  const isHere = name === "localhost" || name === "127.0.0.1" || name === "[::1]"
  return `${isHere ? "http" : schemeOf(name)}://${host}`
}

/** What is the same for everything that one installation does. It is always the operator's own: nothing is assumed. */
export class Installation extends Context.Service<
  Installation,
  {
    readonly network: Network
    /** Lightning addresses are issued at this domain. */
    readonly domain: string
    /** Where pages and vouchers' links are: a host, with its port where it has one. At `domain` unless given. */
    readonly linkHost?: string | undefined
  }
>()("@satrail/core/accounts/Installation") {}
