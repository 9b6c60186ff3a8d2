import { assert } from "@effect/vitest"
import { Stops } from "@satrail/core/accounts/Stops"
import {
  asked,
  companyWith,
  everywhere,
  has,
  made,
  said,
  scenario,
  unheld
} from "../../../../core/test/World.ts"
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

scenario("transfers: a pause of sending stops transfers and their returns", function* () {
  const [one, other] = [yield* companyWith(5000), yield* companyWith(5000)]
  const { send, returnTransfer } = yield* Transfers
  const ask = { company: one, ...(yield* asked(1000)), to: other.id, description: "", metadata: {} }
  const { id } = yield* made(send(ask))
  yield* everywhere(Effect.flatMap(Stops, ({ pause }) => pause("sending")))
  const returned = returnTransfer({ company: other, id, asked: undefined })
  assert.deepStrictEqual([yield* said(send(ask)), yield* said(returned)], ["Paused", "Paused"])
  assert.deepStrictEqual([yield* has(one), yield* has(other)], [unheld(4000), unheld(6000)])
})
