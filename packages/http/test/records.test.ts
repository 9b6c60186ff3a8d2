import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { differences, digits, hex32, instant, is, nullOr, sats, type Shape, text, uuid } from "./Shape.ts"
import { domain, issuePaths, start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)
const { id: companyId, key } = await service.company("paid")
const get = (path: string) => service.ask("GET", path, { key })
const post = (path: string, body?: unknown) => service.ask("POST", path, { key, body })

const metadata = { order: "1042", ключ: "значение" }

const lightningInvoice = (settled: boolean): Shape => ({
  id: uuid,
  node_id: ["a public key", (value) => /^0[23][0-9a-f]{64}$/.test(String(value))],
  memo: is("Order 1042"),
  r_preimage: settled ? hex32 : is(""),
  r_hash: hex32,
  amount_sats: is(2100),
  min_sats: is(null),
  splits: is(null),
  max_sats: is(null),
  hold: is(false),
  held_sats: is(null),
  held_until: is(null),
  settled: is(settled),
  payment_request: ["a BOLT 11 invoice", (value) => String(value).startsWith("lnbcrt21u1")],
  metadata: is(metadata),
  lightning_address_id: is(null),
  status: is(settled ? "settled" : "open"),
  received_sats: is(settled ? 2100 : 0),
  created_at: instant,
  expires_at: instant,
  settled_at: settled ? instant : is(null),
  canceled_at: is(null),
  deposit_id: settled ? uuid : is(null),
  fiat: is(null)
})

const lightningPayment: Shape = {
  payment_hash: hex32,
  payment_preimage: hex32,
  payment_request: text,
  status: is("SUCCEEDED"),
  failure_reason: is("FAILURE_REASON_NONE"),
  value: is("1000"),
  value_sat: is("1000"),
  value_msat: is("1000000"),
  fee: digits,
  fee_sat: digits,
  fee_msat: digits,
  creation_date: digits,
  creation_time_ns: digits,
  payment_index: digits,
  htlcs: is([])
}

const fee = [
  "sats to three decimals",
  (value: unknown) => Number.isInteger(Number(value) * 1000) && Number(value) >= 0
] as const

const withdrawal = (rail: string, status: string): Shape => ({
  id: uuid,
  company_id: is(companyId),
  ledger_tx_id: uuid,
  amount_sats: is(1000),
  recipient: text,
  fee_sats: fee,
  network_type: is("regtest"),
  rail_type: is(rail),
  status: is(status),
  lightning_payment:
    status === "pending" || rail === "on_chain"
      ? is(null)
      : ["an object", (value) => typeof value === "object"],
  chain_tx_id: rail === "on_chain" && status === "settled" ? hex32 : nullOr(hex32),
  refund_id: is(null),
  fiat: is(null),
  metadata: is(metadata),
  created_at: instant,
  updated_at: instant,
  failure:
    status === "failed" ? ["an object", (value) => typeof value === "object" && value !== null] : is(null),
  destination: ["its parts", (value) => differences(value, destination(rail, status)).length === 0],
  approval: is(null)
})

const destination = (rail: string, status: string): Shape => ({
  type: is(rail === "on_chain" ? "chain_address" : "lightning_invoice"),
  lightning_address: is(null),
  bip353_name: is(null),
  bitcoin_address: rail === "on_chain" ? text : is(null),
  domain: is(null),
  payment_hash: rail === "on_chain" || status === "pending" ? is(null) : hex32,
  success_action: is(null)
})

const deposit = (rail: string, status: string): Shape => ({
  id: uuid,
  company_id: is(companyId),
  ledger_tx_id: uuid,
  recipient: text,
  amount_sats: sats,
  network_type: is("regtest"),
  rail_type: is(rail),
  status: is(status),
  chain_tx_id: rail === "on_chain" ? hex32 : is(null),
  lightning_invoice_id: rail === "on_chain" ? is(null) : uuid,
  fee_sats: is(0),
  refunded_sats: is(0),
  metadata: is(metadata),
  created_at: instant,
  updated_at: instant
})

