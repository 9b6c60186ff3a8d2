import type { Acts } from "./Made.ts"
import type { Outsiders } from "./Outsiders.ts"
import type { Stage } from "./Stage.ts"

/**
 * Operations that let time pass or inject faults: in processes, between a process and its ports, at the node
 * and on the chain.
 */
export const make = (
  { world, processes, traps, pass, jump }: Stage,
  { attempt }: Outsiders
): Acts<
  | "Wait"
  | "Jump"
  | "Kill"
  | "Freeze"
  | "Skew"
  | "TakeAway"
  | "Lay"
  | "FeeRate"
  | "IndexBehind"
  | "LoseNotice"
  | "RepeatNotices"
  | "Forget"
  | "RoutesDown"
  | "LieOnce"
> => {
  const { sandbox, outside } = world
  let hasLied = false
  return {
    Wait: ({ millis }) => pass(millis),
    Jump: ({ millis }) => jump(millis),
    Kill: ({ slot, backAfterMillis }) => processes.kill(slot, backAfterMillis),
    Freeze: ({ slot, millis }) => processes.freeze(slot, millis),
    Skew: ({ slot, millis }) => processes.skew(slot, millis),
    TakeAway: ({ port, millis }) => processes.takeAway(port, millis),
    Lay: ({ trap }) => traps.set(trap),
    FeeRate: ({ satsPerVbyte }) => outside.setFeeRate(satsPerVbyte),
    IndexBehind: ({ millis }) => {
      world.now(sandbox.pause("index"))
      world.time.after(millis, () => void world.now(sandbox.resume("index")))
    },
    // If the node has falsely reported an invoice as closed, it must not lose notifications. That invoice is no
    // longer polled, so its payment would never be noticed.
    LoseNotice: () => (hasLied ? undefined : attempt("loses a notice", sandbox.loseNextNotice)),
    RepeatNotices: ({ times }) => processes.tellNotices(times),
    Forget: () => outside.forget(),
    RoutesDown: ({ areDown }) => outside.setRoutesDown(areDown),
    LieOnce: () => {
      if (attempt("looks", sandbox.state)?.lightning.losesNextNotice === true) return
      hasLied = true
      outside.lieOnce()
    }
  }
}
