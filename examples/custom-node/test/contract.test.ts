import * as LightningReceiver from "@satrail/contracts/LightningReceiver"
import * as LightningSender from "@satrail/contracts/LightningSender"
import * as Peers from "../Peers.ts"

LightningReceiver.suite("paper node", Peers.layer)
LightningSender.suite("paper node", Peers.layer)
