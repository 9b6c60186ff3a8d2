import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import * as TxId from "@satrail/bitcoin/TxId"
import { Chain } from "@satrail/regtest/Chain"
import * as Miner from "@satrail/regtest/Miner"
import * as Real from "@satrail/regtest/Real"
import * as Block from "@satrail/sandbox/Block"
import { hex } from "@scure/base"
import { HDKey } from "@scure/bip32"
import { RawTx } from "@scure/btc-signer/script.js"
import { Transaction } from "@scure/btc-signer/transaction.js"
import { Context, Effect, Layer, Result, Schema } from "effect"
import { createHash } from "node:crypto"
import * as OwnBlock from "../src/Block.ts"

// An external wallet, which is also the miner. It owns every coin on this chain that is not ours.

const key = HDKey.fromMasterSeed(new Uint8Array(32).fill(7))
const own = Result.getOrThrow(BitcoinAddress.decode(Miner.address, "regtest"))

interface Coin {
  readonly txId: TxId.TxId
  readonly vout: number
  readonly sats: bigint
}

export interface Payment {
  readonly address: string
  readonly amount: Msat.Msat
}

const feeSats = 10_000n

const scriptOf = (address: string) =>
  hex.decode(Result.getOrThrow(BitcoinAddress.decode(address, "regtest")).scriptPubKey)

/** Pays from one coin, and returns the change to the external wallet. */
const pay = ({ txId, vout, sats }: Coin, payments: ReadonlyArray<Payment>, fee = feeSats) => {
  const tx = new Transaction()
  tx.addInput({
    txid: txId,
    index: vout,
    sequence: 0xfffffffd,
    witnessUtxo: { amount: sats, script: hex.decode(own.scriptPubKey) }
  })
  let left = sats - fee
  for (const { address, amount } of payments) {
    tx.addOutput({ script: scriptOf(address), amount: Msat.toSats(amount) })
    left -= Msat.toSats(amount)
  }
  tx.addOutput({ script: hex.decode(own.scriptPubKey), amount: left })
  tx.sign(Miner.privateKey)
  tx.finalize()
  return { txId: TxId.make(tx.id), rawTx: tx.hex }
}

const sha256Twice = (bytes: Uint8Array) =>
  createHash("sha256").update(createHash("sha256").update(bytes).digest()).digest()

/**
 * A coinbase for a block with one other transaction. It commits to that transaction's witness (BIP 141,
 * "Commitment structure").
 */
const committed = (coinbase: string, rawTx: string) => {
  const none = Buffer.alloc(32)
  const witnessRoot = sha256Twice(Buffer.concat([none, sha256Twice(Buffer.from(rawTx, "hex"))]))
  const commitment = sha256Twice(Buffer.concat([witnessRoot, none]))
  const { outputs, ...tx } = RawTx.decode(hex.decode(coinbase))
  const script = Buffer.concat([Buffer.from("6a24aa21a9ed", "hex"), commitment])
  return hex.encode(
    RawTx.encode({
      ...tx,
      segwitFlag: true,
      outputs: [...outputs, { amount: 0n, script }],
      witnesses: [[none]]
    })
  )
}

/**
 * Mines a block on top of `previous`, with a coinbase and at most one other transaction. On regtest, about
 * every second nonce is valid.
 */
const blockOf = (previous: string, height: number, timeSeconds: number, unique: number, rawTx?: string) => {
  const bare = Block.coinbase(height, unique, { scriptPubKey: own.scriptPubKey, sats: 1n })
  const transactions = rawTx === undefined ? [bare] : [committed(bare, rawTx), rawTx]
  const [first = Buffer.alloc(32), ...others] = transactions.map((raw) =>
    Buffer.from(OwnBlock.txIdOf(raw) ?? "", "hex").toReversed()
  )
  const merkleRoot = others.length === 0 ? first : sha256Twice(Buffer.concat([first, ...others]))
  const header = Buffer.alloc(80)
  header.writeInt32LE(0x20000000, 0)
  header.set(Buffer.from(previous, "hex").toReversed(), 4)
  header.set(merkleRoot, 36)
  header.writeUInt32LE(timeSeconds, 68)
  header.writeUInt32LE(0x207fffff, 72)
  for (let nonce = 0; ; nonce++) {
    header.writeUInt32LE(nonce, 76)
    if ((sha256Twice(header)[31] ?? 255) < 0x7f) break
  }
  return {
    hash: OwnBlock.hashOf(header),
    raw: [header.toString("hex"), hex.encode(Uint8Array.of(transactions.length)), ...transactions].join("")
  }
}

const Verbose = Schema.Struct({
  vin: Schema.Array(
    Schema.Struct({ txid: Schema.optionalKey(TxId.TxId), vout: Schema.optionalKey(Schema.Int) })
  ),
  vout: Schema.Array(Schema.Struct({ value: Schema.Finite }))
})

