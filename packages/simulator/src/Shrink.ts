import type { Operation } from "./plot/Operation.ts"
import type { Outcome } from "./Simulation.ts"

// Each attempt runs the scenario again.
const maxTries = 400
const maxMillis = 90_000

/** Returns the violated guarantee, without the record that it names. */
const promiseOf = ({ violation }: Outcome): string => violation?.split(":")[0] ?? ""

/**
 * Returns the shortest scenario found that violates the same guarantee. Removes operations, first many at a
 * time and then one by one, as long as the guarantee is still violated ("delta debugging").
 */
export const shrink = async (
  broken: Outcome,
  tell: (operations: ReadonlyArray<Operation>) => Promise<Outcome>
): Promise<Outcome> => {
  const begun = performance.now()
  let tries = 0
  let best = broken
  const attempt = async (operations: ReadonlyArray<Operation>): Promise<boolean> => {
    tries++
    const outcome = await tell(operations)
    const isBroken = outcome.violation !== undefined && promiseOf(outcome) === promiseOf(broken)
    if (isBroken) best = { ...outcome, operations: operations.slice(0, outcome.at + 1) }
    return isBroken
  }
  const isOver = () => tries >= maxTries || performance.now() - begun > maxMillis
  await attempt(broken.operations.slice(0, broken.at + 1))
  for (let size = Math.ceil(best.operations.length / 2); size >= 1 && !isOver();) {
    let isShorter = false
    // Start at the end, because later operations depend on earlier ones.
    for (let end = best.operations.length; end > 0 && !isOver(); end -= size) {
      const { operations } = best
      const without = [...operations.slice(0, Math.max(0, end - size)), ...operations.slice(end)]
      if (without.length < operations.length && (await attempt(without))) isShorter = true
    }
    if (size === 1 && !isShorter) break
    size = isShorter && size === 1 ? 1 : Math.floor(size / 2)
  }
  return best
}
