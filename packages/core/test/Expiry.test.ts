import { assert, describe } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { Companies } from "../src/accounts/Companies.ts"
import * as CompanyId from "../src/base/CompanyId.ts"
import * as Id from "../src/base/Id.ts"
import * as Answer from "../src/ledger/Answer.ts"
import * as Expiry from "../src/ledger/Expiry.ts"
import { Journal } from "../src/ledger/Journal.ts"
import { Records } from "../src/service/Records.ts"
import { Withdrawals } from "../src/sending/Withdrawals.ts"
import { companyWith, made, outside, replace, request, scenario } from "./World.ts"

describe("An answer", () => {
  scenario(
    "idempotency key: a key is deleted after 30 days, unless it was used for a withdrawal",
    function* () {
      const payer = yield* companyWith(5000)
      yield* made((yield* Companies).open({ name: "Acme", plan: "free", request: request("opened") }))
      const { destination } = yield* outside({ sats: 100 })
      yield* made(
        (yield* Withdrawals).confirm({
          company: payer,
          asked: undefined,
          destination,
          metadata: {},
          request: request("sent")
        })
      )
      const known = Effect.gen(function* () {
        yield* Expiry.step
        const records = yield* Records
        return [
          yield* records.answer(CompanyId.operator, "opened"),
          yield* records.answer(payer.id, "sent")
        ].map(Option.isSome)
      })
      yield* TestClock.adjust("29 days")
      assert.deepStrictEqual(yield* known, [true, true])
      yield* TestClock.adjust("1 day")
      assert.deepStrictEqual(yield* known, [false, true])
      yield* TestClock.adjust("10000 days")
      assert.deepStrictEqual(yield* known, [false, true])
    }
  )

  let commits = 0
  const counting = replace(Journal, (journal) => ({
    commit: (change) => {
      if (change._tag === "AnswersForgotten") commits++
      return journal.commit(change)
    }
  }))

  scenario(
    "idempotency key: any number of expired keys is deleted in batches, so that no commit takes long",
    { change: counting },
    function* () {
      const { answer, expiredAnswers } = yield* Records
      const { commit } = yield* Journal
      const keep = Effect.fnUntraced(function* (key: string) {
        const once = { owner: CompanyId.operator, key, fingerprint: "", answer: "", forgetAtMillis: 1 }
        yield* commit(Answer.kept(yield* Id.make, CompanyId.operator, 0, once))
      })
      for (let n = 0; n <= 2 * Expiry.batchSize; n++) yield* keep(`${n}`)
      yield* Expiry.step
      assert.deepStrictEqual([commits, yield* expiredAnswers(1)], [3, false])
      assert.isTrue(Option.isNone(yield* answer(CompanyId.operator, "0")))
    }
  )
})
