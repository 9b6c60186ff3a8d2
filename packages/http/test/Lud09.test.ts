import { afterAll, assert, describe, it } from "@effect/vitest"
import { start } from "./Service.ts"
import { askFor, callbackUrl, get, lookUp, pay } from "./Wallet.ts"

// LUD-09: the message a payer's wallet shows after paying.

const service = await start()
afterAll(service.dispose)
const { key } = await service.company()
const address = await service.lightningAddress(key, "alice")
const { id } = await service.record(key, address)
const set = (body: object) => service.ask("PUT", `/v1/bitcoin/deposit/lightning-address/${id}`, { key, body })

describe("LUD-09: the success action", () => {
  it("LUD-09: there is no success action if the owner set no message", async () => {
    assert.doesNotHaveAnyKeys(await get(service, callbackUrl(await lookUp(service, address), 21_000)), [
      "successAction"
    ])
  })

  it("LUD-09: the owner's message of up to 144 characters is the success action", async () => {
    for (const message of ["Thank you!", "🎉".repeat(144)]) {
      assert.strictEqual((await set({ success_message: message })).status, 200)
      const body = await get(service, callbackUrl(await lookUp(service, address), 21_000))
      assert.deepStrictEqual(body["successAction"], { tag: "message", message })
    }
    const invoice = await askFor(service, await lookUp(service, address), 21_000)
    await pay(service, invoice)
    assert.strictEqual(invoice.message, "🎉".repeat(144))
  })

  it("LUD-09: the owner cannot set a message that wallets cannot show", async () => {
    const { status, body } = await set({ success_message: "x".repeat(145) })
    assert.strictEqual(status, 400)
    assert.deepStrictEqual(body.error?.issues, [
      { path: "success_message", message: "1 to 144 characters, not all of them blank" }
    ])
  })
})
