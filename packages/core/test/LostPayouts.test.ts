import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as TxId from "@satrail/bitcoin/TxId"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { hex } from "@scure/base"
import { Transaction } from "@scure/btc-signer/transaction.js"
import { type Context, Effect, Result } from "effect"
import * as CompanyId from "../src/base/CompanyId.ts"
import { Journal, StoreUnavailable } from "../src/ledger/Journal.ts"
import { ChainSource } from "../src/nodes/ChainSource.ts"
import * as LostPayout from "../src/sending/LostPayout.ts"
import { LostWithdrawals } from "../src/sending/LostWithdrawals.ts"
import { PaymentWorker } from "../src/sending/PaymentWorker.ts"
import * as Withdrawal from "../src/sending/Withdrawal.ts"
import { Records } from "../src/service/Records.ts"
import { settings as usual } from "./Rows.ts"
import {
  companyWith,
  confirm,
  has,
  mine,
  now,
  outside,
  paying,
  type Ports,
  replace,
  run,
  scenario,
  standing,
  start,
  step,
  steps,
  unheld,
  weather
} from "./World.ts"

type Row = Withdrawal.Withdrawal

const payout = paying(42_000, { type: "chain_address" }, 20_000)
const release = Effect.fnUntraced(function* ({ id }: Pick<Row, "id">, spentBy?: TxId.TxId) {
  return yield* (yield* LostWithdrawals).release(id, spentBy)
})
/** Returns the refusal's text. */
const refusal = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) =>
    "message" in error && error._tag === "Invalid" ? String(error.message) : error._tag
  )

/** Another wallet with the same keys spends the payout's coins. */
const spendElsewhere = Effect.fnUntraced(function* (row: Row, blocks: number) {
  const { doubleSpend } = yield* Sandbox
  const spender = yield* doubleSpend((yield* now(row)).chainTxId ?? assert.fail("not sent"))
  yield* mine(blocks)
  return spender
})

const own = "must be another wallet's transaction (this one is the withdrawal's own)"

