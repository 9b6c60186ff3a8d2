import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Runway from "../src/reports/reconciliation/Runway.ts"

const day = 24 * 3600 * 1000
const mark = (days: number, sats: number): Runway.Mark => ({ atMillis: days * day, out: Msat.fromSats(sats) })
const runway = (marks: ReadonlyArray<Runway.Mark>, days: number, sats: number, owned: number) =>
  Runway.runway(marks, { ...mark(days, sats), owned: Msat.fromSats(owned) })

describe("Runway", () => {
  it("runway: if 300 sats are sent in 30 days, 1000 sats last for 100 days", () => {
    assert.deepStrictEqual(runway([mark(0, 200)], 30, 500, 1000), {
      spent: Msat.fromSats(300),
      sinceMillis: 0,
      days: 100
    })
  })

  it("runway: there is no forecast before the first run, during the first day, or if nothing was sent", () => {
    assert.isNull(runway([mark(0, 200)], 30, 200, 1000)?.days)
    assert.isNull(runway([mark(0, 200)], 0.9, 500, 1000)?.days)
    assert.isUndefined(runway([], 30, 500, 1000))
  })

  it("runway: one mark per day is kept, for about 30 days", () => {
    let marks: ReadonlyArray<Runway.Mark> = []
    for (let hour = 0; hour < 24 * 100; hour++) marks = Runway.marked(marks, mark(hour / 24, hour))
    assert.isAtMost(marks.length, 32)
    const [first] = marks
    const age = 99 + 23 / 24 - (first?.atMillis ?? 0) / day
    assert.isTrue(age >= 30 && age < 31, String(age))
  })

  it("runway: after a pause, the mark before the pause still counts", () => {
    assert.deepStrictEqual(Runway.marked([mark(0, 0), mark(1, 5)], mark(90, 10)), [mark(1, 5), mark(90, 10)])
  })

  it("runway: a mark made while the clock was ahead is dropped, so that the forecast is not interrupted until its time", () => {
    assert.deepStrictEqual(Runway.marked([mark(300, 5)], mark(2, 5)), [mark(2, 5)])
    assert.deepStrictEqual(Runway.marked([mark(0, 0), mark(300, 5)], mark(2, 5)), [mark(0, 0), mark(2, 5)])
  })
})
