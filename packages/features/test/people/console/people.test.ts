import { assert, it } from "@effect/vitest"
import { type Api, Refused } from "@satrail/ui/console/Api"

// Imported without its types, which would bring those of the DOM into the other tests.
const file = new URL("../../../src/people/console/People.ts", import.meta.url).href
type Find = (visit: { readonly api: Api; readonly id: string }) => Promise<{ readonly id: string }>
const { find }: { readonly find: Find } = await import(file)

const count = 2300

/** People by number, newest first, read by pages. */
const api = {
  page: (
    _: string,
    {
      query: { limit = 0, cursor = "0" }
    }: { readonly query: { readonly limit?: number; readonly cursor?: string } }
  ) => {
    const end = Number(cursor) + limit
    const data = Array.from({ length: Math.min(limit, count - Number(cursor)) }, (__, n) => ({
      id: String(Number(cursor) + n)
    }))
    return Promise.resolve({ data, next: end < count ? String(end) : undefined, characters: 0 })
  }
} as unknown as Api

it("console: a person is found behind any number of newer people who were removed", async () => {
  for (const id of ["0", "999", "1000", "2299"]) assert.strictEqual((await find({ api, id })).id, id)
  const error = await find({ api, id: "2300" }).then(
    () => assert.fail("found"),
    (refused: unknown) => refused
  )
  assert.instanceOf(error, Refused)
  assert.strictEqual(error.status, 404)
})
