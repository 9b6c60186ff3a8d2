import { h } from "preact"
import type { Sends } from "../Feature.ts"
import * as Formats from "../Format.ts"
import {
  confirmed,
  type Elsewhere,
  may,
  type Page,
  type Shown,
  text,
  type Visit,
  withQuery
} from "../Page.ts"
import { body, confirm, empty, entry, facts, fields, form, formPanel, panel, plain } from "../Parts.ts"
import { amountFields, amountOf } from "./Records.ts"

// Two steps: the estimate, then the payment. Repeating the second step pays only once, also if its form is shown again
// after signing in.

const first = (visit: Visit, others: ReadonlyArray<Sends>): Shown => {
  const { to, once, form: given, account } = visit
  return {
    title: "Send",
    body: account.frozen
      ? plain(
          "Send",
          empty(
            "lock",
            "You can’t send now",
            "The operator has frozen sending from this account. Contact the operator."
          )
        )
      : formPanel({ action: to("send"), label: "Send", ...(given.has("once") && { once }) }, [
          fields(
            entry(visit, {
              label: "To",
              name: "destination",
              required: true,
              hint: `${["A Lightning invoice or address", "an LNURL", "an offer", ...others.map(({ text }) => text)].join(", ")}, or a bitcoin address${visit.isSandbox ? ". For a test, settle@wallet.example" : ""}`
            }),
            amountFields(visit, "sats", "Leave empty if the invoice has an amount"),
            entry(visit, {
              label: "Your reference",
              name: "reference",
              optional: true,
              maxLength: 200,
              hint: "For example, the supplier’s invoice number. You can search for it"
            })
          ),
          h(
            "div",
            { class: "confirm" },
            h("button", { class: "btn main lg" }, "Show the fee…"),
            h("button", { class: "btn lg", name: "max", value: "yes" }, "Max"),
            h("p", { class: "soft" }, "Nothing is sent yet.")
          )
        ])
  }
}

const isMax = (visit: Visit) => text(visit, "max") !== ""

const asked = (visit: Visit) => ({
  destination: text(visit, "destination"),
  ...(isMax(visit) ? { amount: "max" as const } : amountOf(visit))
})

const summary = async (visit: Visit): Promise<Shown> => {
  const { api, say, to, once, form: given, user } = visit
  const estimate = await api.call("POST /v1/bitcoin/withdraw/estimate", { body: asked(visit) })
  const total = estimate.amount_sats + estimate.fee_sats
  // The amount that was shown is sent, also if the balance has grown since.
  const [amount, currency] = isMax(visit)
    ? [String(estimate.amount_sats), "sats"]
    : [given.get("amount"), given.get("currency")]
  const kept = Object.entries({
    destination: given.get("destination"),
    amount,
    currency,
    reference: given.get("reference")
  }).map(([name, value]) => h("input", { type: "hidden", name, value: value ?? "" }))
  return {
    title: "Check and send",
    crumbs: [["Send", "send"]],
    body: form(
      to("send"),
      { once: text(visit, "once") || once, class: "form-side" },
      kept,
      h("input", { type: "hidden", name: "max_fee_sats", value: String(estimate.fee_sats) }),
      panel(
        "Check and send",
        {},
        body(
          h(
            "div",
            { class: "sums" },
            facts([
              ["To", estimate.recipient],
              [
                "Amount",
                `${Formats.inSats(estimate.amount_sats)}${say.fiat(estimate.amount_sats) === undefined ? "" : ` · ${say.fiat(estimate.amount_sats)}`}`
              ],
              ["Maximum fee", Formats.exactSats(estimate.fee_sats)],
              ["Total", Formats.exactSats(total)],
              text(visit, "reference") === "" ? null : ["Reference", text(visit, "reference")]
            ])
          )
        ),
        confirm(`Send ${Formats.inSats(estimate.amount_sats)}`, { isConfirmed: user.isConfirmed })
      )
    )
  }
}

const next = async (visit: Visit, others: ReadonlyArray<Sends>): Promise<Shown | Elsewhere> => {
  const destination = text(visit, "destination")
  const own = others.map(({ path }) => path(destination)).find((path) => path !== undefined)
  if (own !== undefined) {
    const { amount = "", currency = "" } = amountOf(visit) ?? {}
    return {
      redirect: withQuery(own, new URLSearchParams(), { to: destination, amount: String(amount), currency })
    }
  }
  const most = text(visit, "max_fee_sats")
  if (most === "") return summary(visit)
  await confirmed(visit)
  const reference = text(visit, "reference")
  const { id } = await visit.api.call("POST /v1/bitcoin/withdraw/confirm", {
    once: text(visit, "once"),
    body: {
      ...asked(visit),
      max_fee_sats: Number(most),
      ...(reference !== "" && { metadata: { reference } })
    }
  })
  return { redirect: may(visit, "read") ? `payments/out/${id}` : "" }
}

/** The page "Send". Features send to `others`. */
export const send = (others: ReadonlyArray<Sends>): Page => ({
  path: "send",
  nav: "send",
  needs: "send",
  get: (visit) => first(visit, others),
  post: (visit) => next(visit, others)
})
