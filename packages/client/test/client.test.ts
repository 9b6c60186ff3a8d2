import { afterAll, assert, describe, it } from "@effect/vitest"
import { Limits } from "@satrail/core/accounts/Limits"
import { client, errors, SatrailError } from "../src/index.ts"
import { operatorToken, start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)
const company = await service.company()

const refused = async (call: PromiseLike<unknown>): Promise<SatrailError> => {
  try {
    await call
  } catch (error) {
    return error instanceof SatrailError ? error : assert.fail(String(error))
  }
  return assert.fail("it was not refused")
}

describe("calls", () => {
  it("client: an invoice is created, paid, and read with amounts and times", async () => {
    const { pay } = service.clientOf<{ order: string }>({ key: company.key })
    const invoice = await pay.invoices.create({
      amount: 21_000,
      description: "Two coffees",
      metadata: { order: "1042" }
    })
    assert.deepStrictEqual(invoice.amount, { msat: 21_000_000n, sats: 21_000n })
    assert.deepStrictEqual(
      [invoice.memo, invoice.metadata.order, invoice.settledAt],
      ["Two coffees", "1042", null]
    )
    await service.payFor(invoice)
    const settled = await pay.invoices.get(invoice.id)
    assert.strictEqual(settled.status, "settled")
    assert.instanceOf(settled.settledAt, Date)
    assert.match(settled.preimage, /^[0-9a-f]{64}$/)
    const balance = await pay.transactions.balance()
    assert.deepStrictEqual(balance.available, { msat: 21_000_000n, sats: 21_000n })
    const deposit = await pay.transactions.deposit(settled.depositId ?? "")
    assert.strictEqual(deposit.lightningInvoiceId, invoice.id)
  })

  it("client: an amount is a number of satoshis, text with a currency, or the amount of a record", async () => {
    const { pay } = service.clientOf({ key: company.key })
    const amountOf = async (amount: Parameters<typeof pay.invoices.create>[0]["amount"]) =>
      (await pay.invoices.create({ amount })).amount?.sats ?? null
    assert.strictEqual(await amountOf(21n), 21n)
    assert.strictEqual(await amountOf("0.00000021 btc"), 21n)
    assert.strictEqual(await amountOf({ amount: "21", currency: "sats" }), 21n)
    assert.strictEqual(await amountOf({ msat: 21_000n, sats: 21n }), 21n)
    assert.strictEqual(await amountOf(null), null)
    assert.isAbove(Number(await amountOf("1.50 eur")), 0)
    assert.deepStrictEqual((await refused(pay.invoices.create({ amount: 21.5 }))).paths, ["amount"])
    // The payer decides only if the amount is left out, because a bug in the caller can make it undefined.
    for (const call of [
      pay.invoices.create({ amount: undefined }),
      pay.checkouts.create({ amount: undefined })
    ])
      assert.include((await refused(call)).paths, "amount")
    for (const amount of ["21000", "1 2 eur", "eur", "0.1000000000000000001 btc"] as const) {
      const error = await pay.invoices.create({ amount: amount as "1 eur" }).catch((error: unknown) => error)
      assert.instanceOf(error, TypeError, amount)
      assert.include(String(error), 'amount must be satoshis or "1.50 eur"')
    }
  })

  it("client: an invalid field has the client's name in the error, as in the package satrail", async () => {
    const { pay } = service.clientOf({ key: company.key })
    const long = "x".repeat(501)
    const calls = [
      pay.invoices.create({ amount: 1, expirySeconds: 1, metadata: { order_id: long } }),
      pay.webhooks.create({ url: "https://shop.example", signatureHeader: "Cookie" })
    ]
    const paths = []
    for (const call of calls) paths.push((await refused(call)).paths)
    assert.deepStrictEqual(paths, [["expirySeconds", "metadata.order_id"], ["signatureHeader"]])
  })

  it("client: an undefined idempotencyKey or restriction is refused, because a repeated call would pay twice or any fee", async () => {
    const { pay } = service.clientOf({ key: company.key })
    // The promise is rejected: an error thrown by the call would lose the results of other payments.
    const said = (given: object): Promise<string> =>
      pay.withdrawals
        .confirm({ destination: "ann@example.com", amount: 1, ...given })
        .then(() => "accepted", String)
    for (const idempotencyKey of [undefined, null, "", 7])
      assert.strictEqual(await said({ idempotencyKey }), "TypeError: idempotencyKey must be text")
    assert.strictEqual(await said({ maxFee: undefined }), "TypeError: maxFee is undefined")
    assert.notInclude(await said({ maxFee: null, idempotencyKey: "payout-7" }), "TypeError")
    const made = (given: object): Promise<string> =>
      pay.apiKeys.create({ name: "till", scopes: ["receive"], ...given }).then(() => "accepted", String)
    for (const name of ["limits", "allowedFrom", "expiresAt"])
      assert.strictEqual(await made({ [name]: undefined }), `TypeError: ${name} is undefined`)
    for (const name of Object.keys(Limits.fields).map((name) => name.replace("Sats", "")))
      assert.strictEqual(await made({ limits: { [name]: undefined } }), `TypeError: ${name} is undefined`)
  })

  it("client: a record can be written as JSON, with exact amounts", async () => {
    const { pay } = service.clientOf({ key: company.key })
    const invoice = await pay.invoices.create({ amount: 21 })
    const amount = { msat: "21000", sats: 21 }
    assert.deepStrictEqual(JSON.parse(JSON.stringify(invoice)), {
      ...JSON.parse(JSON.stringify({ ...invoice, amount: null })),
      amount
    })
  })

  it("client: metadata keys and values are unchanged", async () => {
    const { pay } = service.clientOf<{ shipped_at: string; price_sats: string }>({ key: company.key })
    const metadata = { shipped_at: "2026-01-31T12:00:00.123Z", price_sats: "21" }
    assert.deepStrictEqual((await pay.invoices.create({ amount: 1, metadata })).metadata, metadata)
  })

  it("client: an address is returned without the envelope", async () => {
    const { pay } = service.clientOf({ key: company.key })
    const { address, bitcoinAddressType } = await pay.onChainAddresses.create({ addressType: "segwit" })
    assert.match(address, /^bcrt1q/)
    assert.strictEqual(bitcoinAddressType, "segwit")
    assert.strictEqual((await pay.lightningAddresses.create()).domain, "pay.example.com")
  })

  it("client: an operator's token creates companies and issues keys", async () => {
    const { pay } = service.clientOf({ operatorToken })
    const shop = await pay.companies.create({ name: "Shop", plan: "free" })
    const { key } = await pay.companies.issueKey(shop.id, { name: "web", scopes: ["receive"] })
    const { pay: shops } = service.clientOf({ key })
    assert.strictEqual((await shops.invoices.create({ amount: 1 })).status, "open")
    const other = await service
      .clientOf({ key })
      .pay.companies.create({ name: "Shop", plan: "free" })
      .catch((error: unknown) => error)
    assert.instanceOf(other, TypeError)
  })

  it("client: withdrawals are estimated and confirmed, and an error has a code and details", async () => {
    const { key } = await service.company()
    const { pay } = service.clientOf({ key })
    const { destination } = await service.destination()
    assert.strictEqual((await pay.withdrawals.estimate({ amount: 1000, destination })).amount.sats, 1000n)
    const error = await refused(pay.withdrawals.confirm({ amount: 1000, destination }))
    assert.deepStrictEqual(
      [error.status, error.code, error.isRetryable, error.isUnknown],
      [422, "insufficient_balance", false, false]
    )
    assert.deepStrictEqual(error.details["available"], { msat: 0n, sats: 0n })
    assert.isDefined(error.requestId)
  })

  it("client: `max` sends the largest amount that the balance covers with its fee", async () => {
    const { key } = await service.company()
    const { pay } = service.clientOf({ key })
    const { destination } = await service.destination()
    const asked = { amount: "max", destination } as const
    for (const ask of [pay.withdrawals.estimate, pay.withdrawals.confirm])
      assert.strictEqual((await refused(ask(asked))).code, "insufficient_balance")
    await service.payFor(await pay.invoices.create({ amount: 5000 }))
    const { amount, fee } = await pay.withdrawals.estimate(asked)
    const sent = await pay.withdrawals.confirm({ ...asked, maxFee: fee })
    assert.deepStrictEqual([sent.amount.msat, sent.fee.msat], [amount.msat, fee.msat])
    assert.strictEqual((await pay.transactions.balance()).available.sats, 0n)
  })

  it("client: a company that has received exactly the `needed` satoshis can send, even if the fee is not a whole number", async () => {
    const { key } = await service.company()
    const { pay } = service.clientOf({ key })
    const { destination } = await service.destination()
    const asked = { amount: 1001, destination }
    const error = await refused(pay.withdrawals.confirm(asked))
    if (!(error instanceof errors.InsufficientBalance)) return assert.fail(error.message)
    const { needed } = error.details
    assert.notStrictEqual(needed.msat % 1000n, 0n)
    assert.strictEqual(needed.sats, needed.msat / 1000n + 1n)
    const { fee } = await pay.withdrawals.estimate(asked)
    assert.strictEqual(fee.sats, needed.sats - 1001n)
    await service.payFor(await pay.invoices.create({ amount: needed.sats }))
    await pay.withdrawals.confirm({ ...asked, maxFee: fee.sats })
    assert.strictEqual((await pay.transactions.balance()).available.sats, 0n)
  })

  it("client: a program waits until a withdrawal settles, and receives the reason if the withdrawal fails", async () => {
    const { key } = await service.company()
    const { pay } = service.clientOf({ key })
    await service.payFor(await pay.invoices.create({ amount: 9000 }))
    const sent = await pay.withdrawals.confirm({
      amount: 1000,
      destination: (await service.destination()).destination
    })
    const settled = pay.withdrawals.settled(sent.id)
    await service.work()
    assert.strictEqual((await settled).status, "settled")
    assert.strictEqual((await pay.withdrawals.settled(sent.id)).id, sent.id)
    const unroutable = await service.destination("no_route")
    const failing = await pay.withdrawals.confirm({ amount: 1000, destination: unroutable.destination })
    await service.work()
    const error = await refused(pay.withdrawals.settled(failing.id))
    if (!(error instanceof errors.NotSettled)) return assert.fail(error.message)
    assert.deepStrictEqual([error.details.failure?.code, error.isRetryable], ["no_route", false])
    assert.strictEqual(
      (await refused(pay.withdrawals.settled("018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"))).code,
      "not_found"
    )
  })

  it("client: a wait ends when its signal is aborted", async () => {
    const { key } = await service.company()
    const { pay } = service.clientOf({ key })
    await service.payFor(await pay.invoices.create({ amount: 9000 }))
    const { id } = await pay.withdrawals.confirm({
      amount: 1000,
      destination: (await service.destination()).destination
    })
    const controller = new AbortController()
    const waiting = pay.withdrawals
      .settled(id, { signal: controller.signal })
      .catch((error: unknown) => error)
    controller.abort(new Error("enough"))
    assert.match(String(await waiting), /enough/)
  })

  it("client: reading an unknown record fails with `not_found`, and an invalid id is not sent", async () => {
    const { pay, requests } = service.clientOf({ key: company.key })
    assert.strictEqual(
      (await refused(pay.invoices.get("018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"))).code,
      "not_found"
    )
    assert.throws(() => pay.invoices.get(""), TypeError)
    assert.lengthOf(requests, 1)
  })

  it("client: if a call names a company, the key must belong to that company; a function can return a key for each company", async () => {
    const other = await service.company()
    const { pay, requests } = service.clientOf({ key: company.key })
    const invoice = await pay.invoices.create({ company: company.id, amount: 1 })
    assert.strictEqual((await pay.invoices.get(company.id, invoice.id)).id, invoice.id)
    assert.strictEqual(requests.filter(({ url }) => url.endsWith("/v1/account")).length, 1)
    const error = await pay.invoices.create({ company: other, amount: 1 }).catch((error: unknown) => error)
    assert.instanceOf(error, TypeError)
    const keys = new Map([company, other].map(({ id, key }) => [String(id), key]))
    const { pay: both } = service.clientOf({ key: (id) => keys.get(id ?? "") ?? assert.fail() })
    assert.strictEqual((await both.invoices.get(company.id, invoice.id)).id, invoice.id)
    assert.strictEqual((await refused(both.invoices.get(other.id, invoice.id))).code, "not_found")
  })
})

