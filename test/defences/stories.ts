// Stories of the simulator, for npm run canaries alone: what nobody wrote a test for is noticed there, if anywhere.
import { assert, it } from "@effect/vitest"
import { firstViolation } from "../../packages/simulator/src/Simulation.ts"

const count = 10

it(`simulator: ${count} stories keep every invariant`, async () => {
  const broken = await firstViolation({ first: 1, last: count })
  assert.strictEqual(broken?.violation, undefined, `seed ${broken?.seed}`)
})
