import { assert } from "@effect/vitest"
import type { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { ChainWallet } from "@satrail/core/nodes/ChainWallet"
import { Signer } from "@satrail/core/nodes/Signer"
import { Effect } from "effect"
import { fund, only, Peer } from "./ChainWallet.ts"
import * as Contract from "../Contract.ts"

type Needs = Signer | ChainWallet | ChainSource | Peer

/** Builds a draft that spends one coin of this type. */
const drafted = Effect.fnUntraced(function* (type: AddressType) {
  const txId = yield* fund(type, 100_000)
  return yield* (yield* ChainWallet).build({
    payments: [
      {
        scriptPubKey: yield* (yield* Peer).script,
        amount: Msat.fromSats(50_000),
        feeLimit: Msat.fromSats(2_000)
      }
    ],
    feeRate: 2,
    free: only(txId)
  })
})

const sign = Effect.fnUntraced(function* (psbt: string) {
  return yield* (yield* Signer).sign(psbt)
})

/** Checks that the network accepts the signed transaction under its reported id. */
const signs = Effect.fnUntraced(function* (type: AddressType) {
  const chain = yield* ChainSource
  const { txId, rawTx } = yield* sign((yield* drafted(type)).psbt)
  assert.deepStrictEqual(yield* chain.broadcast(rawTx), { _tag: "accepted" })
  assert.deepStrictEqual(yield* chain.transaction(txId), { _tag: "mempool" })
})

/**
 * Returns the outpoints that a serialized transaction spends (BIP 144: version, marker and flag, inputs).
 * Assumes fewer than 253 inputs.
 */
const spentBy = (rawTx: string): ReadonlyArray<string> => {
  const bytes = Uint8Array.from(rawTx.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
  const view = new DataView(bytes.buffer)
  let at = bytes[4] === 0 ? 6 : 4
  const count = bytes[at] ?? 0
  at += 1
  return Array.from({ length: count }, () => {
    const txId = Array.from(bytes.slice(at, at + 32).toReversed(), (byte) =>
      byte.toString(16).padStart(2, "0")
    ).join("")
    const vout = view.getUint32(at + 32, true)
    at += 36 + 1 + (bytes[at + 36] ?? 0) + 4
    return `${txId}:${vout}`
  })
}

/** Guarantees that the payout sent is the payout recorded. */
export const money = {
  "a signed transaction spends exactly the draft's coins": Effect.gen(function* () {
    const { coins, psbt } = yield* drafted("taproot")
    assert.deepStrictEqual(spentBy((yield* sign(psbt)).rawTx), coins)
  }),
  "C19: signing the same draft again returns the same transaction": Effect.gen(function* () {
    const { psbt } = yield* drafted("segwit")
    const [first, second] = [yield* sign(psbt), yield* sign(psbt)]
    assert.strictEqual(second.txId, first.txId)
  }),
  "signing broadcasts nothing": Effect.gen(function* () {
    const { txId } = yield* sign((yield* drafted("taproot")).psbt)
    assert.deepStrictEqual(yield* (yield* ChainSource).transaction(txId), { _tag: "gone" })
  }),
  "the network accepts a signed transaction that spends taproot coins, under its reported id":
    signs("taproot"),
  "the network accepts a signed transaction that spends segwit coins, under its reported id": signs("segwit"),
  "the network accepts a signed transaction that spends nested segwit coins, under its reported id":
    signs("nested_segwit"),
  "malformed drafts, and drafts with another wallet's keys, are not signed": Effect.gen(function* () {
    const { psbt } = yield* drafted("segwit")
    const { fingerprint } = yield* ChainWallet
    // The same draft with another signer's key.
    const foreign = Buffer.from(
      Buffer.from(psbt, "base64").toString("hex").replaceAll(fingerprint, "00000000"),
      "hex"
    ).toString("base64")
    assert.notStrictEqual(foreign, psbt)
    for (const wrong of ["", "hello", psbt.slice(0, 40), foreign]) {
      assert.strictEqual((yield* Effect.flip(sign(wrong)))._tag, "SignerUnavailable")
    }
  })
} satisfies Contract.Promises<Needs>

/** No guarantee may be skipped. */
export const other = {} satisfies Contract.Promises<Needs>

/** The guarantees that every Signer must provide, together with its ChainWallet and ChainSource. */
export const promises = { ...money, ...other }

/** Runs the contract against a layer and its peer. */
export const suite = Contract.suite<Needs, typeof money, typeof other>("Signer", { money, other })
