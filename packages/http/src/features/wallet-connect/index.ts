import * as Feature from "../Feature.ts"
import * as WalletConnections from "./WalletConnections.ts"

export const walletConnect = Feature.make({ operator: [WalletConnections.create, WalletConnections.get] })
