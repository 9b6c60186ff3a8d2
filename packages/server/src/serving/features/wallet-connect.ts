import { Place } from "@satrail/features/wallet-connect/core/WalletConnections"
import * as WalletService from "@satrail/features/wallet-connect/core/WalletService"
import * as Outbound from "@satrail/web/Outbound"
import * as WebSocketSessions from "@satrail/web/WebSocketSessions"
import { Layer } from "effect"
import type { Environment } from "../../deployment/Environment.ts"
import * as Secrets from "../../deployment/Secrets.ts"
import * as Feature from "./Feature.ts"

/** Returns the relays through which apps reach this service as a wallet, and the service's key for responses. */
const place = (environment: Environment): (typeof Place)["Service"] => {
  const { nwcRelays: relays } = environment
  return relays && { relays, secretKey: Secrets.keyOf(environment, "nostr wallet connect", "wallet key") }
}

export const walletConnect = Feature.make({
  references: (environment) => Layer.succeed(Place, place(environment)),
  workers: ({ nwcRelays, outboundAllow }) =>
    nwcRelays === undefined
      ? Layer.empty
      : Layer.provide(
          WalletService.layerWorker,
          Layer.provide(WebSocketSessions.layer, Outbound.layer({ allow: outboundAllow }))
        )
})
