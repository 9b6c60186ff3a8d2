import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Decimal from "@satrail/core/base/Decimal"
import { made } from "@satrail/core/ledger/Answer"
import { Invoices } from "@satrail/core/receiving/Invoices"
import { Settlements } from "@satrail/core/receiving/Settlements"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Effect } from "effect"
import { gunzipSync } from "node:zlib"
import { start } from "./Service.ts"

// The console's pages for a company with 10,050 payments.

const count = 10_050
const perPage = 50
const service = await start({ http: { console: true } })
afterAll(service.dispose)

const invoices = (companyId: CompanyId.CompanyId) =>
  service.run(
    Effect.gen(function* () {
      const { create } = yield* Invoices
      return yield* Effect.forEach(
        Array.from({ length: count }, (_, n) => n),
        (n) => {
          const amount = Decimal.make(BigInt(1 + (n % 9)))
          const asked = {
            companyId,
            amount,
            currency: "sats" as const,
            description: `Order ${n}`,
            expirySeconds: 3600,
            metadata: {}
          }
          return Effect.flatMap(create(asked), made)
        },
        { concurrency: 100 }
      )
    })
  )

const paid = (rows: ReadonlyArray<{ readonly paymentRequest: string }>) =>
  service.run(
    Effect.gen(function* () {
      const sandbox = yield* Sandbox.Sandbox
      yield* Effect.forEach(rows, ({ paymentRequest }) => sandbox.pay({ paymentRequest }), {
        concurrency: 100,
        discard: true
      })
      yield* (yield* Settlements).poll
    })
  )

/** A page as a browser receives it: the bytes transferred, and the decompressed text. */
const opened = async (cookie: string, path: string) => {
  const headers = { cookie, "accept-encoding": "gzip", "sec-fetch-site": "same-origin" }
  const response = await service.handler(new Request(`http://service/console/${path}`, { headers }))
  const body = Buffer.from(await response.arrayBuffer())
  assert.strictEqual(response.status, 200, path)
  return { bytes: body.length, text: gunzipSync(body).toString("utf8") }
}

/** The path of the previous or next page, below `/console`. */
const linked = (text: string, rel: "prev" | "next"): string | undefined =>
  new RegExp(`href="(?:\\.\\./)*console/([^"]+)" rel="${rel}"`).exec(text)?.[1]?.replaceAll("&amp;", "&")
const idsIn = (text: string, path: string) =>
  Array.from(text.matchAll(new RegExp(`class="row" href="[^"]*/${path}/([^"/]+)"`, "g")), ([, id]) => id)

const mostBytes = 60_000

describe("the console's lists with 10,050 rows", () => {
  let cookie = ""
  let rows: ReadonlyArray<{ readonly paymentRequest: string }> = []
  beforeAll(async () => {
    const { id, key } = await service.company()
    rows = await invoices(id)
    cookie = await service.signIn(key)
  })

  it("console: a list of 10,050 rows shows each row once and in order, whether paged forward or back, and each page has at most 60 kB", async () => {
    const seen: Array<string | undefined> = []
    let path: string | undefined = "invoices"
    let last = ""
    let most = 0
    while (path !== undefined) {
      const { bytes, text } = await opened(cookie, path)
      most = Math.max(most, bytes)
      const ids = idsIn(text, "invoices")
      assert.lengthOf(ids, Math.min(perPage, count - seen.length), path)
      seen.push(...ids)
      last = text
      path = linked(text, "next")
    }
    assert.lengthOf(seen, count)
    assert.strictEqual(new Set(seen).size, count)
    assert.deepStrictEqual(seen, seen.toSorted().toReversed())
    assert.isAtMost(most, mostBytes)
    for (let end = count - perPage; end > count - 5 * perPage; end -= perPage) {
      const { text } = await opened(cookie, linked(last, "prev") ?? assert.fail("no newer page"))
      assert.deepStrictEqual(idsIn(text, "invoices"), seen.slice(end - perPage, end))
      last = text
    }
  })

  it("console: the export of a list of more than 10,000 rows is refused, not cut off", async () => {
    const response = await service.handler(
      new Request("http://service/console/invoices/export", { headers: { cookie } })
    )
    assert.strictEqual(response.status, 400)
    assert.include(await response.text(), "More than 10,000 invoices match")
  })

  it("console: the list of 10,050 payments shows their number, pages forward and back with at most 60 kB per page, and is too long to export", async () => {
    await paid(rows)
    const first = await opened(cookie, "payments")
    assert.isAtMost(first.bytes, mostBytes)
    assert.include(first.text, "1–50 of more than 10,000")
    assert.include(first.text, "choose a shorter period")
    assert.notInclude(first.text, "Export these")
    const file = await service.handler(
      new Request("http://service/console/payments/export", { headers: { cookie } })
    )
    assert.strictEqual(file.status, 400)
    assert.include(await file.text(), "More than 10,000 payments match")
    const second = await opened(cookie, linked(first.text, "next") ?? assert.fail("no older page"))
    assert.include(second.text, "51–100 of more than 10,000")
    const [one, two] = [idsIn(first.text, "payments/in"), idsIn(second.text, "payments/in")]
    assert.strictEqual(new Set([...one, ...two]).size, 2 * perPage)
    const again = await opened(cookie, linked(second.text, "prev") ?? assert.fail("no newer page"))
    assert.deepStrictEqual(idsIn(again.text, "payments/in"), one)
  })
})
