import * as Formats from "../Format.ts"
import { type List, pagesOf } from "../List.ts"
import { type Elsewhere, may, type Page, type Shown, text, type Visit } from "../Page.ts"
import {
  act,
  button,
  copied,
  date,
  factPanel,
  fields,
  formPanel,
  link,
  sides,
  stack,
  status,
  submit,
  type Badge
} from "../Parts.ts"
import { type Column, rowLink } from "../Table.ts"
import type { LightningInvoice } from "../wire.ts"
import {
  amountFields,
  amountOf,
  code,
  descriptionField,
  descriptionOf,
  freeSats,
  metadataFact,
  paymentsPanel
} from "./Records.ts"

export const badge = ({ status, expires_at, hold }: LightningInvoice, nowMillis: number): Badge => {
  switch (status) {
    case "settled":
      return { tone: "good", text: "Paid" }
    case "accepted":
      return hold ? { tone: "warn", text: "Held" } : { tone: "wait", text: "In progress" }
    case "open":
      return { tone: "wait", text: `Open, ${Formats.span(Date.parse(expires_at) - nowMillis)} left` }
    case "expired":
      return { tone: "idle", text: "Expired" }
    default:
      return { tone: "idle", text: "Canceled" }
  }
}

export const titleOf = ({ memo }: LightningInvoice): string => (memo === "" ? "Invoice" : memo)
export const amountText = ({ amount_sats }: LightningInvoice): string =>
  amount_sats === null ? "any" : Formats.sats(amount_sats)

const columns = ({ say, to }: Visit): ReadonlyArray<Column<LightningInvoice>> => [
  {
    title: "Created",
    place: "c3",
    kind: "faint",
    isSorted: true,
    cell: ({ created_at }) => date(say, created_at)
  },
  {
    title: "What for",
    place: "c1",
    cell: (invoice) => rowLink(to(`invoices/${invoice.id}`), titleOf(invoice))
  },
  { title: "Status", place: "c4", cell: (invoice) => status(badge(invoice, say.nowMillis)) },
  { title: "Due, sats", place: "c2", kind: "fiat", cell: amountText },
  {
    title: "Received, sats",
    place: "off",
    kind: "amount",
    cell: ({ received_sats }) => (received_sats === 0 ? "–" : Formats.sats(received_sats))
  }
]

const list: List<LightningInvoice> = {
  path: "invoices",
  nav: "invoices",
  title: "Invoices",
  lead: "A Lightning invoice can be paid once. For an order, use a checkout, which also accepts on-chain payments.",
  glyph: "receive",
  noun: "invoices",
  none: "Create one, and show its code to the payer.",
  read: ({ api, query }, asked) =>
    api.page("GET /v1/bitcoin/deposit/lightning-invoice", {
      query: { ...asked, lightning_address_id: query.get("lightning_address_id") ?? undefined }
    }),
  at: ({ created_at }) => created_at,
  kinds: [
    ["open", "Open", ({ status }) => status === "open"],
    ["accepted", "Held", ({ status }) => status === "accepted"],
    ["settled", "Paid", ({ status }) => status === "settled"],
    ["expired", "Expired", ({ status }) => status === "expired" || status === "canceled"]
  ],
  columns,
  csv: [
    "created_at",
    "id",
    ["description", ({ memo }) => memo],
    "status",
    "amount_sats",
    "received_sats",
    "settled_at",
    "deposit_id",
    ["payment_hash", ({ r_hash }) => r_hash],
    "metadata"
  ],
  also: [["lightning_address_id", "For one Lightning address"]],
  create: (visit) => may(visit, "receive") && button(visit.to("invoices/new"), "New invoice", "main", "plus")
}

const create = (visit: Visit): Shown => {
  const { to, once } = visit
  return {
    title: "New invoice",
    crumbs: [["Invoices", "invoices"]],
    body: formPanel({ action: to("invoices/new"), label: "New invoice", once }, [
      fields(
        amountFields(visit, "sats", "Leave empty to let the payer choose"),
        descriptionField(visit, "Shown to the payer")
      ),
      submit("Create invoice")
    ])
  }
}

const made = async (visit: Visit): Promise<Elsewhere> => {
  const { id } = await visit.api.call("POST /v1/bitcoin/deposit/lightning-invoice", {
    once: text(visit, "once"),
    body: { amount: null, ...amountOf(visit), ...descriptionOf(visit) }
  })
  return { redirect: `invoices/${id}` }
}

const show = async (visit: Visit): Promise<Shown> => {
  const { api, say, to, id } = visit
  const [invoice, payments] = await Promise.all([
    api.call("GET /v1/bitcoin/deposit/lightning-invoice/{invoiceID}", { params: { invoiceID: id } }),
    api.paymentsOf({ kind: "invoices", id })
  ])
  const isOpen = invoice.status === "open"
  const isHeld = invoice.hold && invoice.status === "accepted"
  const at = to(`invoices/${id}`)
  return {
    title: titleOf(invoice),
    status: badge(invoice, say.nowMillis),
    lead: invoice.amount_sats === null ? "Any amount" : Formats.inSats(invoice.amount_sats),
    crumbs: [["Invoices", "invoices"]],
    isLive: true,
    actions: may(visit, "receive") && [
      (isOpen || isHeld) && act(at, "Cancel invoice", "danger", { do: "cancel" }),
      isOpen && visit.isSandbox && act(at, "Pay from the sandbox", "main", { do: "pay" })
    ],
    body: sides(
      stack(
        isOpen && code("Code for the payer", "invoice", invoice.payment_request),
        paymentsPanel(visit, "Payments of this invoice", payments)
      ),
      stack(
        factPanel("Details", [
          ["Due", invoice.amount_sats === null ? "any amount" : Formats.inSats(invoice.amount_sats)],
          ["Received", Formats.inSats(invoice.received_sats)],
          ["Created", date(say, invoice.created_at)],
          ["Expires", date(say, invoice.expires_at)],
          ["Paid", date(say, invoice.settled_at, "not yet")],
          invoice.held_until === null ? null : ["Held until", date(say, invoice.held_until)],
          invoice.lightning_address_id === null
            ? null
            : ["Address", link(to(`addresses/${invoice.lightning_address_id}`), "Lightning address")]
        ]),
        factPanel("Ids", [
          ["Invoice", copied(invoice.id, "invoice id")],
          ["Hash", copied(invoice.r_hash, "payment hash")],
          metadataFact(invoice.metadata)
        ])
      )
    )
  }
}

const change = async (visit: Visit): Promise<Elsewhere> => {
  const { id } = visit
  const params = { invoiceID: id }
  if (text(visit, "do") === "pay") {
    const invoice = await visit.api.call("GET /v1/bitcoin/deposit/lightning-invoice/{invoiceID}", { params })
    await visit.api.call("POST /sandbox/pay", {
      body: {
        payment_request: invoice.payment_request,
        ...(invoice.amount_sats === null && { amount_sats: freeSats })
      }
    })
  } else await visit.api.call("POST /v1/bitcoin/deposit/lightning-invoice/{invoiceID}/cancel", { params })
  return { redirect: `invoices/${id}` }
}

export const invoices: ReadonlyArray<Page> = [
  ...pagesOf(list),
  { path: "invoices/new", nav: "invoices", needs: "receive", get: create, post: made },
  { path: "invoices/:id", nav: "invoices", get: show, post: change }
]
