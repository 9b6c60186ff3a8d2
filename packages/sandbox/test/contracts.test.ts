import * as ChainSource from "@satrail/contracts/ChainSource"
import * as ChainWallet from "@satrail/contracts/ChainWallet"
import * as ExchangeRates from "@satrail/contracts/ExchangeRates"
import * as LightningReceiver from "@satrail/contracts/LightningReceiver"
import * as LightningSender from "@satrail/contracts/LightningSender"
import * as Relays from "@satrail/contracts/Relays"
import * as Resolver from "@satrail/contracts/Resolver"
import * as Signer from "@satrail/contracts/Signer"
import { Layer } from "effect"
import * as FixedRates from "../src/FixedRates.ts"
import * as Sandbox from "../src/Sandbox.ts"
import * as Peers from "./Peers.ts"
import * as RelayPeer from "./RelayPeer.ts"

const sandbox = Layer.provideMerge(Peers.layer, Sandbox.layer({ seed: "contracts", network: "regtest" }))

LightningReceiver.suite("sandbox", sandbox)
LightningSender.suite("sandbox", sandbox)
ChainSource.suite("sandbox", sandbox)
ChainWallet.suite("sandbox", sandbox)
Signer.suite("sandbox", sandbox)
Resolver.suite("sandbox", sandbox)
ExchangeRates.suite("fixed", FixedRates.layer())
Relays.suite("pretend", RelayPeer.layer)
