import * as Msat from "@satrail/bitcoin/Msat"
import { Companies } from "@satrail/core/accounts/Companies"
import type { Company } from "@satrail/core/accounts/Company"
import * as Core from "../core/Statements.ts"
import * as Statement from "../core/Statement.ts"
import { Effect, Option, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { companyId, Scopes } from "@satrail/http/api/Authentication"
import * as Envelope from "@satrail/http/wire/Envelope"
import * as Errors from "@satrail/http/wire/Errors"
import { Example, type World } from "@satrail/http/wire/Examples"
import * as Scalars from "@satrail/http/wire/Scalars"
import * as Section from "@satrail/http/api/Section"
import * as StatementPage from "./StatementPage.ts"
import * as Member from "@satrail/http/wire/Member"
import * as View from "@satrail/http/wire/View"

export interface Shown extends Core.Month {
  readonly company: Pick<Company, "name">
}

const Sats = (description: string, example: number) =>
  Scalars.ExactSats.annotate({
    description: `${description}, in satoshis with up to three decimals`,
    examples: [example]
  })
const Fees = (description: string, example: number) =>
  Sats(description, example).annotate({ format: Scalars.format.due })
const Count = (description: string) => Schema.Int.annotate({ description, examples: [1] })

export const view = View.make<Shown>()(
  { identifier: "Statement" },
  {
    company_id: Member.uuid((row) => row.companyId),
    company_name: Member.text((row) => row.company.name),
    month: [Schema.String.annotate({ examples: ["2026-01"] }), (row) => row.month],
    from: Member.instant((row) => row.fromMillis, "Start of the month, in UTC"),
    to: Member.instant((row) => row.untilMillis, "Start of the next month, in UTC"),
    is_final: [
      Schema.Boolean.annotate({
        description: `Whether this month is closed. A closed statement no longer changes. A month can be closed from ${Statement.settlingMillis / 60_000} minutes after its end. Entries posted later with a time in a closed month appear in the first open month, in \`late_…\``
      }),
      (row) => row.isFinal
    ],
    opening_sats: [
      Sats("Balance at the start of the month", 1000),
      (row) => Scalars.exactSats(row.opening.posted)
    ],
    in_sats: [
      Sats("Total received: deposits, credits, transfers and `late_in_sats`", 21_000),
      (row) => Scalars.exactSats(Statement.whole(Statement.received)(row))
    ],
    deposits_sats: [Sats("Credited deposits", 21_000), (row) => Scalars.exactSats(row.deposits.amount)],
    deposits: [Count("Number of deposits"), (row) => row.deposits.count],
    credits_sats: [Sats("Credits by the operator", 0), (row) => Scalars.exactSats(row.credits.amount)],
    transfers_in_sats: [
      Sats("Transfers from other companies", 0),
      (row) => Scalars.exactSats(row.transfersIn.amount)
    ],
    out_sats: [
      Sats("Total sent, without fees: withdrawals, reversals, debits, transfers and `late_out_sats`", 3000),
      (row) => Scalars.exactSats(Statement.whole(Statement.sent)(row))
    ],
    withdrawals_sats: [
      Sats("Amounts that payees received", 3000),
      (row) => Scalars.exactSats(row.withdrawals.amount)
    ],
    withdrawals: [Count("Number of withdrawals"), (row) => row.withdrawals.count],
    reversals_sats: [
      Sats("Deposits removed by chain reorganizations", 0),
      (row) => Scalars.exactSats(row.reversals.amount)
    ],
    reversals: [Count("Number of reversals"), (row) => row.reversals.count],
    debits_sats: [Sats("Debits by the operator", 0), (row) => Scalars.exactSats(row.debits.amount)],
    transfers_out_sats: [
      Sats("Transfers to other companies", 0),
      (row) => Scalars.exactSats(row.transfersOut.amount)
    ],
    fees_sats: [
      Fees("Total fees: service fees, network fees and `late_fees_sats`", 35),
      (row) => Scalars.exactSats(Statement.whole(Statement.fees)(row))
    ],
    service_fees_sats: [Fees("Service fees", 15), (row) => Scalars.exactSats(row.serviceFees)],
    network_fees_sats: [
      Fees("Fees charged for routing and mining", 20),
      (row) => Scalars.exactSats(row.networkFees)
    ],
    late: [
      Schema.Int.annotate({
        description:
          "Number of late entries: entries dated in a month that was already closed when they were posted",
        examples: [0]
      }),
      (row) => Statement.bookings(row.late)
    ],
    late_in_sats: [
      Sats("Received in late entries", 0),
      (row) => Scalars.exactSats(Statement.received(row.late))
    ],
    late_out_sats: [
      Sats("Sent in late entries, without fees", 0),
      (row) => Scalars.exactSats(Statement.sent(row.late))
    ],
    late_fees_sats: [Fees("Fees of late entries", 0), (row) => Scalars.exactSats(Statement.fees(row.late))],
    late_from: Member.instantOrNull(
      (row) => row.late.firstMillis,
      "Earliest time of a late entry; null if none"
    ),
    late_to: Member.instantOrNull((row) => row.late.lastMillis, "Latest time of a late entry; null if none"),
    closing_sats: [
      Sats("Balance at the end of the month: `opening_sats + in_sats - out_sats - fees_sats`", 18_965),
      (row) => Scalars.exactSats(row.closing.posted)
    ],
    closing_held_sats: [
      Sats("Part of the closing balance held for pending withdrawals and open vouchers", 0),
      (row) => Scalars.exactSats(row.closing.held)
    ]
  }
)

const example = ({ companyId }: World): Shown => {
  const [opening, deposits, withdrawals] = [1000, 21_000, 3000].map((sats) => Msat.fromSats(sats))
  const none = { amount: Msat.zero, count: 0 }
  const nothing = {
    deposits: none,
    credits: none,
    transfersIn: none,
    withdrawals: none,
    reversals: none,
    debits: none,
    transfersOut: none
  }
  return {
    companyId,
    company: { name: "Example Ltd" },
    month: "2026-01",
    ...(Statement.monthOf("2026-01") ?? { fromMillis: 0, untilMillis: 0 }),
    isFinal: true,
    opening: { posted: opening ?? Msat.zero, held: Msat.zero },
    ...nothing,
    deposits: { amount: deposits ?? Msat.zero, count: 1 },
    withdrawals: { amount: withdrawals ?? Msat.zero, count: 1 },
    serviceFees: Msat.fromSats(15),
    networkFees: Msat.fromSats(20),
    late: { ...nothing, serviceFees: Msat.zero, networkFees: Msat.zero, firstMillis: null, lastMillis: null },
    closing: { posted: Msat.fromSats(18_965), held: Msat.zero }
  }
}

const page = Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/html; charset=utf-8" }))

/** Returns whether the client prefers HTML to JSON, as browsers do. */
const prefersPage = Effect.map(Effect.serviceOption(HttpServerRequest.HttpServerRequest), (request) => {
  const accept = Option.match(request, { onNone: () => "", onSome: ({ headers }) => headers["accept"] ?? "" })
  const [html, json] = ["text/html", "application/json"].map((type) => accept.indexOf(type))
  return html !== undefined && html >= 0 && (json === undefined || json < 0 || html < json)
})

export const get = Section.company(
  HttpApiEndpoint.get("getStatement", "/v1/statements/:month", {
    params: {
      month: Schema.String.annotate({
        description: "Month that has started, as `YYYY-MM`, in UTC",
        examples: ["2026-01"]
      }).check(Scalars.stated(() => undefined, { pattern: "^[0-9]{4}-(?:0[1-9]|1[0-2])$" }))
    },
    query: {
      format: Schema.optionalKey(
        Schema.Literals(["json", "html"]).annotate({
          description:
            "`html` returns a printable page without scripts. Default: the first supported type in `Accept`, or JSON"
        })
      )
    },
    success: [Envelope.success(200, view.schema), page],
    error: Errors.of("malformed", "not_found", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "Get a monthly statement")
    .annotate(
      OpenApi.Description,
      "Returns the opening balance, receipts, payments, fees and closing balance of a month, exact to the millisatoshi. Months start and end at midnight UTC. The current month's statement covers entries posted so far. The first request for a past month closes it and every month before it, which makes these statements final. The `closing_sats` of a month equals the `opening_sats` of the next. Requires the `read` scope."
    )
    .annotate(Example, (world) => ({
      params: { month: "2026-01" },
      message: "Statement",
      data: view.of(example(world))
    })),
  Effect.all([Core.Statements, Companies]),
  ([statements, companies]) =>
    Effect.fnUntraced(function* ({ params, query }) {
      const id = yield* companyId
      const month = yield* Errors.answered(statements.get(id, params.month))
      const shown = { ...month, company: yield* Errors.answered(companies.get(id)) }
      const isPage = query.format === undefined ? yield* prefersPage : query.format === "html"
      return isPage ? StatementPage.answer(shown) : View.answer("Statement", view.of(shown))
    })
)
