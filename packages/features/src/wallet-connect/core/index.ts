import * as Traced from "@satrail/core/base/Traced"
import * as Feature from "@satrail/core/ledger/Feature"
import * as WalletConnection from "./WalletConnection.ts"
import * as WalletConnections from "./WalletConnections.ts"

/**
 * Apps that use API keys over Nostr Wallet Connect. A host program runs its worker,
 * `WalletService.layerWorker`, in a process that can reach relays.
 */
export const walletConnect = Feature.make({
  name: "wallet-connect",
  nouns: [WalletConnection.noun],
  changes: Feature.changes<WalletConnection.WalletConnected>(),
  roles: ["wallet connect"],
  layer: Traced.over(WalletConnections.WalletConnections, WalletConnections.layer)
})
