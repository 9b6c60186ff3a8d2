import { assert, it } from "@effect/vitest"
import * as TxId from "@satrail/bitcoin/TxId"
import * as Ledger from "@satrail/contracts/Ledger"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { ChainDeposits } from "@satrail/core/receiving/ChainDeposits"
import { Records } from "@satrail/core/service/Records"
import * as Satrail from "@satrail/service/core/Satrail"
import { PaymentWorker } from "@satrail/core/sending/PaymentWorker"
import { SettledPayouts } from "@satrail/core/sending/SettledPayouts"
import * as Memory from "@satrail/service/memory/Memory"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Effect, Layer, Redacted } from "effect"
import * as BitcoinRpc from "../src/BitcoinRpc.ts"
import * as HotSigner from "../src/HotSigner.ts"
import * as CoreServer from "./CoreServer.ts"
import { wallet, words } from "./Ours.ts"
import { address, balance, company, now, sats, settings, statuses, withdraw } from "./Story.ts"

const server = Layer.provideMerge(CoreServer.layer, Sandbox.layer({ seed: "txindex", network: "regtest" }))

const source = Layer.unwrap(
  Effect.map(CoreServer.CoreServer, ({ url }) =>
    BitcoinRpc.layer({
      url,
      user: "u",
      password: Redacted.make("p"),
      network: "regtest",
      beginning: { height: 100 },
      feeRates: { fallback: 2 }
    })
  )
)

/** A service on a node that responds like Bitcoin Core. */
const service = Satrail.layer({
  ...settings,
  payoutBuriedAt: 100,
  replacement: { afterMillis: 0, allowances: 50 }
}).pipe(
  Layer.provideMerge(Layer.mergeAll(wallet, HotSigner.layer(words, "regtest"))),
  Layer.provideMerge(Layer.merge(Memory.layer, Layer.provideMerge(source, server))),
  Layer.provideMerge(FixedRates.layer())
)

const inService = <E>(
  story: Effect.Effect<
    void,
    E,
    Layer.Success<typeof service> | Records | ChainSource | CoreServer.CoreServer | Sandbox.Sandbox
  >
) => Effect.scoped(Effect.provide(story, Layer.fresh(service)))

const mine = (blocks: number) => Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.mine(blocks))

/** Runs each worker once. Returns the reasons why the chain could not be followed, if any. */
const work = Effect.gen(function* () {
  const followed = yield* Effect.result((yield* ChainDeposits).follow())
  yield* (yield* PaymentWorker).step
  const looked = yield* Effect.result((yield* SettledPayouts).look)
  yield* Effect.sleep(2) // tasks are due again after this
  return [followed, looked].flatMap((result) =>
    result._tag === "Failure" && "cause" in result.failure ? [String(result.failure.cause)] : []
  )
})

const works = Effect.flatMap(work, (reasons) => Effect.sync(() => assert.deepStrictEqual(reasons, [])))

const paid = Effect.fnUntraced(function* (amount: number) {
  const { id } = yield* company
  const txId = yield* (yield* Sandbox.Sandbox).send({ address: yield* address(id), amount: sats(amount) })
  return { id, txId }
})

/** Three states in which Core does not find a confirmed transaction, and the reason we report for each. */
const unknown = [
  ["the index is being built", "building", /indexing: block \d+ of \d+/],
  ["the index has not read the newest block", "behind", /indexing: block \d+ of \d+/],
  ["the node was started without its index", "none", /keeps no index of transactions/]
] as const

/** Hides all transactions from the block at this height on. */
const forget = Effect.fnUntraced(function* (how: (typeof unknown)[number][1], fromHeight: number) {
  const core = yield* CoreServer.CoreServer
  core.txindex = how === "none" ? { _tag: how } : { _tag: how, height: fromHeight - 1 }
})
const remember = Effect.map(CoreServer.CoreServer, (core) => {
  core.txindex = { _tag: "synced" }
})
const height = Sandbox.Sandbox.pipe(
  Effect.flatMap(({ state }) => state),
  Effect.map(({ chain }) => chain.tip.height)
)

