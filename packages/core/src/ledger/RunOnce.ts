import { Clock, Effect, Exit, Option, Schema } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import * as Id from "../base/Id.ts"
import * as Answer from "./Answer.ts"
import * as Change from "./Change.ts"
import * as Duties from "./Duties.ts"
import { Journal, type StoreUnavailable } from "./Journal.ts"
import { LedgerReads } from "./LedgerReads.ts"
import { type Task, Tasks } from "./Tasks.ts"
import { PollMillis, Wakes } from "./Wakes.ts"
import type { Written } from "./Written.ts"

/** Maximum length of a stored result, in UTF-8 bytes of its JSON. */
export const maxResultBytes = 65_536

/** The result of the work is too large to be stored. The work ran, and runs again if it is repeated. */
export class ResultTooLarge extends Schema.TaggedError<ResultTooLarge>()("ResultTooLarge", {
  bytes: Schema.Finite
}) {}

/** Creates or ends the claim on a key, which one caller holds while it works. */
export interface OnceClaimed extends Written<"OnceClaimed", readonly []> {}

/** The kind of a claim's task begins with this. Such a task is not overdue: if its caller died, it waits for a repetition. */
export const claimPrefix = "once "

const address = (owner: CompanyId.CompanyId, key: string) => {
  const id = Id.named(`${claimPrefix}${owner} ${key}`)
  // A request's idempotency key has no space, so it never is the key of a result.
  return { id, kind: `${claimPrefix}${id}`, stored: `${claimPrefix}${key}` }
}

const claimed = (
  companyId: CompanyId.CompanyId,
  atMillis: number,
  id: string,
  job: Change.Job
): OnceClaimed => ({
  _tag: "OnceClaimed",
  ...Change.on({ id, companyId }, atMillis),
  writes: [],
  jobs: [job]
})

/**
 * Runs `work`, which returns JSON, once for each key of a company, and returns its result; a repetition within
 * `Answer.keptMillis` gets the stored one. Concurrent callers, in any process, wait. If the work fails, or if its
 * process dies (after the lease of a duty), nothing is stored, and the next caller runs it. If a process is suspended
 * for longer than the lease, the work can run twice, but every caller gets the result that was stored first.
 */
export const run = <E, R>(companyId: CompanyId.CompanyId, key: string, work: Effect.Effect<string, E, R>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const [journal, ledger, tasks] = [yield* Journal, yield* LedgerReads, yield* Tasks]
      const [leases, wakes, longestMillis] = [yield* Duties.Leases, yield* Wakes, yield* PollMillis]
      const { dutyLeaseMillis: leaseMillis } = yield* Duties.Options
      const { kind, id, stored } = address(companyId, key)
      const now = Clock.currentTimeMillis
      const earlier = Effect.map(
        ledger.answer(companyId, stored),
        Option.map(({ answer }) => answer)
      )
      const change = (job: Change.Job) =>
        Effect.flatMap(Effect.all([Id.make, now]), ([own, nowMillis]) =>
          journal.commit(claimed(companyId, nowMillis, own, job))
        )
      const tell = Effect.flatMap(now, (atMillis) => wakes.tell({ topic: kind, atMillis }))
      // If the store is unavailable, the claim expires instead.
      const end = Effect.andThen(Effect.ignore(change(Change.complete(id))), tell)

      const claim = Effect.gen(function* () {
        const nowMillis = yield* now
        yield* change(Change.enqueue({ kind, id, dueAtMillis: nowMillis }))
        const [task] = yield* tasks.claim({ kind, nowMillis, leaseMillis, limit: 1 })
        return task && { task, untilMillis: nowMillis + leaseMillis }
      })

      const keep = Effect.fnUntraced(function* (
        answer: string
      ): Effect.fn.Return<string, ResultTooLarge | StoreUnavailable> {
        const bytes = new TextEncoder().encode(answer).length
        if (bytes > maxResultBytes) return yield* new ResultTooLarge({ bytes })
        const nowMillis = yield* now
        const once = {
          owner: companyId,
          key: stored,
          fingerprint: claimPrefix,
          answer,
          forgetAtMillis: nowMillis + Answer.keptMillis
        }
        const kept = {
          ...Answer.kept(yield* Id.make, companyId, nowMillis, once),
          jobs: [Change.complete(id)]
        }
        const applied = yield* Effect.catchTag(journal.commit(kept), "IdempotencyMismatch", Effect.die)
        return applied._tag === "Replayed" ? applied.answer : answer
      })

      const working = ({ task, untilMillis }: { readonly task: Task; readonly untilMillis: number }) =>
        Effect.gen(function* () {
          yield* Effect.forkScoped(leases.keep(task, untilMillis))
          // Another caller may have stored its result between the first read and this claim.
          const found = yield* earlier
          if (Option.isNone(found)) return yield* Effect.flatMap(work, keep)
          yield* end
          return found.value
        })

      const attempt = Effect.acquireUseRelease(
        claim,
        (held) => (held === undefined ? earlier : Effect.asSome(working(held))),
        (held, exit) => (held === undefined ? Effect.void : Exit.isSuccess(exit) ? tell : end)
      )

      const first = yield* earlier
      if (Option.isSome(first)) return first.value
      const changed = yield* wakes.listen(kind)
      for (;;) {
        const found = yield* attempt
        if (Option.isSome(found)) return found.value
        yield* Effect.raceFirst(changed, Effect.sleep(longestMillis))
      }
    })
  )
