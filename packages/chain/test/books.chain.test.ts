import { assert, it } from "@effect/vitest"
import { Records } from "@satrail/core/service/Records"
import { Chain } from "@satrail/regtest/Chain"
import * as Real from "@satrail/regtest/Real"
import { Effect, Layer } from "effect"
import * as BitcoinRpc from "../src/BitcoinRpc.ts"
import { accounts } from "./Ours.ts"
import * as OutsideLayer from "./Outside.ts"
import { company, funded, mineAndWork, now, service, withdraw, work } from "./Story.ts"

Real.onChain("On a real chain", () => {
  it.layer(Layer.provideMerge(service(), OutsideLayer.layer), { excludeTestServices: true })(
    "a wallet's books",
    (it) => {
      it.effect(
        "wallet statement: a coin is listed until a block spends it; a coin that never existed is not listed",
        () =>
          Effect.gen(function* () {
            const { url, certificateFile, user, password } = yield* Chain
            const unspent = BitcoinRpc.unspent({
              url,
              certificateFile,
              user,
              password,
              network: "regtest",
              beginning: { height: 0 }
            })
            const { id } = yield* company
            yield* funded(id, 80_000)
            const coins = (yield* (yield* Records).coins(accounts.fingerprint, 1000)).map(
              ({ outpoint }) => outpoint
            )
            const never = `${"ab".repeat(32)}:0`
            assert.deepStrictEqual(yield* unspent([...coins, never]), coins)
            // The address of BIP 173's example key.
            const payout = yield* withdraw(id, "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080", 30_000)
            yield* work
            yield* mineAndWork(1)
            const { chainTxId } = yield* now(payout)
            assert.isString(chainTxId)
            const left = yield* unspent(coins)
            assert.strictEqual(left.length, coins.length - 1)
            assert.deepStrictEqual(yield* unspent([`${chainTxId}:0`]), [`${chainTxId}:0`])
          })
      )
    }
  )
})
