import { Transactions } from "@satrail/core/reports/Transactions"
import { Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication, Caller, Scopes } from "./Authentication.ts"
import { base } from "./Base.ts"
import { Decoding } from "./Decoding.ts"
import * as Envelope from "./Envelope.ts"
import * as Errors from "./Errors.ts"
import * as Handlers from "./Handlers.ts"
import * as Page from "./Page.ts"
import * as Wire from "./Wire.ts"

const list = "/v1/transactions"

const balance = HttpApiEndpoint.get("balance", `${list}/balance`, {
  success: Envelope.success(200, Wire.Balance),
  error: Errors.of("store_unavailable")
})
  .annotate(Scopes, ["read"])
  .annotate(OpenApi.Summary, "Fetch the balance")
  .annotate(OpenApi.Description, "What can be withdrawn now, in whole satoshis. Needs the scope `read`.")

const transactions = HttpApiEndpoint.get("transactions", list, {
  query: Page.query,
  success: Page.success(Wire.Transaction),
  error: Errors.of("malformed", "store_unavailable")
})
  .annotate(Scopes, ["read"])
  .annotate(OpenApi.Summary, "List transactions")
  .annotate(
    OpenApi.Description,
    "Deposits and withdrawals, newest first. `created_after` and `created_before` are both exclusive. The next page is in the `Link` header. Needs the scope `read`."
  )

const withdrawal = HttpApiEndpoint.get("withdrawal", `${list}/withdrawals/:withdrawalID`, {
  params: { withdrawalID: Wire.Uuid },
  success: Envelope.success(200, Wire.Withdrawal),
  error: Errors.of("not_found", "store_unavailable")
})
  .annotate(Scopes, ["read"])
  .annotate(OpenApi.Summary, "Fetch a withdrawal")
  .annotate(OpenApi.Description, "`pending` until its outcome is known, then `settled` or `failed` for ever. Needs the scope `read`.")

const deposit = HttpApiEndpoint.get("deposit", `${list}/deposits/:depositID`, {
  params: { depositID: Wire.Uuid },
  success: Envelope.success(200, Wire.Deposit),
  error: Errors.of("not_found", "store_unavailable")
})
  .annotate(Scopes, ["read"])
  .annotate(OpenApi.Summary, "Fetch a deposit")
  .annotate(OpenApi.Description, "An on-chain deposit is `pending` until it has enough confirmations. Needs the scope `read`.")

const payer = HttpApiEndpoint.get("payer", `${list}/deposits/:depositID/payer`, {
  params: { depositID: Wire.Uuid },
  success: Envelope.success(200, Wire.Payer),
  error: Errors.of("not_found", "store_unavailable")
})
  .annotate(Scopes, ["read"])
  .annotate(OpenApi.Summary, "Fetch what a payer said")
  .annotate(
    OpenApi.Description,
    "Comment, payer data and zap request of a payment to a Lightning address, all null where there was nothing of it. Needs the scope `read`."
  )

/** What came in and went out. */
export class Group extends HttpApiGroup.make("read")
  .add(balance, transactions, withdrawal, deposit, payer)
  .middleware(Decoding)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Read")
  .annotate(OpenApi.Description, "Balance, deposits, withdrawals") {}

export const layer = Handlers.layer(
  base.add(Group),
  "read",
  Effect.fnUntraced(function* (handlers) {
    const transactions = yield* Transactions

    return handlers.handleAll({
      balance: () =>
        Effect.flatMap(Caller, ({ apiKey: { companyId } }) =>
          Effect.map(Errors.answered(transactions.balance(companyId)), (balance) => Envelope.ok("Balance", Wire.balance(balance)))
        ),
      transactions: Effect.fnUntraced(function* ({ query }) {
        const {
          apiKey: { companyId }
        } = yield* Caller
        const page = yield* Errors.answered(transactions.list(companyId, Page.asked(query)))
        return HttpApiSchema.withHeaders({
          body: Envelope.ok("Transactions", page.transactions.map(Wire.transaction)),
          headers: page.next === undefined ? {} : { link: Page.link(list, query, page.next) }
        })
      }),
      withdrawal: Effect.fnUntraced(function* ({ params }) {
        const {
          apiKey: { companyId }
        } = yield* Caller
        return Envelope.ok(
          "Withdrawal",
          Wire.withdrawal(yield* Errors.answered(transactions.withdrawal(companyId, params.withdrawalID.toLowerCase())))
        )
      }),
      payer: Effect.fnUntraced(function* ({ params }) {
        const {
          apiKey: { companyId }
        } = yield* Caller
        return Envelope.ok("Payer", Wire.payer(yield* Errors.answered(transactions.callback(companyId, params.depositID.toLowerCase()))))
      }),
      deposit: Effect.fnUntraced(function* ({ params }) {
        const {
          apiKey: { companyId }
        } = yield* Caller
        return Envelope.ok("Deposit", Wire.deposit(yield* Errors.answered(transactions.deposit(companyId, params.depositID.toLowerCase()))))
      })
    })
  })
)
