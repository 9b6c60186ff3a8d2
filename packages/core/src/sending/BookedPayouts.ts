import type { TxId } from "@satrail/bitcoin/TxId"
import { Clock, Effect, Option } from "effect"
import { Invalid } from "../base/Invalid.ts"
import { found, Journal } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import { Tasks } from "../ledger/Tasks.ts"
import { ChainSource, ChainUnavailable } from "../nodes/ChainSource.ts"
import { ChainWallet } from "../nodes/ChainWallet.ts"
import * as Coin from "../nodes/Coin.ts"
import * as BookedPayout from "./BookedPayout.ts"
import * as LostPayout from "./LostPayout.ts"
import * as LostWithdrawal from "./LostWithdrawal.ts"
import * as Payout from "./Payout.ts"
import { SendingReads } from "./SendingReads.ts"
import * as Withdrawal from "./Withdrawal.ts"

/** Maximum number of the wallet's coins, largest first, among which the spent ones are searched. */
const maxCoins = 100_000

/** A task that is due later than this was held by the operator. */
const heldMillis = 86_400_000

/** Returns all withdrawals of a payout, its leader first. */
const withMembers = (records: SendingReads["Service"]) => (leader: Withdrawal.Withdrawal) =>
  Effect.map(records.followers(leader.id), (followers) => [leader, ...followers])

/** Returns a function that reads what decides whether a transaction is the payout of these withdrawals. */
const finding = Effect.gen(function* () {
  const records = yield* SendingReads
  const chain = yield* ChainSource
  const wallet = yield* ChainWallet
  const membersOf = withMembers(records)

  /** Returns the bytes of a transaction that the chain reports. */
  const rawOf = Effect.fnUntraced(function* (txId: TxId) {
    const rawTx = (yield* chain.rawTransaction(txId)) ?? ""
    const isRead = Effect.sync(() => LostPayout.read(rawTx).txId === txId)
    if (yield* Effect.catchDefect(isRead, () => Effect.succeed(false))) return rawTx
    return yield* new ChainUnavailable({
      operation: "rawTransaction",
      cause: new Error(`the chain does not return the transaction ${txId}`)
    })
  })

  /** Returns the outputs that a transaction spends. */
  const spentBy = (rawTx: string) =>
    Effect.forEach(LostPayout.read(rawTx).inputs, (outpoint) =>
      Effect.map(rawOf(Coin.txIdOf(outpoint)), (parent): Payout.Output => {
        const [{ sats, scripts }, vout] = [LostPayout.read(parent), Number(outpoint.split(":")[1])]
        return { scriptPubKey: scripts[vout] ?? "", sats: sats[vout] ?? 0n }
      })
    )

  const find = Effect.fnUntraced(function* (txId: TxId, withdrawals: ReadonlyArray<Withdrawal.Withdrawal>) {
    const sent = withdrawals.find(({ chainTxId }) => chainTxId !== null)?.chainTxId ?? null
    const leader = sent === null ? Option.none() : yield* records.payoutOf(sent)
    const members = Option.isNone(leader) ? [] : yield* membersOf(leader.value)
    const candidates = Option.isNone(leader)
      ? []
      : yield* records.candidates(leader.value.companyId, leader.value.id)
    const placement = yield* chain.transaction(txId)
    const rawTx = placement._tag === "mined" ? yield* rawOf(txId) : ""
    const spent = placement._tag === "mined" ? yield* spentBy(rawTx) : []
    const scripts = placement._tag === "mined" ? LostPayout.read(rawTx).scripts : []
    const { placesOf = () => Effect.succeed(new Map<string, Coin.Place>()) } = wallet
    const places = yield* placesOf([...scripts, ...spent.map(({ scriptPubKey }) => scriptPubKey)])
    const coins = new Map(
      (yield* records.coins(wallet.fingerprint, maxCoins)).map((coin) => [coin.outpoint, coin])
    )
    return {
      withdrawals,
      txId,
      rawTx,
      placement,
      candidates,
      members,
      coins,
      spent,
      places,
      wallet: wallet.fingerprint
    } satisfies BookedPayout.Found
  })

  return find
})

