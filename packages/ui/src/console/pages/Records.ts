import { type ComponentChildren, h } from "preact"
import { Qr } from "../../checkout/Qr.ts"
import { type Payment, Refused } from "../Api.ts"
import { may, numberIn, text, type Visit } from "../Page.ts"
import {
  body,
  choice,
  confirm,
  copy,
  entry,
  type Fact,
  factPanel,
  form,
  panel,
  status,
  when
} from "../Parts.ts"
import { rowLink, table } from "../Table.ts"
import type { Currency } from "../wire.ts"
import { pathOf, rowOf, signedSats, badgeOf } from "./Rows.ts"

// Parts of the pages of records that can be paid or claimed: checkouts, invoices, offers, addresses, vouchers and refunds.

export const found = async (visit: Visit, type: Payment["type"]): Promise<Payment> => {
  const { id } = visit
  const [payment] = await visit.api.payments([{ type, id }])
  if (payment === undefined) throw new Refused(404, "not_found", "Payment not found")
  return payment
}

export const paymentsPanel = ({ say, to }: Visit, label: string, payments: ReadonlyArray<Payment>) => {
  const rows = payments.map((payment) => rowOf(payment, say))
  return panel(
    "Payments",
    { isRuled: true },
    rows.length === 0
      ? body(h("p", { class: "soft" }, "Nothing has been paid yet."))
      : table(label, {
          opens: true,
          groups: [{ rows }],
          columns: [
            {
              title: "When",
              place: "c1",
              cell: (row) =>
                rowLink(to(pathOf(row)), when(row.createdAtMillis, say.when(row.createdAtMillis)))
            },
            { title: "Status", place: "c3", cell: (row) => status(badgeOf(row)) },
            { title: "Amount, sats", place: "c2", kind: "amount", cell: signedSats },
            { title: "Value", place: "off", kind: "fiat", cell: ({ value }) => value }
          ]
        })
  )
}

/** A string that wallets scan or paste. Copying requires the script. */
export const code = (title: string, name: string, value: string, ...more: ReadonlyArray<ComponentChildren>) =>
  panel(
    title,
    {},
    body(
      h(
        "div",
        { class: "scan" },
        h("div", { class: "tile" }, h(Qr, { text: value, label: `QR code of the ${name}` })),
        h("div", { class: "stack" }, h("p", null, h("code", null, value), " ", copy(value, name)), more)
      )
    )
  )

/** The facts about a record with a link for the payee, and a form to cancel a link that has not been claimed. */
export const linkPanels = (
  visit: Visit,
  cancels: readonly [path: string, words: string] | false,
  of: ReadonlyArray<Fact | null>
) => [
  factPanel("Details", of),
  cancels !== false &&
    may(visit, "send") &&
    form(
      visit.to(cancels[0]),
      { class: "form-side" },
      panel(
        cancels[1],
        {},
        body(h("p", null, "The link stops working, and the amount and its fee are released.")),
        confirm(cancels[1], { isConfirmed: visit.user.isConfirmed, kind: "danger" })
      )
    )
]

export const metadataFact = (metadata: Readonly<Record<string, string>>): Fact | null =>
  Object.keys(metadata).length === 0
    ? null
    : [
        "Metadata",
        Object.entries(metadata).map(([key, value]) => h("div", null, h("code", null, `${key}=${value}`)))
      ]

/** Fields for an amount and its currency. `first` is selected unless the form has another currency; `also` is offered too. */
export const amountFields = (
  visit: Visit,
  first: string,
  hint: string,
  {
    required = false,
    value = "",
    also = null
  }: { readonly required?: boolean; readonly value?: string; readonly also?: string | null } = {}
) =>
  h(
    "div",
    { class: "pair" },
    entry(visit, {
      label: "Amount",
      name: "amount",
      inputMode: "decimal",
      hint,
      required,
      value
    }),
    choice(
      "Currency",
      "currency",
      [...new Set([first, ...(also === null ? [] : [also]), visit.preferences.currency, "usd", "sats"])].map(
        (one) => [one, one === "sats" ? "sats" : one.toUpperCase()]
      ),
      visit.form.get("currency") ?? first
    )
  )

/** Returns a form's amount with its currency; undefined if the amount is empty. */
export const amountOf = <Accepted extends Currency = Currency>(
  visit: Visit
): { readonly amount: number; readonly currency: Accepted } | undefined => {
  const amount = numberIn(visit, "amount")
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the API rejects any other text
  return amount === undefined ? undefined : { amount, currency: text(visit, "currency") as Accepted }
}

export const descriptionField = (visit: Visit, hint: string) =>
  entry(visit, { label: "What for", name: "description", optional: true, maxLength: 200, hint })

export const descriptionOf = (visit: Visit): { readonly description?: string } => {
  const description = text(visit, "description")
  return description === "" ? {} : { description }
}

/** The sats that the simulated wallet pays for a code without an amount. */
export const freeSats = 1000
