import { Effect, Layer, Option } from "effect"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as Deposit from "@satrail/core/receiving/Deposit"
import { DestinationRefused } from "@satrail/core/sending/Recipient"
import type { Withdrawal } from "@satrail/core/sending/Withdrawal"
import * as WithdrawalHooks from "@satrail/core/sending/WithdrawalHooks"
import * as Refund from "./Refund.ts"

const refused = new DestinationRefused({
  code: "invoice_not_payable",
  message: "The payment that this refunds is no longer confirmed. Try again once it is confirmed"
})

/**
 * Refuses the claim or approval of a refund whose deposit a reorganization removed. At the request, the refund is not
 * stored yet, and its own Change checks the deposit. A refund that is not sent yet waits until the deposit is confirmed
 * again, and fails if the deposit fails.
 */
export const layer = Layer.unwrap(
  Effect.map(NounReads, (nouns) => {
    /** Returns the status of the deposit that this withdrawal refunds; undefined if there is none. */
    const statusOf = Effect.fnUntraced(function* ({ companyId, refundId }: Withdrawal) {
      if (refundId === null) return
      const refund = Option.getOrUndefined(yield* nouns.get(Refund.noun, companyId, refundId))
      if (refund === undefined) return
      return Option.getOrUndefined(yield* nouns.get(Deposit.noun, companyId, refund.depositId))?.status
    })
    return WithdrawalHooks.layer({
      mayBegin: Effect.fnUntraced(function* ({ withdrawal }) {
        const status = yield* statusOf(withdrawal)
        if (status !== undefined && status !== "settled") return yield* refused
      }),
      maySend: (withdrawal) =>
        Effect.map(statusOf(withdrawal), (status) =>
          status === "pending" ? "later" : status === "failed" ? "never" : "now"
        )
    })
  })
)
