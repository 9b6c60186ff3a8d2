import { assert, describe, it } from "@effect/vitest"
import { type Content, page } from "../src/Html.ts"

// Imported without their types, which would bring those of the DOM into the other tests.
interface Page {
  readonly path: string
  readonly get: (visit: object) => Promise<{ readonly body: Content }>
}
const at = (file: string) => import(new URL(`../src/console/${file}`, import.meta.url).href)
const {
  mostCharacters,
  pagesOf
}: { readonly mostCharacters: number; readonly pagesOf: (list: object) => ReadonlyArray<Page> } =
  await at("List.ts")
const { payments, exportPayments }: Readonly<Record<"payments" | "exportPayments", Page>> = await at(
  "../../../service/src/console/pages/Payments.ts"
)
const Format: { readonly make: (preferences: object, price: undefined, nowMillis: number) => object } =
  await at("Format.ts")

/** A list without an end, whose pages have few records because these are large. Counts the pages read. */
const endless = () => {
  const each = 2_000_000
  const list = {
    pages: 0,
    read: async () => ({
      data: Array.from({ length: 70 }, () => row),
      next: `${++list.pages}`,
      characters: each
    })
  }
  return { list, most: mostCharacters / each }
}
const row = { id: "1", type: "adjustment", created_at: "2026-01-31T12:00:00Z" }

const refusal = async ({ get }: Page, visit: object) =>
  get({ query: new URLSearchParams(), say: { nowMillis: 0, zone: "UTC" }, ...visit }).then(
    () => assert.fail("not refused"),
    (error: Error) => error.message
  )

describe("lists of large records", () => {
  it("console: an export of records with large metadata stops reading, and is refused", async () => {
    const { list, most } = endless()
    const [, file = assert.fail("no export")] = pagesOf({
      ...list,
      path: "x",
      noun: "invoices",
      at: () => row.created_at,
      kinds: [],
      csv: []
    })
    assert.include(await refusal(file, {}), "too large to export")
    assert.strictEqual(list.pages, most)
  })

  it("console: payments with large metadata are counted and exported up to a limit", async () => {
    const { list, most } = endless()
    const api = { page: list.read, payments: async () => [] }
    assert.include(await refusal(exportPayments, { api }), `More than ${70 * most} payments match`)
    assert.strictEqual(list.pages, most)
  })

  it("console: of more than 10,000 payments, the list shows no total, and the sums of those days whose payments are all counted", async () => {
    // 12,000 payments of 1 sat, 100 an hour, newest first.
    const nowMillis = Date.parse("2026-01-31T12:00:00Z")
    const all = Array.from({ length: 12_000 }, (_, n) => {
      const created_at = new Date(nowMillis - Math.floor(n / 100) * 3_600_000).toISOString()
      return { ...row, id: String(n), status: "settled", amount_sats: 1, fee_sats: 0, created_at }
    })
    const read = async (
      _: string,
      {
        query: { limit, cursor = "0" }
      }: { readonly query: { readonly limit: number; readonly cursor?: string } }
    ) => {
      const end = Number(cursor) + limit
      return {
        data: all.slice(Number(cursor), end),
        next: end < all.length ? String(end) : undefined,
        characters: 0
      }
    }
    const api = { page: read, payments: async () => [] }
    const list = async (cursor: string) => {
      const to = (path: string) => path
      const say = Format.make({ zone: "UTC" }, undefined, nowMillis)
      const { body } = await payments.get({
        api,
        to,
        say,
        query: new URLSearchParams(cursor === "" ? {} : { cursor })
      })
      return page({ title: "", icon: "", body })
    }
    const first = await list("")
    assert.notInclude(first, "Totals of")
    assert.include(first, "<span>in 1,300</span>")
    assert.match(
      first,
      /More than 10,000 payments match\. To total or export them, choose a shorter period.*<table/s
    )
    assert.include(await list("8000"), "<span>in 2,400</span>")
    for (const cursor of ["9990", "11000"]) assert.notMatch(await list(cursor), /<span>in \d/, cursor)
  })
})
