import { assert, describe, it } from "@effect/vitest"
import type { Network } from "@satrail/bitcoin/Network"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { Effect, Layer, Redacted } from "effect"
import * as Lnd from "../src/Lnd.ts"
import { info, invoiceOf, json, nodeId, server } from "./InLndsPlace.ts"

const height = 900_000
const settling = "/v2/invoices/settle"

/** Settles a hold invoice whose payment expires after `blocksLeft` blocks. Returns the result, and whether lnd was called to settle it. */
const settle = Effect.fnUntraced(function* (
  blocksLeft: number,
  isSynced = true,
  network: Network = "mainnet"
) {
  const preimage = Preimage.make("07".repeat(32))
  let state = "ACCEPTED"
  const { url, paths } = yield* server((path) => {
    if (path === "/v1/getinfo")
      return json(200, { ...JSON.parse(info(nodeId).body), block_height: height, synced_to_chain: isSynced })
    if (path === settling || path === "/v2/invoices/cancel") {
      state = path === settling ? "SETTLED" : "CANCELED"
      return json(200, {})
    }
    const htlcs = [
      { state: "ACCEPTED", amt_msat: "7000", accept_height: height, expiry_height: height + blocksLeft }
    ]
    return json(200, { ...invoiceOf(7, state, 1), htlcs, ...(state === "ACCEPTED" && { r_preimage: "" }) })
  })
  const options = {
    url,
    macaroon: Redacted.make("00"),
    identity: { nodeId, network },
    invoiceSecret: Redacted.make("of the tests")
  }
  const { holding } = yield* Effect.provide(LightningReceiver, yield* Layer.build(Lnd.layerReceiver(options)))
  if (holding === undefined) return assert.fail("it holds")
  const paymentHash = PaymentHash.make(Preimage.hashOf(preimage))
  const said = yield* Effect.result(holding.settle({ id: "one", paymentHash }, preimage))
  return [said._tag === "Success" ? said.success : said.failure.cause, paths().includes(settling)] as const
}, Effect.scoped)

describe("lnd's hold invoices", () => {
  it.live(
    "lnd: a held payment is settled only before lnd would return it, and only while lnd has the newest blocks",
    () =>
      Effect.gen(function* () {
        // lnd itself returns late payments unless `invoices.holdexpirydelta` is 0.
        const late = ["canceled", false] as const
        const behind = ["lnd does not have the newest blocks yet", false] as const
        assert.deepStrictEqual(yield* settle(19), ["settled", true])
        assert.deepStrictEqual(yield* settle(18), late)
        assert.deepStrictEqual(yield* settle(-100), late)
        assert.deepStrictEqual(yield* settle(100, false), behind)
        assert.deepStrictEqual(yield* settle(100, false, "regtest"), ["settled", true])
      })
  )
})
