import { h } from "preact"
import type { Found } from "@satrail/ui/console/Feature"
import * as Formats from "@satrail/ui/console/Format"
import { cursorOf, filtering, type List, pages as pagesAt, pagesOf } from "@satrail/ui/console/List"
import * as Range from "@satrail/ui/console/Range"
import { crumbsOf } from "@satrail/ui/console/operator/Common"
import {
  confirmed,
  type Elsewhere,
  may,
  type OperatorVisit,
  type Page,
  type Shown,
  text,
  type Visit
} from "@satrail/ui/console/Page"
import {
  body,
  button,
  chips,
  confirm,
  copied,
  date,
  empty,
  entry,
  factPanel,
  fields,
  form,
  formPanel,
  link,
  panel,
  plain,
  type Badge
} from "@satrail/ui/console/Parts"
import {
  amountFields,
  amountOf,
  descriptionField,
  descriptionOf,
  metadataFact
} from "@satrail/ui/console/pages/Records"
import { elided } from "@satrail/ui/console/pages/Rows"
import { type Column, paging, rowLink, table } from "@satrail/ui/console/Table"
import type { Transfer } from "@satrail/ui/console/wire"

const isSent = ({ company_id }: Transfer, companyId: string): boolean => company_id === companyId
const otherOf = (transfer: Transfer, companyId: string): string =>
  isSent(transfer, companyId) ? transfer.to : transfer.company_id
const signed = (transfer: Transfer, companyId: string): number =>
  isSent(transfer, companyId) ? -transfer.amount_sats : transfer.amount_sats
const titleOf = (transfer: Transfer, companyId: string): string =>
  transfer.description !== ""
    ? transfer.description
    : `Transfer ${isSent(transfer, companyId) ? "sent" : "received"}`

const badgeOf = ({ amount_sats, returned_sats, return_of }: Transfer): Badge =>
  return_of !== null
    ? { tone: "good", text: "Return" }
    : returned_sats === 0
      ? { tone: "good", text: "Completed" }
      : { tone: "idle", text: returned_sats === amount_sats ? "Returned" : "Returned in part" }

const columnsOf = (
  companyId: string,
  say: Visit["say"],
  href: ((id: string) => string) | undefined
): ReadonlyArray<Column<Transfer>> => [
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
    cell: (transfer) =>
      href === undefined
        ? titleOf(transfer, companyId)
        : rowLink(href(transfer.id), titleOf(transfer, companyId))
  },
  {
    title: "Other account",
    place: "c4",
    kind: "soft",
    cell: (transfer) => elided(otherOf(transfer, companyId))
  },
  {
    title: "Amount, sats",
    place: "c2",
    kind: "amount",
    cell: (transfer) => Formats.signed(signed(transfer, companyId))
  }
]

const transfersList: List<Transfer> = {
  path: "transfers",
  nav: "transfers",
  title: "Transfers",
  lead: "Money to and from other accounts of this service. It arrives at once, without a fee.",
  glyph: "send",
  noun: "transfers",
  none: "Send money to another account of this service by its id.",
  read: ({ api }, query) => api.page("GET /v1/transfers", { query }),
  at: ({ created_at }) => created_at,
  kinds: [
    ["returned", "Returned", ({ returned_sats }) => returned_sats > 0],
    ["return", "Returns", ({ return_of }) => return_of !== null]
  ],
  columns: ({ account, say, to }) => columnsOf(account.id, say, (id) => to(`transfers/${id}`)),
  csv: [
    "created_at",
    "id",
    "company_id",
    "to",
    "description",
    "amount_sats",
    "returned_sats",
    "return_of",
    "metadata"
  ],
  create: (visit) => may(visit, "send") && button(visit.to("transfers/new"), "New transfer", "main", "plus")
}

const create = (visit: Visit): Shown => {
  const { to, once, user, query } = visit
  return {
    title: "New transfer",
    crumbs: [["Transfers", "transfers"]],
    body: formPanel({ action: to("transfers/new"), label: "New transfer", once }, [
      fields(
        entry(visit, {
          label: "To",
          name: "to",
          required: true,
          value: query.get("to") ?? "",
          hint: "The id of another account of this service. Its limits page shows it"
        }),
        amountFields(visit, query.get("currency") ?? "sats", "There is no fee", {
          required: true,
          value: query.get("amount") ?? ""
        }),
        descriptionField(visit, "The other account sees it, too")
      ),
      confirm("Send", { isConfirmed: user.isConfirmed, why: "Only the other account can return it." })
    ])
  }
}

