// Scenarios of the simulator for `npm run canaries`. They can detect bugs for which no test was written.
import { assert, it } from "@effect/vitest"
import { firstViolation } from "../../packages/simulator/src/Simulation.ts"

/**
 * The seeds of scenarios that catch each mutant marked `isInStories`. If the order of the kinds of scenarios
 * changes, each seed gives another scenario, so other seeds must be chosen.
 */
const first = 8
const count = 10

it(`simulator: ${count} scenarios keep every invariant`, async () => {
  const broken = await firstViolation({ first, last: first + count - 1 })
  assert.strictEqual(broken?.violation, undefined, `seed ${broken?.seed}`)
})
