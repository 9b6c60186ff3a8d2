import { RefundReads } from "@satrail/core/features/refunds/RefundReads"
import { Context, Effect } from "effect"
import * as Refunds from "./refunds/Reads.ts"

/** What features read. */
export const make = Effect.gen(function* () {
  return Context.make(RefundReads, yield* Refunds.make)
})
