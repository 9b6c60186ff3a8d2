import { Effect } from "effect"
import { performance } from "node:perf_hooks"

/** The part of a second in which an idle process may be busy. */
const idle = 0.2

/** Starts to measure, and returns a function that returns the part of the time since then in which the process was busy. */
const measure = () => {
  const before = performance.eventLoopUtilization()
  return () => performance.eventLoopUtilization(before).utilization
}

const collect = () => globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" })

/** The number of seconds to wait for an idle one. A process that stays busy collects its garbage while it works. */
const patience = 60

/**
 * Collects the garbage of startup in the first idle second, if Node exposes the collector. The garbage makes up a
 * fifth of an idle process's memory. Collecting it stops the process for as long as an eighth of its startup, so
 * neither readiness nor a busy process's requests wait for it.
 */
export const collectWhenIdle = Effect.fnUntraced(function* (process = { measure, collect }) {
  for (let second = 0; second < patience; second++) {
    const busySince = process.measure()
    yield* Effect.sleep(1000)
    if (busySince() <= idle) return process.collect()
  }
})
