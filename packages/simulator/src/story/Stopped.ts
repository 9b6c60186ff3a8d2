import { claim } from "../checks/Violation.ts"
import { all as plots } from "../features/plots.ts"
import type { Answer, Ask } from "./Stage.ts"

/** What is stopped, as far as answers say it for certain, and that nothing new is taken then. */
export interface Stopped {
  /** Says what is asked, by whichever company, and answers what its answer is held to. */
  readonly asked: (ask: Ask, companyId: string | undefined) => (answer: Answer | undefined) => void
}

const sends = new Set<string>(["/v1/bitcoin/withdraw/confirm", "/v1/bitcoin/send/confirm", ...plots.flatMap(({ sends = [] }) => sends)])
const receives = new Set<string>([
  "/v1/bitcoin/deposit/lightning-invoice",
  "/v1/bitcoin/deposit/on-chain",
  "/v1/bitcoin/deposit/offer",
  ...plots.flatMap(({ receives = [] }) => receives)
])

/** What a request stops or has go on, by a name. */
const namedBy = ({ path, body = "" }: Ask): { readonly name: string; readonly isStop: boolean } | undefined => {
  const freeze = /^\/operator\/companies\/([^/]+)\/(un)?freeze$/.exec(path)
  if (freeze !== null) return { name: `frozen ${freeze[1]}`, isStop: freeze[2] === undefined }
  if (path !== "/operator/pause" && path !== "/operator/resume") return undefined
  return { name: body.includes("sending") ? "sending" : "receiving", isStop: path === "/operator/pause" }
}

export const make = (): Stopped => {
  /** By name, since which stop. */
  const stopped = new Map<string, number>()
  /** What was asked for by this name and is under way, or may be: who asked heard of no answer. */
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
        // Of two at once nobody knows which was done first.
        for (const other of others) other.isAlone = false
        others.add(own)
        if (!isStop) stopped.delete(name)
        return (answer) => {
          if (answer?.status !== 200) return
          others.delete(own)
          if (isStop && own.isAlone) stopped.set(name, stop)
        }
      }
      const names = sends.has(ask.path) ? ["sending", `frozen ${companyId}`] : receives.has(ask.path) ? ["receiving"] : []
      const before = names.map((name) => stopped.get(name))
      return (answer) => {
        for (const [at, name] of names.entries()) {
          const isStopped = before[at] !== undefined && stopped.get(name) === before[at]
          const isTaken = answer?.status === 201 && !answer.isReplayed
          claim(!isStopped || !isTaken, `nothing new is taken while it is stopped (${name.split(" ")[0]}): ${ask.path} got ${answer?.text}`)
        }
      }
    }
  }
}