for (const [when, how, reason] of unknown) {
  it.live(`txindex: while ${when}, a confirmed deposit stays pending, and is credited afterward`, () =>
    inService(
      Effect.gen(function* () {
        const { id } = yield* paid(50_000)
        yield* works
        assert.deepStrictEqual(yield* statuses(id), ["pending"])
        yield* forget(how, (yield* height) + 1)
        yield* mine(2)
        for (let looks = 0; looks < 3; looks++) {
          const reasons = yield* work
          assert.deepStrictEqual(
            [yield* statuses(id), yield* balance(id)],
            [["pending"], { posted: 0, held: 0 }]
          )
          assert.match(String(reasons), reason)
        }
        yield* remember
        yield* works
        assert.deepStrictEqual(
          [yield* statuses(id), yield* balance(id)],
          [["settled"], { posted: 50_000, held: 0 }]
        )
        yield* Ledger.auditAll
      })
    )
  )

  it.live(`txindex: while ${when}, a new payment is not skipped`, () =>
    inService(
      Effect.gen(function* () {
        yield* works
        const { id } = yield* paid(50_000)
        yield* forget(how, (yield* height) + 1)
        yield* mine(2)
        const reasons = [yield* work, yield* work]
        assert.deepStrictEqual(yield* statuses(id), [])
        yield* remember
        yield* works
        assert.deepStrictEqual(
          [yield* statuses(id), yield* balance(id)],
          [["settled"], { posted: 50_000, held: 0 }]
        )
        assert.match(String(reasons), reason)
      })
    )
  )

  it.live(
    `txindex: C45: while ${when}, a credited deposit that survived a reorganization is not reversed`,
    () =>
      inService(
        Effect.gen(function* () {
          const { id } = yield* paid(50_000)
          yield* mine(2)
          yield* works
          assert.deepStrictEqual(yield* balance(id), { posted: 50_000, held: 0 })
          yield* (yield* Sandbox.Sandbox).reorg(2)
          yield* mine(1)
          yield* forget(how, yield* height)
          for (let looks = 0; looks < 3; looks++) {
            const reasons = yield* work
            assert.deepStrictEqual(
              [yield* statuses(id), yield* balance(id)],
              [["settled"], { posted: 50_000, held: 0 }]
            )
            assert.match(String(reasons), reason)
          }
          yield* remember
          yield* works
          assert.deepStrictEqual(
            [yield* statuses(id), yield* balance(id)],
            [["settled"], { posted: 50_000, held: 0 }]
          )
          const events = yield* (yield* Records).events(0n, 100)
          assert.notInclude(
            events.map(({ type }) => type),
            "deposit.reversed"
          )
        })
      )
  )

  it.live(
    `txindex: while ${when}, a confirmed payout is neither sent again nor replaced, and a settled payout is not sent again`,
    () =>
      inService(
        Effect.gen(function* () {
          const core = yield* CoreServer.CoreServer
          const sandbox = yield* Sandbox.Sandbox
          const records = yield* Records
          const { id } = yield* paid(500_000)
          yield* mine(2)
          yield* works
          const { destination } = yield* sandbox.destination({ type: "chain_address" })
          const settled = yield* withdraw(id, destination, 20_000)
          yield* works
          yield* mine(1)
          yield* works
          assert.strictEqual((yield* now(settled)).status, "settled")
          const pending = yield* withdraw(id, destination, 30_000)
          yield* (yield* PaymentWorker).step
          const [payout] = yield* records.candidates(id, pending.id)
          yield* mine(1)
          const sent = core.called.filter((method) => method === "sendrawtransaction").length
          assert.strictEqual(sent, 2)
          yield* forget(how, (yield* height) - 1)
          for (let looks = 0; looks < 3; looks++) {
            const reasons = yield* work
            assert.strictEqual(core.called.filter((method) => method === "sendrawtransaction").length, sent)
            assert.strictEqual((yield* now(pending)).status, "pending")
            assert.match(String(reasons), reason)
          }
          assert.deepStrictEqual(
            yield* records.candidates(id, pending.id),
            payout === undefined ? [] : [payout]
          )
          yield* remember
          yield* works
          assert.deepStrictEqual(
            [(yield* now(pending)).status, (yield* now(pending)).chainTxId],
            ["settled", payout?.txId ?? null]
          )
        })
      )
  )
}

it.live(
  "txindex: while the index is one block behind a growing chain, no transaction is reported as missing",
  () =>
    inService(
      Effect.gen(function* () {
        const core = yield* CoreServer.CoreServer
        const chain = yield* ChainSource
        const { txId } = yield* paid(50_000)
        assert.deepStrictEqual(yield* chain.transaction(txId), { _tag: "mempool" })
        yield* forget("behind", (yield* height) + 1)
        yield* mine(1)
        yield* chain.tip // a block that is indexed a moment later does not cause an outage
        assert.match(String((yield* Effect.flip(chain.transaction(txId))).cause), /indexing/)
        yield* remember
        assert.strictEqual((yield* chain.transaction(txId))._tag, "mined")
        assert.deepStrictEqual(yield* chain.transaction(TxId.make("0f".repeat(32))), { _tag: "gone" })
        assert.isAbove(core.called.filter((method) => method === "getindexinfo").length, 0)
      })
    )
)

it.live("mempool: while a restarted node loads its mempool, an unconfirmed deposit stays pending", () =>
  inService(
    Effect.gen(function* () {
      const core = yield* CoreServer.CoreServer
      yield* mine(1)
      const { id } = yield* paid(50_000)
      yield* works
      core.isMempoolLoaded = false
      yield* (yield* Sandbox.Sandbox).reorg(1) // a new tip, so unconfirmed deposits are checked again
      assert.match(String(yield* work), /loading its mempool/)
      assert.deepStrictEqual(yield* statuses(id), ["pending"])
      core.isMempoolLoaded = true
      yield* works
      assert.deepStrictEqual(yield* statuses(id), ["pending"])
      yield* mine(2)
      yield* works
      assert.deepStrictEqual(
        [yield* statuses(id), yield* balance(id)],
        [["settled"], { posted: 50_000, held: 0 }]
      )
      const events = yield* (yield* Records).events(0n, 100)
      assert.notInclude(
        events.map(({ type }) => type),
        "deposit.failed"
      )
    })
  )
)
