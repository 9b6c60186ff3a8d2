import { afterAll, assert, it } from "@effect/vitest"
import { operatorToken, start } from "./Service.ts"

// What people can read and quote: on payment pages, receipts, in wallets, explorers and events. A search must find it.

const service = await start({ http: { console: true } })
afterAll(service.dispose)
const { id: companyId, key } = await service.company()
const post = async (path: string, body: object) => (await service.ask("POST", path, { key, body })).body.data
const get = async (path: string, as = key) => (await service.ask("GET", path, { key: as })).body.data
const pay = async (paymentRequest: string) => {
  await service.sandbox((sandbox) => sandbox.pay({ paymentRequest }))
  await service.work()
}
const price = { amount: 12.5, currency: "eur" }

interface Result {
  readonly kind: string
  readonly id: string
  readonly by: string
  readonly company_id?: string
}

const found = (text: string): Promise<ReadonlyArray<Result>> =>
  get(`/v1/search?${new URLSearchParams({ text })}`)
const foundByOperator = (text: string): Promise<ReadonlyArray<Result>> =>
  get(`/operator/search?${new URLSearchParams({ text })}`, operatorToken)

const checkout = await post("/v1/checkouts", {
  ...price,
  order_id: "A-1042",
  description: "Two mugs",
  options: ["email"]
})
const reference = new URL(checkout.url).pathname.split("/").at(-1) ?? ""
await service.send(
  new Request(`http://service/pay/${reference}/answer`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: "email=Ada.Payer%40example.com"
  })
)
await pay(checkout.payment_request)
await service.followCheckouts(0)

/** The texts that a person may quote, with where they are shown. */
const shown = new Map<string, string>()
/** Strings that name no payment: of keys, nodes and of the event itself. */
const others = new Set(["node_id", "company_id", "api_key_id", "cursor", "request_id"])
const isCode =
  /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|[0-9a-f]{64}|ln(?:bcrt|bc|tb|url)[a-z0-9]{20,}|bcrt1[a-z0-9]{20,}|[^@\s]+@[^@\s]+\.[a-z]+|(?:bitcoin|lightning):\S+)$/i
const walk = (value: unknown, at: string): void => {
  if (typeof value === "string" && (isCode.test(value) || at.endsWith("order_id"))) shown.set(value, at)
  if (value !== null && typeof value === "object")
    for (const [name, part] of Object.entries(value)) if (!others.has(name)) walk(part, `${at} ${name}`)
}

/** Adds the codes in a document's text and in its attributes. */
const read = (text: string, at: string) => {
  for (const [code] of text
    .replaceAll(/<\/span><span>/g, "")
    .matchAll(/(?<![\w@.:/-])(?:[\w.+-]+@[\w.-]+\.[a-z]+|[a-z0-9-]{26,})(?![\w@-])/gi))
    if (isCode.test(code)) shown.set(code, at)
}

it("search: what a page, a receipt, an event or a wallet shows finds the payment, for its company and for the operator, and for no other company", async () => {
  await service.fund(key, 500_000)
  const chained = await post("/v1/checkouts", { amount: 70_000, currency: "sats", order_id: "B-7" })
  const sent = await service.sandbox((sandbox) =>
    sandbox.send({ address: chained.address, amount: service.sats(70_000) })
  )
  await service.mine()
  await service.followCheckouts(0)
  const { address } = (await post("/v1/bitcoin/deposit/on-chain", {})).address
  await service.sandbox((sandbox) => sandbox.send({ address, amount: service.sats(60_000) }))
  await service.mine()
  const destination = async (type: "lightning_invoice" | "chain_address") =>
    (await service.sandbox((sandbox) => sandbox.destination({ type, amount: service.sats(2000) })))
      .destination
  for (const to of [await destination("lightning_invoice"), await destination("chain_address")]) {
    shown.set(to, "a payee's wallet")
    await post("/v1/bitcoin/withdraw/confirm", { amount: 2000, currency: "sats", destination: to })
  }
  await service.mine()
  const [paid] = (await get(`/v1/checkouts/${checkout.id}`)).deposit_ids
  const refund = await post("/v1/refunds", { deposit_id: paid, amount: 1000, currency: "sats" })
  const voucher = await post("/v1/vouchers", { amount: 900, currency: "sats", description: "gift" })
  for (const one of [refund, voucher]) walk(one, "an API response")

  for (const [url, at] of [
    [checkout.url, "a page"],
    [`${checkout.url}/receipt`, "a receipt"],
    [`${checkout.url}/state`, "a page's state"],
    [chained.url, "a page paid on-chain"],
    [`${chained.url}/receipt`, "a receipt of a transaction"]
  ])
    read((await service.ask("GET", new URL(url).pathname)).text, at ?? "")
  shown.set(checkout.url, "a link").set(sent, "an explorer").set(reference, "a reference")
  walk(await get("/v1/events?limit=1000"), "event")
  walk(await get("/v1/transactions?limit=100"), "transactions")

  const missing: Array<string> = []
  const stranger = await service.company()
  for (const [text, at] of shown) {
    assert.deepStrictEqual(await get(`/v1/search?${new URLSearchParams({ text })}`, stranger.key), [], at)
    if ((await found(text)).length === 0) missing.push(`company: ${at}: ${text}`)
    const all = await foundByOperator(text)
    if (all.length === 0) missing.push(`operator: ${at}: ${text}`)
    for (const hit of all) assert.strictEqual(hit.company_id, companyId)
  }
  assert.deepStrictEqual(missing, [])
  assert.isAtLeast(shown.size, 40)
})

it("search: a reference is found whole, by its beginning, as displayed, and as a payer quotes it; so are emails and fiat amounts", async () => {
  const [deposit] = (await get(`/v1/checkouts/${checkout.id}`)).deposit_ids
  for (const text of [
    reference,
    reference.toUpperCase(),
    reference.slice(0, 8),
    `${reference.slice(0, 10)}…${reference.slice(-6)}`,
    `${reference.slice(0, 10)}...${reference.slice(-6)}`,
    `Reference ${reference}`,
    `Referenz: ${reference}`,
    `receipt-${reference.slice(0, 8)}.txt`,
    "ada.payer@example.com",
    "ADA.payer@",
    "a-1042"
  ]) {
    const by = (await found(text)).map(({ kind, id }) => `${kind} ${id}`)
    assert.deepStrictEqual(by, [`checkouts ${checkout.id}`], text)
    const all = (await foundByOperator(text)).map(({ kind, id }) => `${kind} ${id}`)
    assert.deepStrictEqual(all, [`checkouts ${checkout.id}`, `deposits ${deposit}`], text)
  }
  for (const text of ["12.50 EUR", "€12.50", "12,50 €", "EUR 12.5", "12.50"])
    assert.include(
      (await found(text)).map(({ id }) => id),
      checkout.id,
      text
    )
  for (const text of ["12.50 USD", "$12.50", "12.51 EUR"])
    assert.notInclude(
      (await found(text)).map(({ id }) => id),
      checkout.id,
      text
    )
  assert.deepStrictEqual(await found("0".repeat(32)), [])
  assert.strictEqual(checkout.reference, reference)
})

it("search: an operator finds the payment that a caller quotes in the console, with its company", async () => {
  const cookie = await service.signIn(operatorToken)
  const page = await service.page(cookie, `operator/console/search?q=${reference}`)
  const [deposit] = (await get(`/v1/checkouts/${checkout.id}`)).deposit_ids
  assert.include(page, `deposits/${deposit}"`)
  assert.include(page, `companies/${companyId}"`)
  assert.include(page, "2 results for")
})
