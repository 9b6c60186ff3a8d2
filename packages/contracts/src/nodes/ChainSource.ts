import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as TxId from "@satrail/bitcoin/TxId"
import { type Activity, ChainSource, confirmations, type Output } from "@satrail/core/nodes/ChainSource"
import { Context, Effect } from "effect"
import * as Contract from "../Contract.ts"
import { eventually } from "../Eventually.ts"

/** An output to create. */
export interface Payment {
  readonly address: string
  /** Whole satoshis, above dust. */
  readonly amount: Msat.Msat
}

/** The contract's peer: a wallet with money, and a miner that the test controls. */
export class Peer extends Context.Service<
  Peer,
  {
    /** Returns a new address. Its private key is not needed. */
    readonly address: Effect.Effect<{ readonly address: string; readonly scriptPubKey: string }, unknown>
    /** Pays all of these outputs in one transaction, which stays in the mempool. Returns its id. */
    readonly send: (payments: ReadonlyArray<Payment>) => Effect.Effect<TxId.TxId, unknown>
    /**
     * Signs a transaction that pays `payment`, and does not broadcast it. Two transactions with the same `coin`
     * spend the same coin.
     */
    readonly sign: (
      payment: Payment,
      coin: string
    ) => Effect.Effect<{ readonly txId: TxId.TxId; readonly rawTx: string }, unknown>
    /** Mines this number of blocks. The first includes everything in the mempool. */
    readonly mine: (blocks: number) => Effect.Effect<void, unknown>
    /**
     * Replaces the last blocks with a longer branch of empty blocks. The transactions in the replaced blocks
     * return to the mempool.
     */
    readonly reorg: (depth: number) => Effect.Effect<void, unknown>
    /**
     * Replaces a transaction in the mempool with another that spends the same coins and pays another address.
     */
    readonly doubleSpend: (txId: TxId.TxId) => Effect.Effect<void, unknown>
  }
>()("@satrail/contracts/nodes/ChainSource/Peer") {}

const amount = Msat.fromSats(50_000)

/** Returns everything reported about these scripts after a cursor. */
export const reported = Effect.fnUntraced(function* (ours: ReadonlyArray<string>, after: string | null) {
  const chain = yield* ChainSource
  const mine = (scriptPubKeys: ReadonlyArray<string>) =>
    Effect.succeed(new Set(ours.filter((script) => scriptPubKeys.includes(script))))
  const outputs: Array<Output> = []
  let activity = yield* chain.activity(after, mine)
  const { unchangedTo } = activity
  for (outputs.push(...activity.outputs); activity.blocksLeft > 0; outputs.push(...activity.outputs)) {
    activity = yield* chain.activity(activity.cursor, mine)
  }
  return { ...activity, unchangedTo, outputs }
})

/** Creates an address, and reads a cursor from before any activity on it. */
const fresh = Effect.gen(function* () {
  const target = yield* (yield* Peer).address
  return { ...target, cursor: (yield* reported([], null)).cursor }
})

type Target = Effect.Success<typeof fresh>

/** Reads the outputs reported after a cursor until `isSo` returns true for them. */
const toldSo = (target: Target, after: string | null, isSo: (outputs: ReadonlyArray<Output>) => boolean) =>
  eventually(reported([target.scriptPubKey], after), ({ outputs }) => isSo(outputs))

const only = ({ outputs }: Pick<Activity, "outputs">): Output => {
  assert.strictEqual(outputs.length, 1)
  return outputs[0] ?? assert.fail("no output")
}

const isPlaced = (tag: Output["placement"]["_tag"]) => (outputs: ReadonlyArray<Output>) =>
  outputs.length > 0 && outputs.every(({ placement }) => placement._tag === tag)

/** A deposit in the mempool, as reported. */
const deposit = Effect.gen(function* () {
  const target = yield* fresh
  const txId = yield* (yield* Peer).send([{ address: target.address, amount }])
  const activity = yield* toldSo(target, target.cursor, isPlaced("mempool"))
  return { target, txId, activity }
})

