import { assert, describe, it } from "@effect/vitest"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Signatures from "@satrail/bitcoin/Signatures"
import * as TxId from "@satrail/bitcoin/TxId"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { ChainWallet } from "@satrail/core/nodes/ChainWallet"
import type * as Coin from "@satrail/core/nodes/Coin"
import { Signer } from "@satrail/core/nodes/Signer"
import * as Payout from "@satrail/core/sending/Payout"
import { HDKey } from "@scure/bip32"
import { Effect, HashMap, Result } from "effect"
import * as Chain from "../src/Chain.ts"
import * as Genesis from "../src/Genesis.ts"
import * as Keys from "../src/Keys.ts"
import * as Sandbox from "../src/Sandbox.ts"
import * as Transaction from "../src/Transaction.ts"
import * as World from "../src/World.ts"
import type { Ports } from "./Story.ts"

const sandbox = <A, E>(effect: Effect.Effect<A, E, Ports>) =>
  Effect.provide(effect, Sandbox.layer({ seed: "chain", network: "regtest" }), { local: true })

const sats = Msat.fromSats
const control = <A, E>(use: (sandbox: Sandbox.Sandbox["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(Sandbox.Sandbox, use)
const reason = <A, E extends { readonly reason: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason)
const all = (outpoints: ReadonlyArray<string>) => Effect.succeed(new Set(outpoints))

const outsideScript = Effect.gen(function* () {
  const { destination } = yield* control((one) => one.destination({ type: "chain_address" }))
  return Result.getOrThrow(BitcoinAddress.decode(destination, "regtest"))
})

const deposit = Effect.fnUntraced(function* (amount: number) {
  const { address, scriptPubKey } = yield* (yield* ChainWallet).newAddress("taproot")
  return { scriptPubKey, txId: yield* control(({ send }) => send({ address, amount: sats(amount) })) }
})

const payout = Effect.fnUntraced(function* (amount: number) {
  const { scriptPubKey } = yield* outsideScript
  const draft = yield* (yield* ChainWallet).build({
    payments: [{ scriptPubKey, amount: sats(amount), feeLimit: sats(5_000) }],
    feeRate: 2,
    free: all
  })
  const signed = yield* (yield* Signer).sign(draft.psbt)
  assert.deepStrictEqual(yield* (yield* ChainSource).broadcast(signed.rawTx), { _tag: "accepted" })
  return { ...signed, ...draft, scriptPubKey }
})

const placement = Effect.fnUntraced(function* (txId: TxId.TxId) {
  return (yield* (yield* ChainSource).transaction(txId))._tag
})

/** Checks that no coin is spent twice and that all coins add up to the mined amount. */
const isSound = Effect.gen(function* () {
  const { chain } = yield* control(({ state }) => state)
  const live = HashMap.toValues(chain.transactions).filter(({ placement }) => placement._tag !== "gone")
  const spent = live.flatMap(({ inputs }) => inputs)
  assert.strictEqual(new Set(spent).size, spent.length)
  for (const outpoint of spent)
    assert.notStrictEqual(Chain.output(chain, outpoint)?.of.placement._tag ?? "gone", "gone")
  assert.deepStrictEqual(
    chain.mempool.toSorted(),
    live
      .filter(({ placement }) => placement._tag === "mempool")
      .map(({ txId }) => txId)
      .toSorted()
  )
  assert.strictEqual(HashMap.size(chain.blocks), chain.tip.height + 1)
})

describe("the beginning", () => {
  it.effect("sandbox chain: our wallet starts with confirmed coins only", () =>
    sandbox(
      Effect.gen(function* () {
        const { chain } = yield* control(({ state }) => state)
        const coins = Chain.coins(chain, "wallet", true)
        assert.deepStrictEqual(
          coins.map(({ amount }) => amount),
          Array.from({ length: Genesis.float.outputs }, () => Msat.fromSats(Genesis.float.sats))
        )
        assert.deepStrictEqual(yield* (yield* ChainSource).tip, chain.tip)
        assert.strictEqual(chain.tip.height, Genesis.height)
        yield* isSound
      })
    )
  )

  it.effect(
    "sandbox chain: the keys of the usual seed make the known beginning, and of no other seed or network",
    () =>
      Effect.sync(() => {
        const { seed, network } = Genesis.usual
        const made = Genesis.chain(Keys.make(seed, network))
        assert.deepStrictEqual(Genesis.chain(Keys.make("no key is used", network), Genesis.usual), made)
        for (const [other, on] of [
          ["another", network],
          [seed, "signet"]
        ] as const)
          assert.notDeepEqual(Genesis.chain(Keys.make(other, on)).tip, made.tip)
      })
  )

  it.effect("sandbox chain: sandboxes of several seeds and networks begin with what their keys make", () =>
    Effect.gen(function* () {
      for (const [seed, network] of [
        [Genesis.usual.seed, Genesis.usual.network],
        ["another", Genesis.usual.network],
        [Genesis.usual.seed, "signet"]
      ] as const) {
        const world = yield* World.make({ seed, network })
        assert.deepStrictEqual(world.state().chain, Genesis.chain(Keys.make(seed, network)))
      }
    }).pipe(Effect.scoped)
  )

  it.effect("sandbox chain: keys are derived by BIP 44, 49, 84 and 86, per network", () =>
    Effect.sync(() => {
      for (const [network, coin] of [
        ["mainnet", 0],
        ["signet", 1]
      ] as const) {
        const { secret, wallet } = Keys.make("paths", network)
        const master = HDKey.fromMasterSeed(secret("wallet"))
        for (const [type, purpose] of [
          ["taproot", 86],
          ["segwit", 84],
          ["nested_segwit", 49]
        ] as const) {
          const { publicKey, address } = wallet.key({ type, branch: 1, index: 7 })
          const derived = master.derive(`m/${purpose}'/${coin}'/0'/1/7`)
          assert.deepStrictEqual(publicKey, derived.publicKey)
          assert.deepStrictEqual<unknown>(address, BitcoinAddress.fromPublicKey(publicKey, type, network))
        }
      }
    })
  )

  it.effect("sandbox chain: addresses and invoices differ by network", () =>
    Effect.gen(function* () {
      for (const network of ["mainnet", "testnet", "signet", "regtest"] as const) {
        const { destination } = yield* Effect.provide(
          control((one) => one.destination({ type: "lightning_invoice" })),
          Sandbox.layer({ seed: "n", network }),
          { local: true }
        )
        assert.isTrue(
          destination.startsWith(
            { mainnet: "lnbc1", testnet: "lntb1", signet: "lntbs1", regtest: "lnbcrt1" }[network]
          )
        )
      }
    })
  )
})

describe("BIP 143", () => {
  // The BIP's P2SH-P2WPKH example, spending 10 BTC.
  const rawTx =
    "01000000000101db6b1b20aa0fd7b23880be2ecbd4a98130974cf4748fb66092ac4d3ceb1a54770100000017160014" +
    "79091972186c449eb1ded22b78e40d009bdf0089feffffff02b8b4eb0b000000001976a914a457b684d7f0d539a46a45bbc043f35b59d0d96388ac" +
    "0008af2f000000001976a914fd270b1ee6abcaea97fea7ad0402e8bd8ad6d77c88ac02473044022047ac8e878352d3ebbde1c94ce3a10d057c2417" +
    "5747116f8288e5d794d12d482f0220217f36a485cae903c713331d877c1f64677e3622ad4010726870540656fe9dcb012103ad1d8e89212f0b92c7" +
    "4d23bb710c00662ad1470198ac48c43f7d6f93a2a2687392040000"
  const spent = { scriptPubKey: "a9144733f37cf4db86fbc2efed2500b4f4e49f31202387", sats: 1_000_000_000n }

  it("sandbox chain: BIP 143: a signature is valid only for its output and amount", () => {
    assert.isTrue(Signatures.isSigned(rawTx, [spent], 0))
    assert.isFalse(Signatures.isSigned(rawTx, [{ ...spent, sats: spent.sats + 1n }], 0))
    assert.isFalse(Signatures.isSigned(rawTx, [{ ...spent, scriptPubKey: `a914${"00".repeat(20)}87` }], 0))
    assert.isFalse(Signatures.isSigned(rawTx.replace("feffffff02", "fdffffff02"), [spent], 0))
  })

  it("sandbox chain: BIP 143: the example is parsed", () => {
    const read = Transaction.parse(rawTx)
    assert.deepInclude(read, {
      inputs: ["77541aeb3c4dac9260b68f74f44c973081a9d4cb2ebe8038b2d70faa201b6bdb:1"]
    })
    assert.deepStrictEqual(
      read?.outputs.map((output) => output.sats),
      [199_996_600n, 800_000_000n]
    )
    assert.isUndefined(Transaction.parse(rawTx.slice(0, -2)))
    assert.isUndefined(Transaction.parse("hello"))
  })
})

describe("reorganizations and double spends", () => {
  it.effect(
    "sandbox chain: a reorganization adds empty blocks, one more than it removes, and mining continues on top of them",
    () =>
      sandbox(
        Effect.gen(function* () {
          const { txId } = yield* deposit(50_000)
          const before = yield* control(({ mine }) => mine(3))
          const after = yield* control(({ reorg }) => reorg(3))
          assert.strictEqual(after.height, before.height + 1)
          assert.strictEqual(yield* placement(txId), "mempool")
          yield* control(({ mine }) => mine(1))
          assert.deepStrictEqual(yield* (yield* ChainSource).transaction(txId), {
            _tag: "mined",
            height: after.height + 1,
            isCoinbase: false
          })
          yield* isSound
        })
      )
  )

  it.effect(
    "sandbox chain: a payout removed by a reorganization is mined again, whether or not it is rebroadcast",
    () =>
      sandbox(
        Effect.gen(function* () {
          const chain = yield* ChainSource
          const { txId, rawTx, scriptPubKey, fee } = yield* payout(123_456)
          yield* control(({ mine }) => mine(1))
          yield* control(({ reorg }) => reorg(1))
          assert.strictEqual(yield* placement(txId), "mempool")
          assert.deepStrictEqual(yield* chain.broadcast(rawTx), { _tag: "known" })
          yield* control(({ mine }) => mine(1))
          const [output, ...others] = yield* control(({ outputsTo }) => outputsTo(scriptPubKey))
          assert.deepStrictEqual(others, [])
          assert.deepInclude(output, { txId, amount: sats(123_456) })
          const { chain: state } = yield* control(({ state }) => state)
          assert.strictEqual(Chain.transaction(state, txId)?.feeSats, Msat.toSats(fee))
          yield* isSound
        })
      )
  )

  it.effect(
    "sandbox chain: descendants of a double-spent transaction are removed with it, and the coins that they spent are available again",
    () =>
      sandbox(
        Effect.gen(function* () {
          const before = Chain.coins((yield* control(({ state }) => state)).chain, "wallet", false)
          const { txId, rawTx } = yield* payout(5_000)
          const conflict = yield* control(({ doubleSpend }) => doubleSpend(txId))
          assert.strictEqual(yield* placement(txId), "gone")
          assert.strictEqual(yield* placement(conflict), "mempool")
          assert.strictEqual((yield* (yield* ChainSource).broadcast(rawTx))._tag, "rejected")
          yield* control(({ mine }) => mine(1))
          assert.strictEqual((yield* (yield* ChainSource).broadcast(rawTx))._tag, "rejected")
          const after = Chain.coins((yield* control(({ state }) => state)).chain, "wallet", false)
          assert.strictEqual(after.length, before.length - 1)
          yield* isSound
        })
      )
  )

  it.effect("sandbox chain: removing the first of a chain of external payments removes the whole chain", () =>
    sandbox(
      Effect.gen(function* () {
        // There are more payouts than confirmed coins, so later payouts spend the change of earlier ones.
        const sent = yield* Effect.forEach(Array.from({ length: 14 }), () => deposit(2_000_000_000))
        const { chain } = yield* control(({ state }) => state)
        const parents = sent.filter(({ txId }) => Chain.withDescendants(chain, [txId]).length > 1)
        assert.isAbove(parents.length, 0)
        const [{ txId } = { txId: TxId.make("") }] = parents
        const fallen = Chain.withDescendants(chain, [txId])
        yield* control(({ doubleSpend }) => doubleSpend(txId))
        for (const one of fallen) assert.strictEqual(yield* placement(one), "gone")
        yield* isSound
        yield* control(({ mine }) => mine(1))
        yield* isSound
      })
    )
  )

  it.effect(
    "sandbox chain: a reorganization removes coinbases and keeps blocks mined before the sandbox started",
    () =>
      sandbox(
        Effect.gen(function* () {
          yield* control(({ mine }) => mine(5))
          assert.strictEqual(yield* reason(control(({ reorg }) => reorg(6))), "out_of_range")
          yield* control(({ reorg }) => reorg(5))
          const { chain } = yield* control(({ state }) => state)
          const coinbases = HashMap.toValues(chain.transactions).filter(({ isCoinbase }) => isCoinbase)
          assert.strictEqual(coinbases.filter(({ placement }) => placement._tag === "gone").length, 5)
          assert.strictEqual(coinbases.length, Genesis.height + 1 + 5 + 6)
          yield* isSound
        })
      )
  )

  it.effect("sandbox chain: impossible requests are rejected", () =>
    sandbox(
      Effect.gen(function* () {
        const { txId } = yield* deposit(50_000)
        yield* control(({ mine }) => mine(1))
        const { address } = yield* outsideScript
        assert.strictEqual(yield* reason(control(({ doubleSpend }) => doubleSpend(txId))), "already_mined")
        assert.strictEqual(
          yield* reason(control(({ doubleSpend }) => doubleSpend(TxId.make("0f".repeat(32))))),
          "transaction_unknown"
        )
        assert.strictEqual(yield* reason(control(({ mine }) => mine(0))), "out_of_range")
        assert.strictEqual(yield* reason(control(({ mine }) => mine(1001))), "out_of_range")
        assert.strictEqual(yield* reason(control(({ reorg }) => reorg(0))), "out_of_range")
        assert.strictEqual(
          yield* reason(
            control(({ send }) =>
              send({ address: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", amount: sats(1000) })
            )
          ),
          "address_invalid"
        )
        assert.strictEqual(
          yield* reason(control(({ send }) => send({ address: "lightning:nothing", amount: sats(1000) }))),
          "address_invalid"
        )
        assert.strictEqual(
          yield* reason(control(({ send }) => send({ address: `bitcoin:${address}`, amount: sats(200) }))),
          "amount_invalid"
        )
        assert.strictEqual(
          yield* reason(control(({ send }) => send({ address, amount: sats(200) }))),
          "amount_invalid"
        )
        assert.strictEqual(
          yield* reason(control(({ send }) => send({ address, amount: Msat.make(1_000_001n) }))),
          "amount_invalid"
        )
        assert.strictEqual(
          yield* reason(control(({ send }) => send({ address, amount: sats(2_000_000_000_000n) }))),
          "unfunded"
        )
        assert.strictEqual(yield* reason(control(({ sendMany }) => sendMany([]))), "out_of_range")
      })
    )
  )

  it.effect("sandbox chain: a paused chain neither responds nor accepts transactions", () =>
    sandbox(
      Effect.gen(function* () {
        const chain = yield* ChainSource
        const { scriptPubKey } = yield* outsideScript
        const wallet = yield* ChainWallet
        const ask = {
          payments: [{ scriptPubKey, amount: sats(5_000), feeLimit: sats(5_000) }],
          feeRate: 2,
          free: all
        }
        const { txId, rawTx } = yield* (yield* Signer).sign((yield* wallet.build(ask)).psbt)
        yield* control(({ pause }) => pause("chain"))
        for (const read of [
          chain.tip,
          chain.activity(null, all),
          chain.transaction(txId),
          chain.feeRate,
          wallet.newAddress("segwit"),
          wallet.build(ask)
        ]) {
          assert.strictEqual(
            (yield* Effect.flip<unknown, { readonly _tag: string }, never>(read))._tag,
            "ChainUnavailable"
          )
        }
        assert.deepStrictEqual(yield* chain.broadcast(rawTx), { _tag: "unknown" })
        yield* control(({ resume }) => resume("chain"))
        assert.strictEqual(yield* placement(txId), "gone")
        assert.deepStrictEqual(yield* chain.broadcast(rawTx), { _tag: "accepted" })
      })
    )
  )
})

describe("a transaction id", () => {
  it.effect(
    "sandbox chain: passing a serialized transaction in place of its id is a type error, and the lookup returns `gone`",
    () =>
      sandbox(
        Effect.gen(function* () {
          const chain = yield* ChainSource
          const { txId } = yield* deposit(50_000)
          const rawTx =
            Chain.transaction((yield* control(({ state }) => state)).chain, txId)?.rawTx ??
            assert.fail("the transaction is not found")
          assert.strictEqual((yield* chain.transaction(txId))._tag, "mempool")
          // @ts-expect-error -- a transaction instead of its id
          assert.strictEqual((yield* chain.transaction(rawTx))._tag, "gone")
        })
      )
  )
})

describe("chain weather", () => {
  it.effect(
    "sandbox chain: while the index is paused, a block is reported but its transactions cannot be looked up",
    () =>
      sandbox(
        Effect.gen(function* () {
          const chain = yield* ChainSource
          const { scriptPubKey, txId } = yield* deposit(50_000)
          yield* control(({ pause }) => pause("index"))
          assert.deepStrictEqual(yield* chain.transaction(txId), { _tag: "mempool" })
          const { height } = yield* control(({ mine }) => mine(1))
          const { outputs } = yield* chain.activity(null, () => Effect.succeed(new Set([scriptPubKey])))
          assert.deepStrictEqual(
            outputs.map(({ placement }) => placement),
            [{ _tag: "mined", height, isCoinbase: false }]
          )
          assert.strictEqual((yield* Effect.flip(chain.transaction(txId)))._tag, "ChainUnavailable")
          assert.deepStrictEqual(yield* chain.transaction(TxId.make("0f".repeat(32))), { _tag: "gone" })
          yield* control(({ resume }) => resume("index"))
          assert.strictEqual((yield* chain.transaction(txId))._tag, "mined")
        })
      )
  )
})

describe("selection", () => {
  const keys = Keys.make("selection", "regtest")
  const coin = (sats: bigint, index: number, type: BitcoinAddress.AddressType): Coin.Coin => ({
    amount: Msat.fromSats(sats),
    outpoint: `${index.toString(16).padStart(64, "0")}:0`,
    type,
    branch: 0,
    index,
    isConfirmed: true,
    scriptPubKey: keys.wallet.key({ type, branch: 0, index }).address.scriptPubKey
  })

  it("coin selection: the fee is never below the rate for the signed size, and barely above it", () => {
    for (const type of BitcoinAddress.AddressType.literals) {
      for (const count of [1, 2, 5]) {
        const coins = Array.from({ length: count }, (_, index) => coin(10_000n, index, type))
        const output = {
          scriptPubKey: keys.outside.key({ type: "taproot", branch: 0, index: 1 }).address.scriptPubKey,
          sats: BigInt(count) * 10_000n - 6_000n
        }
        for (const feeRate of [1, 2, 3]) {
          const selection = Payout.select({ coins, outputs: [output], feeRate, feeLimitSats: 6_000n })
          if ("neededSats" in selection) return assert.fail("unfundable")
          assert.strictEqual(selection.coins.length, count)
          const change = {
            scriptPubKey: keys.wallet.key({ type: "taproot", branch: 1, index: 0 }).address.scriptPubKey,
            sats: selection.changeSats
          }
          const { rawTx } = keys.wallet.sign(
            Payout.draft(keys.wallet.keys, selection.coins, [output, change])
          )
          const { weight } = Transaction.parse(rawTx) ?? assert.fail("no transaction")
          const least = Math.ceil((weight / 4) * feeRate)
          assert.isAtLeast(Number(selection.feeSats), least)
          // A signature may be a few bytes shorter than the maximum.
          assert.isAtMost(Number(selection.feeSats), least + feeRate * (1 + count))
        }
      }
    }
  })
})
