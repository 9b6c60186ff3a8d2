import { assert, it } from "@effect/vitest"
import * as Scalars from "../src/wire/Scalars.ts"

const lastMillis = 253_402_300_799_999

it("instant: every instant has the format of toISOString, whichever day was formatted before", () => {
  const edges = [0, 999, 86_399_999, 86_400_000, 951_782_399_999, 951_782_400_000, 1_709_251_199_999, lastMillis]
  // This step is not a multiple of an hour or a day, so each part of an instant takes many values, and most
  // days occur once.
  for (let millis = 0; millis <= lastMillis; millis += 41_234_567_891) edges.push(millis, Math.floor(millis / 7))
  for (const millis of edges) assert.strictEqual(Scalars.instant(millis), new Date(millis).toISOString())
})