/** The same deposit, mined. */
const minedDeposit = Effect.gen(function* () {
  const { target, txId, activity } = yield* deposit
  yield* (yield* Peer).mine(1)
  return { target, txId, activity: yield* toldSo(target, activity.cursor, isPlaced("mined")) }
})

const placement = Effect.fnUntraced(function* (txId: TxId.TxId) {
  return (yield* (yield* ChainSource).transaction(txId))._tag
})

/** Guarantees that no deposit is missed, credited without a payment, or credited twice. */
export const money = {
  "a deposit in the mempool is reported": Effect.gen(function* () {
    const { target, txId, activity } = yield* deposit
    const { vout, ...output } = only(activity)
    assert.deepStrictEqual(output, {
      txId,
      scriptPubKey: target.scriptPubKey,
      amount,
      placement: { _tag: "mempool" }
    })
    assert.isAtLeast(vout, 0)
  }),
  "a deposit is reported again with its block height when it confirms, and the block's time can be read":
    Effect.gen(function* () {
      const { activity } = yield* minedDeposit
      const { placement } = only(activity)
      if (placement._tag !== "mined") return assert.fail(placement._tag)
      assert.strictEqual(confirmations(activity.tip, placement.height), 1)
      assert.isTrue(Number.isInteger(yield* (yield* ChainSource).timeSecondsAt(placement.height)))
      const { mine } = yield* Peer
      yield* mine(5)
      yield* eventually((yield* ChainSource).tip, (tip) => confirmations(tip, placement.height) === 6)
    }),
  "C45: a deposit's removal by a reorganization is reported, and so is its return": Effect.gen(function* () {
    const { mine, reorg } = yield* Peer
    const { target, txId, activity } = yield* minedDeposit
    const before = only(activity).placement
    yield* mine(1)
    const { cursor } = yield* reported([target.scriptPubKey], activity.cursor)
    yield* reorg(2)
    yield* eventually(placement(txId), (tag) => tag === "mempool")
    const away = yield* reported([target.scriptPubKey], cursor)
    assert.isTrue(
      away.outputs.length > 0 || (before._tag === "mined" && away.unchangedTo < before.height),
      "the deposit is now in a different block"
    )
    yield* mine(1)
    const back = yield* toldSo(target, away.cursor, isPlaced("mined"))
    const after = only(back).placement
    assert.isTrue(before._tag === "mined" && after._tag === "mined" && after.height > before.height)
    assert.isTrue(after._tag === "mined" && confirmations(back.tip, after.height) === 1)
  }),
  "C45: a mempool deposit that is double-spent is reported as gone": Effect.gen(function* () {
    const { doubleSpend, mine } = yield* Peer
    const { txId } = yield* deposit
    yield* doubleSpend(txId)
    yield* mine(1)
    yield* eventually(placement(txId), (tag) => tag === "gone")
  }),
  "C45: a mempool deposit that is double-spent is gone, and reported as such, before the next block":
    Effect.gen(function* () {
      const { doubleSpend } = yield* Peer
      const { target, txId, activity } = yield* deposit
      yield* doubleSpend(txId)
      const after = yield* toldSo(target, activity.cursor, isPlaced("gone"))
      assert.strictEqual(only(after).txId, txId)
      assert.strictEqual(yield* placement(txId), "gone")
      assert.deepStrictEqual((yield* reported([target.scriptPubKey], after.cursor)).outputs, [])
    }),
  "C45: a deposit removed by a reorganization and then double-spent is reported as gone": Effect.gen(
    function* () {
      const { doubleSpend, mine, reorg } = yield* Peer
      const { target, txId, activity } = yield* minedDeposit
      const { placement: before } = only(activity)
      yield* reorg(1)
      yield* doubleSpend(txId)
      yield* mine(1)
      yield* eventually(placement(txId), (tag) => tag === "gone")
      const after = yield* reported([target.scriptPubKey], activity.cursor)
      assert.isTrue(
        after.outputs.length > 0 || (before._tag === "mined" && after.unchangedTo < before.height),
        "the deposit is now in a different block"
      )
    }
  ),
  "C43: several outputs of one transaction are reported separately": Effect.gen(function* () {
    const { mine, send } = yield* Peer
    const [one, other] = [yield* fresh, yield* fresh]
    const txId = yield* send([
      { address: one.address, amount },
      { address: other.address, amount: Msat.fromSats(60_000) },
      { address: one.address, amount: Msat.fromSats(70_000) }
    ])
    yield* mine(1)
    const { outputs } = yield* toldSo(
      one,
      one.cursor,
      (outputs) => outputs.length === 2 && isPlaced("mined")(outputs)
    )
    assert.deepStrictEqual(outputs.map((output) => output.amount).toSorted(), [amount, Msat.fromSats(70_000)])
    assert.strictEqual(new Set(outputs.map(({ vout }) => vout)).size, 2)
    const second = only(yield* toldSo(other, other.cursor, isPlaced("mined")))
    assert.deepInclude(second, { txId, amount: Msat.fromSats(60_000) })
  }),
  "two payments to one address are two outputs": Effect.gen(function* () {
    const { send } = yield* Peer
    const target = yield* fresh
    const txIds = [
      yield* send([{ address: target.address, amount }]),
      yield* send([{ address: target.address, amount }])
    ]
    const { outputs } = yield* toldSo(target, target.cursor, (outputs) => outputs.length === 2)
    assert.deepStrictEqual(outputs.map(({ txId }) => txId).toSorted(), txIds.toSorted())
  }),
  "C44: reading from a cursor reports everything after it and nothing before it": Effect.gen(function* () {
    const { mine, send } = yield* Peer
    const { target, txId, activity } = yield* minedDeposit
    const ours = [target.scriptPubKey]
    assert.deepStrictEqual((yield* reported(ours, activity.cursor)).outputs, [])
    const later = yield* send([{ address: target.address, amount }])
    yield* mine(1)
    const next = yield* toldSo(target, activity.cursor, isPlaced("mined"))
    assert.strictEqual(only(next).txId, later)
    const all = yield* reported(ours, null)
    assert.deepStrictEqual(all.outputs.map((output) => output.txId).toSorted(), [txId, later].toSorted())
  }),
  "C19: broadcasting the same transaction repeatedly has the same result": Effect.gen(function* () {
    const chain = yield* ChainSource
    const { mine, sign } = yield* Peer
    const target = yield* fresh
    const { txId, rawTx } = yield* sign({ address: target.address, amount }, "C19")
    assert.strictEqual(yield* placement(txId), "gone")
    assert.deepStrictEqual(yield* chain.broadcast(rawTx), { _tag: "accepted" })
    assert.deepStrictEqual(yield* chain.broadcast(rawTx), { _tag: "known" })
    only(yield* toldSo(target, target.cursor, isPlaced("mempool")))
    yield* mine(1)
    yield* eventually(placement(txId), (tag) => tag === "mined")
    assert.deepStrictEqual(yield* chain.broadcast(rawTx), { _tag: "known" })
    only(yield* toldSo(target, target.cursor, isPlaced("mined")))
  }),
  "C1: a transaction is returned as it was signed while it is in the mempool or a block, and an unknown one is not":
    Effect.gen(function* () {
      const { broadcast, rawTransaction } = yield* ChainSource
      const { address, mine, sign } = yield* Peer
      const { txId, rawTx } = yield* sign({ address: (yield* address).address, amount }, "raw")
      assert.isNull(yield* rawTransaction(txId))
      yield* broadcast(rawTx)
      yield* eventually(placement(txId), (tag) => tag === "mempool")
      assert.strictEqual(yield* rawTransaction(txId), rawTx)
      yield* mine(1)
      yield* eventually(placement(txId), (tag) => tag === "mined")
      assert.strictEqual(yield* rawTransaction(txId), rawTx)
      assert.isNull(yield* rawTransaction(TxId.make("0e".repeat(32))))
    }),
  "a transaction that double-spends a confirmed one is rejected": Effect.gen(function* () {
    const chain = yield* ChainSource
    const { mine, sign } = yield* Peer
    const [one, other] = [yield* fresh, yield* fresh]
    const first = yield* sign({ address: one.address, amount }, "double")
    const second = yield* sign({ address: other.address, amount }, "double")
    assert.notStrictEqual(first.txId, second.txId)
    assert.deepStrictEqual(yield* chain.broadcast(first.rawTx), { _tag: "accepted" })
    yield* mine(1)
    yield* eventually(placement(first.txId), (tag) => tag === "mined")
    assert.strictEqual((yield* chain.broadcast(second.rawTx))._tag, "rejected")
    assert.strictEqual(yield* placement(second.txId), "gone")
  }),
  "malformed transactions and invalid signatures are rejected": Effect.gen(function* () {
    const chain = yield* ChainSource
    const { address } = yield* (yield* Peer).address
    const { txId, rawTx } = yield* (yield* Peer).sign({ address, amount }, "spoiled")
    // The witness is at the end, before four bytes of lock time (BIP 144). Changing the last byte of a
    // signature or key makes it invalid.
    const at = rawTx.length - 10
    const spoiled = `${rawTx.slice(0, at)}${rawTx.slice(at, at + 2) === "00" ? "01" : "00"}${rawTx.slice(at + 2)}`
    for (const wrong of ["", "00", "hello", spoiled])
      assert.strictEqual((yield* chain.broadcast(wrong))._tag, "rejected")
    assert.strictEqual(yield* placement(txId), "gone")
  })
} satisfies Contract.Promises<ChainSource | Peer>

