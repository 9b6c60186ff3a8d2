import { afterAll, assert, describe, it } from "@effect/vitest"
import { RateUnavailable } from "@satrail/core/nodes/ExchangeRates"
import { Prices } from "@satrail/core/nodes/Prices"
import { Context, Effect } from "effect"
import { bad, seen, start } from "./Service.ts"

const service = await start()
const silent = await start({
  instead: Context.make(
    Prices,
    Prices.of({
      price: () => Effect.fail(new RateUnavailable({ currency: "usd" })),
      current: Effect.fail(new RateUnavailable({ currency: "any currency" }))
    })
  )
})
afterAll(() => Promise.all([service.dispose(), silent.dispose()]))

describe("GET /v1/rates", () => {
  it("GET /v1/rates: returns the current rate of each currency, as exact decimals", async () => {
    const { key } = await service.company("free", "receive")
    const { status, body } = await service.ask("GET", "/v1/rates", { key })
    assert.strictEqual(status, 200)
    assert.deepStrictEqual(
      body.data.map(
        ({ currency, price }: { readonly currency: string; readonly price: string }) => `${currency} ${price}`
      ),
      "usd 50000,eur 46000,gbp 39500,jpy 7500000,cny 360000,cad 68500,aud 76500,chf 44250,hkd 390000,nzd 83000".split(
        ","
      )
    )
    for (const { updated_at } of body.data)
      assert.match(updated_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  it("GET /v1/rates: returns 503 if there are no rates", async () => {
    const { key } = await silent.company()
    assert.deepStrictEqual(seen(await silent.ask("GET", "/v1/rates", { key })), bad(503, "rate_unavailable"))
  })
})
