import { afterAll, assert, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"
import { operatorToken, showing, start } from "../../../../http/test/Service.ts"

let aheadMillis = 0
const clock = Effect.runSync(Clock.Clock)
/** A clock that the tests set forward. */
const later = showing(clock, () => clock.currentTimeMillisUnsafe() + aheadMillis)

const service = await start({
  http: { console: true },
  around: Layer.succeed(Clock.Clock, later),
  instead: Context.make(Clock.Clock, later)
})
afterAll(service.dispose)
const { id, key } = await service.company()
const opened = async (path: string, cookie: string) => {
  const text = await service.page(cookie, path)
  const [, list = ""] = /aria-label="Statements by month"(.*?)<\/table>/s.exec(text) ?? []
  const link = (rel: string) => new RegExp(`href="(?:\\.\\./)*([^"]+)" rel="${rel}"`).exec(text)?.[1]
  return {
    text,
    figures: [...list.matchAll(/class="[^"]*amount[^"]*"[^>]*>([\d,.]+)</g)].map(([, sum]) => sum),
    older: link("next"),
    newer: link("prev")
  }
}

it("console: the statement of a month of any age can be opened from the list of a company and of an operator", async () => {
  await service.fund(key, 1000)
  const [{ created_at: paidAt }] = (await service.ask("GET", "/v1/transactions", { key })).body.data
  const month = paidAt.slice(0, 7)
  for (const [credential, path, days] of [
    [key, "console/statements", 217],
    [operatorToken, `operator/console/companies/${id}/statements`, 403]
  ] as const) {
    aheadMillis = days * 86_400_000
    const cookie = await service.signIn(credential)
    const first = await opened(path, cookie)
    assert.notInclude(first.text, `statements/${month}?format=html`)
    assert.isUndefined(first.newer, path)
    assert.isDefined(first.older, path)
    const second = await opened(first.older ?? "", cookie)
    assert.include(second.text, `statements/${month}?format=html`, path)
    assert.deepStrictEqual(second.figures.slice(-5), ["0", "1,000", "0", "0", "1,000"])
    assert.isUndefined(second.older, path)
    assert.deepStrictEqual((await opened(second.newer ?? "", cookie)).figures, first.figures)
  }
})

it("console: the dates of an export that ends before it begins are refused on a page, not as JSON", async () => {
  const cookie = await service.signIn(key)
  for (const dates of ["from=2026-11-29&until=2026-11-01", "from=2026-11-29&until=2026-11-29"]) {
    const { status, headers, text } = await service.send(
      new Request(`http://service/console/statements/export?format=csv&${dates}`, { headers: { cookie } })
    )
    assert.deepStrictEqual([status, headers.get("content-type")?.split(";")[0]], [400, "text/html"])
    assert.include(text, "“Until” must be later than “From”. It is not included in the export.<")
    assert.notInclude(text, "right now")
  }
})
