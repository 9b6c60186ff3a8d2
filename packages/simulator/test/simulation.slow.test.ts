import { assert, describe, it } from "@effect/vitest"
import * as Simulation from "../src/Simulation.ts"

// CI runs an additional batch that differs from run to run, and so covers more seeds over time. On a
// developer's machine, the batches are fixed.
const another = process.env["CI"] === undefined ? undefined : Math.floor(Date.now() / 1000) % 1_000_000_000

const batches = [
  { name: "memory", first: 1, stories: 40, operations: 200 },
  { name: "pglite", first: 1, stories: 3, operations: 80 },
  ...(another === undefined
    ? []
    : [{ name: "memory", first: another, stories: 40, operations: 200 } as const])
] as const

describe("every guarantee holds", () => {
  for (const { name, first, stories, operations } of batches) {
    it(`simulator: ${stories} scenarios violate no guarantee: npm run simulate -- --from ${first} --seeds ${stories} --operations ${operations} --store ${name}`, async () => {
      const broken = await Simulation.firstViolation({
        first,
        last: first + stories - 1,
        operations,
        store: name
      })
      assert.isUndefined(broken && `seed ${broken.seed}: ${broken.violation}`)
    })
  }
})
