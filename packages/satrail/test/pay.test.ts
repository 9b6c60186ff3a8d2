import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { StoreUnavailable } from "@satrail/core/ledger/Journal"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { boundPort } from "@satrail/testing/boundPort"
import { tmpdir } from "node:os"
import path from "node:path"
import { inspect } from "node:util"
import * as remote from "@satrail/client"
import { client as operatorClient, type OperatorClient } from "@satrail/client/operator"
import {
  bitcoind,
  DirectoryLocked,
  errors,
  esplora,
  ldk,
  lnd,
  OptionsInvalid,
  satrail,
  SatrailError,
  simulated,
  type SimulatedPay
} from "../src/index.ts"
import { environment } from "../src/Options.ts"
import { refusal } from "../src/Refusals.ts"

let pay: SimulatedPay<{ readonly order?: string }>
let shop: Awaited<ReturnType<typeof pay.companies.create>>

/** The error of a call. */
const refused = async (call: () => Promise<unknown>): Promise<unknown> => {
  try {
    await call()
  } catch (error) {
    return error
  }
  return assert.fail("it was not refused")
}

const coffees = { description: "Two coffees", metadata: { order: "1042" } }

describe("satrail in memory", () => {
  beforeAll(async () => {
    pay = await satrail.test({ logLevel: "error" })
    shop = await pay.companies.create({ name: "Shop" })
  })
  afterAll(() => pay.close())

  it("pay: an invoice is created, paid and credited", async () => {
    const invoice = await pay.invoices.create({ company: shop.id, amount: 21_000, ...coffees })
    assert.deepStrictEqual(invoice.amount, { msat: 21_000_000n, sats: 21_000n })
    assert.instanceOf(invoice.createdAt, Date)
    assert.strictEqual(invoice.expiresAt.getTime() - invoice.createdAt.getTime(), 3_600_000)
    assert.deepStrictEqual(invoice.metadata, { order: "1042" })
    const before = await pay.transactions.balance(shop.id)
    await pay.outside.pay(invoice)
    const after = await pay.transactions.balance(shop.id)
    assert.strictEqual(after.available.sats - before.available.sats, 21_000n)
    const settled = await pay.invoices.get(shop.id, invoice.id)
    assert.strictEqual(settled.status, "settled")
    const { items } = await pay.companies.list()
    assert.deepStrictEqual(
      items.map(({ name }) => name),
      ["Shop"]
    )
  })

  it("pay: an amount is a number of sats, text with a currency, an amount with a separate currency, or the amount of a result", async () => {
    const sats = async (amount: Parameters<typeof pay.invoices.create>[0]["amount"]) => {
      const invoice = await pay.invoices.create({ company: shop, amount: amount ?? null })
      return invoice.amount?.sats
    }
    assert.strictEqual(await sats(21_000), 21_000n)
    assert.strictEqual(await sats(21_000n), 21_000n)
    assert.strictEqual(await sats("0.0002 btc"), 20_000n)
    assert.strictEqual(await sats({ amount: "0.0002", currency: "btc" }), 20_000n)
    assert.strictEqual(await sats({ msat: 5_000n, sats: 5n }), 5n)
    const euros = await pay.invoices.create({ company: shop, amount: "1.50 eur" })
    assert.isAbove(Number(euros.amount?.sats), 0)
    const open = await pay.invoices.create({ company: shop })
    assert.strictEqual(open.amount, null)
  })

  it("pay: an amount is a plain object that can be serialized as JSON", async () => {
    const { amount } = await pay.invoices.create({ company: shop, amount: 1 })
    assert.strictEqual(JSON.stringify(amount), '{"msat":"1000","sats":1}')
    assert.deepStrictEqual(structuredClone(amount), { msat: 1000n, sats: 1n })
  })

  it("pay: an invalid amount is rejected", async () => {
    for (const amount of [0, -1, 0.5, NaN, "5 euros", "much", { amount: 1 }]) {
      const ask = { company: shop.id, amount } as never
      assert.match(
        String(await refused(() => pay.invoices.create(ask))),
        /(amount|currency) must /,
        String(amount)
      )
    }
  })

  it("pay: an error is of the same class as those of a client, with the code and message of the API", async () => {
    const { destination } = await pay.outside.destination({ type: "lightning_address" })
    const error = await refused(() =>
      pay.withdrawals.confirm({ company: shop.id, amount: 90_000_000, destination })
    )
    if (!(error instanceof errors.InsufficientBalance)) return assert.fail(String(error))
    assert.deepStrictEqual([error.code, error.isRetryable], ["insufficient_balance", false])
    assert.match(error.message, /balance/)
    assert.isAbove(Number(error.details.needed.sats), 90_000_000)
    assert.isTrue(error instanceof SatrailError && error instanceof remote.errors.InsufficientBalance)
    assert.isFalse(error instanceof errors.NotFound)
    const unknown = await refused(() => pay.invoices.get(shop.id, shop.id))
    assert.isTrue(unknown instanceof errors.NotFound && unknown.code === "not_found")
  })

  it("pay: a checkout's fiat amount has at most the decimals of its currency, because the payer sees it", async () => {
    const error = await refused(() =>
      pay.checkouts.create({ company: shop, amount: { amount: 0.1 + 0.2, currency: "eur" } })
    )
    assert.strictEqual(
      (error as SatrailError).message,
      "amount must have at most 2 decimals in eur (got 0.30000000000000004)"
    )
    assert.strictEqual((error as SatrailError).code, "malformed")
  })

  it("pay: a checkout has the URL of its page and can be refunded by its id", async () => {
    const checkout = await pay.checkouts.create({ company: shop.id, amount: 500 })
    assert.match(new URL(checkout.url).pathname, /^\/pay\/[\w-]+$/)
    const page = await pay.handler(new Request(checkout.url))
    assert.strictEqual(page.status, 200)
    await pay.outside.pay(checkout)
    const paid = await pay.checkouts.get(shop.id, checkout.id)
    assert.strictEqual(paid.url, checkout.url)
    assert.deepStrictEqual([checkout.depositIds, paid.depositIds?.length], [[], 1])
    const { checkoutId, depositId, lnurl } = await pay.refunds.create({
      company: shop,
      checkoutId: checkout.id,
      amount: 100
    })
    assert.deepStrictEqual([checkoutId, depositId], [checkout.id, paid.depositIds?.[0]])
    assert.match(lnurl ?? "", /^lnurl1/i)
  })

  it("pay: reading an unknown company's balance fails as not found", async () => {
    for (const id of ["018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d", "no id"])
      assert.instanceOf(await refused(() => pay.transactions.balance(id)), errors.NotFound as never)
    const empty = await pay.companies.create({ name: "Empty" })
    assert.strictEqual((await pay.transactions.balance(empty.id)).available.msat, 0n)
  })

  it("pay: an error from a feature has the feature's code and message", async () => {
    const checkout = await pay.checkouts.create({ company: shop.id, amount: 5 })
    await pay.outside.pay(checkout)
    const error = (await refused(() => pay.checkouts.cancel(shop.id, checkout.id))) as SatrailError
    assert.strictEqual(error.code, "checkout_not_open")
    assert.match(error.message, /checkout is paid/)
  })

  it("pay: an error caused by an unavailable node is retryable", async () => {
    await pay.outside.pause("node")
    const error = (await refused(() => pay.invoices.create({ company: shop.id, amount: 5 }))) as SatrailError
    await pay.outside.resume("node")
    assert.strictEqual(error.code, "node_unavailable")
    assert.deepStrictEqual([error.isRetryable, error.isUnknown], [true, false])
    const unavailable = refusal(
      new StoreUnavailable({ operation: "commit", cause: "connection lost" })
    ) as SatrailError
    assert.deepStrictEqual(
      [unavailable.code, unavailable.isRetryable, unavailable.isUnknown],
      ["store_unavailable", true, true]
    )
  })

  it("pay: money is sent to an address, and the withdrawal settles", async () => {
    const invoice = await pay.invoices.create({ company: shop.id, amount: 50_000 })
    await pay.outside.pay(invoice)
    const { destination } = await pay.outside.destination({ type: "lightning_address" })
    const estimate = await pay.withdrawals.estimate({ company: shop.id, amount: 1_000, destination })
    assert.strictEqual(estimate.amount.sats, 1_000n)
    const settled = Promise.withResolvers<string>()
    pay.on("withdrawal.settled", (event) => settled.resolve(event.data.id))
    const sent = await pay.withdrawals.confirm({
      company: shop,
      amount: 1_000,
      destination,
      metadata: { order: "7" }
    })
    assert.strictEqual(await settled.promise, sent.id)
    for (const pasted of [
      `lightning:${destination}`,
      ` ⚡${destination.toUpperCase()}. `,
      `<mailto:${destination}>`
    ])
      assert.strictEqual(
        (await pay.withdrawals.confirm({ company: shop, amount: 1_000, destination: pasted })).recipient,
        destination
      )
  })

  it("pay: `confirm` accepts an estimate's fee as the limit, even if the fee is 0", async () => {
    const address = await pay.lightningAddresses.create({ company: shop })
    assert.strictEqual(address.address, `${address.handle}@${address.domain}`)
    const payer = await pay.companies.create({ name: "Payer" })
    await pay.outside.pay(await pay.invoices.create({ company: payer, amount: 10_000 }))
    const confirmed = async (destination: string) => {
      const asked = { company: payer, amount: 777, destination }
      const { fee } = await pay.withdrawals.estimate(asked)
      await pay.withdrawals.confirm({ ...asked, maxFee: fee })
      return fee.msat
    }
    assert.strictEqual(await confirmed(address.address), 0n)
    assert.isAbove(
      Number(
        await confirmed(
          await pay.outside.destination({ type: "lightning_address" }).then(({ destination }) => destination)
        )
      ),
      0
    )
    await pay.withdrawals.confirm({ company: payer, amount: 1, destination: address.address, maxFee: 0 })
    const { destination } = await pay.outside.destination({ type: "lightning_address" })
    const risen = await refused(() =>
      pay.withdrawals.confirm({ company: payer, amount: 777, destination, maxFee: 0 })
    )
    assert.match(String((risen as Error).message), /above max_fee/)
  })

  it("pay: a company that receives exactly the satoshis needed can send, even if the fee is not a whole number of satoshis", async () => {
    const payer = await pay.companies.create({ name: "Exact" })
    const { destination } = await pay.outside.destination({ type: "lightning_address" })
    const asked = { company: payer, amount: 1_001, destination }
    const error = await refused(() => pay.withdrawals.confirm(asked))
    if (!(error instanceof errors.InsufficientBalance)) return assert.fail(String(error))
    const { needed, available } = error.details
    assert.notStrictEqual(needed.msat % 1000n, 0n)
    assert.deepStrictEqual([needed.sats, available?.sats], [needed.msat / 1000n + 1n, 0n])
    const { fee } = await pay.withdrawals.estimate(asked)
    assert.strictEqual(fee.sats, needed.sats - 1_001n)
    await pay.outside.pay(await pay.invoices.create({ company: payer, amount: needed.sats }))
    await pay.withdrawals.confirm({ ...asked, maxFee: fee.sats, idempotencyKey: "exact" })
    const again = await pay.withdrawals.confirm({ ...asked, maxFee: fee.sats, idempotencyKey: "exact" })
    assert.deepStrictEqual(again.fee, fee)
    const { available: left } = await pay.transactions.balance(payer.id)
    assert.deepStrictEqual([left.sats, left.msat < 1000n], [0n, true])
    await pay.withdrawals.settled(payer, again.id)
  })

  it("pay: an address is paid on-chain, and the deposit is credited when the call returns", async () => {
    const company = await pay.companies.create({ name: "On-chain" })
    const address = await pay.onChainAddresses.create({ company })
    assert.match((await pay.outside.pay(address, "0.001 btc")).txId, /^[0-9a-f]{64}$/)
    assert.strictEqual((await pay.transactions.balance(company.id)).available.sats, 100_000n)
    await pay.outside.pay(
      (await pay.onChainAddresses.create({ company, addressType: "segwit" })).address,
      60_000_000
    )
    assert.strictEqual((await pay.transactions.balance(company.id)).available.sats, 60_100_000n)
    const checkout = await pay.checkouts.create({ company, amount: 700 })
    await pay.outside.pay(checkout, checkout.amount ?? assert.fail())
    assert.strictEqual((await pay.checkouts.get(company.id, checkout.id)).status, "paid")
    const { destination } = await pay.outside.destination({ type: "chain_address" })
    for (const pasted of [
      destination,
      `bitcoin:${destination.toUpperCase()}?amount=0.00001`,
      ` ${destination.slice(0, 9)} ${destination.slice(9)}.`
    ])
      assert.isString((await pay.outside.pay(pasted, 1_000)).txId)
    const pasted = (await pay.onChainAddresses.create({ company })).address
    await pay.outside.pay(`bitcoin:${pasted}`, 10_000)
    assert.strictEqual((await pay.transactions.balance(company.id)).available.sats, 60_110_700n)
    for (const [given, says] of [
      [[undefined, 1_000], /address must be text/],
      [["no address", 1_000], /address/i],
      [[address, "1 eur"], /must be in sats or btc/],
      [[undefined], /paymentRequest must be text/]
    ] as const)
      assert.match(String(await refused(() => Reflect.apply(pay.outside.pay, undefined, given))), says)
  })

  it("pay: list rows have metadata, a description and a failure, and the failure is an object, as over HTTP", async () => {
    const company = await pay.companies.create({ name: "Rows" })
    await pay.outside.pay(await pay.invoices.create({ company, amount: 5_000, ...coffees }))
    const checkout = await pay.checkouts.create({ company, amount: 700, description: "Order 7" })
    const seen = Promise.withResolvers<void>()
    pay.on("deposit.pending", ({ data }) => data.companyId === company.id && seen.resolve(), { name: "seen" })
    await pay.outside.send({ address: checkout.address, amount: 700 })
    await seen.promise
    const { destination } = await pay.outside.destination({
      type: "lightning_invoice",
      amount: 1_000,
      behaviour: "no_route"
    })
    const failed = Promise.withResolvers<unknown>()
    pay.on("withdrawal.failed", ({ data }) => failed.resolve(data.failure), { name: "rows" })
    const { id } = await pay.withdrawals.confirm({
      company,
      amount: 1_000,
      destination,
      metadata: { order: "9" }
    })
    const failure = {
      code: "no_route",
      message: "No route to the payee could carry the payment within the fee limit"
    } as const
    assert.deepStrictEqual(await failed.promise, failure)
    assert.deepStrictEqual((await pay.transactions.withdrawal(company.id, id)).failure, failure)
    const { items } = await pay.transactions.list(company.id)
    const rows = items.map((row) => [row.amount.sats, row.metadata, row.description, row.failure] as const)
    assert.sameDeepMembers(rows, [
      [1_000n, { order: "9" }, "", failure],
      [5_000n, { order: "1042" }, "Two coffees", null],
      [700n, {}, "Order 7", null]
    ])
  })

  it("pay: a program waits until a withdrawal settles, and receives the reason if the withdrawal fails", async () => {
    const company = await pay.companies.create({ name: "Patient" })
    await pay.outside.pay(await pay.invoices.create({ company, amount: 9_000 }))
    const { destination } = await pay.outside.destination({ type: "lightning_address" })
    const sent = await pay.withdrawals.confirm({ company, amount: 1_000, destination })
    const settled = await pay.withdrawals.settled(company, sent.id)
    assert.deepStrictEqual(
      [settled.status, settled.fee.msat],
      ["settled", (await pay.withdrawals.get(company.id, sent.id)).fee.msat]
    )
    assert.isNull(settled.approval)
    assert.strictEqual((await pay.withdrawals.settled(company.id, sent.id)).id, sent.id)
    const unroutable = await pay.outside.destination({
      type: "lightning_invoice",
      amount: 1_000,
      behaviour: "no_route"
    })
    const failing = await pay.withdrawals.confirm({
      company,
      amount: 1_000,
      destination: unroutable.destination
    })
    const failed = await refused(() => pay.withdrawals.settled(company, failing.id))
    if (!(failed instanceof errors.NotSettled)) return assert.fail(String(failed))
    assert.deepStrictEqual(
      [failed.details.failure?.code, failed.code, failed.isRetryable],
      ["no_route", "not_settled", false]
    )
    assert.instanceOf(
      await refused(() => pay.withdrawals.settled(company, company.id)),
      errors.NotFound as never
    )
  })

  it("pay: a wait ends when its signal is aborted", async () => {
    const { destination } = await pay.outside.destination({ type: "lightning_address", behaviour: "hold" })
    await pay.outside.pay(await pay.invoices.create({ company: shop, amount: 9_000 }))
    const { id } = await pay.withdrawals.confirm({ company: shop, amount: 100, destination })
    const controller = new AbortController()
    const waiting = refused(() => pay.withdrawals.settled(shop, id, { signal: controller.signal }))
    controller.abort(new Error("enough"))
    assert.match(String(await waiting), /enough/)
  })

  it("pay: a repeated request takes effect once and returns the same result", async () => {
    const ask = { company: shop.id, amount: 700, ...coffees, idempotencyKey: "order-1042" }
    const [first, again] = [await pay.invoices.create(ask), await pay.invoices.create(ask)]
    assert.deepStrictEqual(again, first)
    assert.strictEqual(JSON.stringify(again), JSON.stringify(first))
    const error = (await refused(() => pay.invoices.create({ ...ask, amount: 701 }))) as SatrailError
    assert.strictEqual(error.code, "idempotency_mismatch")
    const spaced = await refused(() => pay.invoices.create({ ...ask, idempotencyKey: "order 1042" }))
    assert.match(String(spaced), /Idempotency-Key must be 1 to 255 visible ASCII characters/)
  })

  it("pay: a maximum fee limits the fee", async () => {
    const { destination } = await pay.outside.destination({ type: "lightning_address" })
    await pay.outside.pay(await pay.invoices.create({ company: shop, amount: 9_000 }))
    for (const maxFee of [1, 1n, { msat: 1000n, sats: 1n }]) {
      const error = await pay.withdrawals
        .confirm({ company: shop, amount: 5000, destination, maxFee })
        .catch((error: SatrailError) => error)
      assert.strictEqual((error as SatrailError).code, "fee_changed", typeof maxFee)
    }
  })

  it("pay: a repeated request is the same in every form of its values, with its defaults and in any order", async () => {
    const { destination } = await pay.outside.destination({ type: "lightning_address" })
    await pay.outside.pay(await pay.invoices.create({ company: shop, amount: 9_000 }))
    const expiresAt = new Date("2100-01-31T12:00:00Z")
    const company = shop
    const forms = {
      invoice: [
        pay.invoices.create,
        [
          { company, amount: 700, description: "", idempotencyKey: "forms" },
          { company: shop.id, amount: "700 sats", expirySeconds: 3600 },
          { company, amount: { amount: "700.0", currency: "sats" }, metadata: {} },
          { company, amount: 700n, description: null, maxAmount: null },
          { company, amount: { msat: 700_000n, sats: 700n } }
        ],
        { company, amount: 700, description: "tea" }
      ],
      withdrawal: [
        pay.withdrawals.confirm,
        [
          {
            company,
            amount: 100,
            destination,
            maxFee: 500n,
            metadata: { a: "1", b: "2" },
            idempotencyKey: "forms-2"
          },
          { company, amount: "100.0 sats", destination, maxFee: 500, metadata: { b: "2", a: "1" } }
        ],
        { company, amount: 100, destination, maxFee: 501, metadata: { a: "1", b: "2" } }
      ],
      key: [
        ({ company: _, ...ask }: object & { readonly company?: unknown }) =>
          pay.companies.issueKey(shop.id, ask as never),
        [
          { company, name: "till", scopes: ["read", "receive"], expiresAt, idempotencyKey: "forms-3" },
          {
            company,
            name: "till",
            scopes: ["receive", "read"],
            expiresAt: new Date("2100-01-31T14:00:00+02:00"),
            limits: null,
            allowedFrom: null
          }
        ],
        { company, name: "till", scopes: ["read", "receive"], expiresAt, limits: { day: 1 } }
      ]
    } as const
    for (const [create, [first, ...others], another] of Object.values(forms)) {
      const call = create as (ask: object) => Promise<unknown>
      const { idempotencyKey } = first
      const made = await call(first)
      for (const one of others)
        assert.deepStrictEqual(await call({ ...one, idempotencyKey }), made, String(create))
      const error = (await refused(() => call({ ...another, idempotencyKey }))) as SatrailError
      assert.strictEqual(error.code, "idempotency_mismatch")
      assert.notMatch(error.message, /new key|another key/i)
    }
  })

  it("pay: a repeated request is the same for a company's record, its later record, and its id", async () => {
    const company = await pay.companies.create({ name: "Repeating" })
    const ask = { amount: 900, idempotencyKey: "order-1043" }
    const invoice = await pay.invoices.create({ ...ask, company })
    await pay.outside.pay(invoice)
    for (const same of [await pay.companies.get(company.id), company.id, { id: company.id }])
      assert.strictEqual((await pay.invoices.create({ ...ask, company: same })).id, invoice.id)
  })

  it("pay: a company that does not exist is refused, before anything is created or read", async () => {
    const company = "018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"
    for (const call of [
      () => pay.invoices.create({ company, amount: 5 }),
      () => pay.checkouts.create({ company, amount: 5 }),
      () => pay.onChainAddresses.create({ company: { id: company } }),
      async () => pay.invoices.list(company),
      () => pay.transactions.balance(company)
    ]) {
      const error = (await refused(call)) as SatrailError
      assert.deepStrictEqual(
        [error.code, error.message],
        ["not_found", "No such company. Check the id."],
        String(call)
      )
    }
  })

  it("pay: an error's stack names the line of the call", async () => {
    const error = (await refused(() => pay.invoices.get(shop.id, shop.id))) as Error
    assert.match(error.stack ?? "", /^SatrailError: .*\n(?:.*\n)*.*pay\.test\.ts/)
  })

  it("pay: a repeated request returns the same secret, which is stored encrypted", async () => {
    const ask = { company: shop.id, name: "website", scopes: ["read"] as const, idempotencyKey: "key" }
    const [first, again] = [await pay.apiKeys.create(ask), await pay.apiKeys.create(ask)]
    assert.match(first.key, /^sr_regtest_/)
    assert.strictEqual(again.key, first.key)
  })

  it("pay: a key of limited spending is issued without a second operator, because the program can send anyway", async () => {
    const company = await pay.companies.create({ name: "Key" })
    await pay.outside.pay(await pay.invoices.create({ company, amount: 9_000 }))
    const limits = { day: 500 }
    const { id, key, approval } = await pay.companies.issueKey(company.id, {
      name: "payouts",
      scopes: ["send"],
      limits
    })
    assert.isNull(approval)
    assert.strictEqual((await pay.apiKeys.get(company, id)).limits?.day?.sats, 500n)
    const { destination } = await pay.outside.destination({ type: "lightning_address" })
    const fetch: typeof globalThis.fetch = (input, init) => pay.handler(new Request(input, init))
    const payouts = remote.client({ url: "http://service.example", key, fetch })
    const error = await refused(() => payouts.withdrawals.confirm({ amount: 600, destination }))
    assert.isTrue(error instanceof errors.LimitExceeded)
    const results = [
      await pay.apiKeys.get(company, id),
      await pay.apiKeys.limit(id, { day: null }),
      await pay.people.list(company)
    ]
    assert.notMatch(inspect(results, { depth: 9 }), /secretHash/)
  })

  it("pay: a webhook test returns after its first attempt", async () => {
    const { id } = await pay.webhooks.create({ company: shop, url: "http://127.0.0.1:1/webhooks" })
    assert.strictEqual((await pay.webhooks.test(shop, id)).status, "enabled")
    const { items } = await pay.webhooks.deliveries(shop, id)
    const tests = items.filter(({ eventType }) => eventType === "webhook_endpoint.test")
    assert.deepStrictEqual(
      tests.map(({ lastAttemptAt }) => lastAttemptAt instanceof Date),
      [true]
    )
    await pay.webhooks.delete(shop, id)
  })

  it("pay: advancing the clock expires due records", async () => {
    const invoice = await pay.invoices.create({ company: shop.id, amount: 5, expirySeconds: 600 })
    const before = pay.clock.now()
    const after = await pay.clock.advance("1 hour")
    assert.isAtLeast(after.getTime() - before.getTime(), 3_600_000)
    const { status } = await pay.invoices.get(shop.id, invoice.id)
    assert.strictEqual(status, "expired")
    assert.match(
      String(await refused(() => pay.clock.advance("1 fortnight" as never))),
      /must be milliseconds or a string/
    )
  })

  it("pay: in results, events and filters, an invoice has the same status as in the HTTP API", async () => {
    const created = await pay.invoices.create({ company: shop.id, amount: 5 })
    assert.strictEqual(created.status, "open")
    assert.notProperty(created, "standing")
    const { items } = await pay.invoices.list(shop.id, { status: "open", limit: 1 })
    assert.deepStrictEqual(
      items.map(({ id, status }) => [id, status]),
      [[created.id, "open"]]
    )
    for await (const { type, subject, data } of pay.events({ company: shop })) {
      if (type !== "invoice.created" || subject !== created.id) continue
      assert.strictEqual(data.status, "open")
      break
    }
    assert.strictEqual((await pay.invoices.cancel(shop.id, created.id)).status, "canceled")
  })

  it("pay: each page of a list continues where the last one ended", async () => {
    const page = await pay.invoices.list(shop.id, { limit: 2 })
    assert.lengthOf(page.items, 2)
    assert.isDefined(page.next)
    const next = await pay.invoices.list(shop.id, { limit: 2, cursor: page.next })
    assert.notDeepEqual(next.items, page.items)
    const ids: Array<string> = []
    for await (const { id } of pay.invoices.list({ company: shop, limit: 2 })) ids.push(id)
    assert.lengthOf(new Set(ids), ids.length)
    assert.deepStrictEqual(
      ids.slice(0, 4),
      [...page.items, ...next.items].map(({ id }) => id)
    )
    const wrong = await refused(async () => pay.invoices.list(shop, { cursor: "soon" }))
    assert.isTrue(wrong instanceof errors.Malformed)
    assert.match(String(wrong), /cursor must be/)
    assert.match(
      String(await refused(async () => pay.invoices.list({ limit: 1 } as never))),
      /company is required/
    )
  })

  it("pay: a list filters by time, metadata and payment request", async () => {
    const [one, other] = [
      await pay.invoices.create({ company: shop, amount: 3, metadata: { order: "3" } }),
      await pay.invoices.create({ company: shop, amount: 4, metadata: { order: "4" } })
    ]
    const idsOf = async (query: NonNullable<Parameters<typeof pay.invoices.list>[1]>) =>
      (await pay.invoices.list(shop, query)).items.map(({ id }) => id)
    assert.deepStrictEqual(await idsOf({ metadataKey: "order", metadataValue: "3" }), [one.id])
    const { paymentRequest } = other
    for (const pasted of [
      paymentRequest,
      paymentRequest.toUpperCase(),
      `LIGHTNING:${paymentRequest.toUpperCase()}`,
      ` <lightning://${paymentRequest}>\n`,
      `${paymentRequest.slice(0, 90)}\n  ${paymentRequest.slice(90)}`,
      `bitcoin:?lightning=${paymentRequest}`,
      `https://shop.example/?lightning=${paymentRequest}&utm_source=mail`
    ])
      assert.deepStrictEqual(await idsOf({ paymentRequest: pasted }), [other.id], pasted)
    assert.match(String(await refused(() => idsOf({ paymentRequest: "lnbc1" }))), /checksum is wrong/)
    assert.include(await idsOf({ from: one.createdAt }), one.id)
    assert.notInclude(await idsOf({ until: one.createdAt }), one.id)
    assert.match(String(await refused(() => idsOf({ metadataKey: "order" }))), /metadata_value is required/)
  })

  it("pay: the checkout of an order whose response was lost is found by its order id", async () => {
    const { id, createdAt } = await pay.checkouts.create({ company: shop, amount: 3, orderId: "lost-1" })
    const idsOf = async (query: NonNullable<Parameters<typeof pay.checkouts.list>[1]>) =>
      (await pay.checkouts.list(shop, query)).items.map((one) => one.id)
    assert.deepStrictEqual(await idsOf({ orderId: "lost-1", status: "open", from: createdAt }), [id])
    assert.deepStrictEqual(await idsOf({ orderId: "lost-1", status: "paid" }), [])
    assert.deepStrictEqual(await idsOf({ orderId: "lost-1", until: createdAt }), [])
  })

  it("pay: an unknown option of a method is rejected, and the error suggests the nearest name", async () => {
    const error = await refused(() => pay.invoices.create({ company: shop, ammount: 5 } as never))
    assert.isTrue(error instanceof errors.Malformed)
    assert.match(String(error), /unknown field "ammount": did you mean "amount"\?/)
    assert.match(
      String(await refused(async () => pay.invoices.list(shop, { befor: 1 } as never))),
      /unknown parameter "befor"/
    )
    const { limits } = await pay.companies.limit(shop.id, { day: 5000, dayCount: 3 })
    assert.deepStrictEqual([limits?.day?.sats, limits?.dayCount], [5000n, 3])
    assert.match(
      String(await refused(() => pay.companies.limit(shop.id, { dayy: 1 } as never))),
      /unknown field "dayy"/
    )
    assert.throws(
      () => pay.on("deposit.settled", () => {}, { nam: "x" } as never),
      /`nam` is not an option of on; did you mean `name`\?/
    )
    const events = async () => {
      for await (const { id } of pay.events({ afer: "now" } as never)) assert.fail(id)
    }
    assert.match(String(await refused(events)), /did you mean `after`\?/)
    assert.match(
      String(await refused(() => pay.outside.pay("lnbcrt1", { amout: 1 } as never))),
      /did you mean `amount`\?/
    )
  })

  it("pay: the issues of an error name a field as the package does", async () => {
    const key = { company: shop.id, name: "old", scopes: ["read"] } as const
    const past = await refused(() => pay.apiKeys.create({ ...key, expiresAt: new Date(1000) }))
    assert.match(String(past), /expires_at must be/)
    assert.deepStrictEqual(Object(past).issues[0].path, "expiresAt")
    assert.deepStrictEqual(Object(past).paths, ["expiresAt"])
    const crossed = await refused(() =>
      pay.invoices.create({ company: shop.id, minAmount: 50, maxAmount: 20 })
    )
    assert.match(String(crossed), /max_sats must be .* not less than min_sats/)
  })

  it("pay: an aborted signal ends a call before it takes effect", async () => {
    const signal = AbortSignal.abort(new Error("the visitor left"))
    const before = await pay.invoices.list(shop)
    for (const call of [
      () => pay.invoices.create({ company: shop.id, amount: 5, signal }),
      () => pay.companies.freeze(shop.id, { reason: "stolen key", pending: "wait", signal }),
      () => pay.companies.get(shop.id, { signal }),
      async () => pay.invoices.list(shop, { signal })
    ])
      assert.strictEqual(await refused(call), signal.reason)
    assert.isNull((await pay.companies.get(shop.id, { signal: new AbortController().signal })).frozen)
    assert.lengthOf((await pay.invoices.list(shop)).items, before.items.length)
  })
})

