import * as Msat from "@satrail/bitcoin/Msat"
import * as Decimal from "@satrail/core/base/Decimal"
import type { Month } from "@satrail/core/features/statements/Statements"
import * as Statement from "@satrail/core/features/statements/Statement"
import { HttpServerResponse } from "effect/http"
import * as Html from "../../wire/Html.ts"

const { style, contentSecurityPolicy } = Html.styled(`
table{border-collapse:collapse;margin:1.5rem 0;width:100%}
th,td{padding:.25rem 0;text-align:left;font-weight:normal;vertical-align:top}
td{font-variant-numeric:tabular-nums;text-align:right;white-space:nowrap}
th+td+td{padding-left:1rem}
tr.sum th,tr.sum td{border-top:1px solid;font-weight:bold}
tr.part th{padding-left:1.5rem}
@media print{body{max-width:none}}`)

/** `1,234,567.001`: as accountants read it, with no more decimals than there are. */
const sats = (amount: Msat.Msat): string => {
  const [whole = "", fraction] = Decimal.format(Decimal.make(amount, 3)).split(".")
  return `${whole.replaceAll(/\B(?=(\d{3})+$)/g, ",")}${fraction === undefined ? "" : `.${fraction}`}`
}

const row = (kind: "sum" | "part", name: string, amount: Msat.Msat, count?: number): string =>
  `<tr class="${kind}"><th scope="row">${name}</th><td>${count ?? ""}</td><td>${sats(amount)}</td></tr>`

const day = (millis: number): string => new Date(millis).toISOString().slice(0, 16).replace("T", " ")

/** What was booked late is named by its times, and is there where it is any. */
const lateRow = ({ late }: Month, amount: Msat.Msat): string =>
  late.firstMillis === null || late.lastMillis === null || amount === 0n
    ? ""
    : `${row("part", `Booked late, dated ${day(late.firstMillis)} to ${day(late.lastMillis)}`, amount)}\n`

const negative = (amount: Msat.Msat): Msat.Msat => Msat.make(-amount)

/** A statement to be printed or kept. The company's name is the only text of a stranger on it. */
export const page = (one: Month & { readonly company: { readonly name: string } }): string => {
  const { opening, closing, deposits, credits, withdrawals, reversals, debits, late, fromMillis, untilMillis } = one
  const body = `<main>
<h1>Statement ${one.month}</h1>
<p>${Html.escaped(one.company.name)}<br><code>${one.companyId}</code></p>
<p>From ${day(fromMillis)} up to ${day(untilMillis)}, UTC. Amounts are in satoshis.</p>
${one.isFinal ? "" : `<p role="status"><strong>This month is not closed yet: more may be booked.</strong></p>\n`}<table>
<thead><tr><th scope="col"></th><td>Number</td><td>sats</td></tr></thead>
<tbody>
${row("sum", "Opening balance", opening.posted)}
${row("part", "Deposits", deposits.amount, deposits.count)}
${row("part", "Credits by the operator", credits.amount, credits.count)}
${lateRow(one, Statement.received(late))}${row("sum", "In", Statement.whole(Statement.received)(one))}
${row("part", "Withdrawals", negative(withdrawals.amount), withdrawals.count)}
${row("part", "Deposits taken back by the chain", negative(reversals.amount), reversals.count)}
${row("part", "Debits by the operator", negative(debits.amount), debits.count)}
${lateRow(one, negative(Statement.sent(late)))}${row("sum", "Out", negative(Statement.whole(Statement.sent)(one)))}
${row("part", "Service fees", negative(one.serviceFees))}
${row("part", "Network fees", negative(one.networkFees))}
${lateRow(one, negative(Statement.fees(late)))}${row("sum", "Fees", negative(Statement.whole(Statement.fees)(one)))}
${row("sum", "Closing balance", closing.posted)}
${row("part", "of which held for pending withdrawals and open vouchers", closing.held)}
</tbody>
</table>
</main>`
  return Html.page({ title: `Statement ${one.month}`, body, style, root: "../../" })
}

export const answer = (one: Parameters<typeof page>[0]): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(page(one), {
    contentType: "text/html; charset=utf-8",
    headers: {
      "content-security-policy": contentSecurityPolicy,
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      vary: "Accept"
    }
  })
