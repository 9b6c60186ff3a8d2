import { setTimeout as pass } from "node:timers/promises"

/**
 * Maximum time a test waits for a condition. It is only reached if the condition never holds. Test machines are
 * busy, so results must not depend on their speed.
 */
export const longestMillis = 180_000

/** Timeout of a test, including its waits and hooks. */
export const testMillis = 600_000

/** Timeout of a test that installs packages, compiles and runs other programs, or visits every page in a browser. */
export const programsMillis = 3_600_000

/**
 * The pauses between polls. They are short at first and become longer, so that polling doesn't take processor
 * time from the work being tested.
 */
const betweenLooks = { firstMillis: 10, growth: 1.3, longestMillis: 100 }

/**
 * Polls until a value meets the condition, and returns that value. After `longestMillis`, throws an error that
 * contains the last value.
 */
export const eventually = async <A>(
  what: string,
  look: () => Promise<A>,
  isSo: (seen: A) => boolean
): Promise<A> => {
  const deadlineMillis = Date.now() + longestMillis
  for (
    let waitMillis = betweenLooks.firstMillis;
    ;
    waitMillis = Math.min(waitMillis * betweenLooks.growth, betweenLooks.longestMillis)
  ) {
    const seen = await look()
    if (isSo(seen)) return seen
    if (Date.now() > deadlineMillis) {
      const last = JSON.stringify(seen, (_, part: unknown) => (typeof part === "bigint" ? `${part}n` : part))
      throw new Error(`${what}: did not happen within ${longestMillis / 1000} seconds; last seen: ${last}`)
    }
    await pass(waitMillis)
  }
}

/**
 * Returns the fastest of several measurements, in milliseconds. Measures until a result is below `wantedMillis`
 * or the time is over. A test can thus check a time limit on a busy machine, and code that is too slow still
 * always fails.
 */
export const quickest = async (wantedMillis: number, measure: () => Promise<number>): Promise<number> => {
  const deadlineMillis = Date.now() + longestMillis
  let best = await measure()
  while (best >= wantedMillis && Date.now() < deadlineMillis) best = Math.min(best, await measure())
  return best
}
