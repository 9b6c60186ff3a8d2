import { assert, describe, it } from "@effect/vitest"
import { Effect, References } from "effect"
import { hash, info, invoiceOf, json, nodeId, ports, server } from "./InLndsPlace.ts"

const quiet = Effect.provideService(References.MinimumLogLevel, "None")

/** The chain's height is 100. */
const here = () => {
  const { body } = info(nodeId)
  return {
    status: 200,
    body: JSON.stringify({ ...JSON.parse(body), block_height: 100, synced_to_chain: true })
  }
}
const part = (state: string, sats: number, expiry_height: number) => ({
  state,
  amt_msat: String(sats * 1000),
  accept_height: 90,
  expiry_height
})

const hold = { ...invoiceOf(3, "ACCEPTED", 0), r_preimage: "" }
const states: Record<string, readonly [invoice: object, state: object]> = {
  "OPEN: open": [invoiceOf(3, "OPEN", 0), { _tag: "open" }],
  "an OPEN hold invoice: open": [{ ...hold, state: "OPEN" }, { _tag: "open" }],
  "ACCEPTED: accepted": [
    { ...invoiceOf(3, "ACCEPTED", 0), htlcs: [part("ACCEPTED", 3, 140)] },
    { _tag: "accepted" }
  ],
  "an ACCEPTED hold invoice: accepted, with what is held": [
    { ...hold, htlcs: [part("ACCEPTED", 3, 140), part("ACCEPTED", 4, 130), part("CANCELED", 9, 110)] },
    { _tag: "accepted", held: { received: 7000n, blocksLeft: 30 } }
  ],
  "an ACCEPTED hold invoice without a part: accepted, with nothing held": [
    { ...hold, htlcs: [part("CANCELED", 9, 110)] },
    { _tag: "accepted" }
  ],
  "CANCELED: canceled": [invoiceOf(3, "CANCELED", 0), { _tag: "canceled" }],
  "SETTLED: settled, with the amount received": [
    invoiceOf(3, "SETTLED", 1),
    { _tag: "settled", received: 3000n, preimage: "67".repeat(32) }
  ]
}

describe("states of invoices at lnd", () => {
  for (const [what, [invoice, state]] of Object.entries(states)) {
    it.live(`lnd: an invoice that is ${what}`, () =>
      Effect.gen(function* () {
        const { url } = yield* server((path) => (path === "/v1/getinfo" ? here() : json(200, invoice)))
        assert.deepStrictEqual<unknown>(yield* (yield* ports(url)).receiver.lookupInvoice(hash), state)
      }).pipe(Effect.scoped, quiet)
    )
  }

  for (const [what, invoice] of [
    ["OPEN", invoiceOf(3, "OPEN", 0)],
    ["missing", undefined],
    ["a canceled hold invoice", { ...invoiceOf(3, "CANCELED", 0), r_preimage: "" }]
  ] as const) {
    it.live(
      `lnd: canceling an invoice that is then ${what} fails, so that nothing is settled internally`,
      () =>
        Effect.gen(function* () {
          const { url } = yield* server((path) =>
            path === "/v1/getinfo"
              ? here()
              : path === "/v2/invoices/cancel"
                ? json(200, {})
                : invoice === undefined
                  ? json(404, { code: 5, message: "unable to locate invoice" })
                  : json(200, invoice)
          )
          assert.strictEqual(
            (yield* Effect.flip((yield* ports(url)).receiver.cancelInvoice(hash)))._tag,
            "NodeUnavailable"
          )
        }).pipe(Effect.scoped, quiet)
    )
  }
})
