import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Page from "../src/ledger/Page.ts"

interface Row extends Page.Position {
  readonly metadata: Readonly<Record<string, string>>
}

/** Lists `count` rows with this much metadata, newest first. Records how much each read takes from the store. */
const table = (count: number, characters: number) => {
  const all = Array.from({ length: count }, (_, n): Row => {
    const id = String(count - n).padStart(4, "0")
    return { id, createdAtMillis: count - n, metadata: { note: "n".repeat(characters) } }
  })
  const reads: Array<ReadonlyArray<Row>> = []
  const find = (before: string | null, limit: number) =>
    Effect.sync(() => {
      const rows = all.filter(({ id }) => before === null || id < before).slice(0, limit)
      reads.push(rows)
      return rows
    })
  return { all, reads, find }
}

/** Reads all pages, each by the `next` of the one before. */
const whole = Effect.fnUntraced(function* ({ find }: ReturnType<typeof table>, limit: number) {
  const pages: Array<ReadonlyArray<Row>> = []
  let before: string | null = null
  do {
    const page: Page.Page<Row> = yield* Page.read({ limit, before }, find)
    pages.push(page.rows)
    before = page.next?.id ?? null
  } while (before !== null)
  return pages
})

const charactersOf = (rows: ReadonlyArray<Row>) =>
  rows.reduce((sum, { metadata }) => sum + (metadata["note"]?.length ?? 0), 0)

describe("A page of a list", () => {
  it.effect(
    "page: a page of large records ends early, the store reads little more, and the next pages have every other record once",
    () =>
      Effect.gen(function* () {
        const each = 27_000 // as many as fit into the body of a request
        const rows = table(200, each)
        const first = yield* Page.read({ limit: 1000, before: null }, rows.find)
        assert.isAtLeast(charactersOf(first.rows), Page.maxCharacters - each)
        assert.isAtMost(charactersOf(first.rows), Page.maxCharacters + each)
        assert.isAtMost(charactersOf(rows.reads.flat()), Page.maxCharacters + (Page.limit.default + 1) * each)
        const pages = yield* whole(rows, 1000)
        assert.deepStrictEqual(pages.flat(), rows.all)
        assert.isAtLeast(pages.length, 3)
      })
  )

  it.effect("page: a page has a whole number of rows, from 1 to 1000", () =>
    Effect.gen(function* () {
      for (const limit of [0, -1, 1001, 1.5, NaN]) {
        const error = yield* Effect.flip(Page.read({ limit, before: null }, table(1, 1).find))
        assert.deepStrictEqual([error._tag, error.path], ["Invalid", "limit"])
      }
    })
  )

  it.effect("page: a page has at least one record, however large", () =>
    Effect.gen(function* () {
      const rows = table(3, 2 * Page.maxCharacters)
      assert.deepStrictEqual(
        (yield* whole(rows, 1000)).map(({ length }) => length),
        [1, 1, 1]
      )
    })
  )

  it.effect("page: one read yields a page of the default size, and a page of small records is full", () =>
    Effect.gen(function* () {
      for (const limit of [1, 50, Page.limit.default]) {
        const rows = table(1001, 500)
        const { rows: page, next } = yield* Page.read({ limit, before: null }, rows.find)
        assert.deepStrictEqual([rows.reads.length, page.length, next?.id], [1, limit, page.at(-1)?.id])
      }
      for (const count of [0, 99, 100, 101, 202, 1000, 1001, 1500]) {
        const rows = table(count, 500)
        const pages = yield* whole(rows, 1000)
        assert.deepStrictEqual(pages.flat(), rows.all)
        assert.strictEqual(pages.length, count > 1000 ? 2 : 1, `${count}`)
      }
    })
  )
})
