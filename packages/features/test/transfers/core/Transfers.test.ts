import { assert } from "@effect/vitest"
import { asked, companyWith, has, said, scenario, unheld } from "../../../../core/test/World.ts"
import { Effect } from "effect"
import { Transfers } from "../../../src/transfers/core/Transfers.ts"

scenario("transfers: a company cannot send to itself, however its id is written", function* () {
  const own = yield* companyWith(5000)
  for (const to of [own.id, own.id.toUpperCase()]) {
    const ask = { company: own, ...(yield* asked(1000)), to, description: "", metadata: {} }
    const sent = Effect.flatMap(Transfers, ({ send }) => send(ask))
    assert.strictEqual(yield* said(sent), "Invalid: to")
  }
  assert.deepStrictEqual(yield* has(own), unheld(5000))
})