const made = async (visit: Visit): Promise<Elsewhere> => {
  await confirmed(visit)
  const { id } = await visit.api.call("POST /v1/transfers", {
    once: text(visit, "once"),
    body: { to: text(visit, "to"), amount: 0, currency: "sats", ...amountOf(visit), ...descriptionOf(visit) }
  })
  return { redirect: may(visit, "read") ? `transfers/${id}` : "" }
}

const show = async (visit: Visit): Promise<Shown> => {
  const { account, api, say, to, id, once, user } = visit
  const transfer = await api.call("GET /v1/transfers/{id}", { params: { id } })
  const { amount_sats, returned_sats, return_of } = transfer
  const sent = isSent(transfer, account.id)
  const left = amount_sats - returned_sats
  return {
    title: titleOf(transfer, account.id),
    figure: [Formats.signed(signed(transfer, account.id)), " ", h("small", null, Formats.unit(amount_sats))],
    status: badgeOf(transfer),
    crumbs: [["Transfers", "transfers"]],
    body: [
      factPanel("Details", [
        [sent ? "To" : "From", copied(otherOf(transfer, account.id), "account id")],
        ["Worth now", say.fiat(amount_sats) ?? "unknown"],
        returned_sats === 0 ? null : ["Returned", Formats.exactSats(returned_sats)],
        return_of === null ? null : ["Return of", link(to(`transfers/${return_of}`), "Transfer")],
        transfer.deposit_id === null
          ? null
          : [
              "Share of",
              sent
                ? link(to(`payments/in/${transfer.deposit_id}`), "Payment")
                : copied(transfer.deposit_id, "deposit id")
            ],
        ["Completed", date(say, transfer.created_at)],
        ["Id", copied(transfer.id, "transfer id")],
        ["Ledger", copied(transfer.ledger_tx_id, "ledger id")],
        metadataFact(transfer.metadata)
      ]),
      !sent &&
        left > 0 &&
        may(visit, "send") &&
        form(
          to(`transfers/${id}`),
          { once, class: "form-side" },
          panel(
            "Return",
            {},
            body(amountFields(visit, "sats", `Leave empty to return ${Formats.exactSats(left)}`)),
            confirm("Return", { isConfirmed: user.isConfirmed, kind: "danger" })
          )
        )
    ]
  }
}

const returnTransfer = async (visit: Visit): Promise<Elsewhere> => {
  await confirmed(visit)
  const { id } = await visit.api.call("POST /v1/transfers/{id}/return", {
    params: { id: visit.id },
    once: text(visit, "once"),
    body: { ...amountOf(visit) }
  })
  return { redirect: `transfers/${id}` }
}

export const found = async ({ account, api, say, to }: Visit, id: string): Promise<Found> => {
  const transfer = await api.call("GET /v1/transfers/{id}", { params: { id } })
  return {
    key: id,
    href: to(`transfers/${id}`),
    title: titleOf(transfer, account.id),
    badge: badgeOf(transfer),
    atMillis: Date.parse(transfer.created_at),
    amount: Formats.signed(signed(transfer, account.id)),
    value: say.fiat(transfer.amount_sats) ?? ""
  }
}

export const transfers: ReadonlyArray<Page> = [
  ...pagesOf(transfersList),
  { path: "transfers/new", nav: "transfers", needs: "send", get: create, post: made },
  { path: "transfers/:id", nav: "transfers", get: show, post: returnTransfer }
]

const ofCompany = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, id, say } = visit
  const { data: rows, next } = await api.page("GET /operator/companies/{companyId}/transfers", {
    params: { companyId: id },
    query: { limit: 50, cursor: cursorOf(visit), ...Range.queryOf(Range.rangeOf(visit)) }
  })
  const path = `companies/${id}/transfers`
  return {
    title: "Transfers",
    crumbs: await crumbsOf(visit),
    lead: "Money to and from other companies.",
    body: [
      h("div", { class: "chips" }, chips(Range.rangeChips(visit, filtering(path, visit)))),
      plain(
        "Transfers",
        rows.length === 0
          ? empty("send", "No transfers", "The company has sent and received none.")
          : table<Transfer>("Transfers, newest first", {
              columns: columnsOf(id, say, undefined),
              groups: [{ rows }]
            }),
        paging(rows.length, `times in ${say.zone}`, {
          ...pagesAt(path, visit, next),
          extra: Range.rangeForm(visit, path)
        })
      )
    ]
  }
}

export const operatorPages: ReadonlyArray<Page<OperatorVisit>> = [
  { path: "companies/:id/transfers", nav: "companies", get: ofCompany }
]
