import * as Msat from "@satrail/bitcoin/Msat"
import { Result, Schema } from "effect"
import * as CompanyId from "@satrail/core/base/CompanyId"
import type * as Change from "@satrail/core/ledger/Change"
import * as Noun from "@satrail/core/ledger/Noun"
import { type Written, written } from "@satrail/core/ledger/Written"
import { isSame, type Operator, SameOperator } from "@satrail/core/accounts/SecondOperator"

/** `pending` waits for a second operator. `booked` and `rejected` are final. */
export const Status = Schema.Literals(["pending", "booked", "rejected"])
export type Status = typeof Status.Type

/**
 * A correction requested by one operator and approved by another. A positive `amount` is credited to the
 * company; a negative one is debited.
 */
export const Adjustment = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  /** Id of the ledger transfer that groups the adjustment's postings once the adjustment is booked. */
  ledgerTxId: Noun.Id,
  /** In msat, and never 0. 1000 credits the company, and -1000 debits it. */
  amount: Msat.Msat,
  /** Shown to the company. */
  reason: Schema.String,
  /** Shown to operators only. */
  note: Schema.NullOr(Schema.String),
  /** The operator who requested it, as the id and name of their token. */
  requestedById: Schema.String,
  requestedBy: Schema.String,
  status: Status,
  /** Name of the operator who booked or rejected it. */
  decidedBy: Schema.NullOr(Schema.String),
  decidedAtMillis: Schema.NullOr(Schema.Int),
  createdAtMillis: Schema.Int
})
export interface Adjustment extends Schema.Schema.Type<typeof Adjustment> {}

/** The adjustment has already been decided; its status is `status`. */
export class AdjustmentDecided extends Schema.TaggedError<AdjustmentDecided>()("AdjustmentDecided", {
  id: Schema.String,
  status: Schema.String
}) {}

export const noun = Noun.make("adjustments", Adjustment, {
  moving: ["status", "decidedBy", "decidedAtMillis"],
  refused: (id, status) => new AdjustmentDecided({ id, status })
})

export const life = {
  booked: Noun.move(noun, "booked", {
    from: ["pending"],
    to: "booked",
    sets: ["decidedBy"],
    stamps: ["decidedAtMillis"],
    again: { in: ["booked"] }
  }),
  rejected: Noun.move(noun, "rejected", {
    from: ["pending"],
    to: "rejected",
    sets: ["decidedBy"],
    stamps: ["decidedAtMillis"],
    again: { in: ["rejected"] }
  })
}

export interface AdjustmentRequested extends Written<
  "AdjustmentRequested",
  readonly [Noun.InsertOf<typeof noun>],
  "once",
  never
> {}
/** Approving it again books nothing more. Approval is refused if the company's balance is less than the debit. */
export interface AdjustmentBooked extends Written<
  "AdjustmentBooked",
  readonly [Noun.TransitionOf<typeof life.booked>],
  "money",
  "adjustment.booked"
> {}
export interface AdjustmentRejected extends Written<
  "AdjustmentRejected",
  readonly [Noun.TransitionOf<typeof life.rejected>],
  never,
  never
> {}

/** Requests an adjustment, which waits for a second operator. No money moves. */
export const requested = (adjustment: Adjustment, once?: Change.Once): AdjustmentRequested =>
  written(
    "AdjustmentRequested",
    adjustment.createdAtMillis,
    [Noun.insert(noun, adjustment)],
    once && { once }
  )

/**
 * Books an adjustment. A positive amount moves from `adjustments` to `available`, a negative one the other way.
 * The separate account keeps manual bookings apart from all others.
 */
export const booked = (
  adjustment: Adjustment,
  by: Operator,
  atMillis: number
): Result.Result<AdjustmentBooked, SameOperator> => {
  const { id, companyId, ledgerTxId, amount, requestedById, requestedBy } = adjustment
  if (isSame(by, { id: requestedById, name: requestedBy }))
    return Result.fail(new SameOperator({ id, name: by.name }))
  const posting: Change.Posting =
    amount > 0n
      ? { from: "adjustments", to: "available", amount }
      : { from: "available", to: "adjustments", amount: Msat.make(-amount) }
  return Result.succeed({
    _tag: "AdjustmentBooked",
    id,
    companyId,
    atMillis,
    transferId: ledgerTxId,
    legs: [{ companyId, postings: [posting] }],
    writes: [Noun.step(life.booked, adjustment, { decidedBy: by.name })],
    event: { type: "adjustment.booked", subject: id }
  })
}

/** Rejects an adjustment. The operator who requested it may also retract it this way. */
export const rejected = (adjustment: Adjustment, by: Operator, atMillis: number): AdjustmentRejected =>
  written("AdjustmentRejected", atMillis, [Noun.step(life.rejected, adjustment, { decidedBy: by.name })])
