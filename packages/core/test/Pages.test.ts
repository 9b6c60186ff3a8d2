import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Pages from "../src/base/Pages.ts"

/** Returns rows 1 to `count` in pages, and records the requests. */
const rows = (count: number, size: number) => {
  const asked: Array<number | null> = []
  const read = (after: number | null) =>
    Effect.sync(() => {
      asked.push(after)
      const first = (after ?? 0) + 1
      return Array.from({ length: Math.max(0, Math.min(size, count - first + 1)) }, (_, n) => first + n)
    })
  return { asked, read }
}

describe("Reading in pages", () => {
  it.effect(
    "pages: each row is read once, in order, and reading ends at the first page that is not full",
    () =>
      Effect.gen(function* () {
        for (const [count, asked] of [
          [0, [null]],
          [1, [null]],
          [2, [null, 2]],
          [5, [null, 2, 4]]
        ] as const) {
          const table = rows(count, 2)
          assert.deepStrictEqual(
            yield* Pages.all(2, table.read),
            Array.from({ length: count }, (_, n) => n + 1)
          )
          assert.deepStrictEqual<ReadonlyArray<number | null>>(table.asked, asked)
        }
      })
  )

  it.effect("pages: a page is processed before the next is read, and a failure stops reading", () =>
    Effect.gen(function* () {
      const { asked, read } = rows(10, 2)
      const work = ([first]: ReadonlyArray<number>) =>
        first === 3 ? Effect.fail("enough" as const) : Effect.void
      assert.strictEqual(yield* Effect.flip(Pages.each(2, read, work)), "enough")
      assert.deepStrictEqual(asked, [null, 2])
    })
  )
})