/** What an operator's program does, by method. */
const operated = async (pay: OperatorClient) => {
  const { id } = await pay.companies.create({ name: "Operated" })
  const key = await pay.companies.issueKey(id, { name: "payouts", scopes: ["send"], limits: { day: 500 } })
  const token = await pay.operatorTokens.issue({ name: "night", scopes: ["read"] })
  const names: Array<string> = []
  for await (const { name } of pay.operatorTokens.list({ limit: 1 })) names.push(name)
  await pay.stops.pause({ what: "sending" })
  const paused = await pay.stops.standing()
  return {
    limits: (await pay.companies.limit(id, { day: 5_000, dayCount: 3 })).limits,
    charged: (await pay.companies.charge(id, { lightning: { partsPerMillion: 1_000 } })).own,
    frozen: (await pay.companies.freeze(id, { reason: "stolen key", pending: "wait" })).frozen?.reason,
    keys: (await pay.companies.keys(id)).items.map(({ name, limits }) => [name, limits?.day]),
    revoked: (await pay.apiKeys.operatorRevoke(key.id)).revoked,
    tokens: [names, (await pay.operatorTokens.revoke(token.id)).id === token.id],
    paused: paused.sending instanceof Date,
    resumed: (await pay.stops.resume({ what: "sending" })).sending,
    suspense: (await pay.suspense.list()).items,
    account: [(await pay.companies.balance(id)).available, (await pay.companies.transactions(id)).items],
    foreign: await refused(() => pay.companies.invoice(id, id)).then((error) => Object(error).code),
    unknown: await refused(() => pay.apiKeys.approve("none")).then((error) => Object(error).code),
    wrong: await refused(() => pay.companies.limit(id, { days: 1 } as never)).then((error) => [
      error instanceof errors.Malformed,
      Object(error).paths
    ])
  }
}

