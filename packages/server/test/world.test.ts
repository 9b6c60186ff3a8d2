import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Ledger from "@satrail/contracts/Ledger"
import * as Customer from "./Customer.ts"
import { type Company, eventually } from "./Service.ts"
import * as Whole from "./Whole.ts"

let whole: Whole.Whole
let shop: Company
beforeAll(async () => {
  whole = await Whole.start()
  shop = await whole.companyWith("paid")
  await Customer.fund(shop, 1_000_000)
})
afterAll(() => whole.end())

const sandbox = (route: string, body: unknown, status = 200) =>
  Customer.data(status, shop.post(`/sandbox${route}`, body))
const world = () => Customer.data(200, shop.get("/sandbox/world"))
const end = (what: string) => whole.ask("DELETE", `/sandbox/fault/${what}`, { key: shop.key })
const begin = (what: string, seconds = 60) => sandbox("/fault", { what, for_seconds: seconds })
const invoice = () => shop.post("/v1/bitcoin/deposit/lightning-invoice", { amount: 1000, currency: "sats" })
const confirm = async (destination: string, sats: number) =>
  (await Customer.data(201, Customer.confirm(shop, destination, sats))).id

describe("the sandbox's world", () => {
  it("sandbox world: the response shows the current nodes, held payments, mempool, height, rates, faults and clock", async () => {
    const before = await world()
    assert.deepStrictEqual([before.faults, before.clock.ahead_seconds, before.rates.usd], [[], 0, "50000"])
    const { payment_hash, destination } = await Customer.outside(shop, "lightning_invoice", {
      amount_sats: 5000,
      behaviour: "hold"
    })
    const id = (await Customer.data(201, shop.post("/v1/bitcoin/withdraw/confirm", { destination }))).id
    const after = await eventually(
      "a held payment",
      world,
      ({ lightning }) => lightning.held_count === before.lightning.held_count + 1
    )
    assert.deepInclude(after.lightning.held_payments, { direction: "out", payment_hash, amount_sats: 5000 })
    assert.isBelow(after.lightning.nodes[0].balance_sats, before.lightning.nodes[0].balance_sats)
    assert.strictEqual(after.lightning.nodes[0].name, "us")
    await sandbox("/release", { payment_hash, outcome: "settle" })
    await Customer.ends(shop, id, "settled")
    assert.strictEqual((await world()).lightning.held_count, before.lightning.held_count)

    const { address } = (await Customer.data(201, shop.post("/v1/bitcoin/deposit/on-chain", {}))).address
    const { chain_tx_id } = await sandbox("/send", { address, amount_sats: 70_000 }, 201)
    const { chain } = await world()
    assert.deepStrictEqual(
      [chain.mempool_count, chain.mempool[0].chain_tx_id, chain.height],
      [1, chain_tx_id, before.chain.height]
    )
    assert.strictEqual(chain.wallet_sats, before.chain.wallet_sats + 70_000)
    assert.isAbove(chain.mempool[0].fee_sats, 0)
    await sandbox("/mine", { blocks: 1 })
    const mined = (await world()).chain
    assert.deepStrictEqual([mined.mempool_count, mined.height], [0, before.chain.height + 1])
  })

  it("sandbox fault: while the node is down, invoice requests are rejected and a confirmed withdrawal stays pending; the withdrawal settles when the node is back", async () => {
    const { destination } = await Customer.outside(shop, "lightning_invoice", { amount_sats: 700 })
    const { ends_at } = await begin("node")
    assert.deepStrictEqual((await world()).faults, [{ what: "node", ends_at }])
    assert.deepStrictEqual(await Customer.refusal(invoice()), [503, "node_unavailable"])
    const id = (await Customer.data(201, shop.post("/v1/bitcoin/withdraw/confirm", { destination }))).id
    await eventually(
      "a payment sent to the node",
      () => whole.withdrawal(shop, id),
      ({ dispatchedAtMillis }) => dispatchedAtMillis !== null
    )
    assert.strictEqual((await Customer.fetchWithdrawal(shop, id)).status, "pending")
    assert.strictEqual((await shop.get("/readyz")).status, 503)
    assert.strictEqual((await end("node")).status, 200)
    await Customer.ends(shop, id, "settled")
    assert.deepStrictEqual((await world()).faults, [])
    assert.strictEqual((await invoice()).status, 201)
  })

  it("sandbox fault: a withdrawal whose payment fails during a node outage is reported as failed when the node is back", async () => {
    const { destination, payment_hash } = await Customer.outside(shop, "lightning_invoice", {
      amount_sats: 700,
      behaviour: "hold"
    })
    const id = (await Customer.data(201, shop.post("/v1/bitcoin/withdraw/confirm", { destination }))).id
    await eventually("a held payment", world, ({ lightning }) =>
      lightning.held_payments.some(
        (one: { readonly payment_hash: string }) => one.payment_hash === payment_hash
      )
    )
    await begin("node")
    await sandbox("/release", { payment_hash, outcome: "fail" })
    assert.strictEqual((await Customer.fetchWithdrawal(shop, id)).status, "pending")
    await end("node")
    await Customer.ends(shop, id, "failed")
  })

  it("sandbox fault: while the chain is down, no address is issued; a payout mined during the outage settles afterwards", async () => {
    const { destination } = await Customer.outside(shop, "chain_address")
    const id = await confirm(destination, 20_000)
    await eventually("a payout in the mempool", world, ({ chain }) => chain.mempool_count === 1)
    await begin("chain")
    assert.deepStrictEqual(await Customer.refusal(shop.post("/v1/bitcoin/deposit/on-chain", {})), [
      503,
      "chain_unavailable"
    ])
    await sandbox("/mine", { blocks: 6 })
    // This Lightning payment settles only after the payout has been checked, so the chain was unavailable
    // during that check.
    await Customer.ends(shop, await confirm("settle@wallet.example", 100), "settled")
    assert.strictEqual((await Customer.fetchWithdrawal(shop, id)).status, "pending")
    const before = await Customer.balance(shop)
    await end("chain")
    await Customer.ends(shop, id, "settled")
    // The earlier on-chain payment to the company now has six confirmations and is credited too.
    await Customer.hasBalance(shop, before + 70_000)
  })

  it("sandbox fault: rate sources, external servers and name servers can be made unavailable", async () => {
    await begin("rates")
    const usd = { amount: 1, currency: "usd", destination: "settle@wallet.example" }
    assert.deepStrictEqual(await Customer.refusal(shop.post("/v1/bitcoin/withdraw/estimate", usd)), [
      503,
      "rate_unavailable"
    ])
    await end("rates")
    assert.strictEqual((await shop.post("/v1/bitcoin/withdraw/estimate", usd)).status, 200)
    await begin("web")
    assert.deepStrictEqual(await Customer.refusal(shop.post("/v1/bitcoin/withdraw/estimate", usd)), [
      503,
      "recipient_unreachable"
    ])
    assert.deepStrictEqual(await Customer.refusal(shop.post("/v1/domains", { domain: "shop.example" })), [
      503,
      "names_unavailable"
    ])
    await end("web")
  })

  it("sandbox fault: while the database is down, every request except those that read or end the fault gets a 503, and nothing is lost", async () => {
    const balance = await Customer.balance(shop)
    await begin("database", 600)
    assert.deepStrictEqual(await Customer.refusal(invoice()), [503, "store_unavailable"])
    // Longer than the cache keeps a valid key.
    await sandbox("/clock", { advance_seconds: 60 })
    assert.deepStrictEqual(await Customer.refusal(shop.get("/v1/transactions/balance")), [
      503,
      "store_unavailable"
    ])
    const others = await whole.ask("GET", "/sandbox/world", {
      key: shop.key.replace(/.$/, (last) => (last === "1" ? "2" : "1"))
    })
    assert.isTrue([401, 503].includes(others.status), "an unknown key is rejected")
    assert.strictEqual((await world()).faults[0].what, "database")
    assert.strictEqual((await shop.get("/readyz")).status, 503)
    assert.strictEqual((await end("database")).status, 200)
    assert.strictEqual(await Customer.balance(shop), balance)
    const made = await eventually("an invoice", invoice, ({ status }) => status === 201)
    await sandbox("/pay", { payment_request: made.data.payment_request })
    await Customer.hasBalance(shop, balance + 1000)
  })

  it("sandbox fault: a fault with a limited duration ends by itself", async () => {
    await begin("node", 1)
    assert.deepStrictEqual(await Customer.refusal(invoice()), [503, "node_unavailable"])
    await eventually("the end of the fault", invoice, ({ status }) => status === 201)
    assert.deepStrictEqual((await world()).faults, [])
  })

  it("sandbox clock: advancing the clock ends faults and expires invoices, keys and vouchers, but does not interrupt requests in progress", async () => {
    await begin("web", 600)
    const asked = await Customer.data(201, invoice())
    const { data: key } = await whole.operate(`/companies/${shop.id}/api-keys`, {
      name: "short",
      scopes: ["read"],
      expires_at: new Date(Date.parse((await world()).clock.now) + 3_600_000).toISOString()
    })
    const balance = await Customer.balance(shop)
    const { id } = await Customer.data(
      201,
      shop.post("/v1/vouchers", { amount: 500, currency: "sats", expiry_seconds: 3600 })
    )
    const before = (await world()).clock.ahead_seconds
    const first = await sandbox("/clock", { advance_seconds: 3590 })
    assert.strictEqual(first.ahead_seconds, before + 3590)
    await eventually("the end of the fault", world, ({ faults }) => faults.length === 0)
    assert.strictEqual((await whole.ask("GET", "/v1/transactions/balance", { key: key.key })).status, 200)
    const second = await sandbox("/clock", { advance_seconds: 11 })
    assert.strictEqual(second.ahead_seconds, before + 3601)
    assert.deepStrictEqual(
      await Customer.refusal(whole.ask("GET", "/v1/transactions/balance", { key: key.key })),
      [401, "unauthorized"]
    )
    assert.deepStrictEqual(
      await Customer.refusal(shop.post("/sandbox/pay", { payment_request: asked.payment_request })),
      [422, "sandbox_refused"]
    )
    const voucher = await Customer.until(shop, `/v1/vouchers/${id}`, ({ status }) => status === "expired")
    assert.isAbove(Date.parse(voucher.updated_at ?? second.now), Date.now() + 3_500_000)
    await Customer.hasBalance(shop, balance)
    // New records have the advanced clock's time.
    assert.isAbove(
      Date.parse((await Customer.data(201, invoice())).created_at ?? second.now),
      Date.now() + 3_500_000
    )
  })

  it("sandbox clock: a stored response is deleted when its retention ends", async () => {
    const ask = (amount: number) =>
      shop.post(
        "/v1/bitcoin/deposit/lightning-invoice",
        { amount, currency: "sats" },
        { "idempotency-key": "of-a-day" }
      )
    assert.strictEqual((await ask(1)).status, 201)
    assert.deepStrictEqual(await Customer.refusal(ask(2)), [422, "idempotency_mismatch"])
    await sandbox("/clock", { advance_seconds: 31 * 86_400 })
    await eventually(
      "deletion of the stored response",
      () => ask(2),
      ({ status }) => status === 201
    )
  })

  it("sandbox clock: an on-chain payment that stays unconfirmed is replaced by a payment with a higher fee after the clock is advanced", async () => {
    const { destination } = await Customer.outside(shop, "chain_address")
    const id = await confirm(destination, 30_000)
    const first = await eventually("a payout in the mempool", world, ({ chain }) => chain.mempool_count === 1)
    await sandbox("/fee-rate", { sats_per_virtual_byte: 5 })
    await sandbox("/clock", { advance_seconds: 1801 })
    const later = await eventually(
      "another transaction",
      world,
      ({ chain }) =>
        chain.mempool_count === 1 && chain.mempool[0].chain_tx_id !== first.chain.mempool[0].chain_tx_id
    )
    assert.isAbove(later.chain.mempool[0].fee_sats, first.chain.mempool[0].fee_sats)
    assert.strictEqual(later.chain.fee_rate, 5)
    await sandbox("/mine", { blocks: 6 })
    await Customer.ends(shop, id, "settled")
    await sandbox("/fee-rate", { sats_per_virtual_byte: 2 })
  })

  it("sandbox webhooks: an inbox accepts any request without a key, fails as configured, and shows the received requests", async () => {
    const post = (body: string) =>
      fetch(`${whole.url}/sandbox/webhooks/orders`, {
        method: "POST",
        body,
        headers: { "content-type": "text/plain", "webhook-id": "evt_1" }
      })
    assert.strictEqual((await post(`{"a":1}`)).status, 200)
    await sandbox("/webhooks/orders/fail", { status: 503, times: 1 })
    assert.deepStrictEqual([(await post("again")).status, (await post("once more")).status], [503, 200])
    const { count, requests } = await Customer.data(200, shop.get("/sandbox/webhooks/orders"))
    assert.strictEqual(count, 3)
    assert.deepStrictEqual(
      requests.map((one: Record<string, unknown>) => [one["number"], one["status"], one["body"]]),
      [
        [3, 200, "once more"],
        [2, 503, "again"],
        [1, 200, `{"a":1}`]
      ]
    )
    assert.strictEqual(requests[0].headers["webhook-id"], "evt_1")
    assert.strictEqual((await whole.ask("GET", "/sandbox/webhooks/orders")).status, 401)
    assert.strictEqual((await post("x".repeat(70_000))).status, 413)
  })

  it("sandbox reset: a process that cannot reset does not offer a reset, and no company key can request one", async () => {
    assert.isNull((await world()).id)
    assert.deepStrictEqual(await Customer.refusal(shop.post("/sandbox/reset", { sandbox: "x" })), [
      401,
      "unauthorized"
    ])
    assert.deepStrictEqual(
      await Customer.refusal(
        whole.ask("POST", "/sandbox/reset", { key: Whole.operatorToken, body: { sandbox: "x" } })
      ),
      [404, "not_found"]
    )
  })

  it("sandbox: the books balance after all tests", async () => {
    await whole.run(Ledger.auditAll)
    assert.isEmpty(whole.logged.filter((line) => line.includes("crashed")))
  })
})
