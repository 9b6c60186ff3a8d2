import { assert, it } from "@effect/vitest"
import * as Unreachable from "../src/sending/Unreachable.ts"

const dayMillis = 86_400_000
const of = (n: number) => ({ id: `withdrawal ${n}`, approvalAtMillis: null, createdAtMillis: n })

it("payment worker: of very many withdrawals to unreachable payees, those that are not remembered count from their confirmation", () => {
  const unreachable = Unreachable.make()
  for (let n = 0; n < Unreachable.mostKept; n++)
    assert.strictEqual(unreachable.keep(of(n), 50_000, 50_000), 50_000)
  assert.strictEqual(unreachable.keep(of(60_000), 70_000, 70_000), 60_000)
  assert.isUndefined(unreachable.take("withdrawal 60000"))
  assert.strictEqual(unreachable.keep(of(60_000), 70_000, 50_000 + dayMillis), 70_000)
  assert.isUndefined(unreachable.take("withdrawal 0"))
  assert.strictEqual(unreachable.take("withdrawal 1"), 50_000)
})
