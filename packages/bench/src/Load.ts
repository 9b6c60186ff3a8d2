import { Schema } from "effect"
import { connect, type Socket } from "node:net"
import { setTimeout as passed } from "node:timers/promises"

/** Requests to a server on this machine. */
export const Load = Schema.Struct({
  port: Schema.Int,
  /** Complete HTTP requests, sent in turn. */
  requests: Schema.Array(Schema.String),
  clients: Schema.Int,
  /**
   * If undefined, the load is a closed loop: each client sends its next request after the previous response. A
   * number makes it an open loop: requests become due at random times (Poisson) at this rate per second,
   * however slow the server is, and are queued while no client is free.
   */
  perSecond: Schema.optionalKey(Schema.Finite),
  /** Warm-up time, which is not measured. */
  warmupMillis: Schema.Int,
  millis: Schema.Int
})
export interface Load extends Schema.Schema.Type<typeof Load> {}

/**
 * The results of a load. In an open loop, a latency is measured from the time the request was due, so that
 * stalls are visible.
 */
export const Outcome = Schema.Struct({
  answered: Schema.Int,
  /** Number of all requests, including those of the warm-up. */
  sent: Schema.Int,
  perSecond: Schema.Finite,
  p50Millis: Schema.Finite,
  p99Millis: Schema.Finite,
  /** Number of responses other than 2xx, and requests without a response. `firstBad` describes the first. */
  bad: Schema.Int,
  firstBad: Schema.String
})
export interface Outcome extends Schema.Schema.Type<typeof Outcome> {}

/** Default warm-up time. */
export const warmupMillis = 300

// Time to wait for responses after the last request.
const graceMillis = 10_000

/** Returns a percentile: the value that this fraction of the values does not exceed. */
export const percentile = (sorted: Float64Array, part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0

export const summary = (latencies: ReadonlyArray<number>, millis: number) => {
  const sorted = Float64Array.from(latencies).toSorted()
  return {
    answered: sorted.length,
    perSecond: (sorted.length * 1000) / millis,
    p50Millis: percentile(sorted, 0.5),
    p99Millis: percentile(sorted, 0.99)
  }
}

/**
 * Calls `offer` for requests that are due at random times. Timers have a resolution of a millisecond, so all
 * requests that became due since the last tick are offered together.
 */
const arrivals = async (perSecond: number, from: number, until: number, offer: (dueAt: number) => void) => {
  let nextDue = from
  for (let now = from; now < until; now = performance.now()) {
    for (; nextDue <= now && nextDue < until; nextDue += (-Math.log(1 - Math.random()) * 1000) / perSecond)
      offer(nextDue)
    await passed(1)
  }
}

/**
 * Opens a keep-alive connection for one request at a time. It supports only responses with a Content-Length,
 * because a full HTTP client costs more processor time than the measured servers.
 */
const open = (
  port: number,
  onAnswer: (status: number) => void,
  onBroken: (why: string) => void
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => resolve(socket))
    let head = ""
    let missing = Infinity // bytes, once the head is complete
    const broken = (why: string) => {
      socket.removeAllListeners("close").destroy()
      onBroken(why)
    }
    socket.on("data", (chunk) => {
      if (missing < Infinity) missing -= chunk.length
      else {
        head += chunk.toString("latin1")
        const bodyAt = head.indexOf("\r\n\r\n") + 4
        if (bodyAt < 4) return
        const length = /\r\ncontent-length: *(\d+)/i.exec(head.slice(0, bodyAt))?.[1]
        if (length === undefined) return broken("a response without a Content-Length")
        missing = bodyAt + Number(length) - head.length
      }
      if (missing > 0) return
      if (missing < 0) return broken("a response longer than its Content-Length")
      const status = Number(head.slice(9, 12))
      head = ""
      missing = Infinity
      onAnswer(status)
    })
    socket.on("close", () => broken("the server closed the connection"))
    socket.on("error", reject)
  })

/** Runs a load to its end. */
export const run = async (load: Load): Promise<Outcome> => {
  const { perSecond, requests } = load
  const latencies: Array<number> = []
  const beganAt = new Map<number, number>() // by client, while it waits
  const due: Array<number> = []
  const idle: Array<number> = []
  const sockets: Array<Socket> = []
  let [sent, bad, firstBad] = [0, 0, ""]
  let [countFrom, countTo] = [Infinity, Infinity]
  let sending = true
  let finished = () => {}

  const failed = (why: string) => {
    if (bad++ === 0) firstBad = why
  }
  const send = (client: number, began: number) => {
    beganAt.set(client, began)
    sockets[client]?.write(requests[sent++ % requests.length] ?? "")
  }
  const next = (client: number) => {
    if (perSecond !== undefined) {
      const began = due.shift()
      if (began !== undefined) return send(client, began)
      idle.push(client)
    } else if (sending) return send(client, performance.now())
    if (!sending && beganAt.size === 0) finished()
  }
  const answered = (client: number, status: number) => {
    const now = performance.now()
    const began = beganAt.get(client)
    if (began === undefined) return failed("a response without a request")
    beganAt.delete(client)
    // A closed loop counts the responses that were received in the measured time. An open loop counts the
    // requests that were due in that time, so that the slow requests of a stalled server are counted too.
    const at = perSecond === undefined ? now : began
    if (at >= countFrom && at < countTo) latencies.push(now - began)
    if (status < 200 || status > 299) failed(`the status was ${status}`)
    next(client)
  }
  const broken = (client: number, why: string) => {
    beganAt.delete(client)
    failed(why)
    if (!sending && beganAt.size === 0) finished()
  }

  try {
    for (let client = 0; client < load.clients; client++) {
      sockets.push(
        await open(
          load.port,
          (status) => answered(client, status),
          (why) => broken(client, why)
        )
      )
    }
    countFrom = performance.now() + load.warmupMillis
    countTo = countFrom + load.millis
    for (let client = 0; client < load.clients; client++) next(client)
    if (perSecond === undefined) await passed(load.warmupMillis + load.millis)
    else
      await arrivals(perSecond, countFrom - load.warmupMillis, countTo, (dueAt) => {
        const client = idle.shift() // the client that was idle the longest, because a server closes idle connections
        if (client === undefined) due.push(dueAt)
        else send(client, dueAt)
      })
    sending = false
    const unanswered = () => beganAt.size + due.length
    if (unanswered() > 0) {
      const all = new Promise<void>((resolve) => {
        finished = resolve
      })
      await Promise.race([all, passed(graceMillis)])
      for (let left = unanswered(); left > 0; left--)
        failed(`no response ${graceMillis / 1000} s after the last request was sent`)
    }
  } finally {
    for (const socket of sockets) socket.removeAllListeners("close").destroy()
  }
  return { ...summary(latencies, load.millis), sent, bad, firstBad }
}
