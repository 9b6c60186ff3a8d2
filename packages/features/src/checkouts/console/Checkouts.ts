import { h } from "preact"
import type { Payment } from "@satrail/ui/console/Api"
import * as Formats from "@satrail/ui/console/Format"
import { type List, pagesOf } from "@satrail/ui/console/List"
import { type Elsewhere, may, type Page, type Shown, text, type Visit } from "@satrail/ui/console/Page"
import {
  act,
  body,
  button,
  copied,
  copy,
  date,
  entry,
  factPanel,
  fields,
  formPanel,
  link,
  panel,
  sides,
  stack,
  status,
  sub,
  submit,
  type Badge
} from "@satrail/ui/console/Parts"
import { type Column, rowLink } from "@satrail/ui/console/Table"
import type { Checkout } from "@satrail/ui/console/wire"
import {
  amountFields,
  amountOf,
  descriptionField,
  descriptionOf,
  metadataFact,
  paymentsPanel
} from "@satrail/ui/console/pages/Records"
import type { Found, PaymentPart } from "@satrail/ui/console/Feature"
import { optionFields, optionsOf, optionsPanel } from "./Options.ts"

const badge = (
  { status, late, expires_at, received_sats, pending_sats, amount_sats, tip_sats }: Checkout,
  nowMillis: number
): Badge => {
  switch (status) {
    case "paid":
      if (amount_sats !== null && received_sats > amount_sats + (tip_sats ?? 0))
        return { tone: "warn", text: "Overpaid" }
      return { tone: "good", text: late ? "Paid late" : "Paid" }
    case "underpaid":
      return { tone: "warn", text: "Partly paid" }
    case "open":
      if (pending_sats > 0) return { tone: "wait", text: "Confirming" }
      return { tone: "wait", text: `Open, ${Formats.span(Date.parse(expires_at) - nowMillis)} left` }
    case "expired":
      return {
        tone: received_sats > 0 ? "warn" : "idle",
        text: received_sats > 0 ? "Expired, partly paid" : "Expired"
      }
    default:
      return { tone: "idle", text: "Canceled" }
  }
}

const titleOf = ({ order_id, description }: Checkout): string =>
  order_id === null ? (description === "" ? "Checkout" : description) : `Order ${order_id}`

const priceOf = ({ fiat_amount, fiat_currency, amount_sats }: Checkout): string => {
  if (fiat_amount !== null && fiat_currency !== null)
    return Formats.fiatText(Number(fiat_amount), fiat_currency)
  return amount_sats === null ? "Any amount" : Formats.inSats(amount_sats)
}

const columns = ({ say, to }: Visit): ReadonlyArray<Column<Checkout>> => [
  {
    title: "Created",
    place: "c3",
    kind: "faint",
    isSorted: true,
    cell: ({ created_at }) => date(say, created_at)
  },
  {
    title: "Order",
    place: "c1",
    cell: (checkout) => [
      rowLink(to(`checkouts/${checkout.id}`), titleOf(checkout)),
      " ",
      checkout.order_id !== null && h("span", { class: "soft desc" }, checkout.description)
    ]
  },
  { title: "Status", place: "c4", cell: (checkout) => status(badge(checkout, say.nowMillis)) },
  {
    title: "Due, sats",
    place: "off",
    kind: "fiat",
    cell: ({ amount_sats }) => (amount_sats === null ? "any" : Formats.sats(amount_sats))
  },
  {
    title: "Received, sats",
    place: "off",
    kind: "amount",
    cell: ({ received_sats }) => (received_sats === 0 ? "–" : Formats.sats(received_sats))
  },
  { title: "Price", place: "c2", kind: "fiat", cell: priceOf }
]

const newCheckout = ({ to }: Visit) => button(to("checkouts/new"), "New checkout", "main", "plus")

const list: List<Checkout> = {
  path: "checkouts",
  nav: "checkouts",
  title: "Checkouts",
  lead: "One payment page per order. Checkouts stay in this list, paid or not.",
  glyph: "checkouts",
  noun: "checkouts",
  none: "Create one for an order, and send its link to the customer.",
  read: ({ api }, query) => api.page("GET /v1/checkouts", { query }),
  at: ({ created_at }) => created_at,
  kinds: [
    ["open", "Open", ({ status }) => status === "open"],
    ["look", "Needs attention", (checkout, nowMillis) => badge(checkout, nowMillis).tone === "warn"],
    ["paid", "Paid", ({ status }) => status === "paid"],
    ["expired", "Expired", ({ status }) => status === "expired" || status === "canceled"]
  ],
  columns,
  csv: [
    "created_at",
    "id",
    "order_id",
    "description",
    "status",
    "amount_sats",
    "received_sats",
    "fiat_amount",
    "fiat_currency",
    "paid_at",
    "metadata",
    "tip_sats"
  ],
  create: (visit) => may(visit, "receive") && newCheckout(visit)
}

const create = (visit: Visit): Shown => {
  const { to, once, preferences } = visit
  return {
    title: "New checkout",
    crumbs: [["Checkouts", "checkouts"]],
    body: formPanel({ action: to("checkouts/new"), label: "New checkout", once }, [
      fields(
        amountFields(visit, preferences.currency, "Leave empty to let the payer choose"),
        entry(visit, {
          label: "Order",
          name: "order_id",
          optional: true,
          maxLength: 200,
          hint: "Your order number. You can search for it"
        }),
        descriptionField(visit, "Shown to the customer"),
        optionFields(visit)
      ),
      submit("Create checkout")
    ])
  }
}

