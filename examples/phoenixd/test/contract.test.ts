import { LightningReceiver, LightningSender, LightningWire } from "@satrail/contracts"
import * as Peers from "../Peers.ts"

LightningReceiver.suite("phoenixd, pretend", Peers.layer)
LightningSender.suite("phoenixd, pretend", Peers.layer, {
  skip: { "there is no quote without a route, nor with a limit below every route": "it tells its tariff, and no routes" }
})
LightningWire.suite("phoenixd, pretend", Peers.layerWire)
