import { Context, Effect } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import { Invalid } from "../base/Invalid.ts"
import type * as Change from "../ledger/Change.ts"
import type * as Event from "../ledger/Event.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { Insert } from "../ledger/Noun.ts"
import type { Deposit } from "./Deposit.ts"
import type { Split } from "./Purpose.ts"

/** What the shares add to the Change that credits a deposit. */
export interface Shares {
  /** Legs of the receiver, which together take at most the deposit's amount, and of the payees. */
  readonly legs: ReadonlyArray<Change.Leg>
  readonly inserts: ReadonlyArray<Insert>
  readonly events: ReadonlyArray<Event.ForOther<string>>
}

/** Shares credits between companies. Without an implementation, no record can have `splits`. */
export class CreditShares extends Context.Reference<{
  /** Checks the splits that a request sets. A refusal names the row, such as `splits.1.company_id`. */
  readonly check: (
    companyId: CompanyId.CompanyId,
    splits: ReadonlyArray<Split>
  ) => Effect.Effect<void, Invalid | StoreUnavailable>
  /** Returns the shares of a deposit that is credited now; undefined if there are none. */
  readonly sharesOf: (
    deposit: Deposit,
    atMillis: number
  ) => Effect.Effect<Shares | undefined, StoreUnavailable>
}>("@satrail/core/receiving/CreditShares", {
  defaultValue: () => ({
    check: () =>
      Effect.fail(new Invalid({ path: "splits", message: "must be omitted: this service has no splits" })),
    sharesOf: () => Effect.succeed(undefined)
  })
}) {}

/** Checks the splits that a request sets, if any. */
export const checking = Effect.map(
  CreditShares,
  ({ check }) =>
    (companyId: CompanyId.CompanyId, splits: ReadonlyArray<Split> | null) =>
      splits === null ? Effect.void : check(companyId, splits)
)

/** Adds legs, with one leg per company. */
const together = (
  legs: ReadonlyArray<Change.Leg>,
  more: ReadonlyArray<Change.Leg>
): ReadonlyArray<Change.Leg> =>
  Array.from(
    Map.groupBy([...legs, ...more], ({ companyId }) => companyId),
    ([companyId, own]) => ({
      companyId,
      postings: own.flatMap(({ postings }) => postings)
    })
  )

/** Adds shares to the Change that credits their deposit. */
export const added = <C extends Change.Any>(change: C, { legs, inserts, events }: Shares): C => ({
  ...change,
  legs: together(change.legs, legs),
  inserts: [...(change.inserts ?? []), ...inserts],
  eventsForOthers: [...(change.eventsForOthers ?? []), ...events]
})

/**
 * Adds the shares of a deposit to the Change that credits it, so that no reader sees the credit without them. The
 * receiver's leg still takes nothing from its balance: of 1000 credited, at most 1000 is shared.
 */
export const make = Effect.map(
  CreditShares,
  ({ sharesOf }) =>
    <C extends Change.Any>(change: C, deposit: Deposit): Effect.Effect<C, StoreUnavailable> =>
      deposit.splits === null
        ? Effect.succeed(change)
        : Effect.map(sharesOf(deposit, change.atMillis), (shares) =>
            shares === undefined ? change : added(change, shares)
          )
)
