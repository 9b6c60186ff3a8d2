import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import type { Deposit } from "@satrail/core/receiving/Deposit"
import type { Withdrawal } from "@satrail/core/sending/Withdrawal"
import type { AllReads } from "@satrail/core/service/Records"
import * as Lightning from "@satrail/sandbox/Lightning"
import { Effect, Option } from "effect"
import { claim, same } from "../../checks/Violation.ts"
import type { Coverage } from "../../world/Coverage.ts"

/** Finds our offer, of any company, with this text. */
const ownOffer = (records: AllReads, recipient: string) =>
  Bolt12.isBolt12(recipient) ? records.offerByText(recipient) : Effect.succeedNone

/**
 * Checks that payments for our offers belong to the offer's company, both from outside and settled
 * internally, where our node takes no part.
 */
export const make = (records: AllReads, coverage: Coverage) => ({
  deposit: Effect.fnUntraced(function* ({ id, companyId, recipient, lightningInvoiceId, status }: Deposit) {
    const offer = yield* ownOffer(records, recipient)
    if (Option.isNone(offer)) return
    same(companyId, offer.value.companyId, `what is paid for an offer is its company's: deposit ${id}`)
    same(status, "settled", `a payment for our offer is settled: deposit ${id}`)
    coverage.count("transition", `our offer: paid from ${lightningInvoiceId === null ? "inside" : "outside"}`)
  }),
  withdrawal: Effect.fnUntraced(function* ({ id, recipient, dispatchedAtMillis }: Withdrawal, lightning: Lightning.State) {
    if (Option.isNone(yield* ownOffer(records, recipient))) return
    claim(dispatchedAtMillis === null && Lightning.tried(lightning, id) === undefined, `no node is asked to pay our offer: ${id}`)
  })
})
