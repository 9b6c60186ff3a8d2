import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Companies } from "@satrail/core/accounts/Companies"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Decimal from "@satrail/core/base/Decimal"
import * as Answer from "@satrail/core/ledger/Answer"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { ChainWallet } from "@satrail/core/nodes/ChainWallet"
import { Signer } from "@satrail/core/nodes/Signer"
import * as Policy from "@satrail/core/service/Policy"
import { ChainDeposits } from "@satrail/core/receiving/ChainDeposits"
import { OnChainAddresses } from "@satrail/core/receiving/OnChainAddresses"
import * as Reconciler from "@satrail/core/reports/reconciliation/Reconciler"
import { Records } from "@satrail/core/service/Records"
import * as Satrail from "@satrail/service/core/Satrail"
import { LostWithdrawals } from "@satrail/core/sending/LostWithdrawals"
import { PaymentWorker } from "@satrail/core/sending/PaymentWorker"
import { Withdrawals } from "@satrail/core/sending/Withdrawals"
import * as Memory from "@satrail/service/memory/Memory"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Effect, Layer, Option, References } from "effect"
import * as Books from "../src/Books.ts"
import * as Esplora from "../src/Esplora.ts"
import * as HotSigner from "../src/HotSigner.ts"
import * as Wallet from "../src/Wallet.ts"
import * as EsploraServer from "./EsploraServer.ts"
import { accounts, words } from "./Ours.ts"

const settings: Policy.Settings = {
  ...Policy.defaults,
  network: "regtest",
  domain: "pay.example",
  confirmations: [{ upTo: Policy.defaults.maxWithdrawal, confirmations: 1 }],
  trackMillis: { minimum: 0, maximum: 0 },
  replacement: { afterMillis: 0, allowances: 50 },
  reconciliation: { ...Policy.defaults.reconciliation, graceMillis: 0 }
}

/** The current fee rate, set by the scenario. */
const weather = { rate: 2 }

const source = Layer.effect(
  ChainSource,
  Effect.map(EsploraServer.EsploraServer, ({ url }) =>
    ChainSource.of({
      ...Esplora.make({ url, beginning: { height: 100 } }),
      feeRate: Effect.sync(() => weather.rate)
    })
  )
)

const unspent = Effect.map(EsploraServer.EsploraServer, ({ url }) => Esplora.unspent({ url }))
const books = Layer.unwrap(Effect.map(unspent, (unspent) => Books.layer(accounts.fingerprint, unspent)))
const wallet = Layer.unwrap(Effect.map(unspent, (unspent) => Wallet.layer(accounts, unspent)))

/** A service with its own wallet on the simulated chain, read through Esplora. */
const service = Layer.provide(Reconciler.layer, books).pipe(
  Layer.provideMerge(Satrail.layer(settings)),
  Layer.provideMerge(Layer.mergeAll(wallet, HotSigner.layer(words, "regtest"))),
  Layer.provideMerge(Layer.merge(Memory.layer, source)),
  Layer.provideMerge(EsploraServer.layer),
  Layer.provideMerge(Layer.merge(Sandbox.layer({ seed: "books", network: "regtest" }), FixedRates.layer())),
  // Silence the log, which also reports discrepancies.
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

const mine = (blocks: number) => Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.mine(blocks))

const follow = Effect.gen(function* () {
  const { follow } = yield* ChainDeposits
  yield* Effect.repeat(follow(), { while: (blocksLeft) => blocksLeft > 0 })
})

const step = Effect.flatMap(PaymentWorker, ({ step }) => step)

const company = Effect.flatMap(
  Effect.flatMap(Companies, ({ open }) => open({ name: "Acme", plan: "paid" })),
  Answer.made
)

const newAddress = (companyId: CompanyId.CompanyId) =>
  Effect.flatMap(
    Effect.flatMap(OnChainAddresses, ({ create }) => create({ companyId, type: "taproot", metadata: {} })),
    Answer.made
  )

