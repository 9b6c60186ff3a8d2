import { afterAll, assert, describe, it } from "@effect/vitest"
import { start } from "./Service.ts"

// A browser checks the amount in a form, but other clients send any text.

const service = await start({ http: { console: true } })
afterAll(service.dispose)
const company = await service.company()

describe("an amount in a form of the console", () => {
  it("console: an amount that is not a number is rejected, and does not create an invoice without an amount", async () => {
    const own = { "sec-fetch-site": "same-origin", "x-satrail-console": "1" }
    const signedIn = await service.ask("POST", "/console/session", { body: { credential: company.key }, headers: own })
    const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? ""
    const create = async (amount: string) => {
      const body = new URLSearchParams({ amount, currency: "sats", once: amount })
      const headers = { cookie, "sec-fetch-site": "same-origin", origin: "http://service" }
      return service.handler(new Request("http://service/console/invoices/new", { method: "POST", headers, body }))
    }
    const count = async () => (await service.ask("GET", "/v1/bitcoin/deposit/lightning-invoice", { key: company.key })).body.data.length
    assert.strictEqual((await create("21")).status, 303)
    for (const amount of ["1,50", "abc", "1e3x"])
      assert.include(await (await create(amount)).text(), `Amount must be a number, such as 1.50 (got ${amount})`)
    assert.strictEqual(await count(), 1)
  })
})
