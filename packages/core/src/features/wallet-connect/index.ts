import * as Traced from "../../base/Traced.ts"
import * as Feature from "../../ledger/Feature.ts"
import * as WalletConnection from "./WalletConnection.ts"
import * as WalletConnections from "./WalletConnections.ts"

/** Apps that use API keys over Nostr Wallet Connect. Its worker is `WalletService.layerWorker`: a host runs it in a process that reaches relays. */
export const walletConnect = Feature.make({
  name: "wallet-connect",
  nouns: [WalletConnection.noun],
  changes: Feature.changes<WalletConnection.WalletConnected>(),
  layer: Traced.over(WalletConnections.WalletConnections, WalletConnections.layer)
})
