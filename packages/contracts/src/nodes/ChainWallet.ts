import { assert } from "@effect/vitest"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as TxId from "@satrail/bitcoin/TxId"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { ChainWallet, type Draft, type Payment } from "@satrail/core/nodes/ChainWallet"
import { Signer } from "@satrail/core/nodes/Signer"
import { Context, Effect, Exit, Result } from "effect"
import { reported } from "./ChainSource.ts"
import * as Contract from "../Contract.ts"
import { eventually } from "../Eventually.ts"

/** The contract's peer: an external wallet with money on the same chain, and a miner. */
export class Peer extends Context.Service<
  Peer,
  {
    /**
     * Pays a new address of the wallet, issued as usual, in a transaction that stays in the mempool. Returns
     * its id.
     */
    readonly send: (type: BitcoinAddress.AddressType, amount: Msat.Msat) => Effect.Effect<TxId.TxId, unknown>
    /**
     * Mines as many blocks as a coin needs before it can be spent, and waits until our node has seen them. The
     * first block includes everything in the mempool.
     */
    readonly mine: Effect.Effect<void, unknown>
    /** Signs and broadcasts a draft as for a payout: records the transaction before the network sees it. */
    readonly dispatch: (draft: Draft) => Effect.Effect<void, unknown>
    /** The script of a new address of this peer. */
    readonly script: Effect.Effect<string, unknown>
    /** Returns the fee of a transaction that the network accepted. */
    readonly feeOf: (txId: TxId.TxId) => Effect.Effect<Msat.Msat, unknown>
  }
>()("@satrail/contracts/nodes/ChainWallet/Peer") {}

const types = BitcoinAddress.AddressType.literals
const kinds = { taproot: "p2tr", segwit: "p2wpkh", nested_segwit: "p2sh" } as const

const amount = Msat.fromSats(50_000)
const feeLimit = Msat.fromSats(2_000)

/** Allows every coin. */
export const all = (outpoints: ReadonlyArray<string>) => Effect.succeed(new Set(outpoints))

/** Deposits into the wallet and waits until the deposit is confirmed. Returns its transaction. */
export const fund = Effect.fnUntraced(function* (type: BitcoinAddress.AddressType, sats: number) {
  const { mine, send } = yield* Peer
  const txId = yield* send(type, Msat.fromSats(sats))
  yield* mine
  yield* eventually((yield* ChainSource).transaction(txId), ({ _tag }) => _tag === "mined")
  return txId
})

/** Allows only the coins of one transaction. */
export const only = (txId: TxId.TxId) => (outpoints: ReadonlyArray<string>) =>
  Effect.succeed(new Set(outpoints.filter((outpoint) => outpoint.startsWith(`${txId}:`))))

/** Default arguments of a build with one payment. */
const asking = Effect.fnUntraced(function* (change: Partial<Payment> = {}) {
  return {
    payments: [{ scriptPubKey: yield* (yield* Peer).script, amount, feeLimit, ...change }],
    feeRate: 2,
    free: all
  }
})

/** Returns the coins that `build` asks permission to spend. */
const candidates = Effect.gen(function* () {
  const { build } = yield* ChainWallet
  const asked: Array<ReadonlyArray<string>> = []
  const none = (outpoints: ReadonlyArray<string>) =>
    Effect.sync((): ReadonlySet<string> => {
      asked.push(outpoints)
      return new Set()
    })
  const exit = yield* Effect.exit(Effect.flip(build({ ...(yield* asking()), free: none })))
  assert.isTrue(Exit.isSuccess(exit) && exit.value._tag === "Unfundable")
  assert.strictEqual(asked.length, 1)
  return asked[0] ?? []
})

/** Returns the reason why no draft was built. */
const refusal = Effect.fnUntraced(function* (
  change: Partial<Effect.Success<ReturnType<typeof asking>>>,
  payment: Partial<Payment> = {}
) {
  return yield* Effect.flip((yield* ChainWallet).build({ ...(yield* asking(payment)), ...change }))
})

