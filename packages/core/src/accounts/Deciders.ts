import { Context, Effect } from "effect"
import type { StoreUnavailable } from "../ledger/Journal.ts"

/** Returns whether two keys or people count as one: the requester, and the one who decides on the request. */
export const Deciders = Context.Reference<
  (one: string, other: string) => Effect.Effect<boolean, StoreUnavailable>
>("@satrail/core/accounts/Deciders", { defaultValue: () => (one, other) => Effect.succeed(one === other) })
