import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Equal, Schema } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import { Freeze } from "../ledger/Freeze.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { AllowedFrom } from "./AllowedFrom.ts"
import { Limits } from "./Limits.ts"
import { isSame, type Operator } from "./SecondOperator.ts"

// One operator alone cannot loosen what protects a company that holds much money. The first request is kept with the company or the key, and the change is made
// when another operator sends the same request.

export interface Options {
  /** An operator needs a second one to loosen what protects a company that holds more than this; null: never. */
  readonly secondOperatorAbove: Msat.Msat | null
}

export const defaults = { secondOperatorAbove: Msat.fromSats(10_000_000n) } satisfies Options

export const Options = Context.Reference<Options>("@satrail/core/accounts/Loosening/Options", { defaultValue: () => defaults })

/** How long a request waits for the second operator. */
export const waitMillis = 24 * 3_600_000

/** What is asked for: one of these. */
export const Wanted = Schema.Struct({
  limits: Schema.optionalKey(Schema.NullOr(Limits)),
  allowedFrom: Schema.optionalKey(Schema.NullOr(AllowedFrom)),
  /** What becomes of what waits; null: the company is not frozen any more. */
  frozen: Schema.optionalKey(Schema.NullOr(Freeze.fields.pending))
})
export interface Wanted extends Schema.Schema.Type<typeof Wanted> {}

/** The request of one operator, which another one has to repeat. */
export const Loosening = Schema.Struct({
  wanted: Wanted,
  requestedById: Schema.String,
  requestedBy: Schema.String,
  untilMillis: Schema.Int
})
export interface Loosening extends Schema.Schema.Type<typeof Loosening> {}

/** Nothing was changed: a second operator has to send the same request. */
export class SecondOperatorRequired extends Schema.TaggedError<SecondOperatorRequired>()("SecondOperatorRequired", {
  requestedBy: Schema.String,
  untilMillis: Schema.Int
}) {}

/** The request that waits from now on; undefined where this one repeats another operator's, so that the change is made. */
export const waiting = (pending: Loosening | null, wanted: Wanted, by: Operator, nowMillis: number): Loosening | undefined => {
  const isRepeated = pending !== null && pending.untilMillis > nowMillis && Equal.equals(pending.wanted, wanted)
  if (!isRepeated) return { wanted, requestedById: by.id, requestedBy: by.name, untilMillis: nowMillis + waitMillis }
  return isSame(by, { id: pending.requestedById, name: pending.requestedBy }) ? pending : undefined
}

/** What companies hold. */
interface Standings {
  readonly standings: (
    ids: ReadonlyArray<CompanyId.CompanyId>,
    nowMillis: number
  ) => Effect.Effect<ReadonlyArray<{ readonly balance: { readonly posted: Msat.Msat } }>, StoreUnavailable>
}

/** A change that may loosen something, and how its request is kept. `by` is undefined where a host makes it. */
interface Asked<E> {
  readonly companyId: CompanyId.CompanyId
  readonly loosening: Loosening | null
  readonly loosens: boolean
  readonly wanted: Wanted
  readonly by: Operator | undefined
  readonly keep: (loosening: Loosening, nowMillis: number) => Effect.Effect<unknown, E>
}

/**
 * Passes where the change can be made: it loosens nothing, a host makes it, the company holds little, or `by` repeats what another operator requested. Otherwise the
 * request is kept, and refused.
 */
export const checkOf = Effect.fnUntraced(function* (records: Standings) {
  const { secondOperatorAbove } = yield* Options
  return Effect.fnUntraced(function* <E>({
    companyId,
    loosening,
    loosens,
    wanted,
    by,
    keep
  }: Asked<E>): Effect.fn.Return<void, E | SecondOperatorRequired | StoreUnavailable> {
    if (!loosens || by === undefined || secondOperatorAbove === null) return
    const nowMillis = yield* Clock.currentTimeMillis
    const [standing] = yield* records.standings([companyId], nowMillis)
    if (standing === undefined || standing.balance.posted <= secondOperatorAbove) return
    const pending = waiting(loosening, wanted, by, nowMillis)
    if (pending === undefined) return
    if (pending !== loosening) yield* keep(pending, nowMillis)
    return yield* new SecondOperatorRequired(pending)
  })
})
