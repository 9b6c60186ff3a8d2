import { Context, Effect } from "effect"
import type { StoreUnavailable } from "../ledger/Journal.ts"

/** Returns whether the key or person that requested something, and the one deciding on it, count as the same party. */
export const Deciders = Context.Reference<(one: string, other: string) => Effect.Effect<boolean, StoreUnavailable>>(
  "@satrail/core/accounts/Deciders",
  { defaultValue: () => (one, other) => Effect.succeed(one === other) }
)
