import { h } from "preact"
import type { Hit, Payment } from "@satrail/ui/console/Api"
import type { Page, Shown, Visit } from "@satrail/ui/console/Page"
import { button, empty, plain, status, type Badge, when } from "@satrail/ui/console/Parts"
import { searchPage } from "@satrail/ui/console/SearchBox"
import { type Column, rowLink, table } from "@satrail/ui/console/Table"
import type { Found } from "@satrail/ui/console/Feature"
import { features } from "../../features/console.ts"
import { badge as addressBadge } from "@satrail/ui/console/pages/Addresses"
import {
  amountText,
  titleOf as invoiceTitle,
  badge as invoiceBadge
} from "@satrail/ui/console/pages/Invoices"
import { places } from "@satrail/ui/console/pages/Places"
import { pathOf, rowOf, signedSats, badgeOf } from "@satrail/ui/console/pages/Rows"

/** A search result: a payment, or a record without a payment. */
interface Row extends Found {
  readonly foundIn: string
}

/** The text, with the search text highlighted. */
const marked = (text: string, sought: string) => {
  const at = sought === "" ? -1 : text.toLowerCase().indexOf(sought.toLowerCase())
  if (at < 0) return text
  return [
    text.slice(0, at),
    h("mark", null, text.slice(at, at + sought.length)),
    text.slice(at + sought.length)
  ]
}

const ofPayment = ({ say, to }: Visit, payment: Payment, by: Hit["by"]): Row => {
  const row = rowOf(payment, say)
  return {
    key: payment.id,
    href: to(pathOf(payment)),
    title: row.title,
    more: row.more,
    foundIn: places[by],
    badge: badgeOf(payment),
    atMillis: payment.createdAtMillis,
    amount: signedSats(payment),
    value: row.value
  }
}

/** An address, which has no amount. */
const ofAddress = (
  visit: Visit,
  key: string,
  path: string,
  title: string,
  createdAt: string,
  badge: Badge
): Found => ({
  key,
  href: visit.to(`${path}/${key}`),
  title,
  badge,
  atMillis: Date.parse(createdAt)
})

/** Reads an address that a search found, by kind. */
const addresses: Readonly<Record<string, (visit: Visit, id: string) => Promise<Found>>> = {
  on_chain_addresses: async (visit, id) => {
    const { address, created_at } = await visit.api.call("GET /v1/bitcoin/deposit/on-chain/{id}", {
      params: { id }
    })
    return ofAddress(visit, id, "addresses/on-chain", address, created_at, { tone: "good", text: "Active" })
  },
  lightning_addresses: async (visit, id) => {
    const row = await visit.api.call("GET /v1/bitcoin/deposit/lightning-address/{id}", { params: { id } })
    return ofAddress(visit, id, "addresses", row.address, row.created_at, addressBadge(row))
  }
}

/** Returns the payments of a record that can be paid, or the record itself if it has none. */
const rowsOf = async (visit: Visit, { kind, id, by }: Hit): Promise<ReadonlyArray<Row>> => {
  const { api, say, to } = visit
  if (kind === "deposits" || kind === "withdrawals")
    return (await api.payments([{ type: kind === "deposits" ? "deposit" : "withdrawal", id }])).map(
      (payment) => ofPayment(visit, payment, by)
    )
  const payments = await api.paymentsOf({ kind, id })
  if (payments.length > 0) return payments.map((payment) => ofPayment(visit, payment, by))
  if (kind === "invoices") {
    const invoice = await api.call("GET /v1/bitcoin/deposit/lightning-invoice/{invoiceID}", {
      params: { invoiceID: id }
    })
    return [
      {
        key: id,
        href: to(`invoices/${id}`),
        title: invoiceTitle(invoice),
        foundIn: places[by],
        badge: invoiceBadge(invoice, say.nowMillis),
        atMillis: Date.parse(invoice.created_at),
        amount: amountText(invoice)
      }
    ]
  }
  const address = addresses[kind]
  if (address !== undefined) return [{ ...(await address(visit, id)), foundIn: places[by] }]
  const record = await features.find(({ name }) => name === kind)?.records?.finds?.(visit, id)
  return record === undefined ? [] : [{ ...record, foundIn: places[by] }]
}

const columns = ({ say }: Visit, sought: string): ReadonlyArray<Column<Row>> => [
  { title: "Time", place: "c3", kind: "faint", cell: ({ atMillis }) => when(atMillis, say.when(atMillis)) },
  {
    title: "What",
    place: "c1",
    cell: ({ href, title, more = "" }) => [
      rowLink(href, marked(title, sought)),
      " ",
      h("span", { class: "soft desc" }, marked(more, sought))
    ]
  },
  { title: "Found in", place: "all", kind: "soft", cell: ({ foundIn }) => foundIn },
  { title: "Status", place: "c4", cell: ({ badge }) => status(badge) },
  { title: "Amount, sats", place: "c2", kind: "amount", cell: ({ amount }) => amount },
  { title: "Value", place: "off", kind: "fiat", cell: ({ value }) => value }
]

/** The invoice and the deposit of a payment both match, so remove duplicates to show each payment once. */
const distinct = (rows: ReadonlyArray<Row>): ReadonlyArray<Row> => {
  const known = new Map<string, Row>()
  for (const row of rows) if (!known.has(row.key)) known.set(row.key, row)
  return [...known.values()].toSorted((a, b) => b.atMillis - a.atMillis)
}

/** The order of these kinds, which come after the features' kinds. */
const order: ReadonlyArray<Hit["kind"]> = ["deposits", "withdrawals", "invoices", ...Object.keys(addresses)]

const results = async (visit: Visit, sought: string, shown: string): Promise<Shown> => {
  const { api, to } = visit
  const { hits, isAll } = sought === "" ? { hits: [], isAll: true } : await api.search(sought)
  const sorted = hits.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
  const found = await Promise.all(sorted.map((hit) => rowsOf(visit, hit)))
  const rows = distinct(found.flat())
  const count = isAll ? String(rows.length) : `${rows.length} or more`
  const title =
    rows.length === 0
      ? `No results for “${shown}”`
      : `${count} ${count === "1" ? "result" : "results"} for “${shown}”`
  return {
    title: sought === "" ? "Search" : title,
    body: plain(
      "Results",
      rows.length === 0
        ? empty(
            "search",
            sought === "" ? "Enter something to search for" : "No results",
            "Search for an order, a reference, an email, a description, a metadata value, an amount, an invoice, an address, a link, or the beginning of an id or hash.",
            button(to("payments"), "All payments", "main")
          )
        : table("Results", {
            columns: columns(visit, sought),
            groups: [{ rows }],
            kind: "pay-table found",
            opens: true
          }),
      sought !== "" &&
        "Searched orders, references, emails, metadata, ids, hashes, addresses, amounts in sats, and the newest descriptions, recipients and fiat amounts."
    )
  }
}

export const search: Page = searchPage(results)
