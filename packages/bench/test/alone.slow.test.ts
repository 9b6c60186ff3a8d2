import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Alone from "../src/Alone.ts"

it.live("statements: a lone payment needs few of them until nothing is left to do", () =>
  Effect.gen(function* () {
    const { confirm, createInvoice, lnurlInvoice } = yield* Alone.statements
    assert.isAtMost(confirm, Alone.most.confirm)
    assert.isAtMost(createInvoice, Alone.most.createInvoice)
    assert.isAtMost(lnurlInvoice, Alone.most.lnurlInvoice)
  })
)
