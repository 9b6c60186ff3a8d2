import { Schema } from "effect"
import { randomBytes } from "node:crypto"
import * as Connection from "./Connection.ts"

/** What is asked of a server, and how. */
export const Load = Schema.Struct({
  port: Schema.Int,
  /** The port of another process, which every second client asks. */
  beside: Schema.optionalKey(Schema.Int),
  /** Whole HTTP requests, sent in turn. Where one has `{fresh}` in it, that is something else each time. */
  requests: Schema.Array(Schema.String),
  clients: Schema.Int,
  /**
   * Undefined is a closed loop: every client asks again as soon as it is answered. A number is an open loop: requests come at random (Poisson)
   * so many times a second, whether the server keeps up or not, and one that finds no free client waits.
   */
  perSecond: Schema.optionalKey(Schema.Finite),
  /** Comes before and does not count. */
  warmupMillis: Schema.Int,
  millis: Schema.Int,
  /** A closed loop's: how many are sent, whatever time is left. */
  end: Schema.optionalKey(Schema.Int)
})
export interface Load extends Schema.Schema.Type<typeof Load> {}

/** What came of it. Latencies are in milliseconds; in an open loop they begin when the request was due, so that a stall is seen. */
export const Outcome = Schema.Struct({
  answered: Schema.Int,
  /** All requests of the run, those of the warm-up too. */
  sent: Schema.Int,
  perSecond: Schema.Finite,
  p50Millis: Schema.Finite,
  p99Millis: Schema.Finite,
  /** Answers that were not 2xx or an LNURL error, and requests without one. The first of them in words. */
  bad: Schema.Int,
  firstBad: Schema.String
})
export interface Outcome extends Schema.Schema.Type<typeof Outcome> {}

// In LNURL no is 200 too (LUD-01).
const lnurlError = '{"status":"ERROR"'

// How long answers are waited for after the last request.
const graceMillis = 10_000

/** What is not above this part of the values. */
export const percentile = (sorted: Float64Array, part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0

const summary = (latencies: ReadonlyArray<number>, millis: number) => {
  const sorted = Float64Array.from(latencies).toSorted()
  return {
    answered: sorted.length,
    perSecond: (sorted.length * 1000) / millis,
    p50Millis: percentile(sorted, 0.5),
    p99Millis: percentile(sorted, 0.99)
  }
}

const passed = (millis: number) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, millis)
  })

/**
 * Requests come at random, so many a second (a Poisson process). Timers here have a millisecond: whatever came due in the meantime is offered together, with
 * the moment at which it was due.
 */
const arrivals = async (perSecond: number, from: number, until: number, offer: (dueAt: number) => void) => {
  let nextDue = from
  for (let now = from; now < until; now = performance.now()) {
    for (; nextDue <= now && nextDue < until; nextDue += (-Math.log(1 - Math.random()) * 1000) / perSecond) offer(nextDue)
    await passed(1)
  }
}

/** What stands for something that was never sent before. */
export const fresh = "{fresh}"

/** Runs a load to its end. */
export const run = async (load: Load): Promise<Outcome> => {
  const { perSecond, end = Infinity } = load
  const requests = load.requests.map((request) => request.split(fresh))
  const ofThisRun = randomBytes(8).toString("hex")
  const latencies: Array<number> = []
  const beganAt = new Map<number, number>() // by client: those that wait for an answer
  const due: Array<number> = []
  const idle: Array<number> = []
  const connections: Array<Connection.Connection> = []
  let sent = 0
  let bad = 0
  let firstBad = ""
  let countFrom = Infinity
  let countTo = Infinity
  let sending = true
  let finished = () => {}

  const failed = (why: string) => {
    if (bad++ === 0) firstBad = why
  }
  const send = (client: number, began: number) => {
    const request = requests[sent++ % requests.length]
    if (request === undefined) throw new Error("a load needs at least one request")
    beganAt.set(client, began)
    connections[client]?.send(request.length === 1 ? (request[0] ?? "") : request.join(`${ofThisRun}-${sent}`))
  }
  /** What a client that has nothing to do does next. */
  const next = (client: number) => {
    if (perSecond === undefined) {
      if (sending && sent < end) return send(client, performance.now())
    } else {
      const began = due.shift()
      if (began !== undefined) return send(client, began)
      idle.push(client)
    }
    if ((!sending || sent >= end) && beganAt.size === 0) finished()
  }
  const answered = (client: number, status: number, opening: string) => {
    const now = performance.now()
    const began = beganAt.get(client)
    if (began === undefined) return failed("an answer that nobody asked for")
    beganAt.delete(client)
    // A closed loop counts what is answered in the time, an open one what was due in it: a stalled server must not shorten the list.
    const at = perSecond === undefined ? now : began
    if (at >= countFrom && at < countTo) latencies.push(now - began)
    if (status < 200 || status > 299) failed(`it answered ${status}`)
    else if (opening.startsWith(lnurlError)) failed(`it answered ${opening}`)
    next(client)
  }

  try {
    for (let client = 0; client < load.clients; client++) {
      connections.push(
        await Connection.open(client % 2 === 1 ? (load.beside ?? load.port) : load.port, {
          onAnswer: (status, opening) => answered(client, status, opening),
          onBroken: (why) => {
            beganAt.delete(client)
            failed(why)
            if (!sending && beganAt.size === 0) finished()
          }
        })
      )
    }
    const startedAt = performance.now()
    countFrom = startedAt + load.warmupMillis
    countTo = countFrom + load.millis
    for (let client = 0; client < load.clients; client++) next(client)

    if (perSecond === undefined) {
      await new Promise<void>((resolve) => {
        const over = setTimeout(resolve, countTo - startedAt)
        finished = () => {
          clearTimeout(over)
          resolve()
        }
      })
    } else {
      await arrivals(perSecond, startedAt, countTo, (dueAt) => {
        const client = idle.shift() // the one idle longest: a server hangs up on who says nothing for long
        if (client === undefined) due.push(dueAt)
        else send(client, dueAt)
      })
    }
    sending = false
    const unanswered = () => beganAt.size + due.length
    if (unanswered() > 0) {
      await new Promise<void>((resolve) => {
        const grace = setTimeout(resolve, graceMillis)
        finished = () => {
          clearTimeout(grace)
          resolve()
        }
      })
      if (unanswered() > 0) {
        failed(`${unanswered()} requests had no answer ${graceMillis / 1000} s after the last was sent`)
        bad += unanswered() - 1
      }
    }
  } finally {
    for (const connection of connections) connection.close()
  }
  return { ...summary(latencies, load.millis), sent, bad, firstBad }
}
