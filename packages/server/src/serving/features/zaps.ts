import * as Zaps from "@satrail/features/zaps/core/Zaps"
import { Layer } from "effect"
import * as Feature from "./Feature.ts"

export const zaps = Feature.make({
  workers: ({ nostrKey }) => (nostrKey === undefined ? Layer.empty : Zaps.layerWorker)
})
