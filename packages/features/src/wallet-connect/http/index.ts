import * as Feature from "@satrail/http/api/Feature"
import * as WalletConnections from "./WalletConnections.ts"

export const walletConnect = Feature.make({ operator: [WalletConnections.create, WalletConnections.get] })
