import { Effect, Layer, Logger, References } from "effect"
import { writeSync } from "node:fs"
import type { Environment } from "./Environment.ts"

const isPretty = ({ logFormat }: Pick<Environment, "logFormat">): boolean =>
  logFormat === "pretty" || (logFormat === "auto" && process.stderr.isTTY)

/**
 * Lines that come in one turn of the event loop are written together: one for each request, written alone, would cost the request a write of its own. All are
 * written when the process ends, unless it is killed in that turn.
 */
const json = Effect.gen(function* () {
  let waiting = ""
  const flush = () => {
    const text = waiting
    waiting = ""
    if (text !== "") process.stderr.write(text)
  }
  const last = () => {
    if (waiting !== "") writeSync(process.stderr.fd, waiting)
    waiting = ""
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

/** The log on standard error: lines of JSON, or for people. */
export const layer = (environment: Pick<Environment, "logFormat" | "logLevel">) =>
  Layer.mergeAll(
    Logger.layer([isPretty(environment) ? Logger.consolePretty({ colors: "auto" }) : json]),
    Layer.succeed(References.MinimumLogLevel, environment.logLevel),
    Layer.succeed(Logger.LogToStderr, true)
  )
