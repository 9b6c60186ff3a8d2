import { assert, describe, it } from "@effect/vitest"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import * as TxId from "@satrail/bitcoin/TxId"
import { Companies } from "@satrail/core/accounts/Companies"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Decimal from "@satrail/core/base/Decimal"
import { Invalid } from "@satrail/core/base/Invalid"
import * as Answer from "@satrail/core/ledger/Answer"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { ChainWallet } from "@satrail/core/nodes/ChainWallet"
import { Signer } from "@satrail/core/nodes/Signer"
import { ChainDeposits } from "@satrail/core/receiving/ChainDeposits"
import { OnChainAddresses } from "@satrail/core/receiving/OnChainAddresses"
import * as Reconciler from "@satrail/core/reports/reconciliation/Reconciler"
import { LostWithdrawals } from "@satrail/core/sending/LostWithdrawals"
import { PaymentWorker } from "@satrail/core/sending/PaymentWorker"
import * as Payout from "@satrail/core/sending/Payout"
import type { Withdrawal } from "@satrail/core/sending/Withdrawal"
import { Withdrawals } from "@satrail/core/sending/Withdrawals"
import * as Policy from "@satrail/core/service/Policy"
import { Records } from "@satrail/core/service/Records"
import * as Satrail from "@satrail/service/core/Satrail"
import * as Memory from "@satrail/service/memory/Memory"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Effect, Layer, Option, References, Result } from "effect"
import { randomUUID } from "node:crypto"
import * as Books from "../src/Books.ts"
import * as Esplora from "../src/Esplora.ts"
import * as HotSigner from "../src/HotSigner.ts"
import * as Keys from "../src/Keys.ts"
import * as Wallet from "../src/Wallet.ts"
import * as EsploraServer from "./EsploraServer.ts"
import { accounts, words } from "./Ours.ts"

// A restored database lacks the payouts that were sent after its backup. Here, the wallet signs and broadcasts them
// without storing them.

const settings: Policy.Settings = {
  ...Policy.defaults,
  network: "regtest",
  domain: "pay.example",
  confirmations: [{ upTo: Policy.defaults.maxWithdrawal, confirmations: 1 }],
  trackMillis: { minimum: 0, maximum: 0 },
  reconciliation: { ...Policy.defaults.reconciliation, graceMillis: 0 }
}

const source = Layer.effect(
  ChainSource,
  Effect.map(EsploraServer.EsploraServer, ({ url }) =>
    ChainSource.of({ ...Esplora.make({ url, beginning: { height: 100 } }), feeRate: Effect.succeed(2) })
  )
)
const unspent = Effect.map(EsploraServer.EsploraServer, ({ url }) => Esplora.unspent({ url }))
const books = Layer.unwrap(Effect.map(unspent, (unspent) => Books.layer(accounts.fingerprint, unspent)))
const wallet = Layer.unwrap(Effect.map(unspent, (unspent) => Wallet.layer(accounts, unspent)))

