import { claim } from "../../checks/Violation.ts"
import { member, text } from "../../story/Json.ts"
import type { Answer } from "../../story/Stage.ts"
import type { Follow } from "../Feature.ts"

/** The known limits of a key or a company. */
interface Known {
  /** Number of times the limits were set. */
  readonly times: number
  /**
   * Number of requests to set limits that may still be in progress, because a request without a response may
   * arrive at any time.
   */
  readonly open: number
  readonly above: number | undefined
}

const nothing: Known = { times: 0, open: 0, above: undefined }
const confirms = new Set(["/v1/bitcoin/withdraw/confirm", "/v1/bitcoin/send/confirm"])
const limits = /^\/operator\/(companies|api-keys)\/([^/]+)\/limits$/

/**
 * Tracks the amounts above which, judging by the responses, approval by another key is definitely required.
 * Checks that larger withdrawals wait.
 */
export const follow = (): Follow => {
  /** Keyed by the id of a company or an API key. */
  const known = new Map<string, Known>()
  const of = (id: string) => known.get(id) ?? nothing

  const set = (id: string, body: string): ((answer: Answer | undefined) => void) => {
    const { times, open } = of(id)
    known.set(id, { times: times + 1, open: open + 1, above: undefined })
    const above = Number(member(JSON.parse(body), "approval_above_sats") ?? Infinity)
    return (answer) => {
      if (answer === undefined || answer.status >= 500) return
      const now = of(id)
      const isAlone = open === 0 && now.times === times + 1
      known.set(id, { ...now, open: now.open - 1, ...(answer.status === 200 && isAlone && { above }) })
    }
  }

  return ({ path, body, bearer }, companyId) => {
    const limited = limits.exec(path)?.[2]
    if (limited !== undefined) return set(limited, body ?? "{}")
    if (!confirms.has(path) || companyId === undefined) return () => {}
    const ids = [companyId, bearer?.split("_")[2] ?? ""]
    const before = ids.map(of)
    return (answer) => {
      if (answer?.status !== 201 || answer.isReplayed) return
      const data = member(JSON.parse(answer.text), "data")
      for (const [at, id] of ids.entries()) {
        const { above = Infinity, times } = before[at] ?? nothing
        const isAbove = of(id).times === times && Number(member(data, "amount_sats")) > above
        claim(
          !isAbove || text(data, "status") === "pending_approval",
          `a withdrawal above the threshold waits for approval: ${answer.text}`
        )
      }
    }
  }
}
