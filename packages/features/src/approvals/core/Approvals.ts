import { Clock, Context, Effect, Layer, Option } from "effect"
import { AccountReads } from "@satrail/core/accounts/AccountReads"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import { Deciders } from "@satrail/core/accounts/Deciders"
import { RightsOf } from "@satrail/core/accounts/CurrentSpender"
import type { Sender } from "@satrail/core/accounts/Company"
import { countedAs, type Spender } from "@satrail/core/accounts/Limits"
import { RequesterGone } from "@satrail/core/accounts/SecondOperator"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Worker from "@satrail/core/base/Worker"
import type { CompanyFrozen } from "@satrail/core/ledger/Freeze"
import { found, Journal, type NotFound, type StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { LimitExceeded } from "@satrail/core/ledger/Limit"
import { PollMillis } from "@satrail/core/ledger/Wakes"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import * as SpendingLimits from "@satrail/core/sending/SpendingLimits"
import { held, isWaiting, type Withdrawal } from "@satrail/core/sending/Withdrawal"
import * as WithdrawalDrafts from "@satrail/core/sending/WithdrawalDrafts"
import * as Approval from "./Approval.ts"
import { ApprovalReads } from "./ApprovalReads.ts"

/** A key's decision about a withdrawal requested by another key. */
export interface Decision {
  readonly company: Sender
  /** The deciding key. */
  readonly apiKey: NonNullable<Spender["apiKey"]>
  readonly id: string
}

/** The `approvalBy` of a withdrawal that the operator rejected. The audit log has the operator's token. */
const operator = "operator"

/** Number of withdrawals that can expire per step. */
const expiredAtOnce = 100

/** Number of API keys read at once, to find the key that replaces another. */
const keysAtOnce = 100

/**
 * Returns the sender whose limits apply to a waiting withdrawal: its key, or the newest key that replaces it. Fails if
 * neither can be used, or if another kind of sender who requested it may no longer send.
 */
const makeAsker = Effect.gen(function* () {
  const [accounts, rightsOf] = [yield* AccountReads, yield* RightsOf]
  return Effect.fnUntraced(function* (
    company: Sender,
    { id: withdrawalId, approvalAskedBy: id }: Withdrawal
  ): Effect.fn.Return<Spender, RequesterGone | StoreUnavailable> {
    if (id === null) return { company }
    const gone = new RequesterGone({ id: withdrawalId })
    const asked = yield* accounts.apiKey(id)
    if (Option.isNone(asked)) {
      const rights = yield* rightsOf(id)
      if (rights === undefined) return yield* gone
      return { company, apiKey: { id, limits: rights.limits, spendsAs: null } }
    }
    const nowMillis = yield* Clock.currentTimeMillis
    const { apiKey: oldest } = asked.value
    for (let before: ApiKey.ApiKey | null = null; ;) {
      const keys: ReadonlyArray<ApiKey.ApiKey> = yield* accounts.keysOf(company.id, before, keysAtOnce)
      const found = keys.find(
        (key) => countedAs(key) === oldest.id && ApiKey.refusal(key, nowMillis) === undefined
      )
      before = keys.at(-1) ?? oldest
      if (found !== undefined) return { company, apiKey: found }
      if (before.createdAtMillis <= oldest.createdAtMillis) return yield* gone
    }
  })
})

/** Approves and rejects withdrawals that wait for a second key. */
export class Approvals extends Context.Service<
  Approvals,
  {
    /**
     * Approves a withdrawal, which queues its payment. Any key or person may approve, except the requester and
     * anyone who counts as the requester (accounts/Deciders.ts). The caller checks that the key has the scope
     * `approve`. The requester must still be able to send. The destination and the limits of the requesting key are
     * checked again, and the network fee may not exceed the amount held for it. Approving again changes nothing.
     */
    readonly approve: (
      decision: Decision
    ) => Effect.Effect<
      Withdrawal,
      | Exclude<
          WithdrawalDrafts.Refused,
          { readonly _tag: "AmountInvalid" | "Invalid" | "DestinationInvalid" | "RateUnavailable" }
        >
      | NotFound
      | Approval.ApprovalOver
      | Approval.ApprovalByAsker
      | Approval.ApprovalFeeRisen
      | RequesterGone
      | CompanyFrozen
      | LimitExceeded
    >
    /**
     * Fails the withdrawal and releases its money, in one commit. Any key may reject it, including the one
     * that requested it. Rejecting again changes nothing.
     */
    readonly reject: (
      decision: Decision
    ) => Effect.Effect<Withdrawal, NotFound | Approval.ApprovalOver | StoreUnavailable>
    /** Rejects a withdrawal of any company on behalf of the operator. */
    readonly rejectAsOperator: (
      id: string
    ) => Effect.Effect<Withdrawal, NotFound | Approval.ApprovalOver | StoreUnavailable>
    /**
     * Expires withdrawals that were not approved in time, releases their funds, and returns their number. Any
     * number of processes may run this at the same time; each withdrawal still expires only once.
     */
    readonly expire: Effect.Effect<number, StoreUnavailable>
  }
>()("@satrail/features/approvals/core/Approvals") {}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const sending = yield* SendingReads
  const records = yield* ApprovalReads
  const drafts = yield* WithdrawalDrafts.make
  const isSame = yield* Deciders
  const accounts = yield* AccountReads
  const asker = yield* makeAsker
  const now = Clock.currentTimeMillis
  /** Number of withdrawals that the last step could not expire. The next step reads as many more, to reach those behind them. */
  let failures = 0

  const get = (companyId: CompanyId.CompanyId, id: string) =>
    found("withdrawal", id, sending.withdrawal(companyId, id))

  /** Another caller decided first. Succeeds if both decisions are the same. */
  const overtaken = (companyId: CompanyId.CompanyId, id: string, state: "approved" | "rejected") => () =>
    Effect.flatMap(get(companyId, id), (row) =>
      row.approval === state
        ? Effect.succeed(row)
        : Effect.fail(new Approval.ApprovalOver({ id, state: row.approval }))
    )

  const reject = Effect.fnUntraced(function* (row: Withdrawal, by: string) {
    const { companyId, id } = row
    if (row.approval === "rejected") return row
    if (!isWaiting(row)) return yield* new Approval.ApprovalOver({ id, state: row.approval })
    const commit = Effect.andThen(journal.commit(Approval.rejected(row, by, yield* now)), get(companyId, id))
    return yield* Effect.catchTag(commit, "AlreadyTerminal", overtaken(companyId, id, "rejected"))
  })

  return Approvals.of({
    approve: Effect.fnUntraced(function* ({ company, apiKey, id }) {
      const row = yield* get(company.id, id)
      if (row.approval === "approved") return row
      if (!isWaiting(row)) return yield* new Approval.ApprovalOver({ id, state: row.approval })
      const by = countedAs(apiKey)
      if (row.approvalAskedBy !== null && (yield* isSame(by, row.approvalAskedBy)))
        return yield* new Approval.ApprovalByAsker({ id })
      const { fee, atMillis, work, ...current } = yield* drafts.again({ company, apiKey }, row)
      if (fee.network > row.networkAllowance) return yield* new Approval.ApprovalFeeRisen({ id })
      // The worker that expires withdrawals may be behind.
      if (atMillis >= (row.approvalExpiresAtMillis ?? 0))
        return yield* new Approval.ApprovalOver({ id, state: "expired" })
      yield* SpendingLimits.checkHeld(accounts, yield* asker(current.company, row), {
        ...row,
        amount: held(row)
      })
      const commit = Effect.andThen(
        journal.commit(Approval.approved(row, by, work, atMillis)),
        get(company.id, id)
      )
      return yield* Effect.catchTag(commit, "AlreadyTerminal", overtaken(company.id, id, "approved"))
    }),
    reject: ({ company, apiKey, id }) =>
      Effect.flatMap(get(company.id, id), (row) => reject(row, countedAs(apiKey))),
    rejectAsOperator: (id) =>
      Effect.flatMap(found("withdrawal", id, sending.withdrawalById(id)), (row) => reject(row, operator)),
    expire: Effect.gen(function* () {
      const atMillis = yield* now
      const due = yield* records.unapproved(atMillis, expiredAtOnce + failures)
      const expired = yield* Effect.forEach(
        due.filter(isWaiting),
        (row) =>
          Effect.as(journal.commit(Approval.rejected(row, null, atMillis)), true).pipe(
            Effect.catchTag("AlreadyTerminal", () => Effect.succeed(true)),
            // One withdrawal that cannot expire must not hold the funds of all others.
            Effect.catchDefect((defect) =>
              Effect.as(Effect.logError("approval: expiry failed; will retry", defect), false)
            ),
            Effect.annotateLogs({ withdrawalId: row.id })
          ),
        { concurrency: 10 }
      )
      const count = expired.filter((isExpired) => isExpired).length
      failures = expired.length - count
      return count
    })
  })
})

export const layer = Layer.effect(Approvals, make)

/** Expires unapproved withdrawals while the scope is open. */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const { expire } = yield* Approvals
    const pollMillis = yield* PollMillis
    yield* Worker.run(
      "approvals",
      Effect.repeat(expire, { while: (found) => found >= expiredAtOnce }),
      Effect.sleep(pollMillis)
    )
  })
)
