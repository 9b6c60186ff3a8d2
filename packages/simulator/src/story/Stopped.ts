import { claim } from "../checks/Violation.ts"
import { all as plots } from "../features/plots.ts"
import type { Answer, Ask } from "./Stage.ts"

/**
 * Tracks the activities that, judging by the responses, are definitely paused, and checks that nothing new is
 * accepted while they are.
 */
export interface Stopped {
  /** Records a company's request and returns a function that checks its response. */
  readonly asked: (ask: Ask, companyId: string | undefined) => (answer: Answer | undefined) => void
}

const sends = new Set<string>([
  "/v1/bitcoin/withdraw/confirm",
  "/v1/bitcoin/send/confirm",
  ...plots.flatMap(({ sends = [] }) => sends)
])
const receives = new Set<string>([
  "/v1/bitcoin/deposit/lightning-invoice",
  "/v1/bitcoin/deposit/on-chain",
  ...plots.flatMap(({ receives = [] }) => receives)
])

/** Returns the name of the activity that a request pauses or resumes. */
const namedBy = ({
  path,
  body = ""
}: Ask): { readonly name: string; readonly isStop: boolean } | undefined => {
  const freeze = /^\/operator\/companies\/([^/]+)\/(un)?freeze$/.exec(path)
  if (freeze !== null) return { name: `frozen ${freeze[1]}`, isStop: freeze[2] === undefined }
  if (path !== "/operator/pause" && path !== "/operator/resume") return undefined
  return { name: body.includes("sending") ? "sending" : "receiving", isStop: path === "/operator/pause" }
}

export const make = (): Stopped => {
  /** For each activity, the number of the pause in effect. */
  const stopped = new Map<string, number>()
  /** For each activity, the pause and resume requests that may still be in progress because they got no response. */
  const underWay = new Map<string, Set<{ isAlone: boolean }>>()
  let stops = 0

  return {
    asked: (ask, companyId) => {
      const named = namedBy(ask)
      if (named !== undefined) {
        const { name, isStop } = named
        const stop = ++stops
        const others = underWay.get(name) ?? new Set()
        underWay.set(name, others)
        const own = { isAlone: others.size === 0 }
        // The order of concurrent requests is unknown.
        for (const other of others) other.isAlone = false
        others.add(own)
        if (!isStop) stopped.delete(name)
        return (answer) => {
          if (answer?.status !== 200) return
          others.delete(own)
          if (isStop && own.isAlone) stopped.set(name, stop)
        }
      }
      const names = sends.has(ask.path)
        ? ["sending", `frozen ${companyId}`]
        : receives.has(ask.path)
          ? ["receiving"]
          : []
      const before = names.map((name) => stopped.get(name))
      return (answer) => {
        for (const [at, name] of names.entries()) {
          const isStopped = before[at] !== undefined && stopped.get(name) === before[at]
          const isTaken = answer?.status === 201 && !answer.isReplayed
          claim(
            !isStopped || !isTaken,
            `nothing new is accepted while paused (${name.split(" ")[0]}): ${ask.path} got ${answer?.text}`
          )
        }
      }
    }
  }
}
