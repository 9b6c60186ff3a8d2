import { afterAll, assert, describe, it } from "@effect/vitest"
import { domain, issuePaths, start } from "./Service.ts"
import * as Wallet from "./Wallet.ts"

const service = await start()
afterAll(service.dispose)
const { key } = await service.company("paid")
const other = await service.company("paid")
const get = (path: string, of = key) => service.ask("GET", path, { key: of })
const post = async (path: string, body?: unknown, of = key) =>
  (await service.ask("POST", path, { key: of, body })).body.data

const invoicesPath = "/v1/bitcoin/deposit/lightning-invoice"
const addressesPath = "/v1/bitcoin/deposit/on-chain"
const listPath = "/v1/transactions"

interface Row {
  readonly id: string
}

/** Follows a list's links and returns the ids on all pages. */
const rows = async (path: string, of = key): Promise<ReadonlyArray<string>> => {
  const all: Array<string> = []
  for (let next: string | undefined = path; next !== undefined;) {
    const { status, headers, body } = await get(next, of)
    assert.strictEqual(status, 200, next)
    const data: ReadonlyArray<Row> = body.data
    all.push(...data.map(({ id }) => id))
    next = /^<([^>]+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1]
  }
  return all
}

const invoice = (metadata: Record<string, string>, of = key) =>
  post(invoicesPath, { amount: 1000, currency: "sats", metadata }, of)
const pay = (row: { readonly payment_request: string }) =>
  service
    .sandbox((sandbox) => sandbox.pay({ paymentRequest: row.payment_request }))
    .then(() => service.work())

const first = await invoice({ order: "1042", shop: "north" })
const second = await invoice({ order: "1043", shop: "north" })
const third = await invoice({ order: "1044", shop: "south & west" })
const theirs = await invoice({ order: "1042" }, other.key)
await pay(second)
const paid = (await get(`${invoicesPath}/${second.id}`)).body.data

