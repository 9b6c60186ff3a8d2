import { Clock, Effect } from "effect"
import { refuse, type SandboxRefused } from "./Refused.ts"

/** Maximum number of inboxes, and of requests and body characters kept per inbox. Together about 5 MB. */
export const maxInboxes = 20
export const maxKept = 50
export const maxBodyCharacters = 4096

/** Limits for an inbox's failures: their number and their duration. */
export const maxFailures = 1000
export const maxFailingSeconds = 3600

/** A received request, and the response to it. */
export interface Arrived {
  /** The number of the request within its inbox, counted from 1. */
  readonly number: number
  readonly atMillis: number
  readonly headers: Readonly<Record<string, string>>
  /** Truncated to `maxBodyCharacters`. */
  readonly body: string
  readonly isWhole: boolean
  readonly status: number
}

/** How an inbox responds: with `status` a number of times or until a point in time, and with 200 otherwise. */
export interface Failing {
  readonly status: number
  readonly timesLeft: number | null
  readonly untilMillis: number | null
}

/** The last requests of an inbox, newest first. */
export interface Shown {
  /** Number of requests ever received. */
  readonly count: number
  readonly failing: Failing | null
  readonly requests: ReadonlyArray<Arrived>
}

interface Box {
  count: number
  failing: Failing | null
  requests: ReadonlyArray<Arrived>
}

/** A webhook receiver in memory. */
export interface Inbox {
  /**
   * Records a request and returns the status to respond with. If there are already `maxInboxes`, a new inbox
   * replaces the least recently used one.
   */
  readonly receive: (
    name: string,
    request: { readonly headers: Readonly<Record<string, string>>; readonly body: string }
  ) => Effect.Effect<number>
  readonly show: (name: string) => Effect.Effect<Shown>
  /**
   * Makes the inbox respond with this status a number of times, or for a duration. If neither is given, it
   * responds with 200 again.
   */
  readonly fail: (
    name: string,
    how: {
      readonly status: number
      readonly times?: number | undefined
      readonly forSeconds?: number | undefined
    }
  ) => Effect.Effect<Failing | null, SandboxRefused>
}

export const make = (): Inbox => {
  // Inboxes in order of their last use.
  const boxes = new Map<string, Box>()

  const boxOf = (name: string): Box => {
    const box = boxes.get(name) ?? { count: 0, failing: null, requests: [] }
    boxes.delete(name)
    boxes.set(name, box)
    for (const oldest of [...boxes.keys()].slice(0, -maxInboxes)) boxes.delete(oldest)
    return box
  }

  const isOver = ({ timesLeft, untilMillis }: Failing, nowMillis: number) =>
    timesLeft === 0 || (untilMillis !== null && nowMillis >= untilMillis)

  return {
    receive: (name, { headers, body }) =>
      Effect.map(Clock.currentTimeMillis, (atMillis) => {
        const box = boxOf(name)
        if (box.failing !== null && isOver(box.failing, atMillis)) box.failing = null
        const { failing } = box
        const status = failing?.status ?? 200
        if (failing?.timesLeft !== null && failing?.timesLeft !== undefined)
          box.failing = failing.timesLeft > 1 ? { ...failing, timesLeft: failing.timesLeft - 1 } : null
        const kept = body.slice(0, maxBodyCharacters)
        const arrived = {
          number: ++box.count,
          atMillis,
          headers,
          body: kept,
          isWhole: kept.length === body.length,
          status
        }
        box.requests = [arrived, ...box.requests.slice(0, maxKept - 1)]
        return status
      }),
    show: (name) =>
      Effect.map(Clock.currentTimeMillis, (nowMillis) => {
        const { count, failing, requests } = boxes.get(name) ?? { count: 0, failing: null, requests: [] }
        return { count, requests, failing: failing === null || isOver(failing, nowMillis) ? null : failing }
      }),
    fail: (name, { status, times, forSeconds }) =>
      Effect.gen(function* () {
        if (times !== undefined && forSeconds !== undefined)
          return yield* Effect.fromResult(
            refuse("out_of_range", "An inbox fails a number of times or for a duration; set only one of them")
          )
        const untilMillis =
          forSeconds === undefined ? null : (yield* Clock.currentTimeMillis) + forSeconds * 1000
        const isAny = times !== undefined || forSeconds !== undefined
        return (boxOf(name).failing = isAny ? { status, timesLeft: times ?? null, untilMillis } : null)
      })
  }
}
