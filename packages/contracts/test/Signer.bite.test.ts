import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import * as TxId from "@satrail/bitcoin/TxId"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { ChainWallet } from "@satrail/core/nodes/ChainWallet"
import { Signer } from "@satrail/core/nodes/Signer"
import { Effect, Layer, Result } from "effect"
import { all } from "../src/ChainWallet.ts"
import { promises } from "../src/Signer.ts"
import { bites, sabotage, sound } from "./sandbox.ts"

/** One that sends what it signs. */
const sending = Layer.provideMerge(
  Layer.effect(
    Signer,
    Effect.gen(function* () {
      const [{ sign }, { broadcast }] = [yield* Signer, yield* ChainSource]
      return { sign: (psbt: string) => Effect.tap(sign(psbt), ({ rawTx }) => broadcast(rawTx)) }
    })
  ),
  sound
)

/** One that signs another draft than it was given: each time a new one, to itself. */
const another = Layer.provideMerge(
  Layer.effect(
    Signer,
    Effect.gen(function* () {
      const [{ sign }, { build, network, newAddress }] = [yield* Signer, yield* ChainWallet]
      return {
        sign: (_: string) =>
          Effect.orDie(
            Effect.gen(function* () {
              const { scriptPubKey } = Result.getOrThrow(BitcoinAddress.decode((yield* newAddress("segwit")).address, network))
              const payment = { scriptPubKey, amount: Msat.fromSats(1_000), feeLimit: Msat.fromSats(2_000) }
              return yield* sign((yield* build({ payments: [payment], feeRate: 2, free: all })).psbt)
            })
          )
      }
    })
  ),
  sound
)

bites("Signer", promises, {
  "one that sends what it signs": [sending, ["signing sends nothing"]],
  "one that signs another draft": [
    another,
    [
      "what is signed spends the coins of the draft and no others",
      "C19: the same draft signed again is the same transaction",
      "malformed drafts, and drafts for another wallet's keys, are not signed"
    ]
  ],
  "one that calls it something else": [
    sabotage(Signer, ({ sign }) => ({
      sign: (psbt) => Effect.map(sign(psbt), (signed) => ({ ...signed, txId: TxId.make("0f".repeat(32)) }))
    })),
    ["the network takes what is signed, by the id it has, for coins of taproot", "… of segwit", "… of nested segwit"]
  ],
  "one that signs badly": [
    sabotage(Signer, ({ sign }) => ({
      sign: (psbt) => Effect.map(sign(psbt), ({ txId, rawTx }) => ({ txId, rawTx: `${rawTx.slice(0, -12)}0000${rawTx.slice(-8)}` }))
    })),
    ["the network takes what is signed, by the id it has, for coins of taproot", "… of segwit", "… of nested segwit"]
  ]
})
