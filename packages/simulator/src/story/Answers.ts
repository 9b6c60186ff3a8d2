import type { Seen } from "../checks/Seen.ts"
import { claim } from "../checks/Violation.ts"
import { all as features } from "../features/checks.ts"
import { member, text } from "./Json.ts"
import type { Answer, Ask } from "./Stage.ts"

/** What every answer has to be, whatever was asked. */
export interface Answers {
  /** Whether something was promised under the Idempotency-Key of this. */
  readonly isPromised: (ask: Ask) => boolean
  /**
   * What was answered, when it is a success. `wasPromised` says what `isPromised` did when it was asked. Its key is not `isKept` any more where whoever was to
   * answer slept for a month.
   */
  readonly judge: (ask: Ask, answer: Answer, asking: number, wasPromised: boolean, isKept: boolean) => unknown
}

/** What is known of a key: the body it came with, and what was answered. */
interface Promised {
  readonly body: string | undefined
  readonly answer: string
}

/** What a refused request may have done all the same: nothing of it is about money or what was asked for. */
const besides = new Set(["ApiKeyUsed", "DomainChecked", "KeyRangeReserved"])

/** What was done to an endpoint that somebody else deleted before the answer was read: it is not there any more, and nothing of it is. */
const toTheDeleted = new Set(["EndpointDisabled", "EndpointEnabled", "EndpointRotated"])

/** What a request to settle a hold invoice may do and be refused: it asks the node first, and what is held may have to go back by then. */
const toTheOverdue = new Set(["InvoiceHeld", "InvoiceCanceled", "InvoiceExpired", "InvoiceClosed"])

/** Wallets get what LNURL says, without an envelope. */
const isForWallet = ({ path }: Ask) => path.startsWith("/lnurl") || path.startsWith("/.well-known")

const keyOf = ({ bearer, once }: Ask) => `${bearer} ${once}`

export const make = (seen: Seen): Answers => {
  const promised = new Map<string, Promised>()
  const excuses = features.flatMap(({ excuses }) => excuses?.(seen.hear) ?? [])

  /** An idempotency key has one answer, and one effect. */
  const holdToKey = (
    what: string,
    ask: Ask,
    { status, text: answered, isReplayed }: Answer,
    applied: ReadonlyArray<string>,
    wasPromised: boolean
  ): void => {
    if (ask.once === undefined) return
    const before = promised.get(keyOf(ask))
    if (before === undefined) {
      if (status < 300) promised.set(keyOf(ask), { body: ask.body, answer: answered })
    } else if (before.body === ask.body) {
      if (status < 300) claim(before.answer === answered, `a repeated request gets the same answer: ${what} got ${answered}`)
      // Of two at once either may have been the first.
      if (!wasPromised) return
      claim(status < 300 || status >= 500, `a repeated request is not refused: ${what} got ${answered}`)
      if (status < 300) claim(isReplayed && applied.length === 0, `a repeated request is a replay: ${what} did ${applied.join()}`)
    } else {
      claim(status >= 400, `a key is not used for something else: ${what} got ${answered}`)
    }
  }

  return {
    isPromised: (ask) => promised.has(keyOf(ask)),
    judge: (ask, answer, asking, wasPromised, isKept) => {
      const { status, text: answered } = answer
      const what = `${ask.method} ${ask.path} with ${ask.body ?? "nothing"}`
      const body: unknown = JSON.parse(answered)
      const isWallet = isForWallet(ask)
      claim(isWallet || member(body, "status") === status, `an answer is an envelope with its status: ${what} got ${answered}`)
      claim(text(body, "error", "code") !== "internal", `nothing crashes: ${what} got ${answered}`)
      const isRefused = isWallet ? text(body, "status") === "ERROR" && !/try again/.test(answered) : status >= 400 && status < 500
      seen.absorb()
      const isExcused = (tag: string) =>
        besides.has(tag) ||
        (status === 404 && toTheDeleted.has(tag)) ||
        (ask.path.endsWith("/settle") && toTheOverdue.has(tag)) ||
        excuses.some((isExcused) => isExcused(tag, { path: ask.path, asking, body }))
      const applied = seen.appliedFor(asking).filter((tag) => !isExcused(tag))
      claim(!isRefused || applied.length === 0, `what is refused changes nothing: ${what} got ${answered} and did ${applied.join()}`)
      if (isKept) holdToKey(what, ask, answer, applied, wasPromised)
      if (status >= 300 || text(body, "status") === "ERROR") return undefined
      return isWallet ? body : member(body, "data")
    }
  }
}