describe("A payout whose coins another wallet has spent", () => {
  scenario(
    "lost payout: is released after 100 confirmations of the other transaction, not after 99, and once",
    () => ({ isPending: true, ...weather() }),
    function* ({ sent }) {
      const { payer, row } = yield* payout
      yield* step
      const spender = yield* spendElsewhere(row, 99)
      assert.strictEqual(
        yield* refusal(release(row, spender)),
        "must have at least 100 confirmations (it has 99)"
      )
      assert.strictEqual(yield* standing(row), "pending")
      yield* mine(1)
      const released = yield* release(row, spender)
      assert.deepStrictEqual(
        [released.status, released.failure, released.counted],
        ["failed", "node_error", null]
      )
      assert.deepStrictEqual(yield* has(payer), unheld(42_000))
      assert.deepStrictEqual(yield* release(row, spender), released)
      assert.deepStrictEqual(yield* release(row), released)
      const events = yield* (yield* Records).eventsOf(row.companyId, 0n, 100)
      assert.deepStrictEqual(
        events.filter(({ subject }) => subject === row.id).map(({ type }) => type),
        ["withdrawal.requested", "withdrawal.dispatched", "withdrawal.failed"]
      )
      assert.deepStrictEqual(yield* (yield* Records).faults(row.companyId), [])
      const before = sent.length
      yield* steps(10, 600)
      assert.deepStrictEqual([yield* standing(row), sent.length], ["failed: node_error", before])
      assert.deepStrictEqual(yield* has(payer), unheld(42_000))
    }
  )

  scenario(
    "lost payout: is not released if a reorganization removes the other transaction",
    { isPending: true },
    function* () {
      const { row } = yield* payout
      yield* step
      const spender = yield* spendElsewhere(row, 100)
      yield* (yield* Sandbox).reorg(100)
      assert.strictEqual(
        yield* refusal(release(row, spender)),
        "must have at least 100 confirmations (it has 0)"
      )
      assert.strictEqual(yield* standing(row), "pending")
    }
  )

  scenario(
    "lost payout: each replacement of it must be impossible, too",
    () => ({ isPending: true, ...weather() }),
    function* ({ sky }) {
      const { payer, row } = yield* payout
      yield* step
      sky.rate = 4
      yield* steps(31, 60)
      const [first, second] = yield* (yield* Records).candidates(row.companyId, row.id)
      if (first === undefined || second === undefined) return assert.fail("not replaced")
      const spender = yield* spendElsewhere(row, 100)
      for (const { txId } of [first, second]) assert.strictEqual(yield* refusal(release(row, txId)), own)
      assert.strictEqual((yield* release(row, spender)).status, "failed")
      assert.deepStrictEqual(yield* has(payer), unheld(42_000))
    }
  )

  scenario(
    "lost payout: is refused for a transaction that is unknown, unrelated, or one of the service's",
    { isPending: true, logsErrors: true },
    function* () {
      const { row } = yield* payout
      const { payer, row: other } = yield* payout
      yield* step
      const { send } = yield* Sandbox
      const { destination } = yield* outside({ type: "chain_address" })
      const unrelated = yield* send({ address: destination, amount: Msat.fromSats(5_000) })
      yield* spendElsewhere(row, 100)
      const { chainTxId } = yield* now(row)
      const paid = (yield* now(other)).chainTxId ?? assert.fail("not sent")
      for (const [spentBy, message] of [
        [TxId.make("ab".repeat(32)), "must be in a block (the chain does not know this one)"],
        [
          unrelated,
          `must spend a coin of every transaction of the withdrawal (it spends none of ${chainTxId})`
        ],
        [paid, `must be another wallet's transaction (this one pays the withdrawal ${other.id})`],
        [undefined, "is required for an on-chain withdrawal"]
      ] as const)
        assert.strictEqual(yield* refusal(release(row, spentBy)), message)
      assert.strictEqual(yield* standing(row), "pending")
      yield* steps(2)
      assert.strictEqual(yield* standing(other), "settled")
      assert.strictEqual(yield* refusal(release(other, unrelated)), "WithdrawalNotLost")
      const { destination: later } = yield* outside({ type: "chain_address" })
      const unsent = yield* confirm(payer, later, 1_000)
      assert.strictEqual(
        yield* refusal(release(unsent, unrelated)),
        "requires a withdrawal that was sent (this one was not)"
      )
      const lightning = yield* confirm(payer, (yield* outside({ sats: 100 })).destination)
      assert.strictEqual(
        yield* refusal(release(lightning, unrelated)),
        "is for on-chain withdrawals (this one is not)"
      )
    }
  )

  for (const [what, returned] of [
    ["nothing", null],
    ["garbage", "00"],
    [
      "another transaction",
      `0200000001${"11".repeat(32)}00000000000000000001102700000000000016${"0014"}${"11".repeat(20)}00000000`
    ]
  ] as const)
    it.effect(
      `lost payout: is not released if the chain reports the other transaction but returns ${what}`,
      () => {
        const change = replace(ChainSource, () => ({ rawTransaction: () => Effect.succeed(returned) }))
        return run({ isPending: true, change }, function* () {
          const { row } = yield* payout
          yield* step
          const spender = yield* spendElsewhere(row, 100)
          assert.strictEqual(yield* refusal(release(row, spender)), "ChainUnavailable")
          assert.strictEqual(yield* standing(row), "pending")
        })
      }
    )

  it.effect(
    "C10: lost payout: is not released if the worker replaces it at the same moment, and then it is",
    () => {
      const { sky, change: raining } = weather()
      const state = { replaces: Effect.void as Effect.Effect<unknown> }
      const change = (ports: Context.Context<Ports>) =>
        replace(ChainSource, (chain) => ({
          transaction: (txId) =>
            Effect.tap(chain.transaction(txId), () => Effect.suspend(() => state.replaces))
        }))(raining(ports))
      return run({ isPending: true, logsErrors: true, change }, function* () {
        const { payer, row } = yield* payout
        yield* step
        const spender = yield* spendElsewhere(row, 100)
        yield* steps(29, 60)
        const worker = yield* PaymentWorker
        sky.rate = 4
        let asked = 0
        // The payout's transaction is asked about after its candidates were read.
        state.replaces = Effect.suspend(() => {
          if (++asked !== 2) return Effect.void
          state.replaces = Effect.void
          return Effect.orDie(steps(3, 60)).pipe(Effect.provideService(PaymentWorker, worker))
        })
        assert.match(yield* refusal(release(row, spender)), /replacement that was just sent/)
        assert.strictEqual((yield* (yield* Records).candidates(row.companyId, row.id)).length, 2)
        assert.strictEqual(yield* standing(row), "pending")
        yield* release(row, spender)
        yield* steps(3, 1_800)
        assert.strictEqual((yield* (yield* Records).candidates(row.companyId, row.id)).length, 2)
        assert.deepStrictEqual(
          [yield* standing(row), yield* has(payer)],
          ["failed: node_error", unheld(42_000)]
        )
      })
    }
  )
})