/** Returns a function that books a transaction as the payout of these withdrawals: see `LostWithdrawals.book`. */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const records = yield* SendingReads
  const tasks = yield* Tasks
  const find = yield* finding
  const membersOf = withMembers(records)

  const refused = (message: string, path = "tx_id") => new Invalid({ path, message })

  /** Returns the job of a pending withdrawal, with its token. */
  const jobOf = Effect.fnUntraced(function* ({ companyId, id, status }: Withdrawal.Withdrawal) {
    const job = yield* ledger.job(companyId, id)
    return Option.isSome(job)
      ? job.value
      : yield* new LostWithdrawal.WithdrawalNotLost({ id, status, untilMillis: null })
  })

  /** Makes the payout's task due if it was held after the restore, so that a worker tracks the transaction. */
  const track = Effect.fnUntraced(function* (leader: Withdrawal.Withdrawal) {
    if (leader.status !== "pending") return
    const { companyId, id } = leader
    const [job, nowMillis] = [yield* jobOf(leader), yield* Clock.currentTimeMillis]
    if (job.dueAtMillis > nowMillis + heldMillis) yield* tasks.postpone({ ...job, companyId, id }, nowMillis)
  })

  const commit = Effect.fnUntraced(function* (about: BookedPayout.Found, attempt: BookedPayout.Attempt) {
    const { candidates, members } = about
    const all = members.length > 0 ? members : about.withdrawals
    const [leader, ...others] = all
    if (leader === undefined) return yield* refused("must not be empty", "withdrawal_ids")
    const fence = { taskId: leader.id, token: (yield* jobOf(leader)).token }
    const [, ...shares] = Payout.shares(
      attempt.networkFee,
      all.map(({ networkAllowance }) => networkAllowance)
    )
    const followers = yield* Effect.forEach(others, (one, n) =>
      Effect.map(jobOf(one), ({ token }) => ({
        id: one.id,
        companyId: one.companyId,
        token,
        networkFee: shares[n] ?? attempt.networkFee
      }))
    )
    const [newest, nowMillis] = [candidates.at(-1), yield* Clock.currentTimeMillis]
    const change = newest?.change ? Coin.outpoint(newest.txId, newest.change.vout) : null
    yield* journal.commit(
      newest === undefined
        ? Withdrawal.dispatched(leader, attempt, fence, nowMillis, followers)
        : Withdrawal.replaced(leader, attempt, { txId: newest.txId, change }, fence, nowMillis, followers)
    )
    return leader
  })

  return Effect.fnUntraced(function* (txId: TxId, ids: ReadonlyArray<string>) {
    const sorted = [...new Set(ids)].toSorted()
    const read = Effect.forEach(sorted, (id) => found("withdrawal", id, records.withdrawalById(id)))
    const withdrawals = yield* read
    const booked = yield* records.payoutOf(txId)
    if (Option.isSome(booked)) {
      const members = (yield* membersOf(booked.value)).map(({ id }) => id).toSorted()
      if (members.join() !== sorted.join())
        return yield* refused(
          `must be a transaction that the database lacks (this one pays ${members.join(", ")})`
        )
      yield* track(booked.value)
      return withdrawals
    }
    const about = yield* find(txId, withdrawals)
    const attempt = yield* Effect.fromResult(BookedPayout.decide(about))
    const leader = yield* commit(about, attempt).pipe(
      Effect.catchTags({
        CoinTaken: () => refused("must spend only coins that no other payout spends"),
        Conflict: () =>
          refused(
            "must pay withdrawals that are not being sent (one is); repeat the command",
            "withdrawal_ids"
          ),
        StaleFence: () =>
          refused(
            "must pay withdrawals that are not being sent (one is); repeat the command",
            "withdrawal_ids"
          ),
        AlreadyTerminal: ({ status }) =>
          refused(`must be pending withdrawals (one is ${status})`, "withdrawal_ids"),
        PaymentHashTaken: Effect.die // no payment hash is given
      })
    )
    yield* Effect.logWarning("payout: booked by an operator", { txId, withdrawalIds: sorted })
    yield* track(leader)
    return yield* read
  })
})