it("pay: an operator's program does the same in the process and over HTTP", async () => {
  const results: Array<unknown> = []
  for (const isRemote of [false, true]) {
    const operatorToken = "operator-token".repeat(3)
    const pay = await satrail.test({ logLevel: "error", operatorToken })
    const fetch: typeof globalThis.fetch = (input, init) => pay.handler(new Request(input, init))
    results.push(
      await operated(isRemote ? operatorClient({ url: "http://service.example", operatorToken, fetch }) : pay)
    )
    await pay.close()
  }
  assert.deepStrictEqual(results[0], results[1])
})

it("pay: after the service is closed, every call fails with the same error", async () => {
  const pay = await satrail.test({ settings: { SATRAIL_LOG_LEVEL: "error" } })
  const { id } = await pay.companies.create({ name: "Closing" })
  await pay.close()
  const error = (await refused(() => pay.companies.get(id))) as SatrailError
  assert.isTrue(error instanceof SatrailError && error instanceof Error)
  assert.deepStrictEqual(
    [error.code, error.message, error.isRetryable],
    ["stopping", "the service was closed", true]
  )
  assert.throws(() => pay.on("deposit.settled", () => {}), "the service was closed")
})

it("options: an unknown option is rejected, and the error suggests the nearest name", async () => {
  assert.match(
    String(await refused(() => satrail({ databse: "postgres://" } as never))),
    /`databse` is not an option of satrail; did you mean `database`\?/
  )
  const lndOptions = { url: "https://127.0.0.1:8080", reciever: "", sender: "" } as never
  assert.throws(
    () => lnd(lndOptions),
    OptionsInvalid,
    /`reciever` is not an option of lnd; did you mean `receiver`\?/
  )
  const wrong = { url: "", wallet: { pasphrase: "" } } as never
  assert.throws(
    () => esplora(wrong),
    OptionsInvalid,
    /`pasphrase` is not an option of wallet; did you mean `passphrase`\?/
  )
  assert.throws(() => simulated({ database: "" } as never), OptionsInvalid, /it has seed/)
})

