import * as Lnurl from "@satrail/bitcoin/Lnurl"
import { afterAll, assert, it } from "@effect/vitest"
import { operatorToken, start } from "./Service.ts"

const service = await start({ http: { console: true } })
afterAll(service.dispose)
const { key } = await service.company()
const cookie = await service.signIn(key)
const post = async (path: string, body: object) => (await service.ask("POST", path, { key, body })).body.data
const pay = async (paymentRequest: string) => {
  await service.sandbox((sandbox) => sandbox.pay({ paymentRequest }))
  await service.work()
}

const shown = (at: string, as = cookie) => service.page(as, `console/${at}`)

/** The heading of the results, and each result's kind of page and title. */
const found = async (text: string, as = cookie) => {
  const page = await shown(`search?q=${encodeURIComponent(text)}`, as)
  const [, heading = ""] = /<h1[^>]*><span>([^<]*)</.exec(page) ?? []
  const rows = [...page.matchAll(/class="row" href="(?:\.\.\/)*console\/([^"]*)\/[^"/]*">(.*?)<\/a>/g)]
  return { heading, rows: rows.map(([, at = "", title = ""]) => [at, title.replaceAll(/<[^>]*>/g, "")]) }
}

it("console: a search lists an unpaid invoice that matches, and leaves out those of the checkouts that match", async () => {
  const invoice = { amount: 500, currency: "sats" }
  const paid = await post("/v1/checkouts", { ...invoice, order_id: "1042", description: "coffee cup" })
  await pay(paid.payment_request)
  await post("/v1/checkouts", { ...invoice, order_id: "1043", description: "coffee grinder" })
  await post("/v1/bitcoin/deposit/lightning-invoice", { ...invoice, description: "coffee for Bob" })
  const { heading, rows } = await found("coffee")
  assert.sameDeepMembers(rows, [
    ["payments/in", "Order 1042"],
    ["checkouts", "Order 1043"],
    ["invoices", "coffee for Bob"]
  ])
  assert.strictEqual(heading, "3 results for “coffee”")
})

it("console: a search that matches more than it shows says so, and does not call the number of rows the number of results", async () => {
  const create = (n: number) =>
    post("/v1/bitcoin/deposit/lightning-invoice", {
      amount: 100 + n,
      currency: "sats",
      description: `member ${n}`
    })
  for (let n = 0; n < 19; n++) await create(n)
  assert.strictEqual((await found("member ")).heading, "19 results for “member”")
  for (let n = 19; n < 21; n++) await create(n)
  assert.deepStrictEqual((await found("member ")).heading, "20 or more results for “member”")
})

it("console: a pasted invoice or address leads to its payments, its checkout or itself", async () => {
  const asked = { amount: 700, currency: "sats" }
  const [open, paid] = [
    await post("/v1/bitcoin/deposit/lightning-invoice", { ...asked, description: "mug" }),
    await post("/v1/checkouts", { ...asked, order_id: "2001" })
  ]
  const given = `lightning:${open.payment_request.toUpperCase()}`
  assert.deepStrictEqual(await found(`${given}.`), {
    heading: `1 result for “${given.slice(0, 10)}…${given.slice(-5)}.”`,
    rows: [["invoices", "mug"]]
  })
  for (const text of [
    paid.payment_request,
    paid.address,
    `bitcoin:${paid.address}?lightning=${paid.payment_request}`
  ])
    assert.deepStrictEqual((await found(text)).rows, [["checkouts", "Order 2001"]], text)
  await pay(paid.payment_request)
  for (const text of [paid.payment_request, paid.address])
    assert.deepStrictEqual((await found(text)).rows, [["payments/in", "Order 2001"]], text)

  const { address } = (await post("/v1/bitcoin/deposit/on-chain", {})).address
  assert.deepStrictEqual((await found(address)).rows, [["addresses/on-chain", address]])
  await service.sandbox((sandbox) => sandbox.send({ address, amount: service.sats(50_000) }))
  await service.work()
  assert.deepStrictEqual((await found(address)).rows, [
    ["payments/in", "Payment received"],
    ["addresses/on-chain", address]
  ])
})