const item = (type: string): Shape => ({
  id: uuid,
  company_id: is(companyId),
  amount_sats: sats,
  recipient: text,
  rail_type: text,
  type: is(type),
  fee_microsats: ["whole thousandths of a sat", Number.isSafeInteger],
  fee_sats: fee,
  status: text,
  reason: is(null),
  description: ["a string", (value) => typeof value === "string"],
  metadata: ["an object", (value) => typeof value === "object" && value !== null],
  failure: is(null),
  created_at: instant
})

/** The newest deposit or withdrawal. */
const newest = async (type: string) => (await get(`/v1/transactions?type=${type}&limit=1`)).body.data[0]

describe("every record has exactly the expected fields", () => {
  it("C33: records: an invoice without an amount shows the expected range, and shows the received amount once it is paid", async () => {
    const path = "/v1/bitcoin/deposit/lightning-invoice"
    const created = await post(path, { amount: null, min_sats: 100, max_sats: 200 })
    assert.strictEqual(created.status, 201)
    const open = { amount_sats: null, min_sats: 100, max_sats: 200 }
    assert.deepInclude(created.body.data, { ...open, received_sats: 0, status: "open" })
    await service.sandbox((sandbox) =>
      sandbox.pay({ paymentRequest: created.body.data.payment_request, amount: Msat.fromSats(7) })
    )
    await service.work()
    const { data } = (await get(`${path}/${created.body.data.id}`)).body
    assert.deepInclude(data, { ...open, received_sats: 7, status: "settled" })
    assert.strictEqual((await get(`/v1/transactions/deposits/${data.deposit_id}`)).body.data.amount_sats, 7)
  })

  it("records: an invoice with an expected range must have an explicit null amount", async () => {
    const refusals: ReadonlyArray<readonly [object, string]> = [
      [{ amount: 100, currency: "sats", min_sats: 1 }, "min_sats"],
      [{ amount: 100, currency: "sats", max_sats: 200 }, "max_sats"],
      [{ amount: null, min_sats: 2, max_sats: 1 }, "max_sats"],
      [{ amount: null, min_sats: 0 }, "min_sats"],
      [{ min_sats: 1, currency: "sats" }, "amount"],
      [{ currency: "sats" }, "amount"],
      [{ amount: 100 }, "currency"],
      // JSON.stringify converts NaN to null.
      [{ amount: null, currency: "sats" }, "amount"]
    ]
    for (const [body, path] of refusals) {
      const { status, body: answer } = await post("/v1/bitcoin/deposit/lightning-invoice", body)
      assert.deepStrictEqual(
        [status, answer.error?.code, issuePaths(answer)],
        [400, "malformed", [path]],
        path
      )
    }
  })

  it("hold: a hold invoice is settled with the company's preimage, and shows until when its payment is held", async () => {
    const { key } = await service.company("paid")
    const get = (path: string) => service.ask("GET", path, { key })
    const post = (path: string, body?: unknown) => service.ask("POST", path, { key, body })
    const path = "/v1/bitcoin/deposit/lightning-invoice"
    const preimage = "0d".repeat(32)
    const payment_hash = Preimage.hashOf(Preimage.make(preimage)).toUpperCase()
    const refused = await post(path, { amount: 100, currency: "sats", payment_hash })
    assert.deepStrictEqual([refused.status, issuePaths(refused.body)], [400, ["payment_hash"]])
    const { data } = (await post(path, { amount: 100, currency: "sats", hold: true, payment_hash })).body
    assert.deepInclude(data, {
      hold: true,
      status: "open",
      held_sats: null,
      held_until: null,
      r_hash: payment_hash.toLowerCase()
    })
    const early = await post(`${path}/${data.id}/settle`, { preimage })
    assert.deepStrictEqual([early.status, early.body.error?.code], [409, "invoice_not_held"])
    await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: data.payment_request }))
    const without = await post(`${path}/${data.id}/settle`)
    assert.deepStrictEqual([without.status, issuePaths(without.body)], [400, ["preimage"]])
    const settled = await post(`${path}/${data.id}/settle`, { preimage })
    assert.deepInclude(settled.body.data, {
      status: "settled",
      received_sats: 100,
      r_preimage: preimage,
      held_sats: null
    })
    const page = (await get("/v1/events?limit=50")).body.data
    const told = page.find((event: { readonly type: string }) => event.type === "invoice.held")
    assert.deepInclude(told.data, {
      id: data.id,
      status: "accepted",
      held_sats: 100,
      received_sats: 0,
      r_preimage: ""
    })
    assert.isAbove(Date.parse(told.data.held_until), Date.parse(data.created_at))
  })

  it("record: a Lightning invoice has exactly the expected fields, when created and when paid", async () => {
    const created = await post("/v1/bitcoin/deposit/lightning-invoice", {
      amount: 2100,
      currency: "sats",
      description: "Order 1042",
      metadata
    })
    assert.strictEqual(created.status, 201)
    assert.deepStrictEqual(differences(created.body.data, lightningInvoice(false)), [])
    const path = `/v1/bitcoin/deposit/lightning-invoice/${created.body.data.id}`
    assert.deepStrictEqual((await get(path)).body.data, created.body.data)

    const { preimage } = await service.sandbox((sandbox) =>
      sandbox.pay({ paymentRequest: created.body.data.payment_request })
    )
    await service.work()
    const paid = (await get(path)).body.data
    assert.deepStrictEqual(differences(paid, lightningInvoice(true)), [])
    const { settled_at, deposit_id } = paid
    const now = { settled: true, status: "settled", received_sats: 2100, settled_at, deposit_id }
    assert.deepStrictEqual(paid, { ...created.body.data, ...now, r_preimage: preimage })
    assert.strictEqual(
      (await get(`/v1/transactions/deposits/${deposit_id}`)).body.data.lightning_invoice_id,
      paid.id
    )
  })

  it("record: a deposit from an invoice has exactly the expected fields", async () => {
    const { id } = await newest("deposit")
    const { status, body } = await get(`/v1/transactions/deposits/${id}`)
    assert.strictEqual(status, 200)
    assert.deepStrictEqual(differences(body.data, deposit("lightning", "settled")), [])
    assert.strictEqual(body.data.amount_sats, 2100)
    assert.strictEqual(
      (await get(`/v1/bitcoin/deposit/lightning-invoice/${body.data.lightning_invoice_id}`)).body.data
        .payment_request,
      body.data.recipient
    )
  })

  it("record: a Lightning address has exactly the expected fields", async () => {
    const { status, body } = await post("/v1/bitcoin/deposit/lightning-address", {
      handle: "Satoshi",
      domain: "",
      metadata
    })
    assert.strictEqual(status, 201)
    assert.deepStrictEqual(
      differences(body.data, {
        id: uuid,
        handle: is("satoshi"),
        domain: is(domain),
        address: is(`satoshi@${domain}`),
        metadata: is(metadata),
        created_at: instant,
        updated_at: instant,
        last_used_at: is(null),
        deleted_at: is(null),
        min_sats: is(null),
        max_sats: is(null),
        success_message: is(null),
        splits: is(null),
        lnurl: ["an LNURL", (value) => String(value).startsWith("lnurl1")],
        lnurlp: is(`lnurlp://${domain}/.well-known/lnurlp/satoshi`)
      }),
      []
    )
  })

  for (const type of ["taproot", "segwit", "nested_segwit"]) {
    it(`record: an on-chain address (${type}) has exactly the expected fields, under data.address`, async () => {
      const { status, body } = await post("/v1/bitcoin/deposit/on-chain", { address_type: type, metadata })
      assert.strictEqual(status, 201)
      assert.deepStrictEqual(
        differences(body.data, { address: ["an object", (value) => typeof value === "object"] }),
        []
      )
      assert.deepStrictEqual(
        differences(body.data.address, {
          id: uuid,
          address: text,
          company_id: is(companyId),
          node_id: ["a fingerprint", (value) => /^[0-9a-f]{8}$/.test(String(value))],
          bitcoin_address_type: is(type),
          metadata: is(metadata),
          created_at: instant
        }),
        []
      )
    })
  }

  it("record: an on-chain deposit has exactly the expected fields, when pending and when settled", async () => {
    const { address } = (await post("/v1/bitcoin/deposit/on-chain", { metadata })).body.data.address
    await service.sandbox((sandbox) => sandbox.send({ address, amount: service.sats(100_000) }))
    await service.work()
    const { id } = await newest("deposit")
    const pending = (await get(`/v1/transactions/deposits/${id}`)).body.data
    assert.deepStrictEqual(differences(pending, deposit("on_chain", "pending")), [])
    await service.mine()
    const settled = (await get(`/v1/transactions/deposits/${id}`)).body.data
    assert.deepStrictEqual(differences(settled, deposit("on_chain", "settled")), [])
    assert.deepStrictEqual(settled, { ...pending, status: "settled", updated_at: settled.updated_at })
  })

  it("record: the balance is the available amount, and held amounts and pending deposits are in separate fields", async () => {
    const balance = async () => {
      const { status, body } = await get("/v1/transactions/balance")
      return [status, body.data]
    }
    assert.deepStrictEqual(await balance(), [
      200,
      { balance: 102_107, held_sats: 0, pending_deposits_sats: 0 }
    ])
    const { body } = await post("/v1/bitcoin/deposit/on-chain")
    await service.sandbox((sandbox) =>
      sandbox.send({ address: body.data.address.address, amount: service.sats(5000) })
    )
    await service.work()
    assert.deepStrictEqual(await balance(), [
      200,
      { balance: 102_107, held_sats: 0, pending_deposits_sats: 5000 }
    ])
    await service.mine()
    assert.deepStrictEqual(await balance(), [
      200,
      { balance: 107_107, held_sats: 0, pending_deposits_sats: 0 }
    ])
    const voucher = await post("/v1/vouchers", { amount: 1000, currency: "sats" })
    const held = 1000 + voucher.body.data.fee_sats
    assert.deepStrictEqual(await balance(), [
      200,
      { balance: 107_107 - held, held_sats: held, pending_deposits_sats: 0 }
    ])
    await service.ask("POST", `/v1/vouchers/${voucher.body.data.id}/cancel`, { key })
  })

  it("record: an estimate has exactly the expected fields", async () => {
    const { destination } = await service.sandbox((sandbox) =>
      sandbox.destination({ type: "lightning_address" })
    )
    const { status, body } = await post("/v1/bitcoin/withdraw/estimate", {
      amount: 1000,
      currency: "sats",
      destination
    })
    assert.strictEqual(status, 200)
    assert.deepStrictEqual(
      differences(body.data, {
        recipient: is(destination),
        recipient_type: is("lightning_address"),
        bip353: is(null),
        amount_sats: is(1000),
        service_fee_sats: is(12),
        fee_sats: is(12),
        success_probability: ["a fraction", (value) => typeof value === "number" && value > 0 && value <= 1]
      }),
      []
    )
  })

  it("record: a Lightning withdrawal has exactly the expected fields, when confirmed and when settled", async () => {
    const { destination, paymentHash } = await service.sandbox((sandbox) =>
      sandbox.destination({ type: "lightning_invoice", amount: service.sats(1000) })
    )
    const { status, body } = await post("/v1/bitcoin/withdraw/confirm", { destination, metadata })
    assert.strictEqual(status, 201)
    assert.deepStrictEqual(differences(body.data, withdrawal("lightning", "pending")), [])
    assert.strictEqual(body.data.fee_sats, 12) // 2 for the service at 2000 ppm, and up to 10 for routing
    const pending = (await get(`/v1/transactions/withdrawals/${body.data.id}`)).body.data
    assert.deepStrictEqual(differences(pending, withdrawal("lightning", "pending")), [])
    assert.deepStrictEqual(pending, body.data, "the same record, confirmed and fetched")

    await service.work()
    const settled = (await get(`/v1/transactions/withdrawals/${body.data.id}`)).body.data
    assert.deepStrictEqual(differences(settled, withdrawal("lightning", "settled")), [])
    assert.deepStrictEqual(differences(settled.lightning_payment, lightningPayment), [])
    assert.deepStrictEqual(
      [settled.lightning_payment.payment_hash, settled.lightning_payment.payment_request, settled.recipient],
      [paymentHash, destination, destination]
    )
    // The customer pays the 12 sats charged, whatever the routing cost was.
    assert.strictEqual(settled.lightning_payment.fee_msat, "12000")
  })

  it("record: a failed Lightning withdrawal has a stable code, a message, and lnd's reason", async () => {
    const { destination, paymentHash } = await service.sandbox((sandbox) =>
      sandbox.destination({ type: "lightning_invoice", amount: service.sats(1000), behaviour: "fail" })
    )
    const { body } = await post("/v1/bitcoin/send/confirm", { destination, metadata })
    await service.work()
    const failed = (await get(`/v1/transactions/withdrawals/${body.data.id}`)).body.data
    assert.deepStrictEqual(differences(failed, withdrawal("lightning", "failed")), [])
    assert.deepStrictEqual(
      differences(failed.failure, { code: is("incorrect_payment_details"), message: text }),
      []
    )
    assert.deepStrictEqual(
      differences(failed.lightning_payment, {
        ...lightningPayment,
        payment_hash: is(paymentHash),
        payment_preimage: is(""),
        status: is("FAILED"),
        failure_reason: is("FAILURE_REASON_INCORRECT_PAYMENT_DETAILS"),
        fee: is("0"),
        fee_sat: is("0"),
        fee_msat: is("0")
      }),
      []
    )
  })

  it("record: an on-chain withdrawal has exactly the expected fields, when confirmed and when settled", async () => {
    const { destination } = await service.sandbox((sandbox) => sandbox.destination({ type: "chain_address" }))
    const { body } = await post("/v1/bitcoin/withdraw/confirm", {
      amount: 1000,
      currency: "sats",
      destination,
      metadata
    })
    assert.deepStrictEqual(differences(body.data, withdrawal("on_chain", "pending")), [])
    await service.work()
    await service.sandbox((sandbox) => sandbox.mine(2))
    await service.work()
    const settled = (await get(`/v1/transactions/withdrawals/${body.data.id}`)).body.data
    assert.deepStrictEqual(differences(settled, withdrawal("on_chain", "settled")), [])
  })

  it("record: a deposit or a withdrawal in a list has exactly the expected fields", async () => {
    const withdrawn = await newest("withdrawal")
    assert.deepStrictEqual(differences(withdrawn, item("withdrawal")), [])
    assert.isAbove(withdrawn.fee_microsats, 0)
    const deposited = await newest("deposit")
    assert.deepStrictEqual(differences(deposited, item("deposit")), [])
    assert.strictEqual(deposited.fee_microsats, 0)
  })

  it("record: metadata is {} if none was sent, and is otherwise returned as it was sent, whatever its keys", async () => {
    const create = async (given?: unknown) =>
      (await post("/v1/bitcoin/deposit/lightning-address", given)).body.data.metadata
    assert.deepStrictEqual(await create(), {})
    assert.deepStrictEqual(await create({ metadata: null }), {})
    const odd = JSON.parse(`{"__proto__":"x","constructor":"y","🙂":"z"}`)
    assert.strictEqual(JSON.stringify(await create({ metadata: odd })), JSON.stringify(odd))
  })

  it("record: the comparison detects an extra field, a missing field, or a field of another type", () => {
    for (const wrong of [{ a: 1, b: 2 }, {}, { a: "1" }, null, []])
      assert.isNotEmpty(differences(wrong, { a: sats }))
  })
})
