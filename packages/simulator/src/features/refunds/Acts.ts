import type { Customers } from "../../story/Customers.ts"
import { amountIn, listOf, text } from "../../story/Json.ts"
import { type Acts, latest, type Made } from "../../story/Made.ts"
import type { Outsiders } from "../../story/Outsiders.ts"
import { destinationOf, sats } from "../../story/Requests.ts"
import { k1Of } from "../vouchers/Acts.ts"
import { path } from "./Plot.ts"

/** Refund requests by companies. */
export const acts = (
  customers: Customers,
  outsiders: Outsiders,
  made: Made
): Acts<"Refund" | "CancelRefund"> => {
  const refunds: Array<{ readonly id: string; readonly bearer: string }> = []
  return {
    Refund: (act) => {
      const { slot, which } = act
      const outside = act.to === null ? undefined : destinationOf(outsiders, made, act.to, act.sats ?? 1000)
      const amount = act.sats === null || outside?.isOpen === false ? {} : sats(act.sats)
      const destination = outside?.destination === undefined ? {} : { destination: outside.destination }
      const refund = (of: object, bearer: string) => {
        const once = act.isOnce ? customers.freshKey() : undefined
        const body = JSON.stringify({
          ...of,
          ...amount,
          ...destination,
          ...(once !== undefined && { metadata: { once } })
        })
        customers.ask({ slot, method: "POST", path: path, bearer, once, body }, (data) => {
          refunds.push({ id: text(data, "id"), bearer })
          const paidBy = text(data, "withdrawal_id")
          if (paidBy !== "") made.withdrawals.push({ id: paidBy, bearer })
          const link = text(data, "lnurlw")
          if (link === "") return
          made.links.push({
            id: text(data, "voucher_id"),
            k1: k1Of(link),
            sats: amountIn(data, "amount_sats"),
            bearer
          })
        })
      }
      if (act.of === "invoice") {
        const invoice = latest(made.invoiceIds, which)
        return invoice === undefined ? undefined : refund({ invoice_id: invoice.id }, invoice.bearer)
      }
      const bearer = latest(customers.companies, act.company)?.bearer
      if (bearer === undefined) return
      customers.ask(
        { slot, method: "GET", path: "/v1/transactions?limit=5&type=deposit", bearer },
        (data) => {
          const deposit = text(latest(listOf(data), which), "id")
          if (deposit !== "") refund({ deposit_id: deposit }, bearer)
        }
      )
    },
    CancelRefund: ({ slot, which }) => {
      const refund = latest(refunds, which)
      if (refund !== undefined)
        customers.ask({ slot, method: "POST", path: `${path}/${refund.id}/cancel`, bearer: refund.bearer })
    }
  }
}