describe("a platform key", () => {
  it("client: with a platform key, each call acts for the company that it names, as in the package satrail", async () => {
    const other = await service.company()
    const key = await service.platformKey()
    // A key that was read from a file ends with a line break.
    for (const given of [key, `${key}\n`]) {
      const { pay, requests } = service.clientOf({ key: given })
      const invoice = await pay.invoices.create({ company, amount: 1, idempotencyKey: "order-1" })
      const others = await pay.invoices.create({ company: other.id, amount: 1, idempotencyKey: "order-1" })
      assert.notStrictEqual(invoice.id, others.id)
      assert.strictEqual((await pay.invoices.get(company, invoice.id)).id, invoice.id)
      assert.strictEqual((await refused(pay.invoices.get(other, invoice.id))).code, "not_found")
      assert.strictEqual((await pay.account.get({ company: other })).id, other.id)
      assert.deepStrictEqual(
        requests.map(({ headers }) => [headers.get("authorization"), headers.get("satrail-account")]),
        [company, other, company, other, other].map(({ id }) => [`Bearer ${key}`, id])
      )
    }
  })

  it("client: events of a company are read with a platform key", async () => {
    const { pay } = service.clientOf({ key: await service.platformKey() })
    const { id } = await pay.invoices.create({ company, amount: 1 })
    const stop = new AbortController()
    for await (const event of pay.events({ company, types: ["invoice.created"], signal: stop.signal }))
      if (event.subject === id) stop.abort()
    assert.isTrue(stop.signal.aborted)
  })

  it("client: a call without a company, or for one that does not exist, is refused, and names the header", async () => {
    const { pay } = service.clientOf({ key: await service.platformKey() })
    const unnamed = await refused(pay.invoices.create({ amount: 1 }))
    assert.deepStrictEqual([unnamed.code, unnamed.paths], ["malformed", ["Satrail-Account"]])
    const none = "0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
    assert.strictEqual((await refused(pay.invoices.create({ company: none, amount: 1 }))).code, "not_found")
  })
})

