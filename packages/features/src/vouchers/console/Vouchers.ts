import { h } from "preact"
import * as Formats from "@satrail/ui/console/Format"
import { type List, pagesOf } from "@satrail/ui/console/List"
import {
  confirmed,
  type Elsewhere,
  may,
  type Page,
  type Shown,
  text,
  type Visit
} from "@satrail/ui/console/Page"
import {
  button,
  confirm,
  copied,
  date,
  fields,
  formPanel,
  link,
  status,
  type Badge
} from "@satrail/ui/console/Parts"
import { type Column, rowLink } from "@satrail/ui/console/Table"
import type { Voucher } from "@satrail/ui/console/wire"
import {
  amountFields,
  amountOf,
  code,
  descriptionField,
  descriptionOf,
  linkPanels,
  metadataFact
} from "@satrail/ui/console/pages/Records"
import { makerFact } from "@satrail/ui/console/pages/Makers"
import type { Found } from "@satrail/ui/console/Feature"

const voucherBadge = ({ status, expires_at }: Voucher, nowMillis: number): Badge => {
  if (status === "open")
    return { tone: "wait", text: `Open, ${Formats.span(Date.parse(expires_at) - nowMillis)} left` }
  if (status === "claimed") return { tone: "good", text: "Claimed" }
  return { tone: "idle", text: status === "expired" ? "Expired" : "Canceled" }
}

const voucherTitle = ({ description }: Voucher): string => (description === "" ? "Voucher" : description)
const vouchersList: List<Voucher> = {
  path: "vouchers",
  nav: "vouchers",
  title: "Vouchers",
  lead: "A link that pays the first wallet to claim it. Its amount is held until then.",
  glyph: "ticket",
  noun: "vouchers",
  none: "Create one to give someone sats without knowing their wallet.",
  read: ({ api }, query) => api.page("GET /v1/vouchers", { query }),
  at: ({ created_at }) => created_at,
  kinds: [
    ["open", "Open", ({ status }) => status === "open"],
    ["claimed", "Claimed", ({ status }) => status === "claimed"],
    ["over", "Expired or canceled", ({ status }) => status === "expired" || status === "canceled"]
  ],
  columns: ({ say, to }): ReadonlyArray<Column<Voucher>> => [
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
      cell: (voucher) => rowLink(to(`vouchers/${voucher.id}`), voucherTitle(voucher))
    },
    { title: "Status", place: "c4", cell: (voucher) => status(voucherBadge(voucher, say.nowMillis)) },
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
    "fee_sats",
    "withdrawal_id",
    "refund_id",
    "created_by",
    "expires_at",
    "metadata"
  ],
  create: (visit) => may(visit, "send") && button(visit.to("vouchers/new"), "New voucher", "main", "plus")
}

const create = (visit: Visit): Shown => {
  const { to, once, user } = visit
  return {
    title: "New voucher",
    crumbs: [["Vouchers", "vouchers"]],
    body: formPanel({ action: to("vouchers/new"), label: "New voucher", once }, [
      fields(
        amountFields(visit, "sats", "The fee is added", { required: true }),
        descriptionField(visit, "Shown by the wallet that claims it")
      ),
      confirm("Create voucher", {
        isConfirmed: user.isConfirmed,
        why: "The amount is held until someone claims the voucher, or it expires."
      })
    ])
  }
}

const made = async (visit: Visit): Promise<Shown> => {
  await confirmed(visit)
  const { id, amount_sats, lnurl } = await visit.api.call("POST /v1/vouchers", {
    once: text(visit, "once"),
    body: { amount: 0, currency: "sats", ...amountOf(visit), ...descriptionOf(visit) }
  })
  return {
    title: `Voucher of ${Formats.inSats(amount_sats)} created`,
    crumbs: [["Vouchers", "vouchers"]],
    body: [
      code(
        "Link",
        "voucher",
        lnurl,
        h("p", null, "Anyone with this link can claim the money. Copy it now: it won’t be shown again."),
        h("p", null, button(visit.to(`vouchers/${id}`), "Done", "main"))
      )
    ]
  }
}

const show = async (visit: Visit): Promise<Shown> => {
  const { api, say, to, id } = visit
  const voucher = await api.call("GET /v1/vouchers/{id}", { params: { id } })
  const { withdrawal_id: withdrawal, refund_id: refund } = voucher
  return {
    title: voucherTitle(voucher),
    figure: [Formats.sats(voucher.amount_sats), " ", h("small", null, Formats.unit(voucher.amount_sats))],
    status: voucherBadge(voucher, say.nowMillis),
    lead: voucher.description,
    crumbs: [["Vouchers", "vouchers"]],
    isLive: true,
    body: linkPanels(visit, voucher.status === "open" && [`vouchers/${id}`, "Cancel voucher"], [
      ["Worth now", say.fiat(voucher.amount_sats) ?? "unknown"],
      ["Fee", Formats.exactSats(voucher.fee_sats)],
      ["Created", date(say, voucher.created_at)],
      await makerFact(visit, voucher),
      ["Expires", date(say, voucher.expires_at)],
      withdrawal === null ? null : ["Claimed by", link(to(`payments/out/${withdrawal}`), "Outgoing payment")],
      refund === null ? null : ["Refund", link(to(`refunds/${refund}`), "Refund")],
      ["Id", copied(voucher.id, "voucher id")],
      ["Ledger", copied(voucher.ledger_tx_id, "ledger id")],
      metadataFact(voucher.metadata)
    ])
  }
}

const cancel = async (visit: Visit): Promise<Elsewhere> => {
  const { id } = visit
  await confirmed(visit)
  await visit.api.call("POST /v1/vouchers/{id}/cancel", { params: { id } })
  return { redirect: `vouchers/${id}` }
}

export const found = async ({ api, say, to }: Visit, id: string): Promise<Found> => {
  const voucher = await api.call("GET /v1/vouchers/{id}", { params: { id } })
  return {
    key: id,
    href: to(`vouchers/${id}`),
    title: voucherTitle(voucher),
    badge: voucherBadge(voucher, say.nowMillis),
    atMillis: Date.parse(voucher.created_at),
    amount: Formats.sats(voucher.amount_sats),
    value: say.fiat(voucher.amount_sats) ?? ""
  }
}

export const vouchers: ReadonlyArray<Page> = [
  ...pagesOf(vouchersList),
  { path: "vouchers/new", nav: "vouchers", needs: "send", get: create, post: made },
  { path: "vouchers/:id", nav: "vouchers", get: show, post: cancel }
]
