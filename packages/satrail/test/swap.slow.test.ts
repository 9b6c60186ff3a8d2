import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { client, type Client } from "@satrail/client"
import { routes } from "@satrail/client/Routes"
import { eventually } from "@satrail/testing/Waiting"
import { isMoney } from "../src/Money.ts"
import { satrail, type SimulatedPay } from "../src/index.ts"

/** The operations that need the API key of a call (swap.types.ts), and the feed, which `pay.events` replaces. */
const keyed = ["account.get", "events.get", "events.list", "withdrawals.approve", "withdrawals.reject"]

let pay: SimulatedPay
let remote: Client

beforeAll(async () => {
  const operatorToken = "operator-token".repeat(3)
  pay = await satrail.test({ logLevel: "error", operatorToken })
  const keys = new Map<string, Promise<string>>()
  const key = async (company: string | undefined): Promise<string> => {
    const id = company ?? assert.fail("every call names its company")
    const known =
      keys.get(id) ??
      pay.apiKeys.create({ company: id, name: "test", scopes: ["admin"] }).then(({ key }) => key)
    keys.set(id, known)
    return known
  }
  const fetch: typeof globalThis.fetch = (input, init) => pay.handler(new Request(input, init))
  remote = client({ url: "http://service.example", key, operatorToken, fetch, retries: 0 })
})
afterAll(() => pay.close())

