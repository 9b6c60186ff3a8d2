import * as Waiting from "@satrail/core/ledger/Waiting"
import * as Core from "@satrail/core/reports/reconciliation/Backlog"
import type * as WaitReason from "@satrail/core/reports/reconciliation/WaitReason"
import type { Deposit } from "@satrail/core/receiving/Deposit"
import type { Withdrawal } from "@satrail/core/sending/Withdrawal"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example, type World } from "../wire/Examples.ts"
import * as Page from "../wire/Page.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Resource from "../api/Resource.ts"
import * as Section from "../api/Section.ts"
import * as Member from "../wire/Member.ts"
import * as View from "../wire/View.ts"
import * as Deposits from "./Deposits.ts"
import * as LostWithdrawals from "./LostWithdrawals.ts"
import * as Withdrawals from "./Withdrawals.ts"
import * as Purpose from "@satrail/core/receiving/Purpose"

const Sats = Scalars.ExactSats.annotate({
  description: "Amount including fees, in satoshis with up to three decimals",
  examples: [3035]
})
const Attempts = Schema.NullOr(Schema.Int).annotate({
  description: "Number of attempts; null if the only work is to watch the chain",
  examples: [3]
})
const Next = Schema.NullOr(Scalars.Instant).annotate({
  description: "Time of the next check, or end of the lease of the process that is checking now"
})
const For = Scalars.text(
  "The node's final result. Until it arrives, the payment is neither settled nor failed, and the money stays held"
)

const named = View.make<WaitReason.BacklogItem>()(
  { identifier: "WaitingRecord" },
  {
    id: Member.uuid((one) => one.id),
    company_id: Member.uuid((one) => one.companyId),
    since: Member.instant((one) => one.sinceMillis),
    amount_sats: [Sats, (one) => Scalars.exactSats(one.amount)],
    attempts: [Attempts, ({ waits }) => waits.attempts],
    next_look_at: [Next, ({ waits }) => Scalars.instantOrNull(waits.nextMillis)],
    waits_for: [For, ({ waits }) => waits.for]
  }
)

export const kind = View.make<Core.Kind>()(
  { identifier: "Waiting" },
  {
    count: [Schema.Int, ({ count }) => count],
    oldest_at: Member.instantOrNull(({ oldestAtMillis }) => oldestAtMillis),
    amount_sats: [Sats, ({ amount }) => Scalars.exactSats(amount)],
    oldest: [
      Schema.Array(named.schema).annotate({ description: `The ${Core.maxNamed} oldest items` }),
      ({ oldest }) => oldest.map(named.of)
    ]
  }
)

/** The kinds of waiting in a service. */
type Kinds = ReadonlyArray<Waiting.Kind>

export const schemaOf = (kinds: Kinds) => Schema.Struct(Waiting.byKind(kinds, () => kind.schema))

export const viewOf = (kinds: Kinds, all: { readonly [kind in Waiting.Kind]: Core.Kind }) =>
  Waiting.byKind(kinds, (name) => kind.of(all[name]))

const step = View.make<WaitReason.TimelineEntry>()(
  { identifier: "Step" },
  {
    at: Member.instant((one) => one.atMillis),
    what: [
      Schema.Literals([
        "requested",
        "approved",
        "rejected",
        "expired",
        "dispatched",
        "seen",
        "settled",
        "failed"
      ]),
      (one) => one.what
    ],
    detail: Member.textOrNull(
      (one) => one.detail,
      "Details of the step, such as the payee, the key that approved it, its payment hash or transaction, or why it failed"
    )
  }
)

/** History and status of a record. */
const progress = <A>(kinds: Kinds) =>
  View.members<Core.Followed<A>>()({
    kind: [
      Schema.NullOr(Schema.Literals(kinds)).annotate({
        description: "Kind, as in `GET /operator/backlog`; null once final"
      }),
      ({ waits }) => waits?.kind ?? null
    ],
    waits_for: [
      Schema.NullOr(For).annotate({ description: "What the service is waiting for; null once final" }),
      ({ waits }) => waits?.for ?? null
    ],
    attempts: [Attempts, ({ waits }) => waits?.attempts ?? null],
    next_look_at: [Next, ({ waits }) => Scalars.instantOrNull(waits?.nextMillis ?? null)],
    timeline: [Schema.Array(step.schema), ({ timeline }) => timeline.map(step.of)],
    answer: [
      Schema.NullOr(Schema.String).annotate({
        description:
          "Current status reported by the node or the chain; null in lists, and when neither was queried",
        examples: ["on its way"]
      }),
      ({ answer }) => answer
    ]
  })