export const make = Effect.gen(function* () {
  const chain = yield* Chain
  const coins: Array<Coin> = []
  const named = new Map<string, Coin>()
  const spentBy = new Map<string, Coin>()
  let addresses = 0
  let unique = 0

  const harvest = Effect.fnUntraced(function* (hashes: ReadonlyArray<string>) {
    for (const hash of hashes) {
      const raw = yield* chain.call("getblock", [hash, 0], Schema.String)
      const [coinbase] = OwnBlock.parse(Buffer.from(raw, "hex")).transactions
      const sats = coinbase?.outputs[0]?.sats ?? 0n
      if (coinbase !== undefined) coins.push({ txId: coinbase.txId(), vout: 0, sats })
    }
  })
  // Provides enough mature coins for every test, and activates segwit and taproot.
  yield* Effect.flatMap(chain.mine(120), harvest)
  yield* chain.mine(Miner.firstBlocks - 120)

  const next = () => {
    const coin = coins.shift()
    if (coin === undefined) throw new Error("the external wallet has no coins left")
    return coin
  }
  const broadcast = (rawTx: string) => chain.call("sendrawtransaction", [rawTx], Schema.String)
  const outputOf = Effect.fnUntraced(function* (txId: TxId.TxId, vout: number) {
    const tx = yield* chain.call("getrawtransaction", [txId, 1], Verbose)
    return BigInt(Math.round((tx.vout[vout]?.value ?? 0) * 100_000_000))
  })
  const time = Schema.Struct({ time: Schema.Int, height: Schema.Int })

  const send = Effect.fnUntraced(function* (payments: ReadonlyArray<Payment>, fee?: bigint) {
    const coin = next()
    const { txId, rawTx } = pay(coin, payments, fee)
    spentBy.set(txId, coin)
    yield* broadcast(rawTx)
    return txId
  })

  /**
   * Extends the block `depth` below the tip by `blocks` blocks, which become the chain. The first one
   * contains `rawTx` if given.
   */
  const build = Effect.fnUntraced(function* (depth: number, blocks: number, rawTx?: string) {
    const height = yield* chain.height
    let previous = yield* chain.call("getblockhash", [height - depth], Schema.String)
    const base = yield* chain.call("getblockheader", [previous, true], time)
    for (let n = 1; n <= blocks; n++) {
      const { hash, raw } = blockOf(
        previous,
        base.height + n,
        base.time + n,
        ++unique,
        n === 1 ? rawTx : undefined
      )
      yield* chain.call("submitblock", [raw], Schema.NullOr(Schema.String))
      previous = hash
    }
    const best = yield* chain.call("getbestblockhash", [], Schema.String)
    if (best !== previous) throw new Error("the other branch did not win")
    yield* chain.indexed
  })

  /**
   * Replaces the last `depth` blocks with empty ones, and adds one more. The removed transactions wait to be
   * mined again.
   */
  const reorg = (depth: number) => build(depth, depth + 1)

  const newAddress = Effect.sync(() => {
    const child = key.deriveChild(1000 + addresses++)
    const { address, scriptPubKey } = BitcoinAddress.fromPublicKey(
      child.publicKey ?? new Uint8Array(),
      "segwit",
      "regtest"
    )
    return { address, scriptPubKey }
  })

  return {
    address: newAddress,
    send,
    sign: (payment: Payment, coin: string) =>
      Effect.sync(() => {
        const from = named.get(coin) ?? next()
        named.set(coin, from)
        return pay(from, [payment])
      }),
    mine: (blocks: number) => Effect.asVoid(chain.mine(blocks)),
    reorg,
    /** Mines this one transaction, like a miner whose mempool differs from ours. */
    mineOne: (rawTx: string) => build(0, 1, rawTx),
    /** Replaces a transaction that this wallet sent with one that pays less to this address. */
    replace: Effect.fnUntraced(function* (txId: TxId.TxId, payment: Payment) {
      const coin = spentBy.get(txId)
      if (coin === undefined) throw new Error(`the external wallet did not send ${txId}`)
      const replacement = pay(coin, [payment], feeSats * 3n)
      yield* broadcast(replacement.rawTx)
      spentBy.set(replacement.txId, coin)
      return replacement.txId
    }),
    doubleSpend: Effect.fnUntraced(function* (txId: TxId.TxId) {
      const coin = spentBy.get(txId)
      if (coin === undefined) throw new Error(`the external wallet did not send ${txId}`)
      const { address } = yield* newAddress
      const replacement = pay(coin, [{ address, amount: Msat.fromSats(1000) }], feeSats * 5n)
      yield* broadcast(replacement.rawTx)
    }),
    feeOf: Effect.fnUntraced(function* (txId: TxId.TxId) {
      const { vin, vout } = yield* chain.call("getrawtransaction", [txId, 1], Verbose)
      let sats = 0n
      for (const { txid, vout = 0 } of vin) if (txid !== undefined) sats += yield* outputOf(txid, vout)
      for (const { value } of vout) sats -= BigInt(Math.round(value * 100_000_000))
      return Msat.fromSats(sats)
    })
  }
})

/** The external wallet and miner. */
export class Outside extends Context.Service<Outside, Effect.Success<typeof make>>()("chain/test/Outside") {}

/** A chain on which the external wallet has money. */
export const layer = Layer.provideMerge(Layer.effect(Outside, make), Real.chain)
