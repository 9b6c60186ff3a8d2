import { afterAll, assert, describe, it } from "@effect/vitest"
import * as OpenApi from "@satrail/testing/OpenApi"
import { makers } from "./Makers.ts"
import { nextMillisecond, seen, bad, start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)
const company = await service.company("paid")
const checkouts = "/v1/checkouts"

interface Row {
  readonly id: string
  readonly created_at: string
  readonly order_id?: string | null
  readonly status?: string
}

/** Reads all pages of a list, each with one row at most. */
const all = async (path: string, query: Readonly<Record<string, string>>): Promise<ReadonlyArray<Row>> => {
  const rows: Array<Row> = []
  let next: string | undefined = `${path}?${new URLSearchParams({ ...query, limit: "1" })}`
  while (next !== undefined) {
    const { status, text, body, headers } = await service.ask("GET", next, { key: company.key })
    assert.strictEqual(status, 200, text)
    rows.push(...body.data)
    next = /<([^>]*)>/.exec(headers.get("link") ?? "")?.[1]
  }
  return rows
}

const documents = await Promise.all(
  ["/openapi.json", "/operator/openapi.json"].map(async (path) => (await service.ask("GET", path)).body)
)
const { operations } = OpenApi.read(...documents)

/** Lists of a company's records that are not payments, of which there are few. */
const few = [
  "/v1/people",
  "/v1/webhook-endpoints/{id}/deliveries",
  "/v1/api-keys",
  "/v1/events",
  "/v1/events/stream"
]
const lists = operations
  .filter(
    ({ method, path, parameters }) =>
      /^get$/i.test(method) && path.startsWith("/v1/") && parameters.some(({ name }) => name === "cursor")
  )
  .map(({ path, parameters }) => ({ path, names: parameters.map(({ name }) => name) }))
  .filter(({ path }) => !few.includes(path))

const created = async (body: object) => {
  const answer = await service.ask("POST", checkouts, { key: company.key, body })
  assert.strictEqual(answer.status, 201, answer.text)
  await nextMillisecond()
  return answer.body.data
}

describe("list filters", () => {
  it("list: every list of a company's payments and requests for payment can be filtered by time", () => {
    assert.includeMembers(
      lists.map(({ path }) => path),
      [checkouts, "/v1/vouchers", "/v1/refunds", "/v1/transactions", "/v1/bitcoin/deposit/on-chain"]
    )
    for (const { path, names } of lists) assert.includeMembers(names, ["from", "until"], path)
  })

  it("checkouts: the checkout of an order whose response was lost is found by its order id, with the time or alone", async () => {
    const orders = ["1042", "1043", "1042", null, "a1042", "1042b", "%"]
    const made = new Array<Row>()
    for (const order_id of orders) made.unshift(await created({ amount: 21, currency: "sats", order_id }))
    for (const order of ["1042", "1043", "a1042", "%", "1044"]) {
      const expected = made.filter(({ order_id }) => order_id === order).map(({ id }) => id)
      assert.deepStrictEqual(
        (await all(checkouts, { order_id: order })).map(({ id }) => id),
        expected,
        order
      )
      for (const [from, until] of made
        .slice(1, 4)
        .map(({ created_at }) => [created_at, made[0]?.created_at ?? ""] as const))
        assert.deepStrictEqual(
          (await all(checkouts, { order_id: order, from, until })).map(({ id }) => id),
          made
            .filter(
              ({ order_id, created_at }) => order_id === order && created_at >= from && created_at < until
            )
            .map(({ id }) => id)
        )
    }
    const other = await service.company()
    const found = await service.ask("GET", `${checkouts}?order_id=1042`, { key: other.key })
    assert.deepStrictEqual(found.body.data, [])
    for (const query of [`order_id=${"x".repeat(501)}`, "status=done", "status=open&status=paid"])
      assert.deepStrictEqual(
        seen(await service.ask("GET", `${checkouts}?${query}`, { key: company.key })),
        bad(400, "malformed"),
        query
      )
  })

  it("checkouts: each status selects exactly the checkouts that have it now", async () => {
    const ids = new Map<string, string>()
    for (const status of ["paid", "canceled", "open"])
      ids.set(status, (await created({ amount: 21, currency: "sats", order_id: "s" })).id)
    const { body } = await service.ask("GET", `${checkouts}/${ids.get("paid")}`, { key: company.key })
    await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: body.data.payment_request }))
    await service.work()
    await service.ask("POST", `${checkouts}/${ids.get("canceled")}/cancel`, { key: company.key })
    const rows = await all(checkouts, {})
    for (const status of ["open", "underpaid", "paid", "expired", "canceled"]) {
      const expected = rows.filter((row) => row.status === status).map(({ id }) => id)
      assert.strictEqual(expected.includes(ids.get(status) ?? ""), ids.has(status), status)
      assert.deepStrictEqual(
        (await all(checkouts, { status })).map(({ id }) => id),
        expected,
        status
      )
      assert.deepStrictEqual(
        (await all(checkouts, { status, order_id: "s" })).map(({ id }) => id),
        expected.filter((id) => [...ids.values()].includes(id))
      )
    }
  })

  const made: Readonly<Record<string, string>> = {
    "/v1/vouchers": "/v1/vouchers/{id}",
    "/v1/refunds": "/v1/refunds/{id}",
    "/v1/transfers": "/v1/transfers/{id}",
    "/v1/bitcoin/deposit/offer": "/v1/bitcoin/deposit/offer/{id}",
    "/v1/bitcoin/deposit/on-chain": "/v1/bitcoin/deposit/on-chain/{id}",
    "/v1/bitcoin/deposit/lightning-address": "/v1/bitcoin/deposit/lightning-address/{id}",
    "/v1/bitcoin/deposit/lightning-invoice": "/v1/bitcoin/deposit/lightning-invoice/{invoiceID}"
  }
  for (const [path, maker] of Object.entries(made))
    it(`list: ${path} returns exactly the rows of a period, its start included and its end not`, async () => {
      const make = makers[maker] ?? assert.fail(maker)
      for (let count = 0; count < 4; count++) {
        await make(service, company)
        await nextMillisecond()
      }
      const rows = await all(path, {})
      const times = rows.map(({ created_at }) => created_at).slice(0, 4)
      for (const from of [undefined, ...times])
        for (const until of [undefined, ...times]) {
          const expected = rows.filter(
            ({ created_at: at }) => (from === undefined || at >= from) && (until === undefined || at < until)
          )
          const query = { ...(from !== undefined && { from }), ...(until !== undefined && { until }) }
          assert.deepStrictEqual(await all(path, query), expected, JSON.stringify(query))
        }
    })
})
