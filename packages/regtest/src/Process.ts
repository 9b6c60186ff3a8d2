import * as FreePort from "@satrail/testing/freePort"
import { Effect, Schema, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync, readFileSync } from "node:fs"
import path from "node:path"
import * as Keeper from "./Keeper.ts"

/** The network could not start or doesn't work. The message contains the end of the program's output. */
export class RegtestFailed extends Schema.TaggedError<RegtestFailed>()("RegtestFailed", {
  message: Schema.String
}) {}

/** A program and its arguments. It may write to `folder`. */
export interface Program {
  readonly name: string
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly folder: string
  /** Returns the environment variables for a start, in addition to PATH. It is called at each start. */
  readonly env?: () => Readonly<Record<string, string>>
}

/**
 * A program that can be stopped and restarted. The program is stopped when the scope closes, and also when this
 * process exits for any reason.
 */
export interface Process {
  readonly start: Effect.Effect<void, RegtestFailed>
  /** Stops the program gracefully (SIGTERM) or immediately (SIGKILL), and waits until it has exited. */
  readonly stop: (signal: "SIGTERM" | "SIGKILL") => Effect.Effect<void>
  readonly signal: (signal: NodeJS.Signals) => Effect.Effect<void, RegtestFailed>
  /** Fails with the end of the program's output as soon as the program exits by itself. */
  readonly died: Effect.Effect<never, RegtestFailed>
}

const maxStopMillis = 20_000
/** Default timeout for waits. It is long because machines that run real nodes are busy. */
const maxWaitSeconds = 240
const shownCharacters = 3000

/** A new folder that exists for as long as the scope is open. */
export const folder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(Keeper.makeFolder),
  (made) => Effect.sync(() => Keeper.removeFolder(made))
)

/** Returns a port on which nothing listens. It is reserved until this process exits, so that a stopped node can return to it. */
export const freePort: Effect.Effect<number> = Effect.promise(FreePort.freePort)

const isOver = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

/**
 * Polls every 50 ms until there is a value, up to `maxSeconds`. `what` describes the condition in the error
 * message.
 */
export const until = <A, E, R = never>(
  what: string,
  look: Effect.Effect<A | undefined, E, R>,
  maxSeconds = maxWaitSeconds
): Effect.Effect<A, RegtestFailed, R> => {
  const again: Effect.Effect<A, never, R> = Effect.flatMap(
    Effect.catchCause(look, () => Effect.undefined),
    (seen) => (seen === undefined ? Effect.andThen(Effect.sleep("50 millis"), again) : Effect.succeed(seen))
  )
  return Effect.timeoutOrElse(again, {
    duration: `${maxSeconds} seconds`,
    orElse: () => Effect.fail(new RegtestFailed({ message: `${what}: not within ${maxSeconds} s` }))
  })
}

/** Prepares one of the network's programs without starting it. Its output goes to `<name>.log` in its folder. */
export const make = Effect.fnUntraced(function* ({
  name,
  command,
  args,
  folder,
  env
}: Program): Effect.fn.Return<Process, never, Scope.Scope> {
  const log = path.join(folder, `${name}.log`)
  const failed = (why: string) =>
    new RegtestFailed({ message: `${name}: ${why}\n${readFileSync(log, "utf8").slice(-shownCharacters)}` })
  let running: ChildProcess | undefined

  const stop = (signal: "SIGTERM" | "SIGKILL") =>
    Effect.promise(async () => {
      const child = running
      running = undefined
      if (child?.pid === undefined) return
      if (!isOver(child)) {
        const exited = once(child, "exit")
        child.kill(signal)
        child.kill("SIGCONT") // a suspended process would not receive the signal
        const patience = setTimeout(() => child.kill("SIGKILL"), maxStopMillis)
        await exited
        clearTimeout(patience)
      }
      Keeper.forgetProcess(child.pid)
    })

  yield* Effect.addFinalizer(() => stop("SIGTERM"))
  return {
    start: Effect.suspend(() => {
      const output = openSync(log, "a")
      const child = spawn(command, args, {
        cwd: folder,
        env: { ...env?.(), PATH: process.env["PATH"], HOME: folder },
        stdio: ["ignore", output, output]
      })
      closeSync(output)
      child.once("error", () => undefined) // ignored, because the missing pid shows that it failed
      if (child.pid === undefined) return Effect.fail(failed(`${command} cannot be run`))
      Keeper.keepProcess(child.pid)
      running = child
      return Effect.void
    }),
    stop,
    signal: (signal) =>
      Effect.suspend(() =>
        running?.kill(signal) === true ? Effect.void : Effect.fail(failed("the process is not running"))
      ),
    died: Effect.callback((resume) => {
      const child = running
      if (child === undefined || isOver(child))
        return resume(Effect.fail(failed("the process is not running")))
      const tell = () =>
        resume(Effect.fail(failed(`the process exited with ${child.signalCode ?? child.exitCode}`)))
      child.once("exit", tell)
      return Effect.sync(() => child.off("exit", tell))
    })
  }
})
