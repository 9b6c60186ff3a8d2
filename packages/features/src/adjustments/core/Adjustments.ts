import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Layer, Option } from "effect"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import { Entropy } from "@satrail/core/base/Entropy"
import { Invalid } from "@satrail/core/base/Invalid"
import * as Answer from "@satrail/core/ledger/Answer"
import * as Answers from "@satrail/core/ledger/Answers"
import type { InsufficientBalance } from "@satrail/core/ledger/Balance"
import {
  type Conflict,
  found,
  type IdempotencyMismatch,
  Journal,
  type NotFound,
  type StoreUnavailable
} from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as Page from "@satrail/core/ledger/Page"
import * as Shortage from "@satrail/core/ledger/Shortage"
import { AccountReads } from "@satrail/core/accounts/AccountReads"
import * as Adjustment from "./Adjustment.ts"
import { AdjustmentReads } from "./AdjustmentReads.ts"
import { reasonIssue } from "@satrail/core/accounts/Companies"
import * as OperatorRequests from "@satrail/core/accounts/OperatorRequests"
import type { Operator, RequesterGone, SameOperator } from "@satrail/core/accounts/SecondOperator"

/** A request for an adjustment. */
export interface Ask {
  readonly companyId: CompanyId.CompanyId
  /** A negative amount is debited from the company. */
  readonly amount: Msat.Msat
  /** Shown to the company. */
  readonly reason: string
  /** Shown to operators only. */
  readonly note: string | null
  readonly by: Operator
  readonly request?: Answer.Request<Adjustment.Adjustment>
}

/** Manual corrections, each requested by one operator and approved by another. */
export class Adjustments extends Context.Service<
  Adjustments,
  {
    /** Requests an adjustment, which waits for a second operator. No money moves. */
    readonly request: (
      ask: Ask
    ) => Effect.Effect<
      Answer.Outcome<Adjustment.Adjustment>,
      Invalid | NotFound | Conflict | IdempotencyMismatch | StoreUnavailable
    >
    /**
     * Books the adjustment and records who approved it, in one commit. It is booked only once, even if
     * approvals are repeated or concurrent. Fails for the operator who requested it, once that operator has no
     * access, or if the company's balance is less than the debit.
     */
    readonly approve: (
      id: string,
      by: Operator
    ) => Effect.Effect<
      Adjustment.Adjustment,
      | NotFound
      | SameOperator
      | RequesterGone
      | Adjustment.AdjustmentDecided
      | InsufficientBalance
      | StoreUnavailable
    >
    /** Rejects the adjustment. Rejecting it again changes nothing. A booked adjustment stays booked. */
    readonly reject: (
      id: string,
      by: Operator
    ) => Effect.Effect<Adjustment.Adjustment, NotFound | Adjustment.AdjustmentDecided | StoreUnavailable>
    /** Returns an adjustment of any company. */
    readonly get: (id: string) => Effect.Effect<Adjustment.Adjustment, NotFound | StoreUnavailable>
    /** Returns a booked adjustment of this company. */
    readonly ofCompany: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Effect.Effect<Adjustment.Adjustment, NotFound | StoreUnavailable>
    /** Returns a page of all companies' adjustments, newest first, after the given position. */
    readonly list: (query: {
      readonly limit: number
      readonly after: Page.Position | null
      readonly status?: Adjustment.Status | undefined
    }) => Effect.Effect<Page.Page<Adjustment.Adjustment>, Invalid | StoreUnavailable>
  }
>()("@satrail/features/adjustments/core/Adjustments") {}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const nouns = yield* NounReads
  const accounts = yield* AccountReads
  const reads = yield* AdjustmentReads
  const entropy = yield* Entropy
  const requesters = yield* OperatorRequests.makeRequesters

  const get = (id: string) => found("adjustment", id, reads.adjustment(id))

  const check = Effect.fnUntraced(function* ({ companyId, amount, reason, note }: Ask) {
    if (amount === 0n || amount > Msat.max || amount < -Msat.max)
      return yield* new Invalid({
        path: "amount_sats",
        message: "must not be 0 or exceed the supply of bitcoin"
      })
    for (const [path, text] of [
      ["reason", reason],
      ["note", note]
    ] as const) {
      const message = text === null ? undefined : reasonIssue(text)
      if (message !== undefined) return yield* new Invalid({ path, message })
    }
    yield* found("company", companyId, accounts.company(companyId))
  })

  return Adjustments.of({
    get,
    request: Effect.fnUntraced(function* (ask) {
      const before = yield* Answers.earlier(ledger, CompanyId.operator, ask.request)
      if (before !== undefined) return before
      yield* check(ask)
      const { companyId, amount, reason, note, by, request } = ask
      const requester = requesters.stored(by)
      const createdAtMillis = yield* Clock.currentTimeMillis
      const adjustment: Adjustment.Adjustment = {
        id: Id.fromMillis(createdAtMillis, entropy),
        companyId,
        ledgerTxId: Id.fromMillis(createdAtMillis, entropy),
        amount,
        reason,
        note,
        requestedById: requester.id,
        requestedBy: requester.name,
        status: "pending",
        decidedBy: null,
        decidedAtMillis: null,
        createdAtMillis
      }
      const once = Answer.once(CompanyId.operator, request, adjustment, createdAtMillis + Answer.keptMillis)
      return Answers.outcome(yield* journal.commit(Adjustment.requested(adjustment, once)), adjustment)
    }),
    approve: Effect.fnUntraced(function* (id, by) {
      const before = yield* get(id)
      const change = yield* Effect.fromResult(Adjustment.booked(before, by, yield* Clock.currentTimeMillis))
      if (before.status === "pending") yield* requesters.current(id, before, "mend")
      yield* Shortage.withBalance(ledger, journal.commit(change))
      yield* Effect.logInfo("adjustment: booked", {
        id,
        companyId: before.companyId,
        sats: Msat.toDecimalSats(before.amount)
      })
      return yield* get(id)
    }),
    reject: Effect.fnUntraced(function* (id, by) {
      yield* journal.commit(Adjustment.rejected(yield* get(id), by, yield* Clock.currentTimeMillis))
      return yield* get(id)
    }),
    ofCompany: (companyId, id) =>
      found(
        "adjustment",
        id,
        Effect.map(
          nouns.get(Adjustment.noun, companyId, id),
          Option.filter(({ status }) => status === "booked")
        )
      ),
    list: ({ limit, after, status }) =>
      Page.pick(limit, (limit, from) =>
        Effect.map(reads.adjustments({ after: from ?? after, limit, status: status ?? null }), (rows) => ({
          rows,
          lookedTo: null
        }))
      )
  })
})

export const layer = Layer.effect(Adjustments, make)
