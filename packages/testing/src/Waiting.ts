import { setTimeout as pass } from "node:timers/promises"

/**
 * How long a test waits for what must become true. It is only the end for what never comes: machines that run tests are busy, and no test's verdict
 * hangs on how quick they are.
 */
export const longestMillis = 180_000

/** How long a test may take in all, its waiting and that of its hooks included. */
export const testMillis = 600_000

/** How long a test may take that installs packages, or compiles and runs programs of others. */
export const programsMillis = 3_600_000

/** Between two looks: what comes soon is seen soon, and what takes long is not asked for all the time, which takes processor time from what is waited for. */
const betweenLooks = { firstMillis: 10, growth: 1.3, longestMillis: 100 }

/** Looks until it is so, and returns what was seen then. Throws after `longestMillis`, with what was seen last. */
export const eventually = async <A>(what: string, look: () => Promise<A>, isSo: (seen: A) => boolean): Promise<A> => {
  const deadlineMillis = Date.now() + longestMillis
  for (let waitMillis = betweenLooks.firstMillis; ; waitMillis = Math.min(waitMillis * betweenLooks.growth, betweenLooks.longestMillis)) {
    const seen = await look()
    if (isSo(seen)) return seen
    if (Date.now() > deadlineMillis) {
      const last = JSON.stringify(seen, (_, part: unknown) => (typeof part === "bigint" ? `${part}n` : part))
      throw new Error(`${what}: not after ${longestMillis / 1000} seconds; last seen: ${last}`)
    }
    await pass(waitMillis)
  }
}

/**
 * The quickest of some tries, in milliseconds: as many as it takes to be within `wantedMillis`, or as there is time for. So a limit is held on a machine that
 * is busy with others: what is slow by itself is never within it.
 */
export const quickest = async (wantedMillis: number, measure: () => Promise<number>): Promise<number> => {
  const deadlineMillis = Date.now() + longestMillis
  let best = await measure()
  while (best >= wantedMillis && Date.now() < deadlineMillis) best = Math.min(best, await measure())
  return best
}
