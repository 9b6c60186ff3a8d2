import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as Noun from "../ledger/Noun.ts"
import type { Written } from "../ledger/Written.ts"
import * as Deposit from "./Deposit.ts"
import type { Unmatched } from "./Invoice.ts"

/** A payment that lay in suspense, and the deposit of a company that it became: they have one id. It is never changed. */
export const Assignment = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  unmatchedId: Noun.Id,
  /** With whose invoice it lay in suspense. */
  unmatchedCompanyId: CompanyId.CompanyId,
  ledgerTxId: Noun.Id,
  amount: Msat.Msat,
  createdAtMillis: Schema.Int
})
export interface Assignment extends Schema.Schema.Type<typeof Assignment> {}

/** Another company has it already. */
export class AlreadyAssigned extends Schema.TaggedError<AlreadyAssigned>()("AlreadyAssigned", { id: Schema.String }) {}

/** A payment is assigned once, to whichever company. */
export const noun = Noun.make("suspense_assignments", Assignment, {
  moving: [],
  unique: [["unmatchedId"]],
  taken: ({ unmatchedId }) => new AlreadyAssigned({ id: unmatchedId })
})

/** It takes out of suspense what one payment brought there, and credits it. */
export interface PaymentAssigned extends Written<
  "PaymentAssigned",
  readonly [Noun.InsertOf<typeof noun>, Noun.InsertOf<typeof Deposit.noun>],
  "credit"
> {}

/** 1000 in suspense become a deposit of 1000. Of any number that are committed, for whichever companies, one applies. */
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
