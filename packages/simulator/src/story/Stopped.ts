import { claim } from "../checks/Violation.ts"
import type { Answer, Ask } from "./Stage.ts"

/** What is stopped, as far as answers say it for certain, and that nothing new is taken then. */
export interface Stopped {
  /** Says what is asked, by whichever company, and answers what its answer is held to. */
  readonly asked: (ask: Ask, companyId: string | undefined) => (answer: Answer | undefined) => void
}

const sends = new Set(["/v1/bitcoin/withdraw/confirm", "/v1/bitcoin/send/confirm", "/v1/vouchers", "/v1/refunds"])
const receives = new Set(["/v1/bitcoin/deposit/lightning-invoice", "/v1/bitcoin/deposit/on-chain", "/v1/checkouts"])

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
  /** Something that has it go on is under way, or may be: who asked heard of no answer. */
  const doubtful = new Set<string>()
  /** By name, when somebody was asked last to have it go on. */
  const gone = new Map<string, number>()
  let stops = 0

  return {
    asked: (ask, companyId) => {
      const named = namedBy(ask)
      if (named !== undefined) {
        const { name, isStop } = named
        const stop = ++stops
        if (isStop) {
          return (answer) => {
            // Of a stop and its opposite at once nobody knows which came last.
            const isLast = (gone.get(name) ?? 0) < stop && !doubtful.has(name)
            if (answer?.status === 200 && isLast) stopped.set(name, stop)
          }
        }
        gone.set(name, stop)
        stopped.delete(name)
        doubtful.add(name)
        // Nobody else has it go on meanwhile, or it stays in doubt.
        return (answer) => void (answer?.status === 200 && stop === stops && doubtful.delete(name))
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