it("options: each option sets one variable, and a node's secret is SATRAIL_SECRET unless it is given", () => {
  process.env["SATRAIL_SECRET"] = "from the environment"
  try {
    const { variables } = lnd({
      url: "https://127.0.0.1:8080",
      receiver: "0a",
      sender: "0b",
      secret: undefined
    })
    assert.deepStrictEqual(variables, {
      LND_REST_URL: "https://127.0.0.1:8080",
      LND_RECEIVER_MACAROON: "0a",
      LND_SENDER_MACAROON: "0b",
      LND_BOOKS_MACAROON: undefined,
      LND_TLS_CERT: undefined,
      LND_INVOICE_SECRET: "from the environment"
    })
    assert.strictEqual(ldk({ socket: "/run/ldk", secret: "given" }).variables["LDK_INVOICE_SECRET"], "given")
    assert.strictEqual(ldk({ socket: "/run/ldk" }).variables["LDK_INVOICE_SECRET"], "from the environment")
  } finally {
    delete process.env["SATRAIL_SECRET"]
  }
  assert.deepStrictEqual(
    esplora({ url: "https://esplora.example", wallet: { file: "wallet.json", signer: "sign" } }).variables,
    {
      ESPLORA_URL: "https://esplora.example",
      CHAIN_WALLET: "wallet.json",
      CHAIN_WALLET_PASSPHRASE: undefined,
      CHAIN_SEED: undefined,
      CHAIN_SIGNER: "sign"
    }
  )
})

