import { LightningReceiver, LightningSender, LightningWire } from "@satrail/contracts"
import * as Peers from "../Peers.ts"

LightningReceiver.suite("paper node", Peers.layer)
LightningSender.suite("paper node", Peers.layer)
LightningWire.suite("paper node", Peers.layerWire)
