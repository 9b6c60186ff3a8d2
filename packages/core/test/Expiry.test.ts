import { assert, describe } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { Companies } from "../src/accounts/Companies.ts"
import * as CompanyId from "../src/base/CompanyId.ts"
import * as Expiry from "../src/ledger/Expiry.ts"
import { Records } from "../src/service/Records.ts"
import { Withdrawals } from "../src/sending/Withdrawals.ts"
import { companyWith, made, outside, request, scenario } from "./World.ts"

describe("An answer", () => {
  scenario("idempotency key: a key is deleted after 30 days, unless it was used for a withdrawal", function* () {
    const payer = yield* companyWith(5000)
    yield* made((yield* Companies).open({ name: "Acme", plan: "free", request: request("opened") }))
    const { destination } = yield* outside({ sats: 100 })
    yield* made((yield* Withdrawals).confirm({ company: payer, asked: undefined, destination, metadata: {}, request: request("sent") }))
    const known = Effect.gen(function* () {
      yield* Expiry.step
      const records = yield* Records
      return [yield* records.answer(CompanyId.operator, "opened"), yield* records.answer(payer.id, "sent")].map(Option.isSome)
    })
    yield* TestClock.adjust("29 days")
    assert.deepStrictEqual(yield* known, [true, true])
    yield* TestClock.adjust("1 day")
    assert.deepStrictEqual(yield* known, [false, true])
    yield* TestClock.adjust("10000 days")
    assert.deepStrictEqual(yield* known, [false, true])
  })
})