it("options: a name in `settings` that is not a setting is rejected", async () => {
  for (const name of ["MAX_INVOICE_SATS", "maxInvoiceSats", "NETWORK"]) {
    const says = `${name} is not a setting. docs/reference/configuration.md lists all settings`
    assert.include(String(await refused(() => satrail.test({ settings: { [name]: "5" } }))), says)
  }
})

it("options: a setting that only an option sets is rejected in `settings`", async () => {
  const only = {
    SATRAIL_NETWORK: "network",
    LIGHTNING: "lightning",
    CHAIN: "chain",
    SATRAIL_OPERATOR_TOKEN: "operatorToken"
  }
  for (const [name, option] of Object.entries(only))
    assert.include(
      String(await refused(() => satrail.test({ settings: { [name]: "x" } }))),
      `use the option ${option} instead of ${name}`
    )
})

it("options: options that are missing, or of another type, are rejected, and the error names them and does not repeat them", async () => {
  for (const [name, make] of Object.entries({ lnd, ldk, bitcoind, esplora, simulated }))
    for (const given of name === "simulated"
      ? [null, "http://u:secret@h"]
      : [undefined, null, "http://u:secret@h"]) {
      const says = `the options of ${name} must be an object with `
      assert.throws(() => make(given as never), OptionsInvalid, says)
      assert.throws(() => make(given as never), OptionsInvalid, /^(?!.*secret@)/)
    }
  for (const make of [bitcoind, esplora])
    assert.throws(
      () => make({} as never),
      OptionsInvalid,
      /^the options of wallet must be an object with file, passphrase, words, signer \(got undefined\)$/
    )
  for (const [given, says] of [
    [null, /^the options of satrail must be an object/],
    [{ lightning: "lnd" }, /lightning must be the result of lnd\(…\), ldk\(…\) or simulated\(…\)/],
    [
      { lightning: bitcoind({ url: "", user: "", password: "", wallet: {} }) },
      /lightning must be the result of lnd/
    ],
    [{ chain: bitcoind }, /chain must be the result of bitcoind\(…\) or esplora\(…\)/]
  ] as const)
    assert.throws(() => environment(given as never), OptionsInvalid, says)
})