const withdrawalView = (kinds: Kinds) =>
  View.make<Core.Followed<Withdrawal>>()(
    { identifier: "FollowedWithdrawal" },
    {
      ...View.within(Withdrawals.view.members, ({ record }: Core.Followed<Withdrawal>) => record),
      ...progress<Withdrawal>(kinds)
    }
  )

const depositView = (kinds: Kinds) =>
  View.make<Core.Followed<Deposit>>()(
    { identifier: "FollowedDeposit" },
    {
      ...View.within(Deposits.view.members, ({ record }: Core.Followed<Deposit>) => record),
      ...progress<Deposit>(kinds)
    }
  )

const exampleWithdrawal = (world: World): Core.Followed<Withdrawal> => {
  const { requested, settled } = Withdrawals.example(world)
  const { paymentHash, paymentRequest, dispatchedAtMillis } = settled
  return {
    record: { ...requested, paymentHash, paymentRequest, dispatchedAtMillis },
    waits: {
      kind: "withdrawal_dispatched",
      for: "The node's final result. Until it arrives, the payment is neither settled nor failed, and the money stays held",
      attempts: 3,
      nextMillis: world.millis(70_000)
    },
    timeline: [
      { atMillis: requested.createdAtMillis, what: "requested", detail: requested.recipient },
      { atMillis: dispatchedAtMillis ?? 0, what: "dispatched", detail: paymentHash }
    ],
    answer: "on its way"
  }
}

const exampleDeposit = (world: World): Core.Followed<Deposit> => {
  const record: Deposit = {
    ...Deposits.example(world),
    recipient: world.address.address,
    rail: "on_chain",
    status: "pending",
    chainTxId: null,
    vout: null,
    ...Purpose.none,
    lightningInvoiceId: null
  }
  return {
    record,
    waits: {
      kind: "deposit_unconfirmed",
      for: "The confirmations required for its amount",
      attempts: null,
      nextMillis: null
    },
    timeline: [{ atMillis: record.createdAtMillis, what: "seen", detail: null }],
    answer: "in block 900000, with 3 confirmations"
  }
}

const backlog = (kinds: Kinds) =>
  Section.operator(
    HttpApiEndpoint.get("backlog", "/operator/backlog", {
      success: Envelope.success(200, schemaOf(kinds)),
      error: Errors.of("store_unavailable")
    })
      .annotate(OpenApi.Summary, "Get the backlog")
      .annotate(
        OpenApi.Description,
        `Returns the pending money and work of all companies: totals, ages, and the ${Core.maxNamed} oldest items of each kind.`
      )
      .annotate(Example, (world) => {
        const { record, waits } = exampleWithdrawal(world)
        const sinceMillis = record.createdAtMillis
        const one = waits && { ...record, kind: waits.kind, sinceMillis, job: null, waits }
        const nothing: Core.Kind = { count: 0, oldestAtMillis: null, amount: world.asked.amount, oldest: [] }
        const some: Core.Kind = {
          count: 1,
          oldestAtMillis: sinceMillis,
          amount: record.amount,
          oldest: one === null ? [] : [one]
        }
        return {
          message: "Backlog",
          data: viewOf(
            kinds,
            Waiting.byKind(kinds, (kind) => (kind === "withdrawal_dispatched" ? some : nothing))
          )
        }
      }),
    Core.Backlog,
    ({ all }) =>
      () =>
        Effect.map(Errors.answered(all), (found) => Envelope.ok("Backlog", viewOf(kinds, found)))
  )

const query = {
  ...Page.place(),
  status: Schema.optionalKey(
    Schema.Literal("pending").annotate({
      description: "Status. Settled and failed withdrawals and deposits are in the company's transactions"
    })
  ),
  older_than: Schema.optionalKey(
    Scalars.intFromText({ minimum: 0, maximum: 10_000_000_000, description: "Minimum age, in seconds" })
  )
}
type Query = { readonly [Name in keyof typeof query]?: (typeof query)[Name]["Type"] }

const asked = ({ limit, cursor, older_than }: Query): Core.Query => ({
  limit: Page.asked(limit === undefined ? {} : { limit }).limit,
  after: cursor ?? null,
  olderThanMillis: (older_than ?? 0) * 1000
})

