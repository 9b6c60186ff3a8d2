import { assert, describe, it } from "@effect/vitest"
import * as UnsentWithdrawals from "../src/sending/UnsentWithdrawals.ts"

const task = (token: number, id = "w") => ({ id, token })

describe("Payments that were never sent", () => {
  it("payment: an unsent payment is still known as unsent under every later claim by the same process", () => {
    const unsent = UnsentWithdrawals.make()
    unsent.note(task(3))
    assert.deepStrictEqual(
      [4, 5, 6].map((token) => unsent.isStill(task(token))),
      [true, true, true]
    )
  })

  it("payment: a payment that was sent, or that another process claimed in the meantime, is not known as unsent", () => {
    const unsent = UnsentWithdrawals.make()
    unsent.note(task(3))
    assert.isFalse(unsent.isStill(task(5)))
    assert.isTrue(unsent.isStill(task(4)))
    unsent.forget(task(4))
    assert.isFalse(unsent.isStill(task(5)))
    assert.isFalse(UnsentWithdrawals.make().isStill(task(1)))
  })

  it("payment: if there are too many unsent payments, the oldest are forgotten", () => {
    const unsent = UnsentWithdrawals.make()
    for (let n = 0; n <= UnsentWithdrawals.capacity; n++) unsent.note(task(1, String(n)))
    assert.deepStrictEqual(
      ["0", "1"].map((id) => unsent.isStill(task(2, id))),
      [false, true]
    )
  })
})
