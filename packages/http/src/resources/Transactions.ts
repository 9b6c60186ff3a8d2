import * as Msat from "@satrail/bitcoin/Msat"
import * as Balance from "@satrail/core/ledger/Balance"
import * as Pages from "@satrail/core/ledger/Page"
import { Rail, Standing } from "@satrail/core/ledger/Rail"
import * as Transaction from "@satrail/core/reports/Transaction"
import type { Funds } from "@satrail/core/reports/ReportReads"
import { Transactions } from "@satrail/core/reports/Transactions"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Caller, companyId, Scopes } from "../api/Authentication.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example, type World } from "../wire/Examples.ts"
import * as Page from "../wire/Page.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Search from "../wire/Search.ts"
import * as Section from "../api/Section.ts"
import * as View from "../wire/View.ts"
import * as Deposits from "./Deposits.ts"
import * as Withdrawals from "./Withdrawals.ts"

const path = "/v1/transactions"

/** What can be withdrawn now: of 1 000 999 msat posted with 300 000 held, 700 sats. */
export const balanceView = View.make<Funds>()(
  { identifier: "Balance" },
  {
    balance: [
      Schema.Int.annotate({
        description: "Satoshis that can be withdrawn now, without those held by pending withdrawals. Rounded down",
        examples: [21_000]
      }),
      (row) => Scalars.sats(Balance.available(row))
    ],
    held_sats: [
      Schema.Finite.annotate({
        description: "Satoshis that are reserved for pending withdrawals and open vouchers, their fees included, to three decimals",
        examples: [3035]
      }),
      (row) => Scalars.exactSats(row.held)
    ],
    pending_deposits_sats: [
      Schema.Finite.annotate({
        description: "Satoshis of on-chain deposits that are credited once they have enough confirmations, to three decimals",
        examples: [0]
      }),
      (row) => Scalars.exactSats(row.pendingDeposits)
    ]
  }
)

/** A deposit, a withdrawal or an adjustment, as a line in the list. */
export const view = View.make<Transaction.Transaction>()(
  { identifier: "Transaction" },
  {
    id: [Scalars.Uuid, (row) => row.id],
    company_id: [Scalars.Uuid, (row) => row.companyId],
    amount_sats: [
      Scalars.Sats.annotate({ description: "Whole satoshis, fractions cut off; below zero for an adjustment that took them" }),
      (row) => Scalars.sats(row.amount)
    ],
    recipient: [Schema.String, (row) => row.recipient],
    rail_type: [Schema.NullOr(Rail).annotate({ description: "null for an adjustment" }), (row) => row.rail],
    type: [Transaction.Type, (row) => row.type],
    fee_microsats: [
      Schema.Int.annotate({
        description: "The same fee as `fee_sats`, in thousandths of a satoshi, which are millisatoshis: 1 sat is 1000",
        examples: [6500]
      }),
      (row) => Number(row.fee)
    ],
    fee_sats: [Scalars.Fee, (row) => Scalars.exactSats(row.fee)],
    status: [Standing, (row) => row.status],
    reason: [
      Schema.NullOr(Schema.String).annotate({ description: "Why an adjustment was booked; null for all else" }),
      (row) => row.reason
    ],
    created_at: [Scalars.Instant, (row) => Scalars.instant(row.createdAtMillis)]
  }
)

/** What the list can be asked for. */
const query = {
  ...Page.place(Transaction.limit),
  type: Schema.optionalKey(Transaction.Type),
  status: Schema.optionalKey(Standing),
  rail_type: Schema.optionalKey(Rail),
  ...Search.times,
  ...Search.label,
  ...Search.payment,
  ...Search.transaction,
  lightning_invoice_id: Schema.optionalKey(Search.Id.annotate({ description: "The deposit of this invoice: the invoice's `id`" }))
}
const Query = Schema.Struct(query)
type Query = typeof Query.Type

/** The same for the core. */
const askedBy = (query: Query) =>
  Effect.map(Search.askedBy(query), (search): Transaction.Query => ({
    limit: query.limit ?? Transaction.limit.default,
    ...(query.cursor && { after: query.cursor }),
    ...(query.type && { type: query.type }),
    ...(query.status && { status: query.status }),
    ...(query.rail_type && { rail: query.rail_type }),
    ...search,
    ...(query.lightning_invoice_id !== undefined && { lightningInvoiceId: query.lightning_invoice_id.toLowerCase() })
  }))

/** Everything that came in and went out in the examples. */
const example = (world: World) => {
  const [{ settled }, deposit] = [Withdrawals.example(world), Deposits.example(world)]
  const fee = Withdrawal.fee(settled)
  return {
    balance: { posted: Msat.make(deposit.amount - settled.amount - fee), held: Msat.zero, pendingDeposits: Msat.zero },
    transactions: [
      { ...settled, type: "withdrawal" as const, fee, reason: null },
      { ...deposit, type: "deposit" as const, fee: Msat.zero, reason: null }
    ]
  }
}

export const balance = Section.company(
  HttpApiEndpoint.get("balance", `${path}/balance`, {
    success: Envelope.success(200, balanceView.schema),
    error: Errors.of("store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "Fetch the balance")
    .annotate(
      OpenApi.Description,
      "What can be withdrawn now, in whole satoshis, and beside it what is held and what is on its way in. Needs the scope `read`."
    )
    .annotate(Example, (world) => ({ message: "Balance", data: balanceView.of(example(world).balance) })),
  Transactions,
  (transactions) => () =>
    Effect.flatMap(Caller, ({ apiKey: { companyId } }) =>
      Effect.map(Errors.answered(transactions.balance(companyId)), (row) => View.answer("Balance", balanceView.of(row)))
    )
)

const page = Page.of(view, "Transactions", path)

export const list = Section.company(
  HttpApiEndpoint.get("transactions", path, {
    query,
    success: page.success,
    error: Errors.of("malformed", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "List transactions")
    .annotate(
      OpenApi.Description,
      `Deposits, withdrawals and what the operator booked by hand (\`adjustment\`), newest first; with several filters, those that have all of it. \`from\` is inclusive and \`until\` exclusive. A hash is found once the payment was sent or received. The next page is in the \`Link\` header: a page that looked at ${Pages.looks} rows ends there, with fewer rows or none. Needs the scope \`read\`.`
    )
    .annotate(Example, (world) => ({ message: "Transactions", data: example(world).transactions.map(view.of) })),
  Transactions,
  (transactions) =>
    Effect.fnUntraced(function* ({ query }) {
      const { transactions: rows, next } = yield* Errors.answered(transactions.list(yield* companyId, yield* askedBy(query)))
      return page.answer(rows, Search.written(query), next)
    })
)
