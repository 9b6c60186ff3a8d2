import { Context } from "effect"
import type { Feature } from "./Feature.ts"

/**
 * Features of the host program, in addition to the core's. Their events reach the feed, the stream, and
 * webhooks. Provide this list below `Satrail.layer` and the store in every process, and each feature's own `layer` and
 * `workers` above it. A host feature stores records and publishes events. It cannot hold or post money, because
 * `verify` checks only the money of core features.
 */
export const HostFeatures = Context.Reference<ReadonlyArray<Feature>>("@satrail/core/ledger/HostFeatures", { defaultValue: () => [] })
