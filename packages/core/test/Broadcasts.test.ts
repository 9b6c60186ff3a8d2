import { assert, describe, it } from "@effect/vitest"
import { type Context, Effect, Logger } from "effect"
import { type Broadcast, ChainSource } from "../src/nodes/ChainSource.ts"
import { ChainWallet } from "../src/nodes/ChainWallet.ts"
import { companyWith, confirm, outside, type Ports, replace, run, steps, weather } from "./World.ts"

const payout = Effect.fnUntraced(function* (sats: number) {
  const payer = yield* companyWith(2 * sats + 2000)
  return yield* confirm(payer, (yield* outside({ type: "chain_address" })).destination, sats)
})

/** Rejects the transactions that `isRejected` selects by their number. Records the levels and texts of rejections. */
const rejecting = (isRejected: (n: number) => string | undefined) => {
  const { sky, change: withSky } = weather()
  const numbers = new Map<string, number>()
  const logged: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    if (JSON.stringify(message).includes("rejected by the network"))
      logged.push(`${logLevel} ${JSON.stringify(message)}`)
  })
  const change = (ports: Context.Context<Ports>) =>
    replace(ChainSource, (chain) => ({
      broadcast: (rawTx) =>
        Effect.suspend((): Effect.Effect<Broadcast> => {
          const n = numbers.get(rawTx) ?? numbers.size + 1
          numbers.set(rawTx, n)
          const reason = isRejected(n)
          return reason === undefined ? chain.broadcast(rawTx) : Effect.succeed({ _tag: "rejected", reason })
        })
    }))(withSky(ports))
  const noting = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, Logger.layer([logger]))
  return { sky, numbers, change, logged, noting }
}

describe("A payout that the network rejects", () => {
  it.effect(
    "payout: a rejection is logged once per reason, as an error, and says that the broadcast is repeated",
    () => {
      let reason = "mempool full"
      const { change, logged, noting } = rejecting(() => reason)
      return run({ isPending: true, change }, function* () {
        const { id } = yield* payout(20_000)
        yield* noting(steps(10))
        reason = "min relay fee not met"
        yield* noting(steps(10))
        assert.lengthOf(logged, 2)
        for (const line of logged) assert.match(line, /^Error .*will retry/)
        assert.include(logged[0], id)
      })
    }
  )

  it.effect(
    "replacement: if only a replacement is rejected and the original is in the mempool, the log has a warning",
    () => {
      const { sky, numbers, change, logged, noting } = rejecting((n) =>
        n === 2 ? "insufficient fee" : undefined
      )
      return run({ isPending: true, change }, function* () {
        yield* payout(20_000)
        yield* steps(1)
        sky.rate = 4
        yield* noting(steps(40, 60))
        assert.strictEqual(numbers.size, 2)
        assert.lengthOf(logged, 1)
        assert.match(logged[0] ?? "", /^Warn /)
      })
    }
  )

  it.effect("payout: if a payout that spends unconfirmed change is rejected, the log has a warning", () => {
    const { change, logged, noting } = rejecting(() => "missing inputs")
    const deep = replace(ChainWallet, (wallet) => ({
      build: (ask) => Effect.map(wallet.build(ask), (draft) => ({ ...draft, isDeep: true }))
    }))
    return run({ isPending: true, change: (ports) => deep(change(ports)) }, function* () {
      yield* payout(20_000)
      yield* noting(steps(5))
      assert.lengthOf(logged, 1)
      assert.match(logged[0] ?? "", /^Warn /)
    })
  })
})
