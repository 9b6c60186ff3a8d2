import { Context, Effect, Layer } from "effect"
import * as Traced from "../base/Traced.ts"
import * as Reads from "../features/reads.ts"
import { StatementReads } from "../features/statements/StatementReads.ts"

/** The ports of all features that read, those of `Following.ts` too: a storage adapter provides each. */
export type FeatureReads = Reads.FeatureReads | StatementReads

/** All of them in one value. */
export const all = Effect.gen(function* () {
  return {
    ...(yield* Reads.all),
    ...(yield* StatementReads)
  }
})

/** One value as each of them. */
export const from = (reads: Effect.Success<typeof all>): Context.Context<FeatureReads> =>
  Reads.from(reads).pipe(Context.add(StatementReads, reads))

export const layerTraced = Layer.mergeAll(Reads.layerTraced, Traced.layer(StatementReads))
