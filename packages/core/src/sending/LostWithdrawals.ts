import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Layer, Option, type Result } from "effect"
import * as Id from "../base/Id.ts"
import type { Invalid } from "../base/Invalid.ts"
import { Journal, NotFound, type StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import { NodeUnavailable } from "../nodes/LightningReceiver.ts"
import * as LostWithdrawal from "./LostWithdrawal.ts"
import * as NodePayments from "./NodePayments.ts"
import { SendingReads } from "./SendingReads.ts"
import type * as Withdrawal from "./Withdrawal.ts"

type Refused = NotFound | LostWithdrawal.WithdrawalNotLost | NodeUnavailable | StoreUnavailable

/** Ends withdrawals whose payment the node has lost, on an operator's evidence. */
export class LostWithdrawals extends Context.Service<
  LostWithdrawals,
  {
    /**
     * Settles a lost withdrawal whose payee was paid. Repeating it has no further effect. `networkFee` is the
     * routing fee, as far as known.
     */
    readonly settle: (id: string, evidence: LostWithdrawal.Evidence) => Effect.Effect<Withdrawal.Withdrawal, Refused | Invalid>
    /**
     * Releases the funds of a lost withdrawal whose payee was not paid and can no longer claim the payment.
     * Repeating it has no further effect.
     */
    readonly release: (id: string) => Effect.Effect<Withdrawal.Withdrawal, Refused>
  }
>()("@satrail/core/sending/LostWithdrawals") {}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const records = yield* SendingReads
  const { lookup } = yield* NodePayments.make

  const get = Effect.fnUntraced(function* (id: string) {
    const found = Id.is(id) ? yield* records.withdrawalById(id) : Option.none()
    return Option.isSome(found) ? found.value : yield* new NotFound({ what: "withdrawal", id })
  })

  /**
   * Commits what `decide` returns. The Change has no fence: the worker may be looking the payment up at the same
   * time, and the first of both to end the withdrawal wins.
   */
  const end = Effect.fnUntraced(function* <E>(
    withdrawal: Withdrawal.Withdrawal,
    decide: (found: LostWithdrawal.Found, atMillis: number) => Result.Result<Withdrawal.WithdrawalSettled | Withdrawal.WithdrawalFailed, E>
  ) {
    const { id, companyId } = withdrawal
    const job = Option.getOrNull(yield* ledger.job(companyId, id))
    const payment = LostWithdrawal.isLost(job) ? yield* lookup(withdrawal) : null
    if (payment?._tag === "unknown")
      return yield* new NodeUnavailable({ operation: "lookupPayment", cause: "the node does not report whether it has the payment" })
    const change = yield* Effect.fromResult(decide({ withdrawal, job, payment }, yield* Clock.currentTimeMillis))
    yield* journal.commit(change).pipe(
      Effect.catchTags({
        AlreadyTerminal: ({ status }) =>
          Effect.fail(new LostWithdrawal.WithdrawalNotLost({ id, status: status === "failed" ? "failed" : "settled", untilMillis: null })),
        Conflict: () => Effect.fail(new LostWithdrawal.WithdrawalNotLost({ id, status: "settled", untilMillis: null })),
        StaleFence: Effect.die // no fence is passed
      })
    )
    yield* Effect.logWarning("withdrawal: lost payment ended by an operator", {
      withdrawalId: id,
      companyId,
      outcome: change._tag === "WithdrawalSettled" ? "settled" : "failed",
      sats: Msat.toDecimalSats(withdrawal.amount)
    })
    return yield* get(id)
  })

  return LostWithdrawals.of({
    settle: Effect.fnUntraced(function* (id, evidence) {
      const withdrawal = yield* get(id)
      if (withdrawal.status === "settled" && withdrawal.preimage === evidence.preimage) return withdrawal
      return yield* end(withdrawal, (found, atMillis) => LostWithdrawal.paid(found, evidence, atMillis))
    }),
    release: Effect.fnUntraced(function* (id) {
      const withdrawal = yield* get(id)
      return withdrawal.failure === "node_error" ? withdrawal : yield* end(withdrawal, LostWithdrawal.unpaid)
    })
  })
})

export const layer = Layer.effect(LostWithdrawals, make)