/** Calls every operation, and returns the results by name. The code of an error counts as its result. */
const called = async (
  pay: Client,
  payFor: (invoice: { readonly paymentRequest: string }) => Promise<unknown>
) => {
  const results = new Map<string, unknown>()
  const call = async <A>(name: string, made: PromiseLike<A>): Promise<A> => {
    results.set(name, undefined)
    const result = await made
    results.set(name, result)
    return result
  }
  const refused = async (name: string, made: PromiseLike<unknown>) => {
    const error = await made.then(
      () => assert.fail(`${name} was not refused`),
      (error: unknown) => error
    )
    results.set(name, error instanceof Error && "code" in error ? error.code : error)
  }
  const metadata = { order: "1042" }
  const opened = await call("companies.create", pay.companies.create({ name: "Shop" }))
  const company = opened.id
  await call("companies.update", pay.companies.update(company, { plan: "paid" }))
  await call("companies.freeze", pay.companies.freeze(company, { reason: "stolen key", pending: "wait" }))
  await call("companies.unfreeze", pay.companies.unfreeze(company))
  const limits = { day: 50_000, dayCount: null }
  await call(
    "companies.issueKey",
    pay.companies.issueKey(company, { name: "payouts", scopes: ["send"], limits })
  )
  const made = await call(
    "apiKeys.create",
    pay.apiKeys.create({ company, name: "website", scopes: ["read"], expiresAt: null })
  )
  await call("apiKeys.get", pay.apiKeys.get(company, made.id))
  await call("apiKeys.list", pay.apiKeys.list(company))
  await call("apiKeys.revoke", pay.apiKeys.revoke(company, made.id, { links: "void" }))
  await call("rates.list", pay.rates.list(company))
  await refused("domains.claim", pay.domains.claim({ company, domain: "no domain" }))
  await call("domains.list", pay.domains.list(company))

  const invoice = await call(
    "invoices.create",
    pay.invoices.create({ company, amount: "50000 sats", description: null, metadata })
  )
  await payFor(invoice)
  await call("invoices.get", pay.invoices.get(company, invoice.id))
  await call("invoices.list", pay.invoices.list(company, { status: "settled" }))
  const open = await pay.invoices.create({
    company,
    amount: null,
    minAmount: 5,
    maxAmount: undefined,
    hold: false
  })
  await call("invoices.cancel", pay.invoices.cancel(company, open.id))
  const held = await pay.invoices.create({ company, amount: 1000, hold: true, paymentHash: null })
  await payFor(held)
  await call("invoices.settle", pay.invoices.settle(company, held.id, { preimage: null }))

  const checkout = await call(
    "checkouts.create",
    pay.checkouts.create({ company, amount: "2.50 eur", orderId: null, metadata })
  )
  await call("checkouts.get", pay.checkouts.get(company, checkout.id))
  await call("checkouts.list", pay.checkouts.list(company))
  await call("checkouts.cancel", pay.checkouts.cancel(company, checkout.id))

  const address = await call(
    "lightningAddresses.create",
    pay.lightningAddresses.create({ company, handle: null, metadata })
  )
  const settings = { minAmount: 10, successMessage: "Thank you" }
  await call("lightningAddresses.update", pay.lightningAddresses.update(company, address.id, settings))
  await call("lightningAddresses.get", pay.lightningAddresses.get(company, address.id))
  await call("lightningAddresses.list", pay.lightningAddresses.list(company))
  await call("lightningAddresses.qr", pay.lightningAddresses.qr(company, address.id))
  const offer = await call(
    "offers.create",
    pay.offers.create({ company, amount: 1000, description: "Coffee", metadata })
  )
  await call("offers.get", pay.offers.get(company, offer.id))
  await call("offers.list", pay.offers.list(company))
  const chain = await call(
    "onChainAddresses.create",
    pay.onChainAddresses.create({ company, addressType: "segwit", metadata })
  )
  await call("onChainAddresses.get", pay.onChainAddresses.get(company, chain.id))
  await call("onChainAddresses.list", pay.onChainAddresses.list(company))
  await call("lightningAddresses.delete", pay.lightningAddresses.delete(company, address.id))

  const { depositId } = await pay.invoices.get(company, invoice.id)
  const deposit = await call(
    "transactions.deposit",
    pay.transactions.deposit(company, depositId ?? assert.fail("it was not paid"))
  )
  await call("transactions.payer", pay.transactions.payer(company, deposit.id))
  await refused("transactions.adjustment", pay.transactions.adjustment(company, deposit.id))
  await call("transactions.list", pay.transactions.list(company, { type: "deposit" }))
  await call("transactions.balance", pay.transactions.balance(company))
  const refund = await call(
    "refunds.create",
    pay.refunds.create({ company, depositId: deposit.id, amount: 500, onCheckout: true })
  )
  await call("refunds.get", pay.refunds.get(company, refund.id))
  await call("refunds.list", pay.refunds.list(company))
  await call("refunds.cancel", pay.refunds.cancel(company, refund.id))
  const voucher = await call(
    "vouchers.create",
    pay.vouchers.create({ company, amount: 100, description: undefined, metadata })
  )
  await call("vouchers.get", pay.vouchers.get(company, voucher.id))
  await call("vouchers.list", pay.vouchers.list(company))
  await call("vouchers.cancel", pay.vouchers.cancel(company, voucher.id))

  const destination = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
  await call("withdrawals.estimate", pay.withdrawals.estimate({ company, amount: 5000, destination }))
  const sent = await call(
    "withdrawals.confirm",
    pay.withdrawals.confirm({ company, amount: 5000, maxFee: null, destination, metadata })
  )
  await call("withdrawals.get", pay.withdrawals.get(company, sent.id))
  await call("transactions.withdrawal", pay.transactions.withdrawal(company, sent.id))

  const url = "https://shop.example/webhooks"
  const endpoint = await call(
    "webhooks.create",
    pay.webhooks.create({ company, url, types: ["deposit.settled"] })
  )
  await call("webhooks.get", pay.webhooks.get(company, endpoint.id))
  await call("webhooks.list", pay.webhooks.list(company))
  await call(
    "webhooks.update",
    pay.webhooks.update(company, endpoint.id, { description: "Orders", types: null })
  )
  await call("webhooks.rotateSecret", pay.webhooks.rotateSecret(company, endpoint.id, { overlapSeconds: 60 }))
  await call("webhooks.test", pay.webhooks.test(company, endpoint.id))
  await call("webhooks.disable", pay.webhooks.disable(company, endpoint.id))
  await call("webhooks.enable", pay.webhooks.enable(company, endpoint.id))
  const told = new Map<string, unknown>()
  for await (const { id, type, subject, data } of pay.events({ company })) {
    if (told.size === 0)
      await call("webhooks.replay", pay.webhooks.replay(company, endpoint.id, { replayFrom: id }))
    told.set(`event ${type}`, data)
    if (subject === sent.id) break
  }
  await eventually(
    "a delivery",
    async () => pay.webhooks.deliveries(company, endpoint.id),
    ({ items }) => items.length > 0
  )
  await call("webhooks.deliveries", pay.webhooks.deliveries(company, endpoint.id))
  await call("webhooks.delete", pay.webhooks.delete(company, endpoint.id))
  await refused("webhooks.resend", pay.webhooks.resend(company, deposit.id))
  await refused("statements.get", pay.statements.get(company, "1999-13"))
  await call("companies.get", pay.companies.get(company))
  await call("companies.list", pay.companies.list())
  return { company, results, told }
}

