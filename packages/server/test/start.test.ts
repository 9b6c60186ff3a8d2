import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Books from "./Books.ts"
import * as Customer from "./Customer.ts"
import * as Service from "./Service.ts"

describe("the service as a process", () => {
  const service = Service.make()
  afterAll(() => service.end())

  it("server: the service starts, receives and sends a payment, stops on SIGTERM, and its books balance", async () => {
    await service.start()
    const shop = await service.company("paid")
    const { id, payment_request } = await Customer.invoice(shop, 5000)
    await Customer.data(200, shop.post("/sandbox/pay", { payment_request }))
    await Customer.hasBalance(shop, 5000)
    assert.match((await Customer.fetchInvoice(shop, id)).r_preimage, /^[0-9a-f]{64}$/)
    const { destination } = await Customer.outside(shop, "lightning_invoice", { amount_sats: 1000 })
    const withdrawal = await Customer.data(201, Customer.confirm(shop, destination, 1000))
    await Customer.ends(shop, withdrawal.id, "settled")
    assert.strictEqual(await Customer.balance(shop), Customer.without(5000, withdrawal))
    await service.stop("SIGTERM")
    await Books.areRight(service.data)
  })

  it("C56: log: every line is JSON, and none contains a key or a preimage", () => {
    const secrets = service.secrets()
    assert.isAtLeast(secrets.length, 4, "the keys of two companies and both preimages")
    assert.isNotEmpty(service.logs())
    for (const line of service.logs()) {
      const { message, level, timestamp } = JSON.parse(line)
      assert.isDefined(message)
      assert.deepStrictEqual([typeof level, typeof timestamp], ["string", "string"])
      assert.deepStrictEqual(
        secrets.filter((secret) => line.includes(secret)),
        []
      )
    }
  })

  it("server: a failed start prints the reason and exits with 1", async () => {
    const ended = await Service.run("main", [], { ...service.env(), PORT: "http" }).ended
    assert.deepStrictEqual([ended.code, ended.stdout], [1, ""])
    assert.include(ended.stderr, "PORT must be")
    assert.notMatch(ended.stderr, /^\s+at /m, "no stack")
  })
})
