import * as Msat from "@satrail/bitcoin/Msat"
import * as Percent from "@satrail/core/base/Percent"
import type { CompanyId } from "@satrail/core/base/CompanyId"
import type { Leg } from "@satrail/core/ledger/Change"
import * as Noun from "@satrail/core/ledger/Noun"
import type { Shares } from "@satrail/core/receiving/CreditShares"
import type { Deposit } from "@satrail/core/receiving/Deposit"
import type { Split } from "@satrail/core/receiving/Purpose"
import * as Transfer from "../../transfers/core/Transfer.ts"

/**
 * Returns a share in msat, rounded down. What rounding leaves stays with the receiver: of 1001 msat, 12.5% and 33.33%
 * are 125 and 333, so 543 stay.
 */
export const amountOf = (received: Msat.Msat, { basisPoints }: Split): Msat.Msat =>
  Msat.make((received * BigInt(basisPoints)) / BigInt(Percent.whole))

/** A transfer that credits a share of a deposit. */
export const transfer = (
  deposit: Deposit,
  split: Split,
  id: string,
  createdAtMillis: number
): Transfer.Transfer =>
  Transfer.of({
    id,
    companyId: deposit.companyId,
    recipientId: split.companyId,
    ledgerTxId: deposit.ledgerTxId,
    amount: amountOf(deposit.amount, split),
    depositId: deposit.id,
    description: `${Percent.format(split.basisPoints)} of a deposit`,
    metadata: {},
    createdAtMillis
  })

const legsOf = ({ companyId, recipientId, amount }: Transfer.Transfer): ReadonlyArray<Leg> => [
  { companyId, postings: [{ from: "available", to: "transfers", amount }] },
  { companyId: recipientId, postings: [{ from: "transfers", to: "available", amount }] }
]

/**
 * Returns what these transfers add to the Change that credits the deposit. The receiver gets an event if payees were `skipped`
 * because they are frozen.
 */
export const shares = (
  { id, companyId }: Deposit,
  transfers: ReadonlyArray<Transfer.Transfer>,
  skipped: ReadonlyArray<CompanyId>
): Shares => ({
  legs: transfers.flatMap(legsOf),
  inserts: transfers.map((one) => Noun.insert(Transfer.noun, one)),
  events: [
    ...transfers.map((one) => ({
      companyId: one.recipientId,
      type: "transfer.received",
      subject: one.id
    })),
    ...(skipped.length === 0 ? [] : [{ companyId, type: "split.skipped", subject: id }])
  ]
})