describe("The proof that a payout can never confirm", () => {
  const txIdOf = (n: number) => TxId.make(String(n).repeat(64))
  const script = (n: number) => `0014${String(n).repeat(40)}`
  const transaction = (spends: ReadonlyArray<number>, pays: ReadonlyArray<number>) => {
    const tx = new Transaction()
    for (const n of spends) tx.addInput({ txid: txIdOf(n), index: 0 })
    for (const n of pays) tx.addOutput({ script: hex.decode(script(n)), amount: 10_000n })
    return { txId: TxId.make(tx.id), rawTx: hex.encode(tx.unsignedTx) }
  }
  const leader = Withdrawal.pending({
    id: "018bcfe5-6800-7b9c-b1da-f6b682567e8b",
    companyId: CompanyId.operator,
    ledgerTxId: "018bcfe5-6800-7b9c-b1da-f6b682567e8c",
    amount: Msat.fromSats(10_000),
    serviceFee: Msat.zero,
    networkAllowance: Msat.zero,
    recipient: "x",
    recipientType: "chain_address",
    rail: "on_chain",
    network: "regtest",
    metadata: {},
    rate: null,
    rateAtMillis: null,
    fiatCurrency: null,
    rateSource: null,
    createdAtMillis: 0
  })
  const gone = { _tag: "gone" } as const
  /** A payout with these transactions, and 100 confirmations of the spender. */
  const found = (
    candidates: ReadonlyArray<Omit<LostPayout.Seen, "placement">>,
    spender: ReturnType<typeof transaction>
  ): LostPayout.Found => ({
    leader,
    followers: [],
    candidates: candidates.map((one) => ({ ...one, placement: gone, change: null })),
    parents: new Map(),
    spender: { ...spender, placement: { _tag: "mined", height: 1, isCoinbase: false } },
    paidBySpender: null,
    tip: { height: 100, hash: "" }
  })
  const judged = (found: LostPayout.Found) =>
    Result.match(LostPayout.unpaid(found, 1), {
      onSuccess: (changes) => changes.map(({ coins }) => coins),
      onFailure: (error) => ("message" in error ? error.message : error)
    })
  const coin = (n: number) => `${txIdOf(n)}:0`

  it("lost payout: its other coins can be spent again", () => {
    assert.deepStrictEqual(judged(found([transaction([1, 2, 3], [7])], transaction([2, 5], [8]))), [
      [coin(1), coin(3)]
    ])
  })

  it("lost payout: a transaction that spends a coin of only one of its two transactions is no proof", () => {
    const [one, other] = [transaction([1], [7]), transaction([2], [7])]
    assert.match(
      String(judged(found([one, other], transaction([1], [8])))),
      new RegExp(`it spends none of ${other.txId}`)
    )
    assert.match(
      String(judged(found([one, other], transaction([2], [8])))),
      new RegExp(`it spends none of ${one.txId}`)
    )
    assert.deepStrictEqual(judged(found([one, other], transaction([1, 2], [8]))), [[]])
  })

  it("lost payout: it no longer counts against limits", () => {
    const counted = { atMillis: 0, subjects: ["key"] }
    const one = found([transaction([1], [7])], transaction([1], [8]))
    const [change] = Result.getOrThrow(LostPayout.unpaid({ ...one, leader: { ...leader, counted } }, 1))
    assert.deepStrictEqual(change?.counts, [{ subject: "key", atMillis: 0, most: {} }])
  })

  it("lost payout: another output of the same transaction is another coin", () => {
    const tx = new Transaction()
    tx.addInput({ txid: txIdOf(1), index: 1 })
    const spender = { txId: TxId.make(tx.id), rawTx: hex.encode(tx.unsignedTx) }
    assert.match(String(judged(found([transaction([1], [7])], spender))), /it spends none of/)
  })

  it("lost payout: a transaction that pays the payee is no proof, but one that pays the payout's change is", () => {
    const [original, spender] = [transaction([1], [7, 9]), transaction([1], [9])]
    const { candidates, ...rest } = found([original], spender)
    const withChange = (vout: number) => ({
      ...rest,
      candidates: candidates.map((one) => ({
        ...one,
        change: {
          wallet: "w",
          vout,
          scriptPubKey: "",
          amount: Msat.zero,
          type: "taproot",
          branch: 1,
          index: 0
        } as const
      }))
    })
    assert.match(String(judged(withChange(0))), /must not pay the payee/)
    assert.match(String(judged(found([original], spender))), /must not pay the payee/, "one of two payees")
    assert.deepStrictEqual(judged(withChange(1)), [[]])
  })

  it("lost payout: a payout that spends the change of another is released after it", () => {
    const child = found([transaction([1], [7])], transaction([2], [8]))
    const parent = (status: "pending" | "settled" | "failed") => ({
      ...child,
      parents: new Map([[coin(1), { ...leader, id: "parent", status }]])
    })
    assert.match(String(judged(parent("pending"))), /release the withdrawal parent first/)
    assert.match(String(judged(parent("settled"))), /it spends none of/)
    assert.deepStrictEqual(judged(parent("failed")), [[coin(1)]])
  })

  it("lost payout: is not released while the chain still reports one of its transactions", () => {
    const { candidates, ...rest } = found([transaction([1], [7])], transaction([1], [8]))
    for (const placement of [{ _tag: "mempool" }, { _tag: "mined", height: 5, isCoinbase: false }] as const)
      assert.match(
        String(judged({ ...rest, candidates: candidates.map((one) => ({ ...one, placement })) })),
        /the chain still reports/
      )
  })

  it("lost payout: transactions of any form can be read", () => {
    // The coinbase of the genesis block: it has no witness, an unusual input and a bare public key.
    const genesis =
      "01000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d0104455468652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f757420666f722062616e6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000"
    assert.deepStrictEqual(LostPayout.read(genesis).inputs, [`${"00".repeat(32)}:4294967295`])
    assert.strictEqual(LostPayout.read(genesis).scripts.length, 1)
    // A miner can put any version in a block.
    const { rawTx } = transaction([1], [7])
    for (const version of ["03000000", "05000000", "ffffff7f", "000000ff"])
      assert.deepStrictEqual(LostPayout.read(rawTx.replace(/^.{8}/, version)).inputs, [coin(1)])
  })
})