/** Guarantees against double spending and unlimited fees. */
export const money = {
  "no address or derivation index is issued twice": Effect.gen(function* () {
    const { network, newAddress } = yield* ChainWallet
    for (const type of types) {
      const given = yield* Effect.forEach(Array.from({ length: 10 }), () => newAddress(type), {
        concurrency: "unbounded"
      })
      assert.strictEqual(new Set(given.map(({ address }) => address)).size, 10)
      assert.strictEqual(new Set(given.map(({ index }) => index)).size, 10)
      for (const { address, scriptPubKey } of given) {
        const decoded = Result.getOrThrow(BitcoinAddress.decode(address, network))
        assert.strictEqual(decoded.scriptPubKey, scriptPubKey)
        assert.strictEqual(decoded.kind, kinds[type])
      }
    }
  }),
  "a draft pays exactly the requested amount, and its stated miner fee is within the limit": Effect.gen(
    function* () {
      yield* fund("taproot", 200_000)
      const chain = yield* ChainSource
      const scriptPubKey = yield* (yield* Peer).script
      const ask = yield* asking({ scriptPubKey })
      const { cursor } = yield* reported([], null)
      const draft = yield* (yield* ChainWallet).build(ask)
      assert.isTrue(draft.fee > 0n && draft.fee <= feeLimit)
      const { txId, rawTx } = yield* (yield* Signer).sign(draft.psbt)
      assert.deepStrictEqual(yield* chain.broadcast(rawTx), { _tag: "accepted" })
      assert.strictEqual(yield* (yield* Peer).feeOf(txId), draft.fee)
      const paid = Effect.map(reported([scriptPubKey], cursor), ({ outputs }) => outputs)
      const [output, ...others] = yield* eventually(paid, (outputs) => outputs.length > 0)
      assert.deepStrictEqual(others, [])
      assert.deepInclude(output, { txId, amount })
    }
  ),
  "one transaction makes several payments with one output each, in order, within their combined fee limit":
    Effect.gen(function* () {
      const txId = yield* fund("taproot", 200_000)
      const chain = yield* ChainSource
      const { script, feeOf } = yield* Peer
      const sats = [30_000, 10_000, 20_000]
      const payments = yield* Effect.forEach(sats, (sats) =>
        Effect.map(script, (scriptPubKey) => ({
          scriptPubKey,
          amount: Msat.fromSats(sats),
          feeLimit: Msat.fromSats(150)
        }))
      )
      const scripts = payments.map(({ scriptPubKey }) => scriptPubKey)
      const { cursor } = yield* reported([], null)
      const draft = yield* (yield* ChainWallet).build({ payments, feeRate: 100, free: only(txId) })
      assert.deepStrictEqual(draft.pays, [0, 1, 2])
      assert.isTrue(draft.fee > Msat.fromSats(150) && draft.fee <= Msat.fromSats(450))
      assert.strictEqual(draft.change?.vout, 3)
      const signed = yield* (yield* Signer).sign(draft.psbt)
      assert.deepStrictEqual(yield* chain.broadcast(signed.rawTx), { _tag: "accepted" })
      assert.strictEqual(yield* feeOf(signed.txId), draft.fee)
      const paid = Effect.map(reported(scripts, cursor), ({ outputs }) => outputs)
      const outputs = yield* eventually(paid, (outputs) => outputs.length === 3)
      for (const [vout, { scriptPubKey, amount }] of payments.entries()) {
        assert.deepInclude(
          outputs.find((output) => output.scriptPubKey === scriptPubKey),
          { txId: signed.txId, vout, amount }
        )
      }
    }),
  "a payment that is too large does not prevent later ones from being included": Effect.gen(function* () {
    const txId = yield* fund("taproot", 60_000)
    const [one] = (yield* asking()).payments
    if (one === undefined) return assert.fail("no payment")
    const payments = [10_000, 70_000, 20_000, 40_000, 15_000].map((sats) => ({
      ...one,
      amount: Msat.fromSats(sats)
    }))
    const { pays, change } = yield* (yield* ChainWallet).build({ payments, feeRate: 2, free: only(txId) })
    assert.deepStrictEqual([pays, change?.vout], [[0, 2, 4], 3])
  }),
  "a draft spends only permitted coins, and permission for all coins is requested in one call": Effect.gen(
    function* () {
      const [one, other] = [yield* fund("segwit", 100_000), yield* fund("segwit", 100_000)]
      const known = yield* candidates
      for (const txId of [one, other]) {
        const { coins } = yield* (yield* ChainWallet).build({ ...(yield* asking()), free: only(txId) })
        assert.strictEqual(coins.length, 1)
        assert.isTrue(coins[0]?.startsWith(`${txId}:`))
        assert.include(known, coins[0])
      }
    }
  ),
  "unconfirmed coins are not offered": Effect.gen(function* () {
    const txId = yield* (yield* Peer).send("taproot", Msat.fromSats(100_000))
    yield* eventually((yield* ChainSource).transaction(txId), ({ _tag }) => _tag === "mempool")
    assert.isFalse((yield* candidates).some((outpoint) => outpoint.startsWith(txId)))
    yield* (yield* Peer).mine
    yield* eventually(candidates, (outpoints) => outpoints.some((outpoint) => outpoint.startsWith(txId)))
  }),
  "a spent coin is not offered again": Effect.gen(function* () {
    const txId = yield* fund("segwit", 100_000)
    yield* (yield* Peer).dispatch(
      yield* (yield* ChainWallet).build({ ...(yield* asking()), free: only(txId) })
    )
    yield* eventually(candidates, (outpoints) => !outpoints.some((outpoint) => outpoint.startsWith(txId)))
  }),
  "a draft's fee exceeds the limit only to pay 1 sat/vB, or by change too small for an output": Effect.gen(
    function* () {
      const txId = yield* fund("taproot", 100_000)
      const dear = { feeRate: 100, free: only(txId) }
      const feeAt = Effect.fnUntraced(function* (feeLimit: number) {
        const { fee } = yield* (yield* ChainWallet).build({
          ...(yield* asking({ feeLimit: Msat.fromSats(feeLimit) })),
          ...dear
        })
        return Number(fee) / 1000
      })
      assert.isAtMost(yield* feeAt(400), 400)
      const [least, none] = [yield* feeAt(90), yield* feeAt(0)]
      // One taproot input and two outputs have 141 to 155 vB.
      assert.isTrue(least > 140 && least < 160)
      assert.strictEqual(none, least)
    }
  ),
  "change that is too small for an output is added to the miner fee, even above the limit": Effect.gen(
    function* () {
      const txId = yield* fund("taproot", 50_500)
      for (const feeLimit of [2_000, 450]) {
        const ask = yield* asking({ feeLimit: Msat.fromSats(feeLimit) })
        const { fee, change } = yield* (yield* ChainWallet).build({ ...ask, free: only(txId) })
        assert.deepStrictEqual([fee, change], [Msat.fromSats(500), null])
      }
    }
  ),
  "a draft for more than the available coins is refused, and the refusal states the amount needed":
    Effect.gen(function* () {
      const txId = yield* fund("taproot", 60_000)
      const error = yield* refusal({ free: only(txId) }, { amount: Msat.fromSats(60_000) })
      assert.isTrue(error._tag === "Unfundable" && error.neededSats > 60_000n)
    })
} satisfies Contract.Promises<ChainWallet | Signer | ChainSource | Peer>

/** Other guarantees. */
export const other = {
  "the fingerprint is 4 bytes of hex": Effect.gen(function* () {
    assert.match((yield* ChainWallet).fingerprint, /^[0-9a-f]{8}$/)
  }),
  "if the permission check fails, the draft fails": Effect.gen(function* () {
    const error = yield* Effect.flip(
      (yield* ChainWallet).build({ ...(yield* asking()), free: () => Effect.fail("no" as const) })
    )
    assert.strictEqual(error, "no")
  })
} satisfies Contract.Promises<ChainWallet | Signer | ChainSource | Peer>

/** The guarantees that every ChainWallet must provide, together with its Signer and ChainSource. */
export const promises = { ...money, ...other }

/**
 * Runs the contract against a layer and its peer. Nothing else may spend the wallet's coins while the contract
 * runs.
 */
export const suite = Contract.suite<ChainWallet | Signer | ChainSource | Peer, typeof money, typeof other>(
  "ChainWallet",
  { money, other }
)
