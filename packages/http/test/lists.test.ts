import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as TxId from "@satrail/bitcoin/TxId"
import * as Id from "@satrail/core/base/Id"
import { Journal } from "@satrail/core/ledger/Journal"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect } from "effect"
import { issuePaths, start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)
const company = await service.company()
const other = await service.company()
await service.fund(other.key, 1000)

const t0 = Date.UTC(2026, 0, 31, 12)
const idOf = (millis: number, n: number) => Id.fromMillis(millis, (size) => new Uint8Array(size).fill(n))

/**
 * Thirty on-chain deposits, three per second, the first ten of them credited, and one withdrawal in the
 * middle.
 */
await service.run(
  Effect.gen(function* () {
    const { commit } = yield* Journal
    for (let n = 0; n < 30; n++) {
      const atMillis = t0 + Math.floor(n / 3) * 1000
      const deposit: Deposit.Deposit = {
        id: idOf(atMillis, n),
        companyId: company.id,
        ledgerTxId: idOf(atMillis, n),
        recipient: "bcrt1",
        amount: Msat.fromSats(1000 + n),
        network: "regtest",
        rail: "on_chain",
        status: "pending",
        chainTxId: TxId.make(n.toString(16).padStart(64, "0")),
        vout: 0,
        height: 1,
        lightningInvoiceId: null,
        checkoutId: null,
        splits: null,
        metadata: {},
        absorbed: Msat.zero,
        ...Deposit.unrefunded,
        paidAtMillis: null,
        revision: 0,
        createdAtMillis: atMillis,
        updatedAtMillis: atMillis
      }
      yield* commit(Deposit.seen(deposit))
      if (n < 10) yield* commit(Deposit.confirmed(deposit, atMillis))
    }
    yield* commit(
      Withdrawal.requested(
        Withdrawal.pending({
          id: idOf(t0 + 4500, 200),
          companyId: company.id,
          ledgerTxId: idOf(t0 + 4500, 201),
          amount: Msat.fromSats(500),
          serviceFee: Msat.make(1500n),
          networkAllowance: Msat.make(5001n),
          recipient: "a@b.example",
          recipientType: "lightning_address",
          rail: "lightning",
          network: "regtest",
          metadata: {},
          rate: null,
          rateAtMillis: null,
          fiatCurrency: null,
          rateSource: null,
          createdAtMillis: t0 + 4500
        })
      )
    )
  })
)

interface Line {
  readonly id: string
  readonly type: string
  readonly status: string
  readonly rail_type: string
  readonly amount_sats: number
  readonly fee_microsats: number
  readonly fee_sats: number
  readonly created_at: string
}
const list = async (query = "", key = company.key) => {
  const { status, headers, body } = await service.ask("GET", `/v1/transactions${query}`, { key })
  assert.strictEqual(status, 200)
  const lines: ReadonlyArray<Line> = body.data
  return { lines, link: headers.get("link") }
}
const nextOf = (link: string | null) => /^<(\/v1\/transactions\?[^>]+)>; rel="next"$/.exec(link ?? "")?.[1]

/** Follows the links to the last page. */
const all = async (query: string) => {
  const pages: Array<ReadonlyArray<Line>> = []
  for (let next: string | undefined = `/v1/transactions${query}`; next !== undefined;) {
    const page = await list(next.slice("/v1/transactions".length))
    pages.push(page.lines)
    next = nextOf(page.link)
  }
  return pages
}

describe("the list", () => {
  it("list: the list has only this company's deposits and withdrawals, together, newest first", async () => {
    const { lines, link } = await list()
    assert.strictEqual(lines.length, 31)
    assert.isNull(link)
    const order = lines.map(({ created_at, id }) => `${created_at} ${id}`)
    assert.deepStrictEqual(order, order.toSorted().toReversed())
    assert.sameMembers([...new Set(lines.map(({ type }) => type))], ["withdrawal", "deposit"])
    assert.strictEqual((await list("", other.key)).lines.length, 1)
  })

  it("list: fees are in thousandths of a sat", async () => {
    const { lines } = await list("?type=withdrawal")
    assert.deepStrictEqual(
      lines.map(({ amount_sats, fee_microsats, fee_sats }) => [amount_sats, fee_microsats, fee_sats]),
      [[500, 6501, 6.501]]
    )
  })

  for (const limit of [1, 2, 3, 7, 30, 31, 1000]) {
    it(`list: pages of ${limit} rows show every row once, in the same order`, async () => {
      const pages = await all(`?limit=${limit}`)
      assert.deepStrictEqual(pages.flat(), (await list()).lines)
      assert.isTrue(pages.every((page) => page.length <= limit))
      assert.strictEqual(pages.length, Math.ceil(31 / limit), "a last page is never empty")
    })
  }

  it("list: a row added after the first page was read does not change the next page", async () => {
    const first = await list("?limit=5")
    await service.fund(company.key, 21)
    const next = nextOf(first.link)
    assert.isDefined(next)
    const second = (await list(next?.slice("/v1/transactions".length))).lines
    assert.deepStrictEqual(second, (await list()).lines.slice(6, 11))
  })

  it("list: the list is an empty array for a company without transactions", async () => {
    const { key } = await service.company()
    assert.deepStrictEqual(await list("", key), { lines: [], link: null })
  })
})

