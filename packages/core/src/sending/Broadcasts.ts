import { Effect, Option, Semaphore } from "effect"
import { Leases } from "../ledger/Duties.ts"
import { ChainSource } from "../nodes/ChainSource.ts"
import type { Draft } from "../nodes/ChainWallet.ts"
import { Signer, SignerUnavailable } from "../nodes/Signer.ts"
import type { Claim } from "./Claim.ts"
import * as FirstReports from "./FirstReports.ts"
import type { Candidate, Withdrawal } from "./Withdrawal.ts"

/** Time limit for a signature. It leaves time for a person to check and confirm the payout on a device. */
export const signMillis = 10 * 60_000

/**
 * Maximum wait for the payouts that this process signs first. After it, a payout is released and tried again
 * later, so that a slow signer does not hold up the other work of the process.
 */
const turnMillis = 5_000

/**
 * Signs and broadcasts payout transactions. The caller stores each transaction between the two steps. A
 * transaction that is not stored is never broadcast, so a payout whose signature is unknown can be signed again.
 */
export const make = Effect.fnUntraced(function* (stopping: Effect.Effect<void>) {
  const chain = yield* ChainSource
  const signer = yield* Signer
  const leases = yield* Leases
  const turn = yield* Semaphore.make(1)
  const isFirst = FirstReports.make()

  /**
   * Runs `send`, which selects coins, asks the signer and stores its transaction, while no other payout of this
   * process does. Keeps the claims for as long as that takes. Returns none, and interrupts `send`, if its turn
   * does not come soon, a claim is lost, or `stopping` completes.
   */
  const alone = <A, E>(
    claims: ReadonlyArray<Claim>,
    send: Effect.Effect<A, E>
  ): Effect.Effect<Option.Option<A>, E> =>
    Effect.suspend(() => {
      let isStarted = false
      const sent = turn.withPermit(
        Effect.suspend(() => {
          isStarted = true
          return Effect.asSome(send)
        })
      )
      const waited = Effect.andThen(
        Effect.sleep(turnMillis),
        Effect.suspend(() => (isStarted ? Effect.never : Effect.void))
      )
      const lost = claims.map((claim) =>
        Effect.andThen(
          leases.keep(claim, claim.atMillis + claim.leaseMillis),
          Effect.logWarning(
            "payout: not sent; another process holds it, or the store did not confirm the claim",
            {
              withdrawalId: claim.id
            }
          )
        )
      )
      return Effect.raceFirst(
        sent,
        Effect.as(Effect.raceAllFirst([stopping, waited, ...lost]), Option.none())
      )
    })

  const signed = Effect.fnUntraced(function* ({ psbt, coins, fee, change, isDeep }: Draft) {
    const late = new SignerUnavailable({ cause: new Error(`no signature within ${signMillis / 1000} s`) })
    const { txId, rawTx } = yield* Effect.timeoutOrElse(signer.sign(psbt), {
      duration: signMillis,
      orElse: () => Effect.fail(late)
    })
    return { _tag: "Chain" as const, txId, rawTx, psbt, coins, networkFee: fee, change, isDeep }
  })

  /**
   * Broadcasts a stored transaction. If it is rejected, each later step broadcasts it again. The rejection is only
   * a warning while another transaction of the payout is in the mempool, and for a deep one, whose parent may be
   * missing and is broadcast again by the parent's own payout.
   */
  const broadcast = Effect.fnUntraced(function* (
    { id }: Withdrawal,
    { rawTx, isDeep }: Pick<Candidate, "rawTx" | "isDeep">,
    isOtherInMempool = false
  ) {
    const answer = yield* chain.broadcast(rawTx)
    if (answer._tag !== "rejected") return
    const { reason } = answer
    const isError = !isDeep && !isOtherInMempool
    if (!isFirst(id, `${isError} ${reason}`)) return
    const log = isError ? Effect.logError : Effect.logWarning
    yield* log("payout: rejected by the network; will retry", { withdrawalId: id, reason })
  })

  return { alone, signed, broadcast, isFirst }
})

export type Broadcasts = Effect.Success<ReturnType<typeof make>>
