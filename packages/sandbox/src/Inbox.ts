import { Clock, Effect } from "effect"
import { refuse, type SandboxRefused } from "./Refused.ts"

/** How many inboxes there are, how many requests each keeps, and how much of a body. Together some 5 MB. */
export const maxInboxes = 20
export const maxKept = 50
export const maxBodyCharacters = 4096

/** The most times that an inbox is told to fail, and the longest that it does so. */
export const maxFailures = 1000
export const maxFailingSeconds = 3600

/** A request that arrived, and how it was answered. */
export interface Arrived {
  /** Counts the requests of its inbox from 1. */
  readonly number: number
  readonly atMillis: number
  readonly headers: Readonly<Record<string, string>>
  /** Its beginning, where it is longer than `maxBodyCharacters`. */
  readonly body: string
  readonly isWhole: boolean
  readonly status: number
}

/** How an inbox answers: `status` so many times more, or until a moment; 200 otherwise. */
export interface Failing {
  readonly status: number
  readonly timesLeft: number | null
  readonly untilMillis: number | null
}

/** What an inbox got last, the newest first. */
export interface Shown {
  /** All that ever arrived. */
  readonly count: number
  readonly failing: Failing | null
  readonly requests: ReadonlyArray<Arrived>
}

interface Box {
  count: number
  failing: Failing | null
  requests: ReadonlyArray<Arrived>
}

/** A receiver of webhooks, in memory. */
export interface Inbox {
  /** Takes a request in, and answers the status to give. The inbox that got nothing for longest makes room for a new one. */
  readonly receive: (
    name: string,
    request: { readonly headers: Readonly<Record<string, string>>; readonly body: string }
  ) => Effect.Effect<number>
  readonly show: (name: string) => Effect.Effect<Shown>
  /** Answers with this status so many times, or for so long; without either, 200 again. */
  readonly fail: (
    name: string,
    how: { readonly status: number; readonly times?: number | undefined; readonly forSeconds?: number | undefined }
  ) => Effect.Effect<Failing | null, SandboxRefused>
}

export const make = (): Inbox => {
  // In the order in which they were last used.
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
        const arrived = { number: ++box.count, atMillis, headers, body: kept, isWhole: kept.length === body.length, status }
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
          return yield* Effect.fromResult(refuse("out_of_range", "An inbox fails so many times, or for so long: give one of both"))
        const untilMillis = forSeconds === undefined ? null : (yield* Clock.currentTimeMillis) + forSeconds * 1000
        const isAny = times !== undefined || forSeconds !== undefined
        return (boxOf(name).failing = isAny ? { status, timesLeft: times ?? null, untilMillis } : null)
      })
  }
}
