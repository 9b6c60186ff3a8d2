import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"
import * as LndInvoice from "../src/LndInvoice.ts"
import { invoiceOf } from "./InLndsPlace.ts"

/** Returns the amount received, in satoshis, for a settled invoice whose parts have these amounts and heights. */
const received = (
  ...parts: ReadonlyArray<{ sats: number; accepted: number; expires: number; state?: string }>
) => {
  const htlcs = parts.map(({ sats, accepted, expires, state = "SETTLED" }) => ({
    state,
    amt_msat: String(sats * 1000),
    accept_height: accepted,
    expiry_height: expires
  }))
  const paid = parts.filter(({ state }) => state === undefined).reduce((sum, { sats }) => sum + sats, 0)
  const invoice = Schema.decodeUnknownSync(LndInvoice.Invoice)({
    ...invoiceOf(7, "SETTLED", 1),
    htlcs,
    amt_paid_msat: String(paid * 1000)
  })
  const state = LndInvoice.stateOf(invoice, 0)
  return state._tag === "settled" ? Number(Msat.toSats(state.received)) : state._tag
}

describe("lnd's invoices", () => {
  it("lnd: a part that was about to expire when the last part arrived is not counted as received", () => {
    const last = { sats: 40, accepted: 672, expires: 755 }
    assert.strictEqual(received(last), 40)
    assert.strictEqual(received({ sats: 60, accepted: 671, expires: 754 }, last), 100)
    assert.strictEqual(received({ sats: 60, accepted: 608, expires: 691 }, last), 100)
    for (const expires of [690, 673, 672, 551])
      assert.strictEqual(received({ sats: 60, accepted: 468, expires }, last), 40)
    // A part that lnd returned, and that was paid again.
    assert.strictEqual(
      received({ sats: 60, accepted: 468, expires: 551, state: "CANCELED" }, { ...last, sats: 60 }, last),
      100
    )
  })

  it("lnd: a payment whose parts arrive within three blocks is counted as received, also with the smallest final delta of an invoice", () => {
    const last = { sats: 40, accepted: 672, expires: 690 }
    for (const accepted of [671, 669])
      assert.strictEqual(received({ sats: 60, accepted, expires: accepted + 18 }, last), 100)
    assert.strictEqual(received({ sats: 60, accepted: 668, expires: 686 }, last), 40)
  })

  it("lnd: a payment that arrives within a block is counted as received, however soon it expires", () => {
    // Some versions of lnd accept a payment without an invoice that expires 13 blocks later.
    const soon = { sats: 40, accepted: 672, expires: 685 }
    assert.strictEqual(received(soon), 40)
    assert.strictEqual(received(soon, { ...soon, sats: 60, expires: 690 }), 100)
  })
})