/** Other guarantees. */
export const other = {
  "an unknown transaction is reported as gone": Effect.gen(function* () {
    assert.strictEqual(yield* placement(TxId.make("0f".repeat(32))), "gone")
  }),
  "the tip is the last block, even if nothing in it is watched": Effect.gen(function* () {
    const chain = yield* ChainSource
    const before = yield* chain.tip
    yield* (yield* Peer).mine(2)
    const after = yield* eventually(chain.tip, ({ height }) => height === before.height + 2)
    assert.notStrictEqual(after.hash, before.hash)
    const { tip, unchangedTo } = yield* eventually(
      reported([], null),
      ({ tip }) => tip.height === after.height
    )
    assert.deepStrictEqual(tip, after)
    assert.isAtMost(unchangedTo, after.height)
  }),
  "payments to scripts that are not watched are not reported": Effect.gen(function* () {
    const { address, scriptPubKey } = yield* (yield* Peer).address
    const { target } = yield* deposit
    yield* (yield* Peer).send([
      { address, amount },
      { address: target.address, amount }
    ])
    const { outputs } = yield* toldSo(target, target.cursor, (outputs) => outputs.length === 2)
    assert.isFalse(outputs.some((output) => output.scriptPubKey === scriptPubKey))
  }),
  "if the lookup of watched scripts fails, the read fails": Effect.gen(function* () {
    const { target } = yield* minedDeposit
    const error = yield* Effect.flip(
      (yield* ChainSource).activity(target.cursor, () => Effect.fail("no" as const))
    )
    assert.strictEqual(error, "no")
  }),
  "the fee rate is a whole number of sat/vB, at least 1": Effect.gen(function* () {
    const rate = yield* (yield* ChainSource).feeRate
    assert.isTrue(Number.isInteger(rate) && rate >= 1)
  })
} satisfies Contract.Promises<ChainSource | Peer>

/**
 * The guarantees that every ChainSource must provide. Each entry is one guarantee; a number such as C43 names
 * the incident that it prevents.
 */
export const promises = { ...money, ...other }

/** Runs the contract against a layer and its peer. Nothing else may mine blocks while the contract runs. */
export const suite = Contract.suite<ChainSource | Peer, typeof money, typeof other>("ChainSource", {
  money,
  other
})
