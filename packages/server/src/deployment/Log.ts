import { Effect, Layer, Logger, References } from "effect"
import { writeSync } from "node:fs"
import type { Environment } from "./Environment.ts"

const isPretty = ({ logFormat }: Pick<Environment, "logFormat">): boolean =>
  logFormat === "pretty" || (logFormat === "auto" && process.stderr.isTTY)

/**
 * Writes the lines of one event-loop turn together, because a separate write for each request would slow
 * requests down. All lines are written when the process exits, unless it is killed in that turn.
 */
const json = Effect.gen(function* () {
  let waiting = ""
  const flush = () => {
    const text = waiting
    waiting = ""
    if (text !== "") process.stderr.write(text)
  }
  const last = () => {
    const text = waiting
    waiting = ""
    try {
      if (text !== "") writeSync(process.stderr.fd, text)
    } catch {
      // The disk is full, or the reader has ended.
    }
  }
  process.once("exit", last)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      flush()
      process.off("exit", last)
    })
  )
  return Logger.map(Logger.formatJson, (line) => {
    if (waiting === "") setImmediate(flush)
    waiting += `${line}\n`
  })
})

interface RequestLine {
  readonly method: string
  readonly route: string
  readonly status: number
  readonly ms: number
  readonly by?: "console"
}

/** Returns the fields of a request log line (`Exchange.recorder` in http). */
const requestOf = (message: unknown): RequestLine | undefined =>
  Array.isArray(message) && message.length === 2 && message[0] === "request" ? message[1] : undefined

/**
 * Logs human-readable text: one line per request, none for the console's polling, and everything else as the
 * framework prints it.
 */
const pretty = () => {
  const others = Logger.consolePretty({ colors: "auto" })
  return Logger.make((options) => {
    const request = requestOf(options.message)
    if (request === undefined) return others.log(options)
    const { method, route, status, ms, by } = request
    if (by === "console" && method === "GET" && status < 400) return
    process.stderr.write(`${options.date.toTimeString().slice(0, 8)} ${method} ${route} ${status} ${ms} ms\n`)
  })
}

const drop = () => undefined

/**
 * Drops log lines that standard error does not accept, because the disk is full or the reader has ended. Without a
 * listener, the error would end the process. The listener stays, because the last lines may fail after the log has
 * ended. The database has every payment and every change by an operator.
 */
const dropped = Layer.effectDiscard(Effect.sync(() => process.stderr.off("error", drop).on("error", drop)))

/** Logs to standard error, as JSON lines or as human-readable text. */
export const layer = (environment: Pick<Environment, "logFormat" | "logLevel">) =>
  Layer.mergeAll(
    dropped,
    Logger.layer([isPretty(environment) ? pretty() : json]),
    Layer.succeed(References.MinimumLogLevel, environment.logLevel),
    Layer.succeed(Logger.LogToStderr, true)
  )
