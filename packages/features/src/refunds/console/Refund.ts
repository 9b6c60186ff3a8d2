import { h } from "preact"
import { type Payment, Refused } from "@satrail/ui/console/Api"
import * as Formats from "@satrail/ui/console/Format"
import type { Format } from "@satrail/ui/console/Format"
import { confirmed, type Elsewhere, type Page, type Shown, text, type Visit } from "@satrail/ui/console/Page"
import {
  body,
  button,
  confirm,
  copy,
  entry,
  factPanel,
  fields,
  form,
  link,
  panel,
  plain
} from "@satrail/ui/console/Parts"
import { amountFields, amountOf, found } from "@satrail/ui/console/pages/Records"
import { bookedValue, titleOf } from "@satrail/ui/console/pages/Rows"

/** The amount, and its value when it was booked and now. */
const valued = (payment: Payment, sats: number, say: Format): string => {
  const booked = bookedValue({ ...payment, amountSats: sats })
  const now = say.fiat(sats)
  const values = [
    booked === undefined ? "" : `${booked} when it was booked`,
    now === undefined ? "" : `${now} now`
  ]
  return [Formats.inSats(sats), ...values.filter((text) => text !== "")].join(" · ")
}

const refundForm = async (visit: Visit): Promise<Shown> => {
  const { api, say, to, once, user } = visit
  const payment = await found(visit, "deposit")
  const deposit = await api.call("GET /v1/transactions/deposits/{depositID}", {
    params: { depositID: payment.id }
  })
  const left = deposit.amount_sats - deposit.refunded_sats
  const at = `payments/in/${payment.id}`
  return {
    title: payment.orderId === null ? "Refund" : `Refund order ${payment.orderId}`,
    lead: valued(payment, deposit.amount_sats, say),
    crumbs: [
      ["Payments", "payments"],
      [titleOf(payment), at]
    ],
    body: form(
      to(`${at}/refund`),
      { once, class: "form-side" },
      plain("Refund", [
        fields(
          amountFields(visit, "sats", "An amount in another currency is converted at the current rate", {
            required: true,
            value: String(left),
            also: payment.fiatCurrency
          }),
          entry(visit, {
            label: "Send to",
            name: "destination",
            optional: true,
            hint: "A Lightning invoice or address. Without one, the customer claims the refund by link"
          }),
          entry(visit, { label: "Note", name: "description", optional: true })
        ),
        confirm(`Refund up to ${Formats.inSats(left)}`, {
          isConfirmed: user.isConfirmed,
          why: "The amount is held until it is claimed or expires."
        })
      ]),
      factPanel("Payment", [
        ["Payment", link(to(at), titleOf(payment))],
        ["Received", valued(payment, deposit.amount_sats, say)],
        ["Refundable", valued(payment, left, say)]
      ])
    )
  }
}

const refund = async (visit: Visit): Promise<Shown | Elsewhere> => {
  await confirmed(visit)
  const { id } = visit
  const [destination, description] = [text(visit, "destination"), text(visit, "description")]
  const amount = amountOf(visit)
  // The API refunds everything if there is no amount.
  if (amount === undefined) throw new Refused(400, "malformed", "Enter the amount to refund")
  const made = await visit.api.call("POST /v1/refunds", {
    once: text(visit, "once"),
    body: {
      deposit_id: id,
      ...amount,
      ...(destination !== "" && { destination }),
      ...(description !== "" && { description })
    }
  })
  if (made.lnurl === null) return { redirect: `payments/in/${id}` }
  return {
    title: `Refund of ${Formats.inSats(made.amount_sats)} created`,
    crumbs: [
      ["Payments", "payments"],
      ["Payment", `payments/in/${id}`]
    ],
    body: panel(
      "Link for the customer",
      {},
      body(
        h(
          "p",
          null,
          "Send this to the customer, who can claim the refund with any Lightning wallet. ",
          copy(made.lnurl, "link")
        ),
        h("pre", null, made.lnurl)
      ),
      h("div", { class: "confirm" }, button(visit.to(`payments/in/${id}`), "Back to the payment", "main"))
    )
  }
}

export const refundPage: Page = {
  path: "payments/in/:id/refund",
  nav: "payments",
  needs: "send",
  get: refundForm,
  post: refund
}
