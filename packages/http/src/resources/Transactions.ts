import * as Msat from "@satrail/bitcoin/Msat"
import * as Balance from "@satrail/core/ledger/Balance"
import * as Pages from "@satrail/core/ledger/Page"
import { ListedRail, Standing } from "@satrail/core/ledger/Rail"
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
import * as Member from "../wire/Member.ts"
import * as View from "../wire/View.ts"
import * as Deposits from "./Deposits.ts"
import * as Withdrawals from "./Withdrawals.ts"

const path = "/v1/transactions"

/** The available balance: with 1 000 999 msat posted and 300 000 held, 700 sats are available. */
export const balanceView = View.make<Funds>()(
  { identifier: "Balance" },
  {
    balance: [
      Scalars.Sats.annotate({
        description:
          "Available balance, without amounts held for pending withdrawals, in whole satoshis, rounded down",
        examples: [21_000]
      }),
      (row) => Scalars.sats(Balance.available(row))
    ],
    held_sats: [
      Scalars.ExactSats.annotate({
        description:
          "Amount held for pending withdrawals and open vouchers, including fees, in satoshis with up to three decimals",
        examples: [3035]
      }),
      (row) => Scalars.exactSats(row.held)
    ],
    pending_deposits_sats: [
      Scalars.ExactSats.annotate({
        description:
          "On-chain deposits that are credited once they have enough confirmations, in satoshis with up to three decimals",
        examples: [0]
      }),
      (row) => Scalars.exactSats(row.pendingDeposits)
    ]
  }
)

/** A deposit, withdrawal, transfer or adjustment as a list entry. */
const viewOf = (types: ReadonlyArray<Transaction.Type>) =>
  View.make<Transaction.Transaction>()(
    { identifier: "Transaction" },
    {
      id: Member.uuid((row) => row.id),
      company_id: Member.uuid((row) => row.companyId),
      amount_sats: Member.sats(
        (row) => row.amount,
        "Amount in whole satoshis, truncated. Negative for an adjustment or transfer that debits"
      ),
      recipient: Member.text((row) => row.recipient, "For a transfer, the id of the other company"),
      rail_type: [
        Schema.NullOr(ListedRail).annotate({
          description: "Payment rail; `internal` for a transfer, null for an adjustment"
        }),
        (row) => row.rail
      ],
      type: [Schema.Literals(types), (row) => row.type],
      fee_microsats: [
        Schema.Int.annotate({
          description: "Same fee as `fee_sats`, in millisatoshis (1000 per satoshi)",
          examples: [6500]
        }),
        (row) => Number(row.fee)
      ],
      fee_sats: [Scalars.Fee, (row) => Scalars.exactSats(row.fee)],
      status: [Standing, (row) => row.status],
      reason: Member.textOrNull((row) => row.reason, "Reason for an adjustment; null for other transactions"),
      description: Member.text(
        (row) => row.description,
        "Its description, or that of its checkout, invoice or refund; empty if there is none"
      ),
      metadata: [Scalars.Metadata, (row) => row.metadata],
      failure: [
        Schema.NullOr(Withdrawals.Failure),
        ({ failure }) => failure && Withdrawals.failureOf(failure)
      ],
      created_at: Member.instant((row) => row.createdAtMillis)
    }
  )

const queryOf = (types: ReadonlyArray<Transaction.Type>) => ({
  ...Page.place(Transaction.limit),
  type: Schema.optionalKey(Schema.Literals(types)),
  status: Schema.optionalKey(Standing),
  rail_type: Schema.optionalKey(ListedRail),
  ...Search.times,
  ...Search.label,
  ...Search.payment,
  ...Search.transaction,
  lightning_invoice_id: Schema.optionalKey(
    Search.id("Selects the deposit of this invoice, by the invoice's `id`")
  )
})
type Query = Schema.Struct<ReturnType<typeof queryOf>>["Type"]

/** Converts the query to the core's query. */
const askedBy = (query: Query) =>
  Effect.map(Search.askedBy(query), (search): Transaction.Query => ({
    limit: query.limit ?? Transaction.limit.default,
    ...(query.cursor && { after: query.cursor }),
    ...(query.type && { type: query.type }),
    ...(query.status && { status: query.status }),
    ...(query.rail_type && { rail: query.rail_type }),
    ...search,
    ...(query.lightning_invoice_id !== undefined && { lightningInvoiceId: query.lightning_invoice_id })
  }))

const example = (world: World) => {
  const [{ settled }, deposit] = [Withdrawals.example(world), Deposits.example(world)]
  const fee = Withdrawal.fee(settled)
  const none = { reason: null, description: "", failure: null }
  return {
    balance: {
      posted: Msat.make(deposit.amount - settled.amount - fee),
      held: Msat.zero,
      pendingDeposits: Msat.zero
    },
    transactions: [
      { ...settled, ...none, type: "withdrawal" as const, fee },
      {
        ...deposit,
        ...none,
        type: "deposit" as const,
        fee: Msat.zero,
        metadata: world.metadata,
        description: world.asked.memo
      }
    ]
  }
}

export const balance = Section.company(
  HttpApiEndpoint.get("balance", `${path}/balance`, {
    success: Envelope.success(200, balanceView.schema),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "Get the balance")
    .annotate(
      OpenApi.Description,
      "Returns the available balance in whole satoshis, with held and pending amounts. Requires the `read` scope."
    )
    .annotate(Example, (world) => ({ message: "Balance", data: balanceView.of(example(world).balance) })),
  Transactions,
  (transactions) => () =>
    Effect.flatMap(Caller, ({ apiKey: { companyId } }) =>
      Effect.map(Errors.answered(transactions.balance(companyId)), (row) =>
        View.answer("Balance", balanceView.of(row))
      )
    )
)

/** The list of a service's transactions, of these types, and the view of an entry. */
export const make = (types: ReadonlyArray<Transaction.Type>) => {
  const view = viewOf(types)
  const page = Page.of(view, "Transactions", path)
  const list = Section.company(
    HttpApiEndpoint.get("transactions", path, {
      query: queryOf(types),
      success: page.success,
      error: Errors.of("malformed", "store_unavailable")
    })
      .annotate(Scopes, ["read"])
      .annotate(OpenApi.Summary, "List transactions")
      .annotate(
        OpenApi.Description,
        `Returns deposits, withdrawals, transfers between companies and manual adjustments (\`adjustment\`), newest first. If there are several filters, all must match. \`from\` is inclusive and \`until\` exclusive. A filter by hash matches payments only after they are sent or received. The next page is in the \`Link\` header. At most ${Pages.looks} rows are checked per page, so a page can have few rows or none. Requires the \`read\` scope.`
      )
      .annotate(Example, (world) => ({
        message: "Transactions",
        data: example(world).transactions.map(view.of)
      })),
    Transactions,
    (transactions) =>
      Effect.fnUntraced(function* ({ query }) {
        const { rows, next } = yield* Errors.answered(
          transactions.list(yield* companyId, yield* askedBy(query))
        )
        return page.answer(rows, Search.written(query), next)
      })
  )
  return { view, list }
}