describe("options", () => {
  it("client: an unknown option is rejected, and the error lists the existing options", () => {
    for (const given of ["kye", "baseUrl"])
      assert.throws(
        () => service.clientOf({ [given]: "x" }),
        `unknown option \`${given}\`; use url, key, operatorToken, retries, `
      )
  })

  it("client: a request to an unusable URL fails at once, but a program can be loaded without its settings", async () => {
    for (const url of [
      "not a url",
      "",
      "localhost:3000",
      "//pay.example.com",
      "ftp://pay.example.com",
      undefined
    ]) {
      const pay = client({ url: url as string, key: "sr_regtest_key" })
      const refused = [pay.invoices.get("id"), pay.events()[Symbol.asyncIterator]().next()]
      for (const one of refused) {
        const error = await one.then(
          () => undefined,
          (error: unknown) => error
        )
        assert.instanceOf(error, TypeError)
        assert.include(String(error), "url must begin with http(s)://")
      }
    }
  })

  it("client: the service refuses an unknown option of a method, and suggests the nearest name", async () => {
    const { pay } = service.clientOf({ key: company.key })
    const created = await refused(pay.invoices.create({ ammount: 5 } as never))
    assert.isTrue(created instanceof errors.Malformed)
    assert.match(created.message, /unknown field "ammount": did you mean "amount"\?/)
    assert.match(
      (await refused(pay.invoices.list({ statsu: "open" } as never))).message,
      /unknown parameter "statsu": did you mean "status"\?/
    )
  })
})

