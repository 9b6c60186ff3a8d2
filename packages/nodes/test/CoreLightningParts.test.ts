import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { type Part, verdictOf } from "../src/CoreLightningParts.ts"

const preimage = Preimage.make("11".repeat(32))
const part = (status: Part["status"], fields: Partial<Part> = {}): Part => ({
  status,
  amount_msat: Msat.make(500n),
  amount_sent_msat: Msat.make(503n),
  created_at: 100,
  groupid: 1,
  ...(status === "complete" && { payment_preimage: preimage }),
  ...fields
})
/** The last part began at 100 s; a command may add another for 90 s. */
const verdict = (parts: ReadonlyArray<Part>, { hasEnded = false, nowMillis = 190_000 } = {}) =>
  verdictOf(parts, { hasEnded, nowMillis, commandMillis: 90_000 })

describe("What the parts of a payment say", () => {
  it("core lightning: a payment is pending while one of its parts is, whatever became of the others and of its command", () => {
    for (const others of [[], [part("failed")], [part("complete")]]) {
      for (const hasEnded of [false, true]) {
        assert.deepStrictEqual(verdict([...others, part("pending")], { hasEnded, nowMillis: 1e9 }), { _tag: "pending" })
      }
    }
  })

  it("core lightning: two parts of 500 that took 503 each settle a payment with a fee of 6; the parts that failed cost nothing", () => {
    const expected = { _tag: "settled", preimage, fee: Msat.make(6n), index: null } as const
    assert.deepStrictEqual(verdict([part("failed"), part("complete"), part("complete")], { hasEnded: true }), expected)
  })

  it("core lightning: all parts failed is a failure once the command has ended, or can add no other part", () => {
    const failed = [part("failed"), part("failed", { created_at: 99 })]
    assert.deepStrictEqual(verdict(failed), { _tag: "pending" })
    assert.deepStrictEqual(verdict(failed, { nowMillis: 190_001 }), { _tag: "failed" })
    assert.deepStrictEqual(verdict(failed, { hasEnded: true }), { _tag: "failed" })
  })

  it("core lightning: without a part nothing is known, unless the command has ended", () => {
    assert.deepStrictEqual(verdict([], { nowMillis: 1e9 }), { _tag: "none" })
    assert.deepStrictEqual(verdict([], { hasEnded: true }), { _tag: "failed" })
  })

  it("core lightning: a part that is complete and has no preimage is neither proof nor failure: the payment stays pending", () => {
    const { payment_preimage: _, ...bare } = part("complete")
    for (const ask of [{}, { hasEnded: true }, { nowMillis: 1e9 }])
      assert.deepStrictEqual(verdict([bare, part("failed")], ask), { _tag: "pending" })
  })
})
