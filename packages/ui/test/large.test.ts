import { assert, describe, it } from "@effect/vitest"

// Imported without their types, which would bring those of the DOM into the other tests.
interface Page {
  readonly path: string
  readonly get: (visit: object) => Promise<unknown>
}
const at = (file: string) => import(new URL(`../src/console/${file}`, import.meta.url).href)
const { mostCharacters, pagesOf }: { readonly mostCharacters: number; readonly pagesOf: (list: object) => ReadonlyArray<Page> } =
  await at("List.ts")
const { exportPayments }: { readonly exportPayments: Page } = await at("pages/Payments.ts")

/** A list without an end, whose pages have few records because these are large. Counts the pages read. */
const endless = () => {
  const each = 2_000_000
  const list = { pages: 0, read: async () => ({ data: Array.from({ length: 70 }, () => row), next: `${++list.pages}`, characters: each }) }
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
})
