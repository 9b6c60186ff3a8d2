import { Cause, Effect, Exit, Latch, Option, type Scope } from "effect"
import { type Applied, StoreUnavailable } from "../ledger/Journal.ts"
import { claimedFromStart } from "../ledger/Tasks.ts"
import type { Claim } from "./Claim.ts"
import type { Confirmed } from "./ConfirmedCache.ts"
import * as Withdrawal from "./Withdrawal.ts"

/**
 * Maximum number of withdrawals handed over at a time. Each waits for two commits, but never for a node. All
 * others are claimed like any other task.
 */
export const places = 256

/**
 * Delay before checking whether a commit with an unknown outcome took effect. By then, the store has either
 * finished or aborted the commit, or is unavailable.
 */
const lookAfter = "1 second"

/** This process's worker, as seen by the code that confirms withdrawals. */
export interface Worker {
  /** Returns the current id of this process in its claims. */
  readonly holder: () => string
  readonly leaseMillis: number
  /** Processes one claim and never fails. Uses the given withdrawal, or reads it from the store. */
  readonly work: (claim: Claim, confirmed?: Confirmed) => Effect.Effect<void>
}

/**
 * Returns whether a commit certainly had no effect: it was rejected, never started, or replayed an earlier
 * result.
 */
const isNothing = <E>(exit: Exit.Exit<Applied, E>): boolean =>
  Exit.match(exit, {
    onSuccess: ({ _tag }) => _tag === "Replayed",
    onFailure: (cause) =>
      Option.exists(
        Cause.findErrorOption(cause),
        (error) => !(error instanceof StoreUnavailable) || error.why !== "away"
      )
  })

/**
 * Hands withdrawals confirmed by this process to its own worker, under a claim that starts with the commit.
 * This saves polling for the task and reading the withdrawal again. If this process dies first, another one
 * claims the task when this claim ends.
 */
export const make = Effect.gen(function* () {
  const left = yield* Latch.make(false)
  // Run the worker outside the request's context. In the request's fiber, the audit log would attribute the
  // worker's actions to the requester.
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  let worker: Worker | undefined
  let taken = 0

  const leave = Effect.suspend(() => {
    taken--
    return left.open
  })

  const idle: Effect.Effect<void> = Effect.andThen(
    left.close,
    Effect.suspend(() => (taken === 0 ? Effect.void : Effect.andThen(left.await, idle)))
  )

  return {
    /**
     * Commits a withdrawal with its task. If the worker has a free slot, the task is claimed by the worker from
     * the start.
     */
    committed: <W extends { readonly dueAtMillis: number }, E>(
      confirmed: Confirmed,
      work: W,
      commit: (work: W & { readonly claimedBy?: string }) => Effect.Effect<Applied, E>
    ): Effect.Effect<Applied, E> => {
      if (worker === undefined) return commit(work)
      return Effect.acquireUseRelease(
        Effect.sync(() => {
          if (worker === undefined || taken >= places) return undefined
          taken++
          return worker
        }),
        (worker) =>
          worker === undefined
            ? commit(work)
            : commit({
                ...work,
                dueAtMillis: confirmed.withdrawal.createdAtMillis + worker.leaseMillis,
                claimedBy: worker.holder()
              }),
        (worker, exit) => {
          if (worker === undefined) return Effect.void
          if (isNothing(exit)) return leave
          const { id, companyId, createdAtMillis: atMillis } = confirmed.withdrawal
          const claim = {
            ...claimedFromStart(Withdrawal.taskKind, id, companyId),
            atMillis,
            leaseMillis: worker.leaseMillis
          }
          // The request or the store connection may have ended. If the withdrawal exists, the claim exists too,
          // and no other process holds it.
          const work = Exit.isSuccess(exit)
            ? worker.work(claim, confirmed)
            : Effect.andThen(Effect.sleep(lookAfter), worker.work(claim))
          return Effect.sync(() => fork(Effect.ensuring(work, leave)))
        }
      )
    },
    /**
     * Hands confirmed withdrawals to this worker until the scope closes. Closing waits for those already
     * handed over.
     */
    serve: (to: Worker): Effect.Effect<void, never, Scope.Scope> =>
      Effect.acquireRelease(
        Effect.sync(() => {
          worker = to
        }),
        () =>
          Effect.suspend(() => {
            worker = undefined
            return idle
          })
      )
  }
})