it("options: a new database is announced at a terminal, and opening a directory in use fails with one sentence and a code", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "satrail-"))
  const written: Array<string> = []
  const { stderr } = process
  const { write, isTTY } = stderr
  const at = async (terminal: boolean) => {
    Object.assign(stderr, { isTTY: terminal, write: (text: string) => written.push(text) > 0 })
    try {
      return await satrail({ directory, logLevel: "error" })
    } finally {
      Object.assign(stderr, { isTTY, write })
    }
  }
  await (await at(true)).close()
  assert.deepStrictEqual(written, [`satrail: creating a database in ${directory} …\n`])
  const first = await at(true)
  assert.lengthOf(written, 1)
  const error = await refused(() => satrail({ directory, logLevel: "error" }))
  await first.close()
  rmSync(directory, { recursive: true })
  assert.instanceOf(error, DirectoryLocked)
  assert.strictEqual((error as SatrailError).code, "directory_locked")
  assert.match(String(error), /^SatrailError: The directory .* is in use by process \d+ .*Stop that process/)
})

it("pay: an error at the start has the code of its cause", async () => {
  // It ends every connection, so it is not a database that is starting.
  const other = createServer((socket) => socket.end()).listen(0, "127.0.0.1")
  const port = await boundPort(other)
  const error = await refused(() =>
    satrail({ database: `postgres://satrail@127.0.0.1:${port}/satrail`, logLevel: "error" })
  )
  other.close()
  assert.match(String(error), /^SatrailError: satrail cannot start: /)
  assert.isTrue(error instanceof SatrailError && error.cause instanceof SatrailError)
  const { code, isRetryable, isUnknown, issues, details } = error as SatrailError
  assert.deepStrictEqual(
    { code, isRetryable, isUnknown, issues, details },
    { code: "database_unreachable", isRetryable: false, isUnknown: false, issues: [], details: {} }
  )
})

