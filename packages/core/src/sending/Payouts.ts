import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Effect, Option } from "effect"
import { Journal, type StoreUnavailable } from "../ledger/Journal.ts"
import { fence } from "../ledger/Tasks.ts"
import { ChainSource, type ChainUnavailable } from "../nodes/ChainSource.ts"
import { ChainWallet } from "../nodes/ChainWallet.ts"
import type { SignerUnavailable } from "../nodes/Signer.ts"
import type { Broadcasts } from "./Broadcasts.ts"
import type { Claim } from "./Claim.ts"
import { PaymentOptions } from "./PaymentOptions.ts"
import * as Payout from "./Payout.ts"
import type { PayoutOptions } from "./PayoutOptions.ts"
import { SendingReads } from "./SendingReads.ts"
import * as Withdrawal from "./Withdrawal.ts"
import * as WithdrawalHooks from "./WithdrawalHooks.ts"

/**
 * The result of a step. `done`: the withdrawal is final, or another process or task handles it. `millis`: the
 * next step follows after this delay. `later`: the next step follows at the usual interval. `lost`: as `later`,
 * and the node has lost the payment. `claim`: as `later`, with what this step adds to the claim.
 */
export type Next = "done" | "later" | "lost" | { readonly millis: number } | { readonly claim: Claim }

/** A withdrawal to be paid by one of our transactions, and the claim on its task. */
export interface Ready {
  readonly withdrawal: Withdrawal.Withdrawal
  readonly scriptPubKey: string
  /** The address to pay, if the withdrawal's recipient is a name that resolved to it. */
  readonly paymentRequest?: string
  readonly task: Claim
}

export type Outage = StoreUnavailable | ChainUnavailable | SignerUnavailable

/**
 * Groups withdrawals into transactions. Those due at the same time share one, in order, up to the maximum per
 * transaction. Without a batching interval, each has its own transaction. So does a withdrawal to a resolved
 * name, or one started by an earlier version, because a process of that version may take it over.
 */
export const batches = (
  ready: ReadonlyArray<Ready>,
  { payoutWindowMillis, payoutOutputs }: PayoutOptions["Service"]
): ReadonlyArray<ReadonlyArray<Ready>> => {
  const isTogether = ({ task, paymentRequest }: Ready) =>
    payoutWindowMillis > 0 && task.kind === Withdrawal.payoutKind && paymentRequest === undefined
  const together = ready.filter(isTogether).toSorted((a, b) => (a.withdrawal.id < b.withdrawal.id ? -1 : 1))
  const full = Array.from({ length: Math.ceil(together.length / payoutOutputs) }, (_, n) =>
    together.slice(n * payoutOutputs, (n + 1) * payoutOutputs)
  )
  return [...ready.filter((one) => !isTogether(one)).map((one) => [one]), ...full]
}

/** Pays withdrawals with our own transactions, each of which may pay several. */
export const make = Effect.fnUntraced(function* ({ alone, signed, broadcast }: Broadcasts) {
  const journal = yield* Journal
  const records = yield* SendingReads
  const chain = yield* ChainSource
  const wallet = yield* ChainWallet
  const maySend = yield* WithdrawalHooks.sending
  const { trackMillis } = yield* PaymentOptions

  const now = Clock.currentTimeMillis

  const waits = ({ withdrawal }: Ready) =>
    Effect.as(
      Effect.logWarning("payout: waiting for coins", {
        withdrawalId: withdrawal.id,
        neededSats: String(Msat.toSatsCeiling(Msat.sum(withdrawal.amount, withdrawal.networkAllowance)))
      }),
      { millis: trackMillis.maximum }
    )

  /** Returns the next step of each withdrawal. */
  const each = <E>(batch: ReadonlyArray<Ready>, next: (one: Ready) => Effect.Effect<Next, E>) =>
    Effect.forEach(batch, (one) => Effect.map(next(one), (next) => [one, next] as const))

  /**
   * Selects coins, signs a transaction, stores it for all withdrawals that it pays, and then broadcasts it.
   * Every later broadcast sends the same bytes. The first withdrawal is the leader: its task tracks the
   * transaction.
   */
  const send = (
    batch: ReadonlyArray<Ready>
  ): Effect.Effect<ReadonlyArray<readonly [Ready, Next]>, Outage> => {
    // Another payout spent a coin first, or another process holds one of the tasks. Select coins again for the
    // remaining withdrawals.
    const again = () => Effect.succeed(each(batch, () => Effect.succeed({ millis: 0 })))
    // Returns what to do when the claims are no longer kept, because the commit ends the followers' claims.
    const sent = Effect.gen(function* () {
      const draft = yield* wallet.build({
        payments: batch.map(({ withdrawal, scriptPubKey }) => ({
          scriptPubKey,
          amount: withdrawal.amount,
          feeLimit: withdrawal.networkAllowance
        })),
        feeRate: yield* chain.feeRate,
        free: (outpoints) =>
          Effect.map(
            records.spentCoins(outpoints),
            (spent) => new Set(outpoints.filter((outpoint) => !spent.has(outpoint)))
          )
      })
      const paid = batch.filter((_, place) => draft.pays.includes(place))
      const [leader, ...others] = paid
      if (leader === undefined) return yield* Effect.die("a transaction without outputs")
      const { paymentRequest } = leader
      const attempt = { ...(yield* signed(draft)), ...(paymentRequest !== undefined && { paymentRequest }) }
      // The wallet and the signer may have taken a long time. Check again whether each withdrawal may start; any
      // that may not has to wait.
      const answers = yield* Effect.forEach(paid, ({ withdrawal }) => maySend(withdrawal))
      if (answers.some((answer) => answer !== "now")) return yield* again()
      const [, ...shares] = Payout.shares(
        attempt.networkFee,
        paid.map(({ withdrawal }) => withdrawal.networkAllowance)
      )
      const followers = others.map(({ task: { id, companyId, token } }, n) => ({
        id,
        companyId,
        token,
        networkFee: shares[n] ?? Msat.zero
      }))
      yield* journal.commit(
        Withdrawal.dispatched(leader.withdrawal, attempt, fence(leader.task), yield* now, followers)
      )
      return Effect.andThen(
        broadcast(leader.withdrawal, attempt),
        each(batch, (one) =>
          one === leader
            ? Effect.succeed("later")
            : others.includes(one)
              ? Effect.succeed("done")
              : waits(one)
        )
      )
    }).pipe(
      Effect.catchTags({
        Unfundable: () => Effect.succeed(each(batch, waits)),
        CoinTaken: again,
        StaleFence: again,
        AlreadyTerminal: again,
        Conflict: again,
        PaymentHashTaken: Effect.die
      })
    )
    return Effect.flatMap(
      alone(
        batch.map(({ task }) => task),
        sent
      ),
      Option.getOrElse(() => each(batch, () => Effect.succeed("later")))
    )
  }

  return { send }
})
