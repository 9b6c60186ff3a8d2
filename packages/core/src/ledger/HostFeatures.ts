import { Context } from "effect"
import type { Feature } from "./Feature.ts"

/**
 * Features of the host program, beside the ones that core lists: their events reach the feed, the stream, and webhooks. Provide it below `Satrail.layer`, in
 * every process, and each feature's own `layer` and `workers` above it. A host's feature keeps records and publishes events; it holds and posts no money,
 * which only listed features can declare to verification.
 */
export const HostFeatures = Context.Reference<ReadonlyArray<Feature>>("@satrail/core/ledger/HostFeatures", { defaultValue: () => [] })