describe("A batch whose coins another wallet has spent", () => {
  const settings = { ...usual, payoutWindowMillis: 60_000 }
  const three = Effect.gen(function* () {
    const [acme, globex] = [yield* companyWith(200_000), yield* companyWith(100_000)]
    const rows: Array<Row> = []
    for (const [company, sats] of [
      [acme, 20_000],
      [globex, 30_000],
      [acme, 40_000]
    ] as const)
      rows.push(yield* confirm(company, (yield* outside({ type: "chain_address" })).destination, sats))
    yield* steps(5)
    return { acme, globex, rows }
  })

  for (const which of [0, 2]) {
    scenario(
      `lost payout: all payouts of its transaction are released with it, whichever is named (${which})`,
      { isPending: true, settings },
      function* () {
        const { acme, globex, rows } = yield* three
        const spender = yield* spendElsewhere(rows[0] ?? assert.fail("none"), 100)
        yield* release(rows[which] ?? assert.fail("none"), spender)
        assert.deepStrictEqual(
          yield* Effect.forEach(rows, standing),
          Array.from(rows, () => "failed: node_error")
        )
        assert.deepStrictEqual([yield* has(acme), yield* has(globex)], [unheld(200_000), unheld(100_000)])
        for (const { companyId } of rows)
          assert.deepStrictEqual(yield* (yield* Records).faults(companyId), [])
        yield* steps(5, 600)
        assert.deepStrictEqual([yield* has(acme), yield* has(globex)], [unheld(200_000), unheld(100_000)])
      }
    )
  }

  for (const dies of [0, 1, 2, 3, 4, 5]) {
    it.effect(
      `C10: lost payout: if the process dies at write ${dies} of the release, repeating the release completes it`,
      () => {
        const state = { left: Infinity }
        /** A store that fails before the write, or after it. */
        const change = replace(Journal, (journal) => ({
          commit: (change) => {
            if (change._tag !== "PayoutReleased") return journal.commit(change)
            state.left -= 1
            const dead = Effect.fail(new StoreUnavailable({ operation: "commit", cause: "dead" }))
            if (state.left < 0) return dead
            const isLost = state.left === 0 && dies % 2 === 1
            return isLost ? Effect.andThen(journal.commit(change), dead) : journal.commit(change)
          }
        }))
        // Until the leader is released, the worker broadcasts the transaction again, which is rejected.
        return run(
          { isPending: true, ...(dies < 5 && { logsErrors: true as const }), settings, change },
          function* () {
            const { acme, globex, rows } = yield* three
            const [first] = rows
            const spender = yield* spendElsewhere(first ?? assert.fail("none"), 100)
            const process = yield* Effect.flatMap(Effect.context<Ports>(), (ports) => start(ports, settings))
            state.left = Math.ceil(dies / 2)
            assert.strictEqual(
              yield* refusal(
                Effect.provideContext(release(rows[1] ?? assert.fail("none"), spender), process)
              ),
              "StoreUnavailable"
            )
            state.left = Infinity
            yield* steps(3, 600)
            yield* release(rows[2] ?? assert.fail("none"), spender)
            assert.deepStrictEqual(
              yield* Effect.forEach(rows, standing),
              Array.from(rows, () => "failed: node_error")
            )
            assert.deepStrictEqual([yield* has(acme), yield* has(globex)], [unheld(200_000), unheld(100_000)])
          }
        )
      }
    )
  }
})