/** Fields that change when a webhook is sent, or when an API key is used, and the key itself: embedded calls have none. */
const changing = new Set([
  "createdBy",
  "durationMs",
  "failingSince",
  "lastAttemptAt",
  "lastSeenAt",
  "nextAttemptAt",
  "response"
])

/** The fields of a value, with the kind of each. */
const kindOf = (value: unknown): unknown => {
  if (value === null || typeof value !== "object") return value === null ? "null" : typeof value
  if (value instanceof Date) return "Date"
  if (isMoney(value)) return "Money"
  if (Array.isArray(value)) return value.slice(0, 1).map(kindOf)
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, changing.has(name) ? "any" : kindOf(one)])
  )
}

/** The fields that only the embedded service has, because there is no other method for them. */
const companies = ["fees", "feesRevision", "limits", "loosening"]
const added: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  // `withdrawals.confirm` takes the key.
  ["apiKeys.get", ["apiKey"]],
  // The operator's settings. Over HTTP, they have routes of their own, which the client does not have.
  ["companies.get", companies],
  ["companies.list", companies],
  ["companies.freeze", [...companies, "createdAt", "name", "plan"]],
  ["companies.unfreeze", [...companies, "createdAt", "name", "plan"]]
])

/** Returns a result without the fields that only the embedded service has. */
const without = (own: unknown, names: ReadonlyArray<string>): unknown => {
  if (Array.isArray(own)) return own.map((one) => without(one, names))
  if ("items" in Object(own)) return { ...Object(own), items: without(Object(own).items, names) }
  for (const name of names) assert.property(own, name)
  return Object.fromEntries(Object.entries(Object(own)).filter(([name]) => !names.includes(name)))
}

describe("a program for the client", () => {
  it("swap: the embedded service has every operation of the client, with the same fields in its results", async () => {
    const over = await called(remote, pay.outside.pay)
    // swap.types.ts checks each method's type. As a whole, the type doesn't fit, because of the exceptions listed there.
    const { results, told } = await called(pay as unknown as Client, pay.outside.pay)
    // Only requests over HTTP have entries of an API key.
    over.results.set("audit.list", await remote.audit.list(over.company, { limit: 3 }))
    results.set("audit.list", await pay.audit.list(over.company, { limit: 3 }))
    const all = Object.entries(routes).flatMap(([noun, verbs]) =>
      Object.keys(verbs).map((verb) => `${noun}.${verb}`)
    )
    assert.deepStrictEqual([...results.keys(), ...keyed].toSorted(), all.toSorted())
    assert.includeMembers(
      [...over.told.keys()],
      ["event invoice.held", "event deposit.settled", "event withdrawal.pending"]
    )
    for (const [name, seen] of [...over.results, ...over.told]) {
      const [own, names] = [kindOf(results.get(name) ?? told.get(name)), added.get(name)]
      assert.deepStrictEqual(
        { [name]: names === undefined ? own : without(own, names) },
        { [name]: kindOf(seen) }
      )
    }
  })
})
