import { h } from "preact"
import * as Formats from "../../Format.ts"
import { confirmed, type Elsewhere, type Page, type Shown, text, type Visit } from "../../Page.ts"
import { body, button, confirm, copy, facts, form, panel, plain } from "../../Parts.ts"
import { found } from "../../pages/Payment.ts"
import { bookedValue, titleOf } from "../../pages/Rows.ts"

const refundForm = async (visit: Visit): Promise<Shown> => {
  const { api, say, to, once, user, form: given } = visit
  const payment = await found(visit, "deposit")
  const deposit = await api.call("GET /v1/transactions/deposits/{depositID}", { params: { depositID: payment.id } })
  const left = deposit.amount_sats - deposit.refunded_sats
  const at = `payments/in/${payment.id}`
  const amount = given.get("amount") ?? String(left)
  return {
    title: `Refund ${titleOf(payment)}`,
    crumbs: [
      ["Payments", "payments"],
      [titleOf(payment), at]
    ],
    body: form(
      to(`${at}/refund`),
      { once, class: "form-side" },
      plain("Refund", [
        body(
          h(
            "div",
            { class: "fields" },
            h(
              "div",
              null,
              h("label", { for: "amount" }, "Amount, sats"),
              h("input", { id: "amount", name: "amount", inputMode: "numeric", pattern: "[0-9]+", required: true, value: amount })
            ),
            h(
              "div",
              null,
              h("label", { for: "destination" }, "Send to ", h("span", { class: "soft" }, "optional")),
              h("input", {
                id: "destination",
                name: "destination",
                value: given.get("destination") ?? "",
                autocomplete: "off",
                "aria-describedby": "destination-hint"
              }),
              h(
                "p",
                { class: "hint", id: "destination-hint" },
                "A Lightning invoice or address. Without one, the customer claims the refund by link."
              )
            ),
            h(
              "div",
              null,
              h("label", { for: "description" }, "Note ", h("span", { class: "soft" }, "optional")),
              h("input", { id: "description", name: "description", value: given.get("description") ?? "" })
            )
          )
        ),
        confirm(`Refund up to ${Formats.sats(left)} sats`, {
          isConfirmed: user.isConfirmed,
          why: "The amount is held until it is claimed or expires."
        })
      ]),
      panel(
        "Payment",
        {},
        body(
          facts([
            ["Payment", titleOf(payment)],
            ["Received", `${Formats.sats(deposit.amount_sats)} sats`],
            ["Value", bookedValue(payment, say) ?? say.fiat(payment.amountSats) ?? "unknown"],
            ["Refundable", `${Formats.sats(left)} sats`]
          ])
        )
      )
    )
  }
}

const refund = async (visit: Visit): Promise<Shown | Elsewhere> => {
  await confirmed(visit)
  const { id = "" } = visit.params
  const [destination, description] = [text(visit, "destination"), text(visit, "description")]
  const made = await visit.api.call("POST /v1/refunds", {
    once: text(visit, "once"),
    body: {
      deposit_id: id,
      amount: Number(text(visit, "amount")),
      currency: "sats",
      ...(destination !== "" && { destination }),
      ...(description !== "" && { description })
    }
  })
  if (made.lnurl === null) return { redirect: `payments/in/${id}` }
  return {
    title: `Refund of ${Formats.sats(made.amount_sats)} sats created`,
    crumbs: [
      ["Payments", "payments"],
      ["Payment", `payments/in/${id}`]
    ],
    body: panel(
      "Link for the customer",
      {},
      body(
        h("p", null, "Send this to the customer, who can claim the refund with any Lightning wallet. ", copy(made.lnurl, "link")),
        h("pre", null, made.lnurl)
      ),
      h("div", { class: "confirm" }, button(visit.to(`payments/in/${id}`), "Back to the payment", "main"))
    )
  }
}

export const refundPage: Page = { path: "payments/in/:id/refund", nav: "payments", needs: "send", get: refundForm, post: refund }
