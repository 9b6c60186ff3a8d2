import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Equal, Schema } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import { Freeze } from "../ledger/Freeze.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { retryIfMoved } from "../ledger/RetryIfMoved.ts"
import { AllowedFrom } from "./AllowedFrom.ts"
import { Limits } from "./Limits.ts"
import type { Requesters } from "./OperatorRequests.ts"
import { isSame, type Operator, waitMillis } from "./SecondOperator.ts"

// A single operator cannot loosen the protection of a company with a large balance. The first request is
// stored with the company or key, and the change is made when another operator sends the same request.

export interface Options {
  /** Balance above which loosening a company's protection needs a second operator; null if it never does. */
  readonly secondOperatorAbove: Msat.Msat | null
}

export const defaults = { secondOperatorAbove: Msat.fromSats(10_000_000n) } satisfies Options

export const Options = Context.Reference<Options>("@satrail/core/accounts/Loosening/Options", {
  defaultValue: () => defaults
})

/** The requested change. Exactly one field is set. */
export const Wanted = Schema.Struct({
  limits: Schema.optionalKey(Schema.NullOr(Limits)),
  allowedFrom: Schema.optionalKey(Schema.NullOr(AllowedFrom)),
  /** The freeze's new `pending`; null unfreezes the company. */
  frozen: Schema.optionalKey(Schema.NullOr(Freeze.fields.pending))
})
export interface Wanted extends Schema.Schema.Type<typeof Wanted> {}

/** One operator's request, which another operator must repeat. */
export const Loosening = Schema.Struct({
  wanted: Wanted,
  requestedById: Schema.String,
  requestedBy: Schema.String,
  untilMillis: Schema.Int
})
export interface Loosening extends Schema.Schema.Type<typeof Loosening> {}

/** Nothing was changed. A second operator must send the same request. */
export class SecondOperatorRequired extends Schema.TaggedError<SecondOperatorRequired>()(
  "SecondOperatorRequired",
  {
    requestedBy: Schema.String,
    untilMillis: Schema.Int
  }
) {}

/** The change loosens protection, which this operator may not do. Nothing was changed. */
export class LooseningRefused extends Schema.TaggedError<LooseningRefused>()("LooseningRefused", {}) {}

/** Errors of a change that loosens protection. */
export type Refused = SecondOperatorRequired | LooseningRefused

/** Another change to the same limits, ranges, freeze or fees was committed first, so this one was not committed. */
export class ProtectionMoved extends Schema.TaggedError<ProtectionMoved>()("ProtectionMoved", {
  id: Schema.String
}) {}

/**
 * Repeats a change until nothing was committed between its checks and its commit. Otherwise, a change that loosened
 * nothing when it was checked could undo another operator's tightening.
 */
export const untilUnmoved = retryIfMoved(ProtectionMoved)

/** An operator who changes protection. */
export interface Changer extends Operator {
  /** Whether they may loosen it. Default: true. */
  readonly mayLoosen?: boolean
}

/** Returns the request to store; undefined if it repeats another operator's, so the change can be made. */
export const waiting = (
  pending: Loosening | null,
  wanted: Wanted,
  by: Operator,
  nowMillis: number
): Loosening | undefined => {
  const isRepeated =
    pending !== null && pending.untilMillis > nowMillis && Equal.equals(pending.wanted, wanted)
  if (!isRepeated)
    return { wanted, requestedById: by.id, requestedBy: by.name, untilMillis: nowMillis + waitMillis }
  return isSame(by, { id: pending.requestedById, name: pending.requestedBy }) ? pending : undefined
}

/** Reads the balances of companies. */
interface Standings {
  readonly standings: (
    ids: ReadonlyArray<CompanyId.CompanyId>,
    nowMillis: number
  ) => Effect.Effect<ReadonlyArray<{ readonly balance: { readonly posted: Msat.Msat } }>, StoreUnavailable>
}

/**
 * A change that may loosen protection, and how to store its request. `by` is undefined if the host program
 * makes it.
 */
interface Asked<E> {
  readonly companyId: CompanyId.CompanyId
  readonly loosening: Loosening | null
  readonly loosens: boolean
  readonly wanted: Wanted
  readonly by: Changer | undefined
  readonly keep: (loosening: Loosening, nowMillis: number) => Effect.Effect<unknown, E>
}

/**
 * Succeeds if the change can be made: it loosens nothing, the host program makes it, or `by` may loosen and the
 * company's balance is small or they repeat the request of another operator who may still loosen. Otherwise, fails. If
 * only another operator is missing, stores the request first.
 */
export const checkOf = Effect.fnUntraced(function* (
  records: Standings,
  requesters: Pick<Requesters, "mayAct" | "stored">
) {
  const { secondOperatorAbove } = yield* Options
  return Effect.fnUntraced(function* <E>({
    companyId,
    loosening,
    loosens,
    wanted,
    by,
    keep
  }: Asked<E>): Effect.fn.Return<void, E | Refused | StoreUnavailable> {
    if (!loosens || by === undefined) return
    if (by.mayLoosen === false) return yield* new LooseningRefused()
    if (secondOperatorAbove === null) return
    const nowMillis = yield* Clock.currentTimeMillis
    const [standing] = yield* records.standings([companyId], nowMillis)
    if (standing === undefined || standing.balance.posted <= secondOperatorAbove) return
    const counts = loosening !== null && (yield* requesters.mayAct(loosening.requestedById, "loosen"))
    const pending = waiting(counts ? loosening : null, wanted, requesters.stored(by), nowMillis)
    if (pending === undefined) return
    if (pending !== loosening) yield* keep(pending, nowMillis)
    return yield* new SecondOperatorRequired(pending)
  })
})