const parameters = ({ limit, older_than }: Query) => ({
  ...(limit !== undefined && { limit: String(limit) }),
  ...(older_than !== undefined && { older_than: String(older_than) })
})

const [withdrawalsPath, depositsPath] = ["/operator/withdrawals", "/operator/deposits"] as const
const listErrors = Errors.of("malformed", "store_unavailable")

const withdrawalsOf = (kinds: Kinds) => {
  const withdrawal = withdrawalView(kinds)
  const withdrawalPage = Page.of(withdrawal, "Withdrawals", withdrawalsPath)
  const withdrawals = Resource.make({
    path: withdrawalsPath,
    names: ["Withdrawal", "Withdrawals"],
    view: withdrawal,
    example: exampleWithdrawal
  })
  const listWithdrawals = Section.operator(
    HttpApiEndpoint.get("pendingWithdrawals", withdrawalsPath, {
      query,
      success: withdrawalPage.success,
      error: listErrors
    })
      .annotate(OpenApi.Summary, "List pending withdrawals")
      .annotate(
        OpenApi.Description,
        "Returns pending withdrawals of all companies, oldest first, each with its history and what the service is waiting for. The next page is in the `Link` header."
      )
      .annotate(Example, (world) => ({
        message: "Withdrawals",
        data: [withdrawal.of({ ...exampleWithdrawal(world), answer: null })]
      })),
    Core.Backlog,
    ({ withdrawals }) =>
      Effect.fnUntraced(function* ({ query }) {
        const { rows, next } = yield* Errors.answered(withdrawals(asked(query)))
        return withdrawalPage.answer(rows, parameters(query), next)
      })
  )

  const getWithdrawal = Section.operator(
    withdrawals.get("operatorWithdrawal", {
      summary: "Trace a withdrawal",
      description: `Returns a withdrawal of any company: its history, what the service is waiting for, and its current status at the node or on the chain. The service waits at most ${Core.answerMillis / 1000} seconds for that status.`
    }),
    Core.Backlog,
    (backlog) => withdrawals.gets(backlog.withdrawal)
  )
  return { listWithdrawals, getWithdrawal }
}

const depositsOf = (kinds: Kinds) => {
  const deposit = depositView(kinds)
  const depositPage = Page.of(deposit, "Deposits", depositsPath)
  const deposits = Resource.make({
    path: depositsPath,
    names: ["Deposit", "Deposits"],
    view: deposit,
    example: exampleDeposit
  })

  const listDeposits = Section.operator(
    HttpApiEndpoint.get("pendingDeposits", depositsPath, {
      query,
      success: depositPage.success,
      error: listErrors
    })
      .annotate(OpenApi.Summary, "List pending deposits")
      .annotate(
        OpenApi.Description,
        "Returns on-chain deposits of all companies that are not credited yet, oldest first. The next page is in the `Link` header."
      )
      .annotate(Example, (world) => ({
        message: "Deposits",
        data: [deposit.of({ ...exampleDeposit(world), answer: null })]
      })),
    Core.Backlog,
    ({ deposits }) =>
      Effect.fnUntraced(function* ({ query }) {
        const { rows, next } = yield* Errors.answered(deposits(asked(query)))
        return depositPage.answer(rows, parameters(query), next)
      })
  )

  const getDeposit = Section.operator(
    deposits.get("operatorDeposit", {
      summary: "Trace a deposit",
      description:
        "Returns a deposit of any company: its history, what the service is waiting for, and its current status on the chain."
    }),
    Core.Backlog,
    (backlog) => deposits.gets(backlog.deposit)
  )
  return { listDeposits, getDeposit }
}

/** The backlog, and the end of withdrawals whose payment the node has lost. */
export const make = (kinds: Kinds) => {
  const { listWithdrawals, getWithdrawal } = withdrawalsOf(kinds)
  const { listDeposits, getDeposit } = depositsOf(kinds)
  return Section.make(
    "backlog",
    { title: "Backlog", description: "For the operator: pending money and work, with causes and ages" },
    [
      backlog(kinds),
      listWithdrawals,
      getWithdrawal,
      LostWithdrawals.settle,
      LostWithdrawals.release,
      LostWithdrawals.book,
      listDeposits,
      getDeposit
    ]
  )
}
