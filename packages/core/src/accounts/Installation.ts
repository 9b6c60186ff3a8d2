import type { Network } from "@satrail/bitcoin/Network"
import { Context } from "effect"

/** What is the same for everything that one installation does. It is always the operator's own: nothing is assumed. */
export class Installation extends Context.Service<
  Installation,
  {
    readonly network: Network
    /** Lightning addresses are issued at this domain. */
    readonly domain: string
  }
>()("@satrail/core/accounts/Installation") {}
