import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Books from "./Books.ts"
import * as Customer from "./Customer.ts"
import * as Service from "./Service.ts"

describe("a sandbox across restarts", () => {
  const service = Service.make()
  afterAll(() => service.end())
  const key = () => service.demo().api_key
  const world = async () => (await service.ask("GET", "/sandbox/world", { key: key() })).data
  const shop = (): Service.Company => ({
    id: service.demo().company_id,
    key: key(),
    get: (route) => service.ask("GET", route, { key: key() }),
    post: (route, body) => service.ask("POST", route, { key: key(), body })
  })
  const reset = (sandbox: string, token = service.token()) =>
    service.ask("POST", "/sandbox/reset", { key: token, body: { sandbox } })

  it("sandbox clock: the clock survives a stop and a crash, and later events have later times", async () => {
    await service.start()
    await Customer.fund(shop(), 1000)
    await Customer.data(200, shop().post("/sandbox/clock", { advance_seconds: 86_400 }))
    await Customer.data(200, shop().post("/sandbox/fault", { what: "chain", for_seconds: 3600 }))
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      await service.stop(signal)
      await service.start()
      const { clock, faults } = await world()
      assert.strictEqual(clock.ahead_seconds, 86_400, signal)
      assert.isAbove(Date.parse(clock.now), Date.now() + 86_000_000)
      assert.deepStrictEqual(faults, [], "a fault ends with its process")
    }
    await Customer.fund(shop(), 500)
    assert.strictEqual(await Customer.balance(shop()), 1500)
  })

  it("sandbox fault: a withdrawal confirmed while the node is down is paid after a crash", async () => {
    const { destination } = await Customer.outside(shop(), "lightning_invoice", { amount_sats: 300 })
    await Customer.data(200, shop().post("/sandbox/fault", { what: "node", for_seconds: 3600 }))
    const { id } = await Customer.data(201, shop().post("/v1/bitcoin/withdraw/confirm", { destination }))
    assert.strictEqual((await Customer.fetchWithdrawal(shop(), id)).status, "pending")
    await service.stop("SIGKILL")
    await service.start()
    await Customer.ends(shop(), id, "settled")
  })

  it("sandbox reset: the service restarts at the same address with an empty ledger, and a repeated request does not reset it again", async () => {
    const before = await world()
    const url = service.url()
    const [oldKey, token] = [key(), service.token()]
    assert.isString(before.id)
    assert.deepStrictEqual(await Customer.refusal(reset(before.id, oldKey)), [401, "unauthorized"])
    assert.deepStrictEqual(await Customer.refusal(reset("another")), [422, "sandbox_refused"])
    assert.strictEqual((await world()).id, before.id)
    assert.deepStrictEqual((await Customer.data(200, reset(before.id))).deletes, ["database", "sandbox"])
    await Service.eventually(
      "a new demo key",
      async () => key(),
      (now) => now !== oldKey
    )
    await Service.eventually(
      "readiness",
      () => service.ask("GET", "/readyz").catch(() => ({ status: 0 })),
      ({ status }) => status === 200
    )
    assert.strictEqual(service.url(), url)
    assert.strictEqual(service.token(), token, "the operator's token stays")
    const after = await world()
    assert.notStrictEqual(after.id, before.id)
    assert.deepStrictEqual(
      [after.clock.ahead_seconds, after.lightning.held_count, after.events.count],
      [0, 0, 0]
    )
    assert.strictEqual(await Customer.balance(shop()), 0)
    assert.strictEqual((await service.ask("GET", "/v1/transactions/balance", { key: oldKey })).status, 401)
    assert.deepStrictEqual(await Customer.refusal(reset(before.id)), [422, "sandbox_refused"])
    await Customer.fund(shop(), 700)
    await service.stop("SIGTERM")
    await service.start()
    assert.strictEqual(await Customer.balance(shop()), 700)
    await service.stop("SIGTERM")
    await Books.areRight(service.data)
  })
})
