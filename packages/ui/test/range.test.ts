import { assert, it } from "@effect/vitest"
import * as Formats from "../src/console/Format.ts"
import * as Range from "../src/console/Range.ts"

it("console: last month begins and ends with the month in the person's time zone", () => {
  const say = (nowMillis: number, zone: string) => Formats.make({ zone }, undefined, nowMillis)
  const range = (at: string, zone: string, query: string) =>
    Range.queryOf(
      Range.rangeOf({ query: new URLSearchParams(query), say: say(Date.parse(at), zone) as never })
    )
  assert.deepStrictEqual(range("2026-03-01T04:00:00Z", "America/New_York", "period=last-month"), {
    from: "2026-01-01T05:00:00.000Z",
    until: "2026-02-01T05:00:00.000Z"
  })
  assert.deepStrictEqual(range("2026-01-15T12:00:00Z", "Europe/Berlin", "period=last-month"), {
    from: "2025-11-30T23:00:00.000Z",
    until: "2025-12-31T23:00:00.000Z"
  })
  assert.deepStrictEqual(range("2026-04-15T12:00:00Z", "Europe/Berlin", "period=month"), {
    from: "2026-03-31T22:00:00.000Z"
  })
  // The clocks are set forward within this range.
  assert.deepStrictEqual(range("2026-04-15T12:00:00Z", "Europe/Berlin", "from=2026-03-28&until=2026-03-29"), {
    from: "2026-03-27T23:00:00.000Z",
    until: "2026-03-29T22:00:00.000Z"
  })
})