it("console: an on-chain address lists the payments to it, but not those that mention it", async () => {
  const { id, address } = (await post("/v1/bitcoin/deposit/on-chain", {})).address
  const mention = { amount: 300, currency: "sats", metadata: { note: address } }
  await pay((await post("/v1/bitcoin/deposit/lightning-invoice", mention)).payment_request)
  await service.sandbox((sandbox) => sandbox.send({ address, amount: service.sats(40_000) }))
  await service.work()
  const amounts = [...(await shown(`addresses/on-chain/${id}`)).matchAll(/\+[\d,]+/g)].map(
    ([amount]) => amount
  )
  assert.deepStrictEqual(amounts, ["+40,000"])
})

it("console: a pasted link leads to its checkout or voucher, but not to another company's", async () => {
  const asked = { amount: 900, currency: "sats" }
  const { url } = await post("/v1/checkouts", { ...asked, order_id: "3001" })
  await service.fund(key, 10_000)
  const { lnurl } = await post("/v1/vouchers", { ...asked, description: "gift" })
  const other = await service.signIn((await service.company()).key)
  for (const [text, row] of [
    [url, ["checkouts", "Order 3001"]],
    [`<${url}?lang=de>`, ["checkouts", "Order 3001"]],
    [`lightning:${lnurl.toUpperCase()}`, ["vouchers", "gift"]]
  ]) {
    assert.deepStrictEqual((await found(text)).rows, [row], text)
    assert.match((await found(text, other)).heading, /^No results for /, text)
  }
})

/** Sends the form of the search box. */
const typed = async (q: string, as = cookie, at = "console") => {
  const headers = {
    cookie: as,
    "sec-fetch-site": "same-origin",
    "content-type": "application/x-www-form-urlencoded"
  }
  const body = String(new URLSearchParams({ q }))
  const answer = await service.send(
    new Request(`http://service/${at}/search`, { method: "POST", headers, body })
  )
  return { status: answer.status, location: answer.headers.get("location"), text: answer.text }
}

for (const [at, credential] of [
  ["console", key],
  ["operator/console", operatorToken]
] as const)
  it(`console: what is typed in the search box of /${at} becomes part of an address only if it can't be a secret`, async () => {
    const as = await service.signIn(credential)
    assert.match(/<form class="find"[^>]*>/.exec(await service.page(as, at))?.[0] ?? "", /method="post"/)
    const { location } = await typed(" blue mug & 50 % ", as, at)
    assert.strictEqual(
      new URL(location ?? "", `http://service/${at}/search`).href,
      `http://service/${at}/search?q=blue+mug+%26+50+%25`
    )
    const secret = "0123456789abcdef".repeat(4)
    const link = `https://pay.example/lnurlw?k1=${secret}`
    const lnurl = Lnurl.encode(link)
    for (const text of [
      link,
      link.replace("https", "lnurlw"),
      lnurl,
      `lightning:${lnurl.toUpperCase()}`,
      `https://pay.example/pay?lightning=${lnurl}`,
      `nostr+walletconnect://${secret}?relay=wss%3A%2F%2Frelay.example&secret=${secret}`,
      `https://pay.example/console#join=inv_${secret}`,
      `https://pay.example/console#link=${secret}`,
      `inv_018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d_${secret.slice(0, 44)}`,
      encodeURIComponent(`nostr+walletconnect://${secret}?relay=wss://relay.example&secret=${secret}`),
      encodeURIComponent(link.replace("lnurlw", "withdraw")),
      "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
      `nsec1${secret.slice(0, 58)}`,
      `xprv9s21ZrQH143K${secret}`,
      secret.toUpperCase(),
      `0201036c6e6402f801${secret}`,
      Buffer.from(`0201036c6e6402f801${secret}`, "hex").toString("base64"),
      "legal winner thank year wave sausage worth useful legal winner thank yellow",
      key,
      `op_${secret.slice(0, 40)}`,
      "x".repeat(2000),
      "é".repeat(200)
    ]) {
      const answer = await typed(text, as, at)
      assert.deepInclude(answer, { status: 200, location: null }, text)
      assert.notInclude(answer.text, text)
      assert.match(answer.text, /<h1[^>]*><span>No results for /, text)
    }
  })

it("console: a voucher's link typed in the search box leads to the voucher", async () => {
  await service.fund(key, 10_000)
  const { lnurl, id } = await post("/v1/vouchers", { amount: 800, currency: "sats", description: "prize" })
  assert.include((await typed(lnurl)).text, `console/vouchers/${id}"`)
})
