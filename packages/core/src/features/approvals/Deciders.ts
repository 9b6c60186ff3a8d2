import { Context, Effect } from "effect"
import type { StoreUnavailable } from "../../ledger/Journal.ts"

/** Returns whether a withdrawal's requester and the key or person deciding on it count as the same party. */
export const Deciders = Context.Reference<(one: string, other: string) => Effect.Effect<boolean, StoreUnavailable>>(
  "@satrail/core/features/approvals/Deciders",
  { defaultValue: () => (one, other) => Effect.succeed(one === other) }
)
