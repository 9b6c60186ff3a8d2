import { assert, describe, it } from "@effect/vitest"
import * as LookupSchedule from "../src/receiving/LookupSchedule.ts"

const policy = { invoicePollMillis: 10, invoiceSweepMillis: 40, expiredGraceMillis: 1000 }

describe("Polling of open invoices", () => {
  it("invoice watcher: each sweep polls unexpired invoices; expired invoices are polled 1, 2, 4, 8 and 16 sweeps after they expire, and again after the grace period", () => {
    const expiresAtMillis = 100
    const sweeps = Array.from({ length: 27 }, (_, n) => n - 1)
    const isSwept = (sweep: number) =>
      LookupSchedule.isSwept({ expiresAtMillis }, expiresAtMillis + 40 * sweep, policy)
    assert.deepStrictEqual(sweeps.filter(isSwept), [-1, 0, 1, 2, 4, 8, 16])
    assert.isTrue(LookupSchedule.isSwept({ expiresAtMillis }, expiresAtMillis + 1001, policy))
  })

  it("invoice watcher: between sweeps, an invoice is polled when its age reaches 10, 20 and 40 ms", () => {
    assert.deepStrictEqual(LookupSchedule.madeWithin(995, 1000, policy), [
      [955, 960],
      [975, 980],
      [985, 990]
    ])
    assert.deepStrictEqual(LookupSchedule.madeWithin(980, 1000, policy), [[940, 990]])
  })

  it("invoice watcher: an invoice is polled once for each scheduled age, at the first check after it reaches that age", () => {
    const looks = [915, 929, 931, 939, 941, 959, 961, 1000]
    // Created at 920, the invoice has an age of 10 at 930, 20 at 940 and 40 at 960.
    const hits = looks
      .slice(1)
      .filter((nowMillis, n) =>
        LookupSchedule.madeWithin(looks[n] ?? 0, nowMillis, policy).some(
          ([from, until]) => from < 920 && 920 <= until
        )
      )
    assert.deepStrictEqual(hits, [931, 941, 961])
  })
})
