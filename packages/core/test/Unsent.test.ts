import { assert, describe, it } from "@effect/vitest"
import * as Unsent from "../src/sending/Unsent.ts"

const task = (token: number, id = "w") => ({ id, token })

describe("Payments that were never sent", () => {
  it("payment: one that was not sent is known to be so under the next claim, and under each that follows it", () => {
    const unsent = Unsent.make()
    unsent.note(task(3))
    assert.deepStrictEqual(
      [4, 5, 6].map((token) => unsent.isStill(task(token))),
      [true, true, true]
    )
  })

  it("payment: nothing is known of one that another process has claimed in between, nor of one that was sent", () => {
    const unsent = Unsent.make()
    unsent.note(task(3))
    assert.isFalse(unsent.isStill(task(5)))
    assert.isTrue(unsent.isStill(task(4)))
    unsent.forget(task(4))
    assert.isFalse(unsent.isStill(task(5)))
    assert.isFalse(Unsent.make().isStill(task(1)))
  })

  it("payment: of very many that were not sent the oldest are forgotten", () => {
    const unsent = Unsent.make()
    for (let n = 0; n <= Unsent.maxUnsent; n++) unsent.note(task(1, String(n)))
    assert.deepStrictEqual(
      ["0", "1"].map((id) => unsent.isStill(task(2, id))),
      [false, true]
    )
  })
})
