import { assert, describe, it } from "@effect/vitest"
import * as LookUps from "../src/receiving/LookUps.ts"

const policy = { invoicePollMillis: 10, invoiceSweepMillis: 40, expiredGraceMillis: 1000 }

describe("When an open invoice is looked up", () => {
  it("invoice watcher: each sweep looks up what has not expired; what has, 1, 2, 4, 8, 16 sweeps later, and once its grace is over", () => {
    const expiresAtMillis = 100
    const sweeps = Array.from({ length: 27 }, (_, n) => n - 1)
    const isSwept = (sweep: number) => LookUps.isSwept({ expiresAtMillis }, expiresAtMillis + 40 * sweep, policy)
    assert.deepStrictEqual(sweeps.filter(isSwept), [-1, 0, 1, 2, 4, 8, 16])
    assert.isTrue(LookUps.isSwept({ expiresAtMillis }, expiresAtMillis + 1001, policy))
  })

  it("invoice watcher: between sweeps those are looked up that have reached an age of 10, 20 or 40 since the last look", () => {
    assert.deepStrictEqual(LookUps.madeWithin(995, 1000, policy), [
      [955, 960],
      [975, 980],
      [985, 990]
    ])
    assert.deepStrictEqual(LookUps.madeWithin(980, 1000, policy), [[940, 990]])
  })

  it("invoice watcher: an invoice is looked up once for each age that it reaches, in whichever look comes next", () => {
    const looks = [915, 929, 931, 939, 941, 959, 961, 1000]
    // Made at 920: its age is 10 at 930, 20 at 940, 40 at 960.
    const hits = looks
      .slice(1)
      .filter((nowMillis, n) => LookUps.madeWithin(looks[n] ?? 0, nowMillis, policy).some(([from, until]) => from < 920 && 920 <= until))
    assert.deepStrictEqual(hits, [931, 941, 961])
  })
})
