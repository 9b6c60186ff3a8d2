import { Cause, Effect, Exit, Latch, Option, type Scope } from "effect"
import { type Applied, StoreUnavailable } from "../ledger/Journal.ts"
import { claimedFromStart } from "../ledger/Tasks.ts"
import type { Claim } from "./Claim.ts"
import * as Withdrawal from "./Withdrawal.ts"

/** How many are handed over at once. Each waits for two commits and for no node; what finds no place is claimed like everything else. */
export const places = 256

/** When it is looked whether a commit took effect of which nobody knows. By then the store has answered it or ended it, or is away. */
const lookAfter = "1 second"

/** A process's own worker, as who confirms there knows it. */
export interface Worker {
  /** The id of this process, as its claims name it. */
  readonly holder: string
  /** How long its claims last. */
  readonly leaseMillis: number
  /** Carries one out, whatever goes wrong: this one, or what the store has by then. */
  readonly work: (claim: Claim, withdrawal?: Withdrawal.Withdrawal) => Effect.Effect<void>
}

/** Whether a commit certainly did nothing: it was refused, turned away, or its key was used before. */
const isNothing = <E>(exit: Exit.Exit<Applied, E>): boolean =>
  Exit.match(exit, {
    onSuccess: ({ _tag }) => _tag === "Replayed",
    onFailure: (cause) =>
      Option.exists(Cause.findErrorOption(cause), (error) => !(error instanceof StoreUnavailable) || error.why !== "away")
  })

/**
 * Gives what a process confirms to its own worker, under a claim that begins with the commit: the store is not asked what there is to do, nor what it is. A
 * process that dies in between leaves it to whoever claims it when that claim has ended.
 */
export const make = Effect.gen(function* () {
  const left = yield* Latch.make(false)
  // What the worker does is nobody's request any more: in the fiber that confirmed, the audit log would have it done by who asked.
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
    /** Commits a withdrawal with its work, which is the worker's own from the start where it has a place for it. */
    committed: <W extends { readonly dueAtMillis: number }, E>(
      withdrawal: Withdrawal.Withdrawal,
      work: W,
      commit: (work: W & { readonly claimedBy?: string }) => Effect.Effect<Applied, E>
    ): Effect.Effect<Applied, E> =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          if (worker === undefined || taken >= places) return undefined
          taken++
          return worker
        }),
        (worker) =>
          worker === undefined
            ? commit(work)
            : commit({ ...work, dueAtMillis: withdrawal.createdAtMillis + worker.leaseMillis, claimedBy: worker.holder }),
        (worker, exit) => {
          if (worker === undefined) return Effect.void
          if (isNothing(exit)) return leave
          const { id, companyId, createdAtMillis: atMillis } = withdrawal
          const claim = { ...claimedFromStart(Withdrawal.taskKind, id, companyId), atMillis, leaseMillis: worker.leaseMillis }
          // Who asked may be gone, or the connection: the claim is there if the withdrawal is, and nobody else has it.
          const work = Exit.isSuccess(exit) ? worker.work(claim, withdrawal) : Effect.andThen(Effect.sleep(lookAfter), worker.work(claim))
          return Effect.sync(() => fork(Effect.ensuring(work, leave)))
        }
      ),
    /** From here on this worker is given what is confirmed, until the scope closes, which waits for what was given to it. */
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
