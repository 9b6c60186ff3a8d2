import { Policy, Satrail } from "@satrail/service"
import { Storage } from "@satrail/service/postgres"
import { FixedRates, Sandbox } from "@satrail/sandbox"
import { Layer, ManagedRuntime } from "effect"

/** Every service with its workers, running until `dispose`. Its data is stored in `directory`. */
export const open = (directory: string) =>
  ManagedRuntime.make(
    Satrail.layerWorkers.pipe(
      Layer.provideMerge(
        Satrail.layer({ ...Policy.defaults, network: "regtest", domain: "pay.example.com" })
      ),
      Layer.provideMerge(Storage.layerEmbedded({ directory })), // or on your pool: Storage.layerPool(pool)
      Layer.provideMerge(
        Layer.merge(Sandbox.layer({ seed: "embed-promise", network: "regtest" }), FixedRates.layer())
      )
    )
  )

export type Payments = ReturnType<typeof open>
