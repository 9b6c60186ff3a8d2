// Stories of the simulator for `npm run canaries`. They can detect bugs that no test was written for.
import { assert, it } from "@effect/vitest"
import { firstViolation } from "../../packages/simulator/src/Simulation.ts"

/** The seeds of stories that catch each mutant marked `isInStories`. If the order of plots changes, so do the stories: pick other seeds. */
const first = 8
const count = 10

it(`simulator: ${count} stories keep every invariant`, async () => {
  const broken = await firstViolation({ first, last: first + count - 1 })
  assert.strictEqual(broken?.violation, undefined, `seed ${broken?.seed}`)
})
