import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import type { Deposit } from "@satrail/core/receiving/Deposit"
import type { Withdrawal } from "@satrail/core/sending/Withdrawal"
import type { AllReads } from "@satrail/core/service/Records"
import * as Lightning from "@satrail/sandbox/Lightning"
import { Effect, Option } from "effect"
import { claim, same } from "../../checks/Violation.ts"
import type { Coverage } from "../../world/Coverage.ts"

/** Finds the offer with this text that we issued for any company. */
const ownOffer = (records: AllReads, recipient: string) =>
  Bolt12.isBolt12(recipient) ? records.offerByText(recipient) : Effect.succeedNone

/**
 * Checks that payments for our offers belong to the offer's company, whether they come from outside or are
 * settled internally, without our node.
 */
export const make = (records: AllReads, coverage: Coverage) => ({
  deposit: Effect.fnUntraced(function* ({ id, companyId, recipient, lightningInvoiceId, status }: Deposit) {
    const offer = yield* ownOffer(records, recipient)
    if (Option.isNone(offer)) return
    same(
      companyId,
      offer.value.companyId,
      `a payment for our offer belongs to the offer's company: deposit ${id}`
    )
    same(status, "settled", `a payment for our offer is settled: deposit ${id}`)
    coverage.count("transition", `our offer: paid from ${lightningInvoiceId === null ? "inside" : "outside"}`)
  }),
  withdrawal: Effect.fnUntraced(function* (
    { id, recipient, dispatchedAtMillis }: Withdrawal,
    lightning: Lightning.State
  ) {
    if (Option.isNone(yield* ownOffer(records, recipient))) return
    claim(
      dispatchedAtMillis === null && Lightning.tried(lightning, id) === undefined,
      `our offers are never paid through the node: ${id}`
    )
  })
})
