import { Clock, Context, Effect, Layer, Schedule } from "effect"
import * as Balance from "./Balance.ts"
import * as Chain from "./ChainSource.ts"
import { ChainSource } from "./ChainSource.ts"
import type { Fence } from "./Change.ts"
import * as Cursor from "./Cursor.ts"
import * as Deposit from "./Deposit.ts"
import * as Duties from "./Duties.ts"
import { Entropy } from "./Entropy.ts"
import * as Id from "./Id.ts"
import { Journal, type StoreUnavailable } from "./Journal.ts"
import * as Msat from "./Msat.ts"
import type { OnChainAddress } from "./OnChainAddress.ts"
import * as Policy from "./Policy.ts"
import { Records } from "./Records.ts"
import * as Worker from "./Worker.ts"

const heightOf = (placement: Chain.Placement): number | null => (placement._tag === "mined" ? placement.height : null)

const pageSize = 500

// An address of another process turns up this much after its id at the latest: its commit took a while, and its clock is not ours.
const lateMillis = 60_000

const source = "chain"

/** Follows the chain: sees deposits come, credits them when they are deep enough, and takes back what a reorganisation took. */
export class ChainDeposits extends Context.Service<
  ChainDeposits,
  {
    /** Tells the source every address that was given out since, by whichever process. */
    readonly watch: (sinceMillis: number) => Effect.Effect<void, Chain.ChainUnavailable | StoreUnavailable>
    /** Catches up with the chain as it is now. Where another process holds what is fenced, that one's cursor stays. */
    readonly follow: (fence?: Fence) => Effect.Effect<void, Chain.ChainUnavailable | StoreUnavailable | Deposit.DepositMoved>
  }
