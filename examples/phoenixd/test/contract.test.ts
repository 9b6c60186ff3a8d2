import { LightningReceiver, LightningSender, LightningWire } from "@satrail/contracts"
import * as Peers from "../Peers.ts"

LightningReceiver.suite("phoenixd, simulated", Peers.layer)
LightningSender.suite("phoenixd, simulated", Peers.layer, {
  skip: {
    "there is no quote if no route exists or every route exceeds the limit":
      "the node has a fixed fee and reports no routes"
  }
})
LightningWire.suite("phoenixd, simulated", Peers.layerWire)