/** A company with this many on-chain deposits of this amount. */
const funded = Effect.fnUntraced(function* (sats: number, times: number) {
  const { id } = yield* company
  for (let i = 0; i < times; i++) {
    const { address } = yield* newAddress(id)
    yield* (yield* Sandbox.Sandbox).send({ address, amount: Msat.fromSats(sats) })
  }
  yield* mine(1)
  yield* follow
  return id
})

const withdraw = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, sats: number) {
  const { destination } = yield* (yield* Sandbox.Sandbox).destination({ type: "chain_address" })
  const asked = { amount: Decimal.make(BigInt(sats)), currency: "sats" as const }
  const confirming = (yield* Withdrawals).confirm({
    company: { id: companyId, plan: "paid" },
    asked,
    destination,
    metadata: {}
  })
  return yield* Effect.flatMap(confirming, Answer.made)
})

const compare = Effect.flatMap(Reconciler.Reconciler, ({ run }) => run())

/** Causes of discrepancies, and the wallet's unexplained amount in sats. */
const found = Effect.map(
  compare,
  ({ found, chain }) => [found.map(({ cause }) => cause), Number(chain.unexplained) / 1000] as const
)

/** Asserts that the wallet is short of the ledger by exactly the pending payouts and their fees. */
const onItsWay = Effect.gen(function* () {
  const { ledger, owned } = (yield* compare).chain
  const underWay = yield* (yield* Records).withdrawalsUnderWay(null, 100)
  assert.isNotEmpty(underWay)
  assert.strictEqual(
    Msat.make(ledger - owned),
    Msat.sum(...underWay.flatMap(({ amount, networkFee }) => [amount, networkFee ?? Msat.zero]))
  )
})