>()("core/ChainDeposits") {}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const records = yield* Records
  const chain = yield* ChainSource
  const policy = yield* Policy.Policy
  const entropy = yield* Entropy

  const see = Effect.fnUntraced(function* (output: Chain.Output, address: OnChainAddress, height: number | null) {
    const nowMillis = yield* Clock.currentTimeMillis
    yield* journal.commit(
      Deposit.seen({
        id: Id.fromMillis(nowMillis, entropy),
        companyId: address.companyId,
        ledgerTxId: Id.fromMillis(nowMillis, entropy),
        recipient: address.address,
        amount: output.amount,
        network: policy.network,
        rail: "on_chain",
        status: "pending",
        chainTxId: output.txId,
        vout: output.vout,
        height,
        lightningInvoiceId: null,
        absorbed: Msat.zero,
        revision: 0,
        createdAtMillis: nowMillis,
        updatedAtMillis: nowMillis
      })
    )
  })

  /** Takes a credit back. What the company has spent of it by now is the operator's to bear; should it spend more meanwhile, we look again. */
  const reverse = (deposit: Deposit.Deposit) =>
    Effect.gen(function* () {
      const left = Balance.available(yield* records.balance(deposit.companyId))
      const absorbed = left >= deposit.amount ? Msat.zero : Msat.make(deposit.amount - left)
      const change = Deposit.reversed(deposit, absorbed, yield* Clock.currentTimeMillis)
      yield* journal.commit(change)
      yield* Effect.logWarning("a reorganisation took a credited deposit back", { depositId: deposit.id, absorbed: String(absorbed) })
      return change.deposit
    }).pipe(Effect.retry({ while: (error) => error._tag === "InsufficientBalance" }))

  const drop = Effect.fnUntraced(function* (deposit: Deposit.Deposit) {
    yield* journal.commit(Deposit.dropped(deposit, yield* Clock.currentTimeMillis))
  })

  const place = Effect.fnUntraced(function* (deposit: Deposit.Deposit, height: number | null) {
    yield* journal.commit(Deposit.placed(deposit, height, yield* Clock.currentTimeMillis))
  })

  /**
   * Brings one output's deposit to where the chain has it. First the row is read, then the chain is asked: what was told by `activity` may be old
   * by now, and whoever writes what is older than the row is refused by its revision.
   */
  const settle = Effect.fnUntraced(function* (output: Chain.Output) {
    const found = yield* records.depositByOutpoint(output.txId, output.vout)
    if (found._tag === "None") {
      const [address] = yield* records.onChainAddresses([output.scriptPubKey])
      if (address === undefined) return
      const placement = yield* chain.transaction(output.txId)
      return placement._tag === "gone" ? undefined : yield* see(output, address, heightOf(placement))
    }
    const placement = yield* chain.transaction(output.txId)
    const height = heightOf(placement)
    const deposit = found.value
    if (placement._tag === "gone")
      return deposit.status === "failed" ? undefined : yield* drop(deposit.status === "settled" ? yield* reverse(deposit) : deposit)
    if (placement._tag === "mempool" && deposit.status === "settled") return void (yield* reverse(deposit))
    if (deposit.height !== height || deposit.status === "failed") yield* place(deposit, height)
  })

  /** Every deposit that is in a block and not credited yet. */
  const waiting = Effect.gen(function* () {
    const all: Array<Deposit.Deposit> = []
    let after: string | null = null
    do {
      const page: ReadonlyArray<Deposit.Deposit> = yield* records.depositsInBlocks(after, pageSize)
      all.push(...page)
      after = page.length < pageSize ? null : (page.at(-1)?.id ?? null)
    } while (after !== null)
    return all
  })

  /** Credits whatever has become deep enough under this tip. A payment in many pieces is as large as all of its transaction. */
  const confirm = Effect.fnUntraced(function* (tip: Chain.Tip) {
    const deposits = yield* waiting
    const together = new Map<string | null, Msat.Msat>()
    for (const { chainTxId, amount } of deposits) together.set(chainTxId, Msat.sum(amount, together.get(chainTxId) ?? Msat.zero))
    for (const deposit of deposits) {
      const { chainTxId, height } = deposit
      if (chainTxId === null || height === null) continue
      if (Chain.confirmations(tip, height) < Policy.confirmationsFor(policy, together.get(chainTxId) ?? deposit.amount)) continue
      // Asked once more: a reorganisation that nobody has told us of yet must not be paid for.
      const placement = yield* chain.transaction(chainTxId)
      if (placement._tag !== "mined" || placement.height !== height) continue
      yield* Effect.catchTag(journal.commit(Deposit.confirmed(deposit, yield* Clock.currentTimeMillis)), "DepositMoved", () => Effect.void) // another process was first
    }
  })

  return ChainDeposits.of({
    watch: Effect.fnUntraced(function* (sinceMillis) {
      let after: string | null = Id.fromMillis(sinceMillis, (size) => new Uint8Array(size)) // before every other of its millisecond
      do {
        const page: ReadonlyArray<{ readonly id: string; readonly scriptPubKey: string }> = yield* records.allOnChainAddresses(
          after,
          pageSize
        )
        if (page.length > 0) yield* chain.watch(page.map(({ scriptPubKey }) => scriptPubKey))
        after = page.length < pageSize ? null : (page.at(-1)?.id ?? null)
      } while (after !== null)
    }),
    follow: Effect.fnUntraced(function* (fence) {
      const before = yield* records.cursor(source)
      const { outputs, tip, cursor } = yield* chain.activity(before._tag === "Some" ? before.value : null)
      for (const output of outputs) {
        // Another process may move the same deposit at the same time: then what it did is read, and the rest is done.
        yield* Effect.retry(settle(output), {
          times: 5,
          while: (error) => error._tag === "DepositMoved",
          schedule: Schedule.exponential("10 millis")
        })
      }
      // Only now: whoever dies before this line does the outputs again, and each finds that it is done.
      if (before._tag === "None" || before.value !== cursor) {
        const nowMillis = yield* Clock.currentTimeMillis
        yield* journal
          .commit(Cursor.moved({ source, value: cursor }, Id.fromMillis(nowMillis, entropy), nowMillis, fence))
          .pipe(Effect.catchTag("StaleFence", () => Effect.void))
      }
      yield* confirm(tip)
    })
  })
})

export const layer = Layer.effect(ChainDeposits, make)

/** Follows the chain for as long as the scope is open, in one process at a time. */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const deposits = yield* ChainDeposits
    const { chainPollMillis } = yield* Policy.Policy
    yield* Duties.run("chain", (fence) => {
      let watchedMillis = 0 // nothing yet: what this process watched when it last had the role is not all there is
      const step = Effect.gen(function* () {
        const nowMillis = yield* Clock.currentTimeMillis
        yield* deposits.watch(Math.max(0, watchedMillis - lateMillis))
        watchedMillis = nowMillis
        yield* deposits.follow(fence)
      })
      return Worker.run("chain deposits", step, Effect.sleep(chainPollMillis))
    })
  })
)