describe("filters", () => {
  const only: Record<string, (line: Line) => boolean> = {
    "?type=deposit": ({ type }) => type === "deposit",
    "?status=settled": ({ status }) => status === "settled",
    "?status=pending": ({ status }) => status === "pending",
    "?status=failed": ({ status }) => status === "failed",
    "?rail_type=lightning": ({ rail_type }) => rail_type === "lightning",
    "?rail_type=on_chain&status=settled&type=deposit": ({ rail_type, status }) =>
      rail_type === "on_chain" && status === "settled",
    "?from=2026-01-31T12:00:04.000Z": ({ created_at }) => created_at >= "2026-01-31T12:00:04.000Z",
    "?until=2026-01-31T12:00:04Z": ({ created_at }) => created_at < "2026-01-31T12:00:04.000Z",
    "?from=2026-01-31T13:00:02%2B01:00&until=2026-01-31T12:00:05.5Z": ({ created_at }) =>
      created_at >= "2026-01-31T12:00:02.000Z" && created_at < "2026-01-31T12:00:05.500Z",
    "?from=2026-01-31T12:00:04.500Z&until=2026-01-31T12:00:04.500Z": () => false,
    // Rows at exactly 12:00:04 are before both ends.
    "?from=2026-01-31T12:00:04.000000001Z": ({ created_at }) => created_at > "2026-01-31T12:00:04.000Z",
    "?until=2026-01-31T12:00:04.000000001Z": ({ created_at }) => created_at <= "2026-01-31T12:00:04.000Z"
  }
  for (const [query, keeps] of Object.entries(only)) {
    it(`list: ${query} returns exactly the matching rows, even if they are split into pages`, async () => {
      const expected = (await list("?limit=1000")).lines.filter(keeps)
      assert.deepStrictEqual((await list(query)).lines, expected)
      assert.deepStrictEqual((await all(`${query}&limit=4`)).flat(), expected)
    })
  }

  const refused: Record<string, string> = {
    "limit=0": "limit",
    "limit=1001": "limit",
    "limit=-1": "limit",
    "limit=1.5": "limit",
    "limit=1e2": "limit",
    "limit=": "limit",
    "limit=x": "limit",
    "limit=1&limit=2": "limit",
    "type=deposits": "type",
    "type=": "type",
    "status=done": "status",
    "rail_type=onchain": "rail_type",
    "from=yesterday": "from",
    "from=2026-01-31": "from",
    "from=2026-01-31T12:00:00": "from",
    "until=2026-13-01T00:00:00Z": "until",
    "until=1769860800": "until",
    "until=2026-01-31T12:00:00+01:00": "until",
    "cursor=": "cursor",
    "cursor=x": "cursor",
    "cursor=%00": "cursor",
    "offset=1": "offset",
    "Limit=1": "Limit",
    // Later than the latest valid date.
    [`cursor=${Buffer.from(`8640000000000001 ${idOf(t0, 1)}`).toString("base64url")}`]: "cursor",
    [`cursor=${Buffer.from(`${t0} x' or 1=1`).toString("base64url")}`]: "cursor"
  }
  for (const [query, path] of Object.entries(refused)) {
    it(`list: ?${query} is rejected`, async () => {
      const { status, body } = await service.ask("GET", `/v1/transactions?${query}`, { key: company.key })
      assert.deepStrictEqual([status, body.error?.code, issuePaths(body)], [400, "malformed", [path]])
    })
  }
})
