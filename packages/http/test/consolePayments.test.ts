import { afterAll, assert, it } from "@effect/vitest"
import { start } from "./Service.ts"

const service = await start({ http: { console: true } })
afterAll(service.dispose)
const { key } = await service.company()
const cookie = await service.signIn(key)
await service.fund(key, 10_000)

/** The parameters that the form “Go to date” of a list of payments sends, in addition to its date. */
const kept = async (query: string) => {
  const page = await service.page(cookie, `console/payments?${query}`)
  const [, form = ""] = /<form class="paging"[^>]*>(.*?)<\/form>/s.exec(page) ?? assert.fail("the page has no such form")
  return [...form.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => `${name}=${value}`).join("&")
}

it("console: going to a date keeps the list's other filters, and starts at its first page", async () => {
  const filters = "type=deposit&status=settled&rail_type=lightning"
  assert.strictEqual(await kept(filters), filters)
  assert.strictEqual(await kept(`${filters}&period=30`), filters)
  assert.strictEqual(await kept(""), "")
})

it("console: a day without payments that match can be left for another, and choosing a period replaces the day", async () => {
  assert.strictEqual(await kept("status=failed&day=2020-01-01"), "status=failed")
  const page = await service.page(cookie, "console/payments/filter?by=period&status=failed&day=2020-01-01")
  assert.match(page, /console\/payments\?status=failed&amp;period=7"/)
})