describe("invoices", () => {
  it("invoice list: the list has only this company's invoices, newest first, each with the same fields as when fetched", async () => {
    const { body, headers } = await get(invoicesPath)
    assert.deepStrictEqual(body.data, [third, paid, first])
    assert.isNull(headers.get("link"))
    assert.deepStrictEqual(await rows(invoicesPath, other.key), [theirs.id])
  })

  const found: Record<string, () => ReadonlyArray<Row>> = {
    "?status=open": () => [third, first],
    "?status=settled": () => [second],
    "?status=expired": () => [],
    "?status=canceled": () => [],
    "?metadata_key=order&metadata_value=1042": () => [first],
    "?metadata_key=shop&metadata_value=north": () => [second, first],
    "?metadata_key=shop&metadata_value=north&limit=1": () => [second, first],
    "?metadata_key=shop&metadata_value=north&status=open": () => [first],
    "?metadata_key=shop&metadata_value=south%20%26%20west": () => [third],
    "?metadata_key=shop&metadata_value=south": () => [],
    [`?payment_hash=${second.r_hash}`]: () => [second],
    [`?payment_hash=${second.r_hash.toUpperCase()}`]: () => [second],
    [`?payment_request=${third.payment_request}`]: () => [third],
    [`?payment_request=${encodeURIComponent(`<LIGHTNING://${third.payment_request.toUpperCase()}>\u200b`)}`]:
      () => [third],
    [`?payment_request=${encodeURIComponent(`bitcoin:?lightning=${third.payment_request}`)}`]: () => [third],
    [`?payment_hash=${theirs.r_hash}`]: () => [],
    [`?from=${encodeURIComponent(second.created_at)}`]: () =>
      [third, second, first].filter((row) => row.created_at >= second.created_at),
    [`?until=${encodeURIComponent(first.created_at)}`]: () => [],
    "?lightning_address_id=018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d": () => []
  }
  for (const [query, expected] of Object.entries(found))
    it(`invoice list: ${query.slice(0, 60)} returns exactly the matching invoices`, async () =>
      assert.deepStrictEqual(
        await rows(`${invoicesPath}${query}`),
        expected().map(({ id }) => id)
      ))

  it("invoice list: a Lightning address's invoices are found by the address's id", async () => {
    const { id, address } = await post("/v1/bitcoin/deposit/lightning-address", { handle: "shop" })
    assert.deepStrictEqual(await rows(`${invoicesPath}?lightning_address_id=${id}`), [])
    const { callback } = await Wallet.offerAt(
      service,
      `https://${domain}/.well-known/lnurlp/${address.split("@")[0]}`
    )
    await Wallet.get(service, `${callback}?amount=2000000`)
    const [row] = (await get(`${invoicesPath}?lightning_address_id=${id.toUpperCase()}`)).body.data
    assert.deepStrictEqual([row.lightning_address_id, row.amount_sats, row.status], [id, 2000, "open"])
    await pay(row)
    assert.deepStrictEqual(await rows(`${invoicesPath}?lightning_address_id=${id}&status=settled`), [row.id])
  })
})

describe("transactions", () => {
  it("search: a deposit is found by its metadata or the invoice that it paid, and a withdrawal is found by its metadata, payment hash or invoice", async () => {
    const sent = await service.sandbox((sandbox) =>
      sandbox.destination({ type: "lightning_invoice", amount: service.sats(100) })
    )
    const out = await post("/v1/bitcoin/withdraw/confirm", {
      destination: sent.destination,
      metadata: { order: "1043", kind: "refund" }
    })
    const by = (query: string, of?: string) => rows(`${listPath}?${query}`, of)
    assert.deepStrictEqual(await by("metadata_key=order&metadata_value=1043"), [out.id, paid.deposit_id])
    assert.deepStrictEqual(await by("metadata_key=order&metadata_value=1043&limit=1"), [
      out.id,
      paid.deposit_id
    ])
    assert.deepStrictEqual(await by("metadata_key=order&metadata_value=1043&type=deposit"), [paid.deposit_id])
    assert.deepStrictEqual(await by("metadata_key=order&metadata_value=1043", other.key), [])
    assert.deepStrictEqual(await by(`payment_hash=${sent.paymentHash}`), [], "nothing was sent yet")
    await service.work()
    assert.deepStrictEqual(await by(`payment_hash=${sent.paymentHash}`), [out.id])
    assert.deepStrictEqual(await by(`payment_request=${sent.destination}`), [out.id])
    assert.deepStrictEqual(await by(`payment_hash=${sent.paymentHash}`, other.key), [])
    assert.deepStrictEqual(await by(`payment_hash=${second.r_hash}`), [paid.deposit_id])
    assert.deepStrictEqual(await by(`payment_request=${second.payment_request}&status=settled`), [
      paid.deposit_id
    ])
    assert.deepStrictEqual(await by(`payment_request=${second.payment_request}&status=pending`), [])
    assert.deepStrictEqual(await by(`lightning_invoice_id=${second.id.toUpperCase()}`), [paid.deposit_id])
    assert.deepStrictEqual(await by(`lightning_invoice_id=${first.id}`), [])
  })

  it("search: an on-chain deposit or withdrawal is found by its transaction", async () => {
    const { address } = await post(addressesPath, { metadata: { order: "77" } })
    await service.sandbox((sandbox) =>
      sandbox.send({ address: address.address, amount: service.sats(50_000) })
    )
    await service.work()
    const [deposit = ""] = await rows(`${listPath}?metadata_key=order&metadata_value=77`)
    const { chain_tx_id: into } = (await get(`${listPath}/deposits/${deposit}`)).body.data
    assert.deepStrictEqual(await rows(`${listPath}?chain_tx_id=${into.toUpperCase()}`), [deposit])
    await service.mine()
    const { destination } = await service.sandbox((sandbox) => sandbox.destination({ type: "chain_address" }))
    const { id } = await post("/v1/bitcoin/withdraw/confirm", {
      amount: 10_000,
      currency: "sats",
      destination
    })
    await service.work()
    const { chain_tx_id: out } = (await get(`${listPath}/withdrawals/${id}`)).body.data
    assert.deepStrictEqual(await rows(`${listPath}?chain_tx_id=${out}`), [id])
    assert.deepStrictEqual(await rows(`${listPath}?chain_tx_id=${out}`, other.key), [])
  })

  const refused: Record<string, string> = {
    "metadata_key=order": "metadata_value",
    "metadata_value=1042": "metadata_key",
    "metadata_key=&metadata_value=x": "metadata_key",
    [`metadata_key=${"k".repeat(41)}&metadata_value=x`]: "metadata_key",
    [`metadata_key=k&metadata_value=${"v".repeat(501)}`]: "metadata_value",
    "metadata_key=k&metadata_value=%00": "metadata_value",
    "payment_hash=ab": "payment_hash",
    [`payment_hash=${"g".repeat(64)}`]: "payment_hash",
    "payment_request=lnbc1": "payment_request",
    [`payment_hash=${first.r_hash}&payment_request=${first.payment_request}`]: "payment_request"
  }
  for (const path of [listPath, invoicesPath])
    for (const [query, issue] of Object.entries(refused))
      it(`search: ${path}?${query.slice(0, 60)} is rejected`, async () => {
        const { status, body } = await get(`${path}?${query}`)
        assert.deepStrictEqual([status, body.error?.code, issuePaths(body)], [400, "malformed", [issue]])
      })

  for (const [path, query, issue] of [
    [listPath, "chain_tx_id=xyz", "chain_tx_id"],
    [listPath, "lightning_invoice_id=1", "lightning_invoice_id"],
    [invoicesPath, "lightning_address_id=1", "lightning_address_id"],
    [invoicesPath, "status=paid", "status"],
    [invoicesPath, "chain_tx_id=00", "chain_tx_id"]
  ] as const)
    it(`search: ${path}?${query} is rejected`, async () => {
      const { status, body } = await get(`${path}?${query}`)
      assert.deepStrictEqual([status, body.error?.code, issuePaths(body)], [400, "malformed", [issue]])
    })
})

describe("on-chain addresses", () => {
  it("on-chain address list: the list has only this company's addresses, newest first, each with the same fields as when fetched", async () => {
    const mine = await service.company("free")
    const made: Array<Row> = []
    for (let n = 0; n < 5; n++)
      made.unshift((await post(addressesPath, { metadata: { n: String(n) } }, mine.key)).address)
    assert.deepStrictEqual((await get(addressesPath, mine.key)).body.data, made)
    const [row] = made
    assert.deepStrictEqual((await get(`${addressesPath}/${row?.id.toUpperCase()}`, mine.key)).body.data, row)
    for (const [id, of] of [
      [row?.id, other.key],
      ["1", mine.key]
    ] as const) {
      const { status, body } = await get(`${addressesPath}/${id}`, of)
      assert.deepStrictEqual([status, body.error?.code], [404, "not_found"])
    }
  })
})
