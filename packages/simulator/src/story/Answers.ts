import type { Seen } from "../checks/Seen.ts"
import { claim } from "../checks/Violation.ts"
import type { Feature } from "../features/Feature.ts"
import { member, text } from "./Json.ts"
import type { Answer, Ask } from "./Stage.ts"

/** Checks that apply to every response. */
export interface Answers {
  /** Returns whether a request with this Idempotency-Key succeeded before. */
  readonly isPromised: (ask: Ask) => boolean
  /**
   * Returns the response's data if it succeeded. `wasPromised` is the result of `isPromised` when the request
   * was sent. `isKept` is false if the process may have slept for a month, after which the key is forgotten.
   */
  readonly judge: (ask: Ask, answer: Answer, asking: number, wasPromised: boolean, isKept: boolean) => unknown
}

/** A used idempotency key: the body sent with it, and the response. */
interface Promised {
  readonly body: string | undefined
  readonly answer: string
}

/**
 * Changes that a refused request may still have applied. None of them concerns money or the requested record.
 */
const besides = new Set(["ApiKeyUsed", "DomainChecked", "KeyRangeReserved"])

/**
 * Changes to an endpoint that may have been deleted before the response was read. The request is then refused,
 * although the Change was applied.
 */
const toTheDeleted = new Set(["EndpointDisabled", "EndpointEnabled", "EndpointRotated"])

/**
 * Changes that a refused request to settle a hold invoice may apply. It queries the node first, and the held
 * payment may be due for return by then.
 */
const toTheOverdue = new Set(["InvoiceHeld", "InvoiceCanceled", "InvoiceExpired", "InvoiceClosed"])

/** Wallets receive the body that LNURL defines, without an envelope. */
const isForWallet = ({ path }: Ask) => path.startsWith("/lnurl") || path.startsWith("/.well-known")

const keyOf = ({ bearer, once }: Ask) => `${bearer} ${once}`

export const make = (seen: Seen, features: ReadonlyArray<Feature>): Answers => {
  const promised = new Map<string, Promised>()
  const excuses = features.flatMap(({ excuses }) => excuses?.(seen.hear) ?? [])

  /** Checks that an idempotency key has one response and one effect. */
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
      if (status < 300)
        claim(
          before.answer === answered,
          `a repeated request gets the same response: ${what} got ${answered}`
        )
      // Either of two concurrent requests may have been first.
      if (!wasPromised) return
      claim(status < 300 || status >= 500, `a repeated request is not refused: ${what} got ${answered}`)
      if (status < 300)
        claim(
          isReplayed && applied.length === 0,
          `a repeated request is a replay: ${what} did ${applied.join()}`
        )
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
      claim(
        isWallet || member(body, "status") === status,
        `a response is an envelope with a valid status: ${what} got ${answered}`
      )
      claim(
        text(body, "error", "code") !== "internal",
        `no request causes an internal error: ${what} got ${answered}`
      )
      const isRefused = isWallet
        ? text(body, "status") === "ERROR" && !/The service cannot /.test(answered)
        : status >= 400 && status < 500
      seen.absorb()
      const isExcused = (tag: string) =>
        besides.has(tag) ||
        (status === 404 && toTheDeleted.has(tag)) ||
        (ask.path.endsWith("/settle") && toTheOverdue.has(tag)) ||
        excuses.some((isExcused) => isExcused(tag, { path: ask.path, asking, body }))
      const applied = seen.appliedFor(asking).filter((tag) => !isExcused(tag))
      claim(
        !isRefused || applied.length === 0,
        `a refused request changes nothing: ${what} got ${answered} and did ${applied.join()}`
      )
      if (isKept) holdToKey(what, ask, answer, applied, wasPromised)
      if (status >= 300 || text(body, "status") === "ERROR") return undefined
      return isWallet ? body : member(body, "data")
    }
  }
}
