import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as Noun from "../ledger/Noun.ts"
import type { Written } from "../ledger/Written.ts"
import * as Deposit from "./Deposit.ts"
import type { Unmatched } from "./Invoice.ts"

/**
 * Links a payment in suspense to the deposit created when it was assigned to a company. The assignment has the
 * deposit's id and never changes.
 */
export const SuspenseAssignment = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  unmatchedId: Noun.Id,
  /** The company whose invoice the payment referred to. */
  unmatchedCompanyId: CompanyId.CompanyId,
  ledgerTxId: Noun.Id,
  amount: Msat.Msat,
  createdAtMillis: Schema.Int
})
export interface SuspenseAssignment extends Schema.Schema.Type<typeof SuspenseAssignment> {}

/** The payment is already assigned to another company. */
export class AlreadyAssigned extends Schema.TaggedError<AlreadyAssigned>()("AlreadyAssigned", {
  id: Schema.String
}) {}

/** A payment is assigned only once, to one company. */
export const noun = Noun.make("suspense_assignments", SuspenseAssignment, {
  moving: [],
  unique: [["unmatchedId"]],
  taken: ({ unmatchedId }) => new AlreadyAssigned({ id: unmatchedId })
})

/** Moves one payment out of suspense and credits it. */
export interface PaymentAssigned extends Written<
  "PaymentAssigned",
  readonly [Noun.InsertOf<typeof noun>, Noun.InsertOf<typeof Deposit.noun>],
  "credit"
> {}

/**
 * Assigns a payment: 1000 in suspense becomes a deposit of 1000. Of several concurrent assignments, to one
 * company or to several, only one applies.
 */
export const assigned = (unmatched: Unmatched, deposit: Deposit.Deposit): PaymentAssigned => {
  const { id, companyId, ledgerTxId, createdAtMillis } = deposit
  const amount = unmatched.received
  return {
    _tag: "PaymentAssigned",
    id,
    companyId,
    atMillis: createdAtMillis,
    transferId: ledgerTxId,
    legs: [
      { companyId: unmatched.companyId, postings: [{ from: "suspense", to: "internal", amount }] },
      { companyId, postings: [{ from: "internal", to: "available", amount }] }
    ],
    writes: [
      Noun.insert(noun, {
        id,
        companyId,
        unmatchedId: unmatched.id,
        unmatchedCompanyId: unmatched.companyId,
        ledgerTxId,
        amount,
        createdAtMillis
      }),
      Noun.insert(Deposit.noun, { ...deposit, amount })
    ],
    event: { type: "deposit.settled", subject: id }
  }
}
