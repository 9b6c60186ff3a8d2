import { Effect, Layer, Option } from "effect"
import { NounReads } from "../../ledger/NounReads.ts"
import * as Deposit from "../../receiving/Deposit.ts"
import { DestinationRefused } from "../../sending/Recipient.ts"
import * as WithdrawalHooks from "../../sending/WithdrawalHooks.ts"
import * as Refund from "./Refund.ts"

const refused = new DestinationRefused({
  code: "invoice_not_payable",
  message: "The payment that this refunds is no longer confirmed. Try again once it is confirmed"
})

/**
 * Refuses the claim or approval of a refund whose deposit a reorganization removed. At the request, the refund is not
 * stored yet, and its own Change checks the deposit.
 */
export const layer = Layer.unwrap(
  Effect.map(NounReads, (nouns) =>
    WithdrawalHooks.layer({
      mayBegin: Effect.fnUntraced(function* ({ withdrawal: { companyId, refundId } }) {
        if (refundId === null) return
        const refund = Option.getOrUndefined(yield* nouns.get(Refund.noun, companyId, refundId))
        if (refund === undefined) return
        const deposit = yield* nouns.get(Deposit.noun, companyId, refund.depositId)
        if (Option.exists(deposit, ({ status }) => status !== "settled")) return yield* refused
      })
    })
  )
)
