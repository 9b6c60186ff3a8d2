import { Clock, Effect, Option } from "effect"
import type { Sender } from "../accounts/Company.ts"
import type { Spender } from "../accounts/Limits.ts"
import type * as CompanyId from "../base/CompanyId.ts"
import * as Id from "../base/Id.ts"
import { Journal, NotFound } from "../ledger/Journal.ts"
import * as Approval from "./Approval.ts"
import { SendingReads } from "./SendingReads.ts"
import type * as WithdrawalDrafts from "./WithdrawalDrafts.ts"

/** What a key decides about another's withdrawal. */
export interface Decision {
  readonly company: Sender
  /** Whose decision it is. */
  readonly apiKey: NonNullable<Spender["apiKey"]>
  readonly id: string
}

/** How many are let expire in a step. */
export const expiredAtOnce = 100

/** Decides about withdrawals that wait for a second key. */
export const make = Effect.fnUntraced(function* (drafts: Effect.Success<typeof WithdrawalDrafts.make>) {
  const journal = yield* Journal
  const records = yield* SendingReads
  const now = Clock.currentTimeMillis

  const get = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, id: string) {
    const found = Id.is(id) ? yield* records.withdrawal(companyId, id) : Option.none()
    return Option.isSome(found) ? found.value : yield* new NotFound({ what: "withdrawal", id })
  })

  /** As somebody else has decided meanwhile: that is well where it is what was asked for. */
  const overtaken = (companyId: CompanyId.CompanyId, id: string, state: "approved" | "rejected") => () =>
    Effect.flatMap(get(companyId, id), (row) =>
      row.approval === state ? Effect.succeed(row) : Effect.fail(new Approval.ApprovalOver({ id, state: row.approval }))
    )

  return {
    approve: Effect.fnUntraced(function* ({ company, apiKey, id }: Decision) {
      const row = yield* get(company.id, id)
      if (row.approval === "approved") return row
      if (!Approval.isWaiting(row)) return yield* new Approval.ApprovalOver({ id, state: row.approval })
      const by = Approval.keyOf(apiKey)
      if (by === row.approvalAskedBy) return yield* new Approval.ApprovalByAsker({ id })
      const { atMillis, work } = yield* drafts.again(company, row)
      // The worker that lets it expire may be late.
      if (atMillis >= (row.approvalExpiresAtMillis ?? 0)) return yield* new Approval.ApprovalOver({ id, state: "expired" })
      const commit = Effect.andThen(journal.commit(Approval.approved(row, by, work, atMillis)), get(company.id, id))
      return yield* Effect.catchTag(commit, "AlreadyTerminal", overtaken(company.id, id, "approved"))
    }),
    reject: Effect.fnUntraced(function* ({ company, apiKey, id }: Decision) {
      const row = yield* get(company.id, id)
      if (row.approval === "rejected") return row
      if (!Approval.isWaiting(row)) return yield* new Approval.ApprovalOver({ id, state: row.approval })
      const commit = Effect.andThen(journal.commit(Approval.rejected(row, Approval.keyOf(apiKey), yield* now)), get(company.id, id))
      return yield* Effect.catchTag(commit, "AlreadyTerminal", overtaken(company.id, id, "rejected"))
    }),
    /** Gives back the money of those that nobody approved in time. Any number of processes may do it at once: each ends once. */
    expire: Effect.gen(function* () {
      const atMillis = yield* now
      const due = yield* records.unapproved(atMillis, expiredAtOnce)
      yield* Effect.forEach(
        due.filter(Approval.isWaiting),
        (row) =>
          Effect.catchTag(Effect.asVoid(journal.commit(Approval.rejected(row, null, atMillis))), "AlreadyTerminal", () => Effect.void),
        { concurrency: 10, discard: true }
      )
      return due.length
    })
  }
})
