import { afterAll, assert, describe, it } from "@effect/vitest"
import { start } from "./Service.ts"
import { askFor, get, lookUp, pay, refusal } from "./Wallet.ts"

// LUD-21: anyone who received an invoice can check whether it was paid.

const service = await start()
afterAll(service.dispose)
const { key } = await service.company()
const address = await service.lightningAddress(key, "alice")
const offer = await lookUp(service, address)

describe("LUD-21: verify", () => {
  it("LUD-21: until the payment arrives, settled is false and there is no preimage; then the preimage proves the payment", async () => {
    const invoice = await askFor(service, offer, 21_000)
    const url = invoice.verify ?? assert.fail("the response has no verify URL")
    assert.strictEqual(new URL(url).hostname, "pay.example.com")
    assert.deepStrictEqual(await get(service, url), {
      status: "OK",
      settled: false,
      preimage: null,
      pr: invoice.pr
    })
    const preimage = await pay(service, invoice)
    assert.deepStrictEqual(await get(service, url), { status: "OK", settled: true, preimage, pr: invoice.pr })
  })

  it("LUD-21: settled is false while a payment is only held", async () => {
    const { pr, paymentHash, verify = "" } = await askFor(service, offer, 21_000)
    await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: pr, hold: true }))
    await service.work()
    assert.deepStrictEqual(await get(service, verify), { status: "OK", settled: false, preimage: null, pr })
    await service.sandbox((sandbox) => sandbox.release({ paymentHash, outcome: "fail" }))
  })

  it("LUD-21: verification works if another company of this service pays", async () => {
    const payer = await service.company()
    await service.fund(payer.key, 100)
    const { pr, verify = "" } = await askFor(service, offer, 21_000)
    await service.ask("POST", "/v1/bitcoin/withdraw/confirm", { key: payer.key, body: { destination: pr } })
    await service.work()
    const { settled, preimage } = await get(service, verify)
    assert.strictEqual(settled, true)
    assert.match(String(preimage), /^[0-9a-f]{64}$/)
  })

  it("C40: LUD-21: an address shows only its own invoices", async () => {
    const other = await lookUp(service, await service.lightningAddress((await service.company()).key, "bob"))
    const [hers, his] = [await askFor(service, offer, 21_000), await askFor(service, other, 21_000)]
    const { body } = await service.ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
      key,
      body: { amount: 21, currency: "sats" }
    })
    for (const hash of [
      his.paymentHash,
      body.data.r_hash,
      "00".repeat(32),
      "",
      "x",
      hers.paymentHash.toUpperCase()
    ]) {
      const url = (hers.verify ?? "").replace(hers.paymentHash, hash)
      assert.strictEqual(await refusal(get(service, url)), "Not found", hash)
    }
  })
})
