import { Chain } from "@satrail/regtest/Chain"
import * as Process from "@satrail/regtest/Process"
import { Effect, type Fiber } from "effect"

/** Mines blocks until the payer takes back a payment on the chain, and returns how the payer's call ended. */
export const takenBack = Effect.fnUntraced(function* <A, E>(payer: Fiber.Fiber<A, E>) {
  const chain = yield* Chain
  yield* chain.mine(180)
  const isOver = Effect.gen(function* () {
    yield* chain.mine(1)
    yield* Effect.sleep("500 millis")
    return payer.pollUnsafe()
  })
  return yield* Effect.flatten(Process.until("the payer takes back the payment", isOver, 120))
})