describe("lists", () => {
  it("client: a list is read page by page, or as one page with its cursor", async () => {
    const { key } = await service.company()
    const { pay, requests } = service.clientOf({ key })
    for (const amount of [1, 2, 3]) await service.payFor(await pay.invoices.create({ amount }))
    requests.length = 0
    const all: Array<bigint> = []
    for await (const { amount } of pay.transactions.list({ limit: 2, type: "deposit" })) all.push(amount.sats)
    assert.sameMembers(all, [1n, 2n, 3n])
    assert.lengthOf(requests, 2)
    const first = await pay.transactions.list({ limit: 2 })
    assert.lengthOf(first.items, 2)
    const second = await pay.transactions.list({ limit: 2, cursor: first.next })
    assert.deepStrictEqual([second.items.length, second.next], [1, undefined])
  })

  it("client: no request is sent until a list is read, and a list can be filtered by time", async () => {
    const { pay, requests } = service.clientOf({ key: company.key })
    const unread = pay.invoices.list({ from: new Date(0) })
    assert.lengthOf(requests, 0)
    assert.isAbove((await unread).items.length, 0)
    assert.include(requests[0]?.url ?? "", "from=1970-01-01T00%3A00%3A00.000Z")
    assert.lengthOf((await pay.invoices.list({ until: new Date(0) })).items, 0)
  })
})