describe("the wallet's books", () => {
  it.live(
    "wallet statement: the statement agrees with the ledger through deposits, payouts, replacements and reorganizations",
    () =>
      Effect.gen(function* () {
        const sandbox = yield* Sandbox.Sandbox
        const { chain } = yield* compare
        assert.deepStrictEqual([chain.owned, chain.own], [Msat.zero, Msat.zero])
        const companyId = yield* funded(100_000, 3)
        assert.strictEqual((yield* compare).chain.owned, Msat.fromSats(300_000))
        assert.deepStrictEqual(yield* found, [[], 0])
        // Sent, and then replaced with a higher fee. Its coins are spent, and it is not known yet which change
        // will confirm.
        const first = yield* withdraw(companyId, 150_000)
        yield* step
        assert.deepStrictEqual(yield* found, [[], 0])
        yield* onItsWay
        weather.rate = 9
        yield* step
        weather.rate = 2
        assert.strictEqual((yield* (yield* Records).candidates(companyId, first.id)).length, 2)
        assert.deepStrictEqual(yield* found, [[], 0])
        yield* onItsWay
        yield* mine(6)
        yield* follow
        yield* step
        // The next payout spends another payout's unconfirmed change, so its own change may not be spent before
        // it confirms.
        const second = yield* withdraw(companyId, 80_000)
        yield* step
        const third = yield* withdraw(companyId, 60_000)
        yield* step
        assert.isTrue((yield* (yield* Records).candidates(companyId, third.id))[0]?.isDeep)
        assert.deepStrictEqual(yield* found, [[], 0])
        yield* onItsWay
        yield* mine(6)
        yield* follow
        yield* step
        const ended = yield* Effect.forEach([first, second, third], ({ id }) =>
          Effect.flatMap(Records, (records) => records.withdrawal(companyId, id))
        )
        assert.deepStrictEqual(
          ended.map((one) => Option.getOrThrow(one).status),
          ["settled", "settled", "settled"]
        )
        assert.deepStrictEqual(yield* found, [[], 0])
        const { owned, ledger } = (yield* compare).chain
        assert.strictEqual(owned, ledger)
        // A reorganization removes a credited deposit, which then confirms again.
        yield* funded(5000, 1)
        yield* sandbox.reorg(1)
        yield* follow
        assert.deepStrictEqual(yield* found, [[], 0])
        yield* mine(2)
        yield* follow
        assert.deepStrictEqual(yield* found, [[], 0])
      }).pipe(Effect.provide(service))
  )

  it.live("wallet statement: the statement lists each coin that was spent outside the service", () =>
    Effect.gen(function* () {
      yield* compare
      yield* funded(100_000, 2)
      yield* compare
      const { scriptPubKey } = yield* (yield* ChainWallet).newAddress("taproot")
      const draft = yield* (yield* ChainWallet).build({
        payments: [{ scriptPubKey, amount: Msat.fromSats(60_000), feeLimit: Msat.fromSats(1000) }],
        feeRate: 2,
        free: (outpoints) => Effect.succeed(new Set(outpoints))
      })
      const { rawTx } = yield* (yield* Signer).sign(draft.psbt)
      yield* (yield* ChainSource).broadcast(rawTx)
      yield* mine(1)
      const { found, chain } = yield* compare
      assert.deepStrictEqual<unknown>(
        found.map(({ cause, about, ours }) => [cause, about, ours]),
        [
          ["coin_gone", draft.coins[0], Msat.fromSats(100_000)],
          ["on_chain_balance", "chain", Msat.fromSats(200_000)]
        ]
      )
      assert.strictEqual(chain.unexplained, Msat.fromSats(-100_000))
    }).pipe(Effect.provide(service))
  )

  it.live(
    "wallet: a payout waits while a coin is spent on chain by a payout that is not in the store, such as after a restore",
    () =>
      Effect.gen(function* () {
        const companyId = yield* funded(100_000, 2)
        const { scriptPubKey } = yield* (yield* ChainWallet).newAddress("taproot")
        const lost = yield* (yield* ChainWallet).build({
          payments: [{ scriptPubKey, amount: Msat.fromSats(60_000), feeLimit: Msat.fromSats(1000) }],
          feeRate: 2,
          free: (outpoints) => Effect.succeed(new Set(outpoints))
        })
        yield* (yield* ChainSource).broadcast((yield* (yield* Signer).sign(lost.psbt)).rawTx)
        yield* mine(1)
        const { id } = yield* withdraw(companyId, 60_000)
        yield* step
        yield* mine(1)
        yield* step
        const { status, dispatchedAtMillis } = Option.getOrThrow(
          yield* (yield* Records).withdrawal(companyId, id)
        )
        assert.deepStrictEqual([status, dispatchedAtMillis], ["pending", null])
      }).pipe(Effect.provide(service))
  )

  it.live(
    "wallet: change that a reorganization returns to the mempool is not missing, and payouts go on",
    () =>
      Effect.gen(function* () {
        yield* compare
        const companyId = yield* funded(100_000, 1)
        yield* withdraw(companyId, 20_000)
        yield* step
        yield* mine(1)
        yield* step
        yield* (yield* Sandbox.Sandbox).reorg(1)
        yield* follow
        assert.deepStrictEqual(yield* found, [[], 0])
        const { id } = yield* withdraw(companyId, 20_000)
        yield* step
        assert.isNotNull(
          Option.getOrThrow(yield* (yield* Records).withdrawal(companyId, id)).dispatchedAtMillis
        )
      }).pipe(Effect.provide(service))
  )

  it.live(
    "wallet statement: once a lost payout is released, the statement lacks only the coin that another wallet spent",
    () =>
      Effect.gen(function* () {
        yield* compare
        const companyId = yield* funded(100_000, 2)
        yield* compare
        const { scriptPubKey } = yield* (yield* ChainWallet).newAddress("taproot")
        const draft = yield* (yield* ChainWallet).build({
          payments: [{ scriptPubKey, amount: Msat.fromSats(60_000), feeLimit: Msat.fromSats(20_000) }],
          feeRate: 100,
          free: (outpoints) => Effect.succeed(new Set(outpoints))
        })
        assert.strictEqual(draft.coins.length, 1)
        const other = yield* (yield* Signer).sign(draft.psbt)
        const first = yield* withdraw(companyId, 120_000)
        yield* step
        // It spends the change of the first one, so no coin of its own was spent.
        const second = yield* withdraw(companyId, 20_000)
        yield* step
        assert.isTrue((yield* (yield* Records).candidates(companyId, second.id))[0]?.isDeep)
        assert.deepStrictEqual(yield* (yield* ChainSource).broadcast(other.rawTx), { _tag: "accepted" })
        yield* mine(100)
        yield* follow
        yield* step
        const { release } = yield* LostWithdrawals
        const refused = yield* Effect.flip(release(second.id, other.txId))
        assert.include(JSON.stringify(refused), `release the withdrawal ${first.id} first`)
        for (const { id } of [first, second])
          assert.strictEqual((yield* release(id, other.txId)).status, "failed")
        const { posted, held } = yield* (yield* Records).balance(companyId)
        assert.deepStrictEqual([posted, held], [Msat.fromSats(200_000), Msat.zero])
        assert.deepStrictEqual(yield* found, [["on_chain_balance"], -100_000])
        assert.strictEqual((yield* compare).chain.owned, Msat.fromSats(100_000))
        const next = yield* withdraw(companyId, 60_000)
        yield* step
        yield* mine(1)
        yield* step
        assert.strictEqual(
          Option.getOrThrow(yield* (yield* Records).withdrawal(companyId, next.id)).status,
          "settled"
        )
        assert.deepStrictEqual(yield* found, [["on_chain_balance"], -100_000])
      }).pipe(Effect.provide(service))
  )

  it.live(
    "wallet statement: an Esplora server gets one request per transaction to find the unspent coins",
    () =>
      Effect.gen(function* () {
        yield* compare
        const companyId = yield* funded(100_000, 2)
        // Two deposits with one transaction.
        const payments = yield* Effect.forEach([30_000, 40_000], (sats) =>
          Effect.map(newAddress(companyId), ({ scriptPubKey }) => ({
            scriptPubKey,
            amount: Msat.fromSats(sats),
            feeLimit: Msat.fromSats(10_000)
          }))
        )
        const free = (outpoints: ReadonlyArray<string>) => Effect.succeed(new Set(outpoints))
        const { psbt } = yield* (yield* ChainWallet).build({ payments, feeRate: 2, free })
        yield* (yield* ChainSource).broadcast((yield* (yield* Signer).sign(psbt)).rawTx)
        yield* mine(1)
        yield* follow
        const server = yield* EsploraServer.EsploraServer
        const before = server.asked.length
        assert.strictEqual((yield* compare).chain.owned, Msat.fromSats(170_000))
        const asked = server.asked.slice(before).filter((path) => path.startsWith("/tx/"))
        assert.deepStrictEqual([asked.length, new Set(asked.map((path) => path.split("/")[2])).size], [3, 3])
        // The transaction has this output, so a list without it is not complete.
        server.interfere = (path) => (path.includes("outspend") ? { status: 200, body: "[]" } : undefined)
        assert.strictEqual((yield* Effect.flip(compare))._tag, "ChainUnavailable")
      }).pipe(Effect.provide(service))
  )

  it.live("wallet statement: reading a statement while the server is down is reported as an outage", () =>
    Effect.gen(function* () {
      yield* compare
      yield* funded(100_000, 1)
      const server = yield* EsploraServer.EsploraServer
      for (const status of [404, 500, 502]) {
        server.interfere = (path) =>
          path.includes("outspend") ? { status, body: "<html>away</html>" } : undefined
        assert.strictEqual((yield* Effect.flip(compare))._tag, "ChainUnavailable")
      }
      server.interfere = () => undefined
      assert.deepStrictEqual(yield* found, [[], 0])
    }).pipe(Effect.provide(service))
  )
})
