import { assert, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { Chain } from "@satrail/regtest/Chain"
import * as Real from "@satrail/regtest/Real"
import { Effect, Layer, Schema } from "effect"
import { inject } from "vitest"
import * as BitcoinRpc from "../src/BitcoinRpc.ts"
import * as Outside from "./Outside.ts"

// The responses of bitcoind and btcd in the same situations. If a new version changes its wording, this test
// fails first.

/** Calls a method, and returns the response or the node's error message. */
const says = Effect.fnUntraced(function* (method: string, ...params: ReadonlyArray<unknown>) {
  const { call } = yield* Chain
  return yield* Effect.match(call(method, params, Schema.Unknown), {
    onSuccess: (answer) => `ok ${JSON.stringify(answer)}`,
    onFailure: ({ message }) => message.slice(message.indexOf(": ") + 2)
  })
})

/** Asserts the wording of the node under test. */
const are = (words: { readonly btcd: RegExp; readonly bitcoind: RegExp }) => (said: string) =>
  Effect.sync(() => assert.match(said, words[inject("chain")]))

const source = Layer.unwrap(
  Effect.map(Chain, ({ url, certificateFile, user, password }) =>
    BitcoinRpc.layer({ url, certificateFile, user, password, network: "regtest", beginning: { height: 0 } })
  )
)

Real.onChain("the messages of a node", () => {
  it.layer(Layer.provideMerge(source, Outside.layer), { excludeTestServices: true })((it) => {
    it.effect(
      "node messages: a node reports missing transactions, blocks, estimates and wallet calls in the expected words",
      () =>
        Effect.gen(function* () {
          yield* Effect.flatMap(
            says("getrawtransaction", "ab".repeat(32), 1),
            are({
              btcd: /^No information available about transaction/,
              bitcoind: /^No such mempool or blockchain transaction\./
            })
          )
          yield* Effect.flatMap(
            says("getblockhash", 1_000_000),
            are({ btcd: /^Block number out of range/, bitcoind: /^Block height out of range/ })
          )
          yield* Effect.flatMap(
            says("estimatesmartfee", 6, "CONSERVATIVE"),
            are({
              btcd: /^Method not found/,
              bitcoind: /^ok \{"errors":\["Insufficient data or no feerate found"\]/
            })
          )
          yield* Effect.flatMap(
            says("estimatefee", 6),
            are({ btcd: /^ok -?\d/, bitcoind: /^Method not found/ })
          )
          yield* Effect.flatMap(
            says("getindexinfo", "txindex"),
            are({ btcd: /^Method not found/, bitcoind: /^ok \{"txindex":\{"synced":true,/ })
          )
          yield* Effect.flatMap(
            says("getmempoolinfo"),
            are({ btcd: /^ok \{"size":\d+,"bytes":\d+\}$/, bitcoind: /^ok \{"loaded":true,/ })
          )
          yield* Effect.flatMap(
            says("listsinceblock"),
            are({ btcd: /does not implement wallet commands/, bitcoind: /^Method not found/ })
          )
          const { feeRate } = yield* ChainSource
          assert.match(String((yield* Effect.flip(feeRate)).cause), /the source has no estimate/)
        })
    )

    it.effect(
      "node messages: a repeated broadcast is recognized in the mempool and in a block, however the node reports it",
      () =>
        Effect.gen(function* () {
          const { sign, mine, address } = yield* Outside.Outside
          const { broadcast } = yield* ChainSource
          const payment = { ...(yield* address), amount: Msat.fromSats(50_000) }
          const { rawTx, txId } = yield* sign(payment, "again")
          assert.deepStrictEqual(yield* broadcast(rawTx), { _tag: "accepted" })
          yield* Effect.flatMap(
            says("sendrawtransaction", rawTx),
            are({ btcd: /already have transaction in mempool/, bitcoind: new RegExp(`^ok "${txId}"$`) })
          )
          assert.deepStrictEqual(yield* broadcast(rawTx), { _tag: "known" })
          yield* mine(1)
          yield* Effect.flatMap(
            says("sendrawtransaction", rawTx),
            are({
              btcd: /transaction already exists in blockchain/,
              bitcoind: /^Transaction outputs already in utxo set/
            })
          )
          assert.deepStrictEqual(yield* broadcast(rawTx), { _tag: "known" })
        })
    )

    it.effect(
      "node messages: a transaction with the same fee does not replace another transaction, and a transaction that spends already spent coins is rejected",
      () =>
        Effect.gen(function* () {
          const { sign, mine, address } = yield* Outside.Outside
          const { broadcast } = yield* ChainSource
          const to = yield* address
          const first = yield* sign({ ...to, amount: Msat.fromSats(50_000) }, "one coin")
          const second = yield* sign({ ...to, amount: Msat.fromSats(50_001) }, "one coin")
          assert.deepStrictEqual(yield* broadcast(first.rawTx), { _tag: "accepted" })
          yield* Effect.flatMap(
            says("sendrawtransaction", second.rawTx),
            are({
              btcd: /replacement transaction has an insufficient fee rate/,
              bitcoind: /^insufficient fee, rejecting replacement/
            })
          )
          assert.strictEqual((yield* broadcast(second.rawTx))._tag, "rejected")
          yield* mine(1)
          yield* Effect.flatMap(
            says("sendrawtransaction", second.rawTx),
            are({
              btcd: /orphan transaction .* references outputs of unknown or fully-spent/,
              bitcoind: /^bad-txns-inputs-missingorspent$/
            })
          )
          assert.strictEqual((yield* broadcast(second.rawTx))._tag, "rejected")
        })
    )

    it.effect(
      "node messages: bitcoind rejects dust, a fee that is too low and a fee that is too high; btcd relays them",
      () =>
        Effect.gen(function* () {
          const { sign, send, address } = yield* Outside.Outside
          const to = yield* address
          const dust = yield* sign({ ...to, amount: Msat.fromSats(100) }, "dust")
          yield* Effect.flatMap(
            says("sendrawtransaction", dust.rawTx),
            are({ btcd: /^ok/, bitcoind: /dust/ })
          )
          const sent = (fee: bigint) =>
            Effect.match(send([{ ...to, amount: Msat.fromSats(50_000) }], fee), {
              onSuccess: () => "ok",
              onFailure: ({ message }) => message
            })
          yield* Effect.flatMap(sent(1n), are({ btcd: /^ok/, bitcoind: /min relay fee not met/ }))
          yield* Effect.flatMap(
            sent(100_000_000n),
            are({ btcd: /^ok/, bitcoind: /Fee exceeds maximum configured by user/ })
          )
        })
    )

    it.effect(
      "C45: node messages: a mined transaction that a reorganization removed and another transaction replaced is reported as missing, even if the index keeps it",
      () =>
        Effect.gen(function* () {
          const { send, mine, reorg, doubleSpend, address } = yield* Outside.Outside
          const { transaction } = yield* ChainSource
          const txId = yield* send([{ ...(yield* address), amount: Msat.fromSats(70_000) }])
          yield* mine(1)
          assert.strictEqual((yield* transaction(txId))._tag, "mined")
          yield* reorg(1)
          assert.deepStrictEqual(yield* transaction(txId), { _tag: "mempool" })
          yield* doubleSpend(txId)
          yield* mine(1)
          yield* Effect.flatMap(
            says("getrawtransaction", txId, 1),
            are({ btcd: /^No information available/, bitcoind: /^ok .*"blockhash"/ })
          )
          assert.deepStrictEqual(yield* transaction(txId), { _tag: "gone" })
        })
    )
  })
})