const made = async (visit: Visit): Promise<Elsewhere> => {
  const order = text(visit, "order_id")
  const { id, url } = await visit.api.call("POST /v1/checkouts", {
    once: text(visit, "once"),
    body: {
      amount: null,
      ...amountOf(visit),
      ...(order !== "" && { order_id: order }),
      ...descriptionOf(visit),
      ...optionsOf(visit)
    }
  })
  return may(visit, "read")
    ? { redirect: `checkouts/${id}` }
    : { redirect: new URL(url).pathname.slice(1), isBeside: true }
}

const show = async (visit: Visit): Promise<Shown> => {
  const { api, say, to, id, beside } = visit
  const [checkout, payments] = await Promise.all([
    api.call("GET /v1/checkouts/{id}", { params: { id } }),
    api.paymentsOf({ kind: "checkouts", id })
  ])
  const isOpen = checkout.status === "open" || checkout.status === "underpaid"
  return {
    title: titleOf(checkout),
    status: badge(checkout, say.nowMillis),
    lead: [
      priceOf(checkout),
      checkout.fiat_amount === null || checkout.amount_sats === null
        ? ""
        : Formats.inSats(checkout.amount_sats),
      checkout.order_id === null ? "" : checkout.description
    ]
      .filter((text) => text !== "")
      .join(" · "),
    crumbs: [["Checkouts", "checkouts"]],
    isLive: true,
    actions: [
      isOpen && may(visit, "receive") && act(to(`checkouts/${id}`), "Cancel checkout", "danger"),
      button(beside(new URL(checkout.url).pathname.slice(1)), "Open the page", "main")
    ],
    body: sides(
      stack(
        panel(
          "Link for the customer",
          {},
          body(
            h(
              "p",
              null,
              h("a", { href: beside(new URL(checkout.url).pathname.slice(1)) }, checkout.url),
              " ",
              copy(checkout.url, "link")
            )
          )
        ),
        paymentsPanel(visit, "Payments of this checkout", payments)
      ),
      stack(
        factPanel("Details", [
          ["Order", checkout.order_id ?? "none"],
          ["Price", priceOf(checkout)],
          checkout.rate === null
            ? null
            : ["Rate", `1 BTC = ${Formats.fiatText(Number(checkout.rate), checkout.fiat_currency ?? "usd")}`],
          ["Due", checkout.amount_sats === null ? "any amount" : Formats.inSats(checkout.amount_sats)],
          ["Received", Formats.inSats(checkout.received_sats)],
          checkout.pending_sats === 0 ? null : ["Confirming", Formats.inSats(checkout.pending_sats)],
          checkout.splits === null
            ? null
            : [
                "Splits",
                checkout.splits.map(({ company_id, share }) => `${share} to ${company_id}`).join(", ")
              ],
          ["Created", date(say, checkout.created_at)],
          ["Expires", date(say, checkout.expires_at)],
          ["Paid", date(say, checkout.paid_at, "not yet")]
        ]),
        optionsPanel(checkout),
        factPanel("Ids", [
          ["Reference", copied(checkout.reference, "reference")],
          ["Checkout", copied(checkout.id, "checkout id")],
          ["Invoice", copied(checkout.invoice_id, "invoice id")],
          ["Address", copied(checkout.address, "address")],
          metadataFact(checkout.metadata)
        ])
      )
    )
  }
}

const cancel = async ({ api, id }: Visit): Promise<Elsewhere> => {
  await api.call("POST /v1/checkouts/{id}/cancel", { params: { id } })
  return { redirect: `checkouts/${id}` }
}

/**
 * Returns the checkout's part of the page of a received payment: its creation, its receipt, the customer's email address, and its
 * status if the checkout needs attention.
 */
export const received = async (
  { api, say, to, beside }: Visit,
  { checkoutId }: Payment
): Promise<PaymentPart> => {
  if (checkoutId === null) return {}
  const checkout = await api.call("GET /v1/checkouts/{id}", { params: { id: checkoutId } })
  const { created_at, payer_email, reference, url } = checkout
  const standing = badge(checkout, say.nowMillis)
  return {
    actions:
      checkout.status === "paid" &&
      h(
        "a",
        { class: "btn", href: beside(`${new URL(url).pathname.slice(1)}/receipt`), download: true },
        "Receipt"
      ),
    facts: [
      [
        "Checkout",
        [
          link(to(`checkouts/${checkoutId}`), Formats.shortened(checkoutId)),
          " ",
          copy(checkoutId, "checkout id"),
          standing.tone === "warn" && sub(status(standing))
        ]
      ],
      ["Reference", [Formats.shortened(reference), " ", copy(reference, "reference")]],
      payer_email === null ? null : ["Customer", payer_email]
    ],
    subject: checkoutId,
    before: { text: "Checkout created", atMillis: Date.parse(created_at) }
  }
}

/** Returns an unpaid checkout as a search result. */
export const found = async ({ api, say, to }: Visit, id: string): Promise<Found> => {
  const checkout = await api.call("GET /v1/checkouts/{id}", { params: { id } })
  return {
    key: id,
    href: to(`checkouts/${id}`),
    title: titleOf(checkout),
    more: checkout.order_id === null ? "" : checkout.description,
    badge: badge(checkout, say.nowMillis),
    atMillis: Date.parse(checkout.created_at),
    amount: checkout.amount_sats === null ? "any" : Formats.sats(checkout.amount_sats),
    value: priceOf(checkout)
  }
}

export const checkouts: ReadonlyArray<Page> = [
  ...pagesOf(list),
  { path: "checkouts/new", nav: "checkouts", needs: "receive", get: create, post: made },
  { path: "checkouts/:id", nav: "checkouts", get: show, post: cancel }
]
