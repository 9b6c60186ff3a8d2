import { Context } from "effect"
import type { Feature } from "./Feature.ts"

/**
 * All features of the service. A program with features of its own provides the whole list below the store and
 * `Satrail.layer`, in every process: `Layer.succeed(Features, [...features, mine])`. Otherwise the service has the
 * features of this package. Code below the composition reads the list here, never the constant.
 */
export const Features = Context.Reference<ReadonlyArray<Feature>>("@satrail/core/ledger/Features", {
  defaultValue: () => []
})
