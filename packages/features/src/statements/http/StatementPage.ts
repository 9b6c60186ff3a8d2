import * as Msat from "@satrail/bitcoin/Msat"
import * as Decimal from "@satrail/core/base/Decimal"
import type { Month } from "../core/Statements.ts"
import * as Statement from "../core/Statement.ts"
import { h } from "@satrail/ui/Html"
import { HttpServerResponse } from "effect/http"
import * as Html from "@satrail/http/wire/Html"

/** Formats an amount for accountants: `1,234,567.001`, with only the necessary decimals. */
const sats = (amount: Msat.Msat): string => {
  const [whole = "", fraction] = Decimal.format(Decimal.make(amount, 3)).split(".")
  return `${whole.replaceAll(/\B(?=(\d{3})+$)/g, ",")}${fraction === undefined ? "" : `.${fraction}`}`
}

const row = (kind: "sum" | "part", name: string, amount: Msat.Msat, count?: number) =>
  h("tr", { class: kind }, h("th", { scope: "row" }, name), h("td", null, count), h("td", null, sats(amount)))

const day = (millis: number): string => new Date(millis).toISOString().slice(0, 16).replace("T", " ")

/** Row of late entries with their dates, omitted if there are none. */
const lateRow = ({ late }: Month, amount: Msat.Msat) =>
  late.firstMillis === null || late.lastMillis === null || amount === 0n
    ? null
    : row("part", `Posted late, dated ${day(late.firstMillis)} to ${day(late.lastMillis)}`, amount)

const negative = (amount: Msat.Msat): Msat.Msat => Msat.make(-amount)

/** Renders a statement as a page to print or store. */
export const page = (one: Month & { readonly company: { readonly name: string } }) => {
  const {
    opening,
    closing,
    deposits,
    credits,
    withdrawals,
    reversals,
    debits,
    transfersIn,
    transfersOut,
    late,
    fromMillis,
    untilMillis
  } = one
  const title = `Statement ${one.month}`
  const rows = [
    row("sum", "Opening balance", opening.posted),
    row("part", "Deposits", deposits.amount, deposits.count),
    row("part", "Credits by the operator", credits.amount, credits.count),
    transfersIn.count > 0 && row("part", "Transfers received", transfersIn.amount, transfersIn.count),
    lateRow(one, Statement.received(late)),
    row("sum", "In", Statement.whole(Statement.received)(one)),
    row("part", "Withdrawals", negative(withdrawals.amount), withdrawals.count),
    row("part", "Deposits reversed by the chain", negative(reversals.amount), reversals.count),
    row("part", "Debits by the operator", negative(debits.amount), debits.count),
    transfersOut.count > 0 &&
      row("part", "Transfers sent", negative(transfersOut.amount), transfersOut.count),
    lateRow(one, negative(Statement.sent(late))),
    row("sum", "Out", negative(Statement.whole(Statement.sent)(one))),
    row("part", "Service fees", negative(one.serviceFees)),
    row("part", "Network fees", negative(one.networkFees)),
    lateRow(one, negative(Statement.fees(late))),
    row("sum", "Fees", negative(Statement.whole(Statement.fees)(one))),
    row("sum", "Closing balance", closing.posted),
    row("part", "of which held for pending withdrawals and open vouchers", closing.held)
  ]
  const columns = h("tr", null, h("th", { scope: "col" }), h("td", null, "Number"), h("td", null, "sats"))
  const body = h(
    "main",
    null,
    h("h1", null, title),
    h("p", null, one.company.name, h("br", null), h("code", null, one.companyId)),
    h("p", null, `From ${day(fromMillis)} up to ${day(untilMillis)}, UTC. Amounts are in satoshis.`),
    !one.isFinal &&
      h(
        "p",
        { class: "note", role: "status" },
        "This month is not closed yet, so more entries may be posted."
      ),
    h("table", null, h("thead", null, columns), h("tbody", null, rows))
  )
  return Html.kept({ title, body, kind: "statement", root: "../../" })
}

export const answer = (one: Parameters<typeof page>[0]): HttpServerResponse.HttpServerResponse => {
  const { html, contentSecurityPolicy } = page(one)
  return HttpServerResponse.text(html, {
    contentType: "text/html; charset=utf-8",
    headers: {
      "content-security-policy": contentSecurityPolicy,
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      vary: "Accept"
    }
  })
}
