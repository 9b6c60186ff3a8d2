import { makerFact } from "@satrail/ui/console/pages/Makers"
import { h } from "preact"
import type { Payment } from "@satrail/ui/console/Api"
import * as Formats from "@satrail/ui/console/Format"
import { type List, pagesOf } from "@satrail/ui/console/List"
import {
  confirmed,
  type Elsewhere,
  may,
  type Page,
  type Shown,
  type Visit,
  whoMay
} from "@satrail/ui/console/Page"
import { button, copied, copy, date, link, panel, status, sub, type Badge } from "@satrail/ui/console/Parts"
import { linkPanels, metadataFact } from "@satrail/ui/console/pages/Records"
import { titleOf, badgeOf } from "@satrail/ui/console/pages/Rows"
import { type Column, rowLink, table } from "@satrail/ui/console/Table"
import type { Deposit, Refund } from "@satrail/ui/console/wire"
import type { PaymentPart } from "@satrail/ui/console/Feature"

const refundWords: Readonly<Record<Refund["status"], Badge>> = {
  open: { tone: "wait", text: "Not claimed yet" },
  pending: { tone: "wait", text: "On its way" },
  completed: { tone: "good", text: "Refunded" },
  failed: { tone: "bad", text: "Failed, returned" },
  expired: { tone: "idle", text: "Expired, returned" },
  canceled: { tone: "idle", text: "Canceled, returned" }
}

/** A refund, and the title and order of the payment that it refunds, in the list of all refunds. Large metadata isn't kept. */
type Row = Refund & {
  readonly of?: { readonly title: string; readonly orderId: string | null } | undefined
  readonly badge: Badge
}

/** Adds the status of each refund. One that is being sent has the status of its payment, which can await approval. */
const withStatus = async ({ api }: Visit, rows: ReadonlyArray<Refund>): Promise<ReadonlyArray<Row>> => {
  const sent = rows.flatMap(({ status, withdrawal_id: id }) =>
    status === "pending" && id !== null ? [{ type: "withdrawal" as const, id }] : []
  )
  const waiting = new Map((await api.payments(sent)).map((payment) => [payment.id, payment]))
  return rows.map((refund) => {
    const payment = waiting.get(refund.withdrawal_id ?? "")
    return {
      ...refund,
      badge: payment?.status === "pending_approval" ? badgeOf(payment) : refundWords[refund.status]
    }
  })
}

const refundTitle = ({ description }: Refund): string => (description === "" ? "Refund" : description)

/** Reads a page of refunds, and the payments that they refund in one read. */
const read: List<Row>["read"] = async (visit, query) => {
  const { api } = visit
  const page = await api.page("GET /v1/refunds", { query })
  const payments = await api.payments(page.data.map(({ deposit_id: id }) => ({ type: "deposit", id })))
  const byId = new Map(
    payments.map((payment) => [payment.id, { title: titleOf(payment), orderId: payment.orderId }])
  )
  return {
    ...page,
    data: (await withStatus(visit, page.data)).map((refund) => ({
      ...refund,
      of: byId.get(refund.deposit_id)
    }))
  }
}

const refundsList: List<Row> = {
  path: "refunds",
  nav: "refunds",
  title: "Refunds",
  lead: "To refund a payment, open it and choose “Refund…”.",
  glyph: "refund",
  noun: "refunds",
  none: "Open a payment to refund it.",
  read,
  at: ({ created_at }) => created_at,
  kinds: [
    ["open", "Open", ({ status }) => status === "open" || status === "pending"],
    ["completed", "Refunded", ({ status }) => status === "completed"],
    [
      "returned",
      "Returned",
      ({ status }) => status === "failed" || status === "expired" || status === "canceled"
    ]
  ],
  columns: ({ say, to }): ReadonlyArray<Column<Row>> => [
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
      cell: (refund) => [
        rowLink(to(`refunds/${refund.id}`), refundTitle(refund)),
        " ",
        refund.of && h("span", { class: "soft desc" }, refund.of.title)
      ]
    },
    { title: "Status", place: "c4", cell: ({ badge }) => status(badge) },
    {
      title: "Amount, sats",
      place: "c2",
      kind: "amount",
      cell: ({ amount_sats }) => Formats.sats(amount_sats)
    },
    { title: "Value now", place: "off", kind: "fiat", cell: ({ amount_sats }) => say.fiat(amount_sats) ?? "" }
  ],
  csv: [
    "created_at",
    "id",
    "description",
    "status",
    "amount_sats",
    "deposit_id",
    "withdrawal_id",
    "checkout_id",
    "created_by",
    "metadata",
    ["order_id", ({ of }) => of?.orderId ?? null]
  ]
}

