import type { Feature } from "@satrail/core/ledger/Feature"
import { Features } from "@satrail/core/ledger/Features"
import { Effect } from "effect"

/** Builds a read from the features whose records the store has. */
export const by = <A, E, R>(
  make: (features: ReadonlyArray<Feature>) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => Effect.flatMap(Features, make)
