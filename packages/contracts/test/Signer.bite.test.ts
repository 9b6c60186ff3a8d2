import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import * as TxId from "@satrail/bitcoin/TxId"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { ChainWallet } from "@satrail/core/nodes/ChainWallet"
import { Signer } from "@satrail/core/nodes/Signer"
import { Effect, Layer, Result } from "effect"
import { all } from "../src/nodes/ChainWallet.ts"
import { promises } from "../src/nodes/Signer.ts"
import { bites, sabotage, sound } from "./sandbox.ts"

/** A mutant that broadcasts each transaction it signs. */
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

/** A mutant that ignores the given draft, and instead signs a new payment to its own wallet. */
const another = Layer.provideMerge(
  Layer.effect(
    Signer,
    Effect.gen(function* () {
      const [{ sign }, { build, network, newAddress }] = [yield* Signer, yield* ChainWallet]
      return {
        sign: (_: string) =>
          Effect.orDie(
            Effect.gen(function* () {
              const { scriptPubKey } = Result.getOrThrow(
                BitcoinAddress.decode((yield* newAddress("segwit")).address, network)
              )
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
  "a signer that broadcasts": [sending, ["signing broadcasts nothing"]],
  "a signer that signs another draft": [
    another,
    [
      "a signed transaction spends exactly the draft's coins",
      "C19: signing the same draft again returns the same transaction",
      "malformed drafts, and drafts with another wallet's keys, are not signed"
    ]
  ],
  "a signer that reports a wrong transaction id": [
    sabotage(Signer, ({ sign }) => ({
      sign: (psbt) => Effect.map(sign(psbt), (signed) => ({ ...signed, txId: TxId.make("0f".repeat(32)) }))
    })),
    [
      "the network accepts a signed transaction that spends taproot coins, under its reported id",
      "the network accepts a signed transaction that spends segwit coins, under its reported id",
      "the network accepts a signed transaction that spends nested segwit coins, under its reported id"
    ]
  ],
  "a signer with invalid signatures": [
    sabotage(Signer, ({ sign }) => ({
      sign: (psbt) =>
        Effect.map(sign(psbt), ({ txId, rawTx }) => ({
          txId,
          rawTx: `${rawTx.slice(0, -12)}0000${rawTx.slice(-8)}`
        }))
    })),
    [
      "the network accepts a signed transaction that spends taproot coins, under its reported id",
      "the network accepts a signed transaction that spends segwit coins, under its reported id",
      "the network accepts a signed transaction that spends nested segwit coins, under its reported id"
    ]
  ]
})