const show = async (visit: Visit): Promise<Shown> => {
  const { api, say, to, id } = visit
  const refund = await api.call("GET /v1/refunds/{id}", { params: { id } })
  const { withdrawal_id: withdrawal, checkout_id: checkout } = refund
  const [row] = await withStatus(visit, [refund])
  return {
    title: refundTitle(refund),
    figure: [Formats.sats(refund.amount_sats), " ", h("small", null, Formats.unit(refund.amount_sats))],
    status: row?.badge ?? refundWords[refund.status],
    lead: refund.description,
    crumbs: [["Refunds", "refunds"]],
    isLive: true,
    body: linkPanels(visit, refund.status === "open" && [`refunds/${id}`, "Cancel refund"], [
      ["Worth now", say.fiat(refund.amount_sats) ?? "unknown"],
      ["Of", link(to(`payments/in/${refund.deposit_id}`), "Payment received")],
      withdrawal === null ? null : ["Paid by", link(to(`payments/out/${withdrawal}`), "Outgoing payment")],
      checkout === null ? null : ["Checkout", link(to(`checkouts/${checkout}`), "Checkout")],
      ["Created", date(say, refund.created_at)],
      await makerFact(visit, refund),
      ["Id", copied(refund.id, "refund id")],
      metadataFact(refund.metadata)
    ])
  }
}

/** Returns a received payment's newest 100 refunds, and what is left to refund. */
export const received = async (visit: Visit, _: Payment, deposit: Deposit): Promise<PaymentPart> => {
  const { api, to } = visit
  const { id, amount_sats, refunded_sats, status: standing } = deposit
  const rows = await withStatus(visit, await api.call("GET /v1/refunds", { query: { deposit_id: id } }))
  const [left, mayRefund] = [amount_sats - refunded_sats, may(visit, "send")]
  const isRefundable = left > 0 && standing === "settled"
  return {
    actions: isRefundable && mayRefund && button(to(`payments/in/${id}/refund`), "Refund…", "main"),
    facts: [
      ["Refunded", refunded_sats === 0 ? "Nothing" : Formats.inSats(refunded_sats)],
      [
        "Refundable",
        standing === "pending"
          ? "After confirmation"
          : [Formats.inSats(left), isRefundable && !mayRefund && sub(whoMay("refund", "send"))]
      ]
    ],
    panel:
      rows.length > 0 &&
      panel(
        "Refunds",
        { isRuled: true },
        table("Refunds", {
          columns: refundsList.columns(visit),
          groups: [{ rows }],
          kind: "mid",
          opens: true
        })
      )
  }
}

/** Returns a link to the refund that a withdrawal pays. */
export const sent = async ({ to }: Visit, { refundId }: Payment): Promise<PaymentPart> => ({
  facts: [
    refundId === null
      ? null
      : [
          "Refund",
          [link(to(`refunds/${refundId}`), Formats.shortened(refundId)), " ", copy(refundId, "refund id")]
        ]
  ],
  subject: refundId
})

const cancel = async (visit: Visit): Promise<Elsewhere> => {
  const { id } = visit
  await confirmed(visit)
  await visit.api.call("POST /v1/refunds/{id}/cancel", { params: { id } })
  return { redirect: `refunds/${id}` }
}

export const refunds: ReadonlyArray<Page> = [
  ...pagesOf(refundsList),
  { path: "refunds/:id", nav: "refunds", get: show, post: cancel }
]
