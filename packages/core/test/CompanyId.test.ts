import { assert, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type * as CompanyId from "../src/base/CompanyId.ts"
import { SendingReads } from "../src/sending/SendingReads.ts"
import { companyWith, confirm, inWorld, outside } from "./World.ts"

it.effect(
  "company id: code that swaps a company's id and a record's id does not compile, and would find nothing",
  () =>
    inWorld(
      Effect.gen(function* () {
        const payer = yield* companyWith(5000)
        const { id } = yield* confirm(payer, (yield* outside({ sats: 1000 })).destination)
        const { withdrawal } = yield* SendingReads
        assert.isTrue(Option.isSome(yield* withdrawal(payer.id, id)))
        // @ts-expect-error -- the ids are swapped
        assert.isTrue(Option.isNone(yield* withdrawal(id, payer.id)))
        // @ts-expect-error -- an unbranded string
        const named: CompanyId.CompanyId = ""
        assert.strictEqual(named, "")
      })
    )
)
