import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Effect } from "effect"
import { Stops } from "../accounts/Stops.ts"
import { Journal, type StoreUnavailable } from "../ledger/Journal.ts"
import { fence, type Task } from "../ledger/Tasks.ts"
import { ChainSource, type ChainUnavailable } from "../nodes/ChainSource.ts"
import { ChainWallet } from "../nodes/ChainWallet.ts"
import type { SignerUnavailable } from "../nodes/Signer.ts"
import * as Broadcasts from "./Broadcasts.ts"
import { PaymentOptions } from "./PaymentOptions.ts"
import * as Payout from "./Payout.ts"
import type { PayoutOptions } from "./PayoutOptions.ts"
import { SendingReads } from "./SendingReads.ts"
import * as Withdrawal from "./Withdrawal.ts"

/** The result of a step: the withdrawal ended (or another process has it now), or it is looked at again after `millis`, or when its turn comes. */
export type Next = "done" | "later" | { readonly millis: number }

/** A withdrawal that a transaction of ours is to pay, and the claim on its task. */
export interface Ready {
  readonly withdrawal: Withdrawal.Withdrawal
  readonly scriptPubKey: string
  /** The address, where it is not the recipient itself but what a name stood for. */
  readonly paymentRequest?: string
  readonly task: Task
}

export type Outage = StoreUnavailable | ChainUnavailable | SignerUnavailable

/**
 * Those that go out together: what was due at once, in the order it came, as many as one transaction may pay; without a window each by itself. So do those
 * that a process of an earlier version began: such a one may take them over.
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

/** Pays withdrawals with transactions of our own, any number with one. */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const records = yield* SendingReads
  const chain = yield* ChainSource
  const wallet = yield* ChainWallet
  const stops = yield* Stops
  const { trackMillis } = yield* PaymentOptions
  const { signed, broadcast } = yield* Broadcasts.make

  const now = Clock.currentTimeMillis

  const waits = ({ withdrawal }: Ready) =>
    Effect.as(
      Effect.logWarning("payout: waiting for coins", {
        withdrawalId: withdrawal.id,
        neededSats: String(Msat.toSatsCeiling(Msat.sum(withdrawal.amount, withdrawal.networkAllowance)))
      }),
      { millis: trackMillis.maximum }
    )

  /** What comes next for each of them. */
  const each = <E>(batch: ReadonlyArray<Ready>, next: (one: Ready) => Effect.Effect<Next, E>) =>
    Effect.forEach(batch, (one) => Effect.map(next(one), (next) => [one, next] as const))

  /**
   * Selected, signed, stored for all that it pays, and only then shown to anyone: from there on it is the same bytes, however often they are sent.
   * The first of them leads: its task is the work of following the transaction.
   */
  const send = (batch: ReadonlyArray<Ready>): Effect.Effect<ReadonlyArray<readonly [Ready, Next]>, Outage> => {
    // Another payout was first to spend a coin, or another process has one of them now: the remaining ones select again.
    const again = () => each(batch, () => Effect.succeed({ millis: 0 }))
    return Effect.gen(function* () {
      const draft = yield* wallet.build({
        payments: batch.map(({ withdrawal, scriptPubKey }) => ({
          scriptPubKey,
          amount: withdrawal.amount,
          feeLimit: withdrawal.networkAllowance
        })),
        feeRate: yield* chain.feeRate,
        free: (outpoints) =>
          Effect.map(records.spentCoins(outpoints), (spent) => new Set(outpoints.filter((outpoint) => !spent.has(outpoint))))
      })
      const paid = batch.filter((_, place) => draft.pays.includes(place))
      const [leader, ...others] = paid
      if (leader === undefined) return yield* Effect.die("a transaction without outputs")
      // The wallet may have taken long. Each is looked at again, and what may not begin waits.
      if ((yield* Effect.forEach(paid, ({ withdrawal }) => stops.waits(withdrawal.companyId))).includes(true)) return yield* again()
      const { paymentRequest } = leader
      const attempt = { ...(yield* signed(draft)), ...(paymentRequest !== undefined && { paymentRequest }) }
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
      yield* journal.commit(Withdrawal.dispatched(leader.withdrawal, attempt, fence(leader.task), yield* now, followers))
      yield* broadcast(leader.withdrawal, attempt.rawTx)
      return yield* each(batch, (one) =>
        one === leader ? Effect.succeed("later") : others.includes(one) ? Effect.succeed("done") : waits(one)
      )
    }).pipe(
      Effect.catchTags({
        Unfundable: () => each(batch, waits),
        CoinTaken: again,
        StaleFence: again,
        AlreadyTerminal: again,
        Conflict: again,
        PaymentHashTaken: Effect.die
      })
    )
  }

  return { send }
})