for (const [option, given] of Object.entries({
  database: { database: "" },
  directory: { directory: " " },
  domain: { domain: "" },
  publicUrl: { publicUrl: "" },
  operatorToken: { operatorToken: "" },
  "database of settings": { settings: { DATABASE_URL: "" } }
}))
  it(`options: an empty ${option} is rejected, and does not select the default`, async () => {
    const error = await refused(() => satrail(given))
    assert.instanceOf(error, OptionsInvalid)
    assert.include(String(error), `${option.split(" ")[0]} must not be empty`)
  })

it("options: a database that is not a PostgreSQL URL is rejected with a SatrailError", async () => {
  for (const database of [
    "nonsense",
    "mysql://shop@127.0.0.1/shop",
    "postgres://shop@127.0.0.1:99999/shop"
  ]) {
    const error = await refused(() => satrail({ database }))
    assert.isTrue(error instanceof SatrailError, database)
    assert.strictEqual((error as SatrailError).code, "options_invalid", database)
    assert.match(String(error), /database must be postgres:\/\/user:password@host:port\/database/)
  }
})

it("options: errors use the names of the options", async () => {
  const error = await refused(() => satrail({ network: "mainnet" }))
  assert.match(String(error), /database must be a PostgreSQL/)
  assert.match(String(error), /lightning must be a real node/)
  assert.notMatch(String(error), /DATABASE_URL|SATRAIL_NETWORK|LIGHTNING|RATES|RESOLVER/)
})