const service = Layer.provide(Reconciler.layer, books).pipe(
  Layer.provideMerge(Satrail.layer(settings)),
  Layer.provideMerge(Layer.mergeAll(wallet, HotSigner.layer(words, "regtest"))),
  Layer.provideMerge(Layer.merge(Memory.layer, source)),
  Layer.provideMerge(EsploraServer.layer),
  Layer.provideMerge(Layer.merge(Sandbox.layer({ seed: "booked", network: "regtest" }), FixedRates.layer())),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

const mine = Effect.gen(function* () {
  yield* (yield* Sandbox.Sandbox).mine(1)
  const { follow } = yield* ChainDeposits
  yield* Effect.repeat(follow(), { while: (blocksLeft) => blocksLeft > 0 })
})
const step = Effect.flatMap(PaymentWorker, ({ step }) => step)

/** A company with a credited deposit of each amount. */
const funded = Effect.fnUntraced(function* (...amounts: ReadonlyArray<number>) {
  const { id } = yield* Effect.flatMap(
    Effect.flatMap(Companies, ({ open }) => open({ name: "Acme", plan: "paid" })),
    Answer.made
  )
  for (const sats of amounts) {
    const created = (yield* OnChainAddresses).create({ companyId: id, type: "taproot", metadata: {} })
    const { address } = yield* Effect.flatMap(created, Answer.made)
    yield* (yield* Sandbox.Sandbox).send({ address, amount: Msat.fromSats(sats) })
  }
  yield* mine
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
  const { id } = yield* Effect.flatMap(confirming, Answer.made)
  return Option.getOrThrow(yield* (yield* Records).withdrawal(companyId, id))
})

const paymentOf = ({ recipient, amount }: Pick<Withdrawal, "recipient" | "amount">) => ({
  scriptPubKey: Result.getOrThrow(BitcoinAddress.decode(recipient, "regtest")).scriptPubKey,
  amount,
  feeLimit: Msat.fromSats(5000)
})

/** Coins that payouts sent without the database have spent. */
const lost = new Set<string>()

/** Broadcasts a payout of the wallet that is not stored. */
const sent = Effect.fnUntraced(function* (
  paid: ReadonlyArray<Pick<Withdrawal, "recipient" | "amount">>,
  { feeRate = 2 }: { readonly feeRate?: number } = {}
) {
  const draft = yield* (yield* ChainWallet).build({
    payments: paid.map(paymentOf),
    feeRate,
    free: (outpoints) => Effect.succeed(new Set(outpoints.filter((outpoint) => !lost.has(outpoint))))
  })
  for (const coin of draft.coins) lost.add(coin)
  const { txId, rawTx } = yield* (yield* Signer).sign(draft.psbt)
  assert.deepStrictEqual(yield* (yield* ChainSource).broadcast(rawTx), { _tag: "accepted" })
  return { txId, draft }
})

const book = Effect.fnUntraced(function* (txId: TxId.TxId, ...paid: ReadonlyArray<Pick<Withdrawal, "id">>) {
  return yield* (yield* LostWithdrawals).book(
    txId,
    paid.map(({ id }) => id)
  )
})

/** Books the transaction, lets it be tracked, and checks that these withdrawals settled with it. */
const settles = Effect.fnUntraced(function* (txId: TxId.TxId, ...paid: ReadonlyArray<Withdrawal>) {
  yield* book(txId, ...paid)
  yield* step
  for (const { companyId, id } of paid) {
    const { status, chainTxId } = Option.getOrThrow(yield* (yield* Records).withdrawal(companyId, id))
    assert.deepStrictEqual([status, chainTxId], ["settled", txId])
  }
})

/** Checks that the books agree with the chain. */
const agrees = Effect.gen(function* () {
  const { found, chain } = yield* (yield* Reconciler.Reconciler).run()
  assert.deepStrictEqual([found.map(({ cause }) => cause), chain.unexplained], [[], Msat.zero])
})

/** Starts the comparison of the books with an empty wallet. */
const begun = Effect.gen(function* () {
  lost.clear()
  yield* (yield* Reconciler.Reconciler).run()
})

describe("a payout that a restored database lacks", () => {
  it.live(
    "lost payouts: a transaction is booked as the payout of one withdrawal or of several, and they settle with their shares of its fee",
    () =>
      Effect.gen(function* () {
        yield* begun
        const companyId = yield* funded(100_000, 100_000)
        const one = yield* withdraw(companyId, 30_000)
        const [two, three] = [yield* withdraw(companyId, 20_000), yield* withdraw(companyId, 20_000)]
        const first = yield* sent([one])
        const second = yield* sent([two, three])
        yield* mine
        yield* settles(first.txId, one)
        yield* settles(second.txId, three, two)
        const { withdrawal } = yield* Records
        const fees = yield* Effect.forEach([two, three], ({ id }) =>
          Effect.map(withdrawal(companyId, id), (found) => Option.getOrThrow(found).networkFee ?? Msat.zero)
        )
        assert.strictEqual(Msat.sum(...fees), second.draft.fee)
        // Booking it again changes nothing.
        yield* settles(second.txId, two, three)
        // The change can be spent.
        const next = yield* withdraw(companyId, 100_000)
        yield* step
        yield* mine
        yield* step
        assert.strictEqual(
          Option.getOrThrow(yield* (yield* Records).withdrawal(companyId, next.id)).status,
          "settled"
        )
      }).pipe(Effect.provide(service))
  )

  it.live("lost payouts: a payout that spends the change of another lost one is booked after it", () =>
    Effect.gen(function* () {
      yield* begun
      const companyId = yield* funded(100_000)
      const [one, two] = [yield* withdraw(companyId, 30_000), yield* withdraw(companyId, 20_000)]
      const first = yield* sent([one])
      yield* mine
      const change = first.draft.change ?? assert.fail("no change")
      const coin = { ...change, outpoint: `${first.txId}:${change.vout}`, isConfirmed: true }
      const { scriptPubKey, amount } = paymentOf(two)
      const sats = [Msat.toSats(amount), Msat.toSats(change.amount) - Msat.toSats(amount) - 500n] as const
      const { scriptPubKey: own } = yield* (yield* ChainWallet).newAddress("taproot")
      const tx = Payout.draft(
        Keys.make(accounts),
        [coin],
        [
          { scriptPubKey, sats: sats[0] },
          { scriptPubKey: own, sats: sats[1] }
        ]
      )
      const second = yield* (yield* Signer).sign(Payout.toPsbt(tx))
      yield* (yield* ChainSource).broadcast(second.rawTx)
      yield* mine
      yield* settles(first.txId, one)
      yield* settles(second.txId, two)
      yield* agrees
    }).pipe(Effect.provide(service))
  )

  it.live(
    "lost payouts: a replacement that the database lacks is booked as the payout that it replaced",
    () =>
      Effect.gen(function* () {
        yield* begun
        const companyId = yield* funded(100_000)
        const one = yield* withdraw(companyId, 30_000)
        yield* step
        const [before = assert.fail("no candidate")] = yield* (yield* Records).candidates(companyId, one.id)
        const draft = Payout.replacement({ ...before, fee: before.networkFee }, 20, {
          allowance: Msat.fromSats(10_000),
          times: 5
        })
        if (typeof draft === "string") return assert.fail(draft)
        const { txId, rawTx } = yield* (yield* Signer).sign(draft.psbt)
        assert.deepStrictEqual(yield* (yield* ChainSource).broadcast(rawTx), { _tag: "accepted" })
        yield* mine
        // The database's own transaction can never confirm.
        yield* step
        assert.strictEqual(
          Option.getOrThrow(yield* (yield* Records).withdrawal(companyId, one.id)).status,
          "pending"
        )
        yield* book(txId, one)
        for (let blocks = 0; blocks < 6; blocks++) yield* mine
        yield* settles(txId, one)
        yield* agrees
      }).pipe(Effect.provide(service))
  )

  it.live(
    "lost payouts: a transaction is not booked unless it is in a block, spends only the wallet's coins and pays exactly these pending withdrawals",
    () =>
      Effect.gen(function* () {
        yield* begun
        const sandbox = yield* Sandbox.Sandbox
        const companyId = yield* funded(100_000, 100_000, 100_000, 100_000)
        const [one, two, other] = [
          yield* withdraw(companyId, 30_000),
          yield* withdraw(companyId, 20_000),
          yield* withdraw(companyId, 10_000)
        ]
        const refuses = Effect.fnUntraced(function* (
          path: string,
          words: RegExp,
          txId: TxId.TxId,
          ...paid: ReadonlyArray<Withdrawal>
        ) {
          const error = yield* Effect.flip(book(txId, ...paid))
          if (!(error instanceof Invalid)) return assert.fail(error._tag)
          assert.strictEqual(error.path, path)
          assert.match(error.message, words)
        })
        const exact = yield* sent([one])
        yield* refuses("tx_id", /must be in a block \(this one is in the mempool\)/, exact.txId, one)
        yield* refuses("tx_id", /must be in a block \(this one is unknown\)/, TxId.make("ab".repeat(32)), one)
        const less = yield* sent([{ ...one, amount: Msat.fromSats(29_999) }])
        const both = yield* sent([one, two])
        // Another wallet pays the payee.
        const foreignTxId = yield* sandbox.send({ address: one.recipient, amount: one.amount })
        yield* mine
        yield* refuses("tx_id", /must pay 30000 sats to .* for the withdrawal/, less.txId, one)
        yield* refuses("tx_id", /must pay only the withdrawals, and at most one change/, both.txId, one)
        yield* refuses("tx_id", /must pay 10000 sats/, both.txId, one, two, other)
        yield* refuses("tx_id", /must spend only coins of the wallet/, foreignTxId, one)
        yield* settles(exact.txId, one)
        yield* refuses("tx_id", /must be a transaction that the database lacks/, exact.txId, one, two)
        yield* refuses("tx_id", /must be a transaction that the database lacks/, exact.txId, two)
        yield* refuses("withdrawal_ids", /must be pending withdrawals/, both.txId, one, two)
        const unknown = yield* Effect.flip(book(both.txId, { id: randomUUID() }))
        assert.strictEqual(unknown._tag, "NotFound")
      }).pipe(Effect.provide(service))
  )
})
