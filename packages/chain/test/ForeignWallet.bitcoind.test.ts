import { assert, it } from "@effect/vitest"
import { ChainWallet } from "@satrail/core/nodes/ChainWallet"
import { Records } from "@satrail/core/service/Records"
import * as Memory from "@satrail/service/memory/Memory"
import * as Bitcoind from "@satrail/regtest/Bitcoind"
import { Chain } from "@satrail/regtest/Chain"
import * as Miner from "@satrail/regtest/Miner"
import * as Real from "@satrail/regtest/Real"
import { Context, Effect, Layer, Schema } from "effect"
import * as Descriptor from "../src/Descriptor.ts"
import * as ExternalSigner from "../src/ExternalSigner.ts"
import * as HotSigner from "../src/HotSigner.ts"
import * as Seed from "../src/Seed.ts"
import { accounts, psbt, types, wallet, words } from "./Ours.ts"

// Bitcoin Core derives the keys of our descriptors itself, so it stands in for any other wallet.

const layer = Layer.mergeAll(Bitcoind.layer, Layer.fresh(Memory.layer))

/** Descriptors with the private keys of our receiving addresses. */
const secrets = Effect.sync(() => {
  const master = Seed.master(words, "regtest").privateExtendedKey
  const wrapped = {
    taproot: ["tr(", ")"],
    segwit: ["wpkh(", ")"],
    nested_segwit: ["sh(wpkh(", "))"]
  } as const
  return types.map((type) => {
    const path = Seed.written([...Seed.accountPath(type, "regtest"), 0]).slice(1)
    const [before, after] = wrapped[type]
    return Descriptor.checked(`${before}${master}${path}/*${after}`)
  })
})

const Signed = Schema.Struct({ psbt: Schema.String })

const Scanned = Schema.Struct({ unspents: Schema.Array(Schema.Unknown) })

Real.suite("A foreign wallet", ["bitcoind"], () => {
  it.layer(layer, { excludeTestServices: true })((it) => {
    it.effect(
      "wallet: Bitcoin Core finds every coin with the printed gap limit, and misses some coins with the usual limit of 20",
      () =>
        Effect.gen(function* () {
          const chain = yield* Chain
          const records = yield* Records
          yield* chain.mine(Miner.firstBlocks)
          const runs = 4
          for (let run = 0; run < runs; run++) {
            // Each run stands for one process. Only the last address of each run is paid.
            yield* Effect.scoped(
              Effect.gen(function* () {
                const ours = Context.get(yield* Layer.build(Layer.fresh(wallet)), ChainWallet)
                const given = yield* Effect.forEach(Array.from({ length: 25 }), () =>
                  ours.newAddress("taproot")
                )
                yield* chain.send(given.at(-1)?.address ?? assert.fail(), 50_000n)
              })
            )
          }
          yield* chain.mine(1)
          const found = Effect.fnUntraced(function* (gapLimit: number) {
            const asked = Descriptor.ofAccounts(accounts).map((desc) => ({ desc, range: [0, gapLimit] }))
            return (yield* chain.call("scantxoutset", ["start", asked], Scanned)).unspents.length
          })
          const printed = yield* records.nextKey(accounts.fingerprint, "taproot", 0)
          assert.strictEqual(yield* found(printed), runs)
          assert.strictEqual(yield* found(20), 0)
        })
    )
  })

  it.live(
    "external signer: Bitcoin Core's signatures are accepted, final or not, with any statement of what they cover",
    () =>
      Effect.gen(function* () {
        const { call } = Context.get(yield* Bitcoind.make(["-disablewallet=0"]), Chain)
        yield* call("createwallet", ["signer", false, true], Schema.Unknown)
        const imports = (yield* secrets).map((desc) => ({ desc, range: [0, types.length], timestamp: "now" }))
        yield* call("importdescriptors", [imports], Schema.Unknown)
        const { txId } = yield* HotSigner.make(words, "regtest").sign(psbt)
        for (const covers of ["DEFAULT", "ALL"]) {
          for (const isFinal of [true, false]) {
            const answer = yield* call("walletprocesspsbt", [psbt, true, covers, true, isFinal], Signed)
            const args = ["-e", "process.stdout.write(process.argv[1])", answer.psbt]
            const signed = yield* ExternalSigner.make({ command: process.execPath, args }).sign(psbt)
            assert.strictEqual(signed.txId, txId)
          }
        }
      })
  )
})
