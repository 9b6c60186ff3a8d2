import { Context, Effect, Schema } from "effect"
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import type { Environment } from "../deployment/Environment.ts"
import * as Identity from "../deployment/Identity.ts"
import * as Simulated from "../deployment/Simulated.ts"

/**
 * Resets a sandbox. Exists only if everything is simulated and the database is the embedded one, which this
 * service created.
 */
export class Reset extends Context.Service<
  Reset,
  {
    /** The sandbox's unique id. */
    readonly id: () => string | undefined
    /**
     * Stops the service, deletes this sandbox and its database, and restarts. Fails if the id is not this
     * sandbox's.
     */
    readonly begin: (id: string) => Effect.Effect<void, NotThisOne>
  }
>()("@satrail/server/sandbox/Reset") {}

/** The request names a different sandbox, for example because this one was reset in the meantime. */
export class NotThisOne extends Schema.TaggedError<NotThisOne>()("NotThisOne", { id: Schema.String }) {}

/** The directories within the data directory that a reset deletes. */
export const deleted = ["database", "sandbox"] as const

const directoryOf = ({ dataDirectory }: Environment) => path.join(dataDirectory, "sandbox")
const markIn = ({ dataDirectory }: Environment) => path.join(dataDirectory, "reset")

/** Returns whether a reset is possible: everything is simulated, and the database is the embedded one. */
export const isPossible = (environment: Environment): boolean =>
  environment.databaseUrl === undefined && Simulated.isFullySimulated(Simulated.of(environment))

/**
 * Writes a marker file before the service stops, so that the next start completes the deletion even if this
 * process is killed.
 */
export const make = (environment: Environment, restart: Effect.Effect<unknown>): Reset["Service"] => {
  const id = () => Identity.read(directoryOf(environment))
  return Reset.of({
    id,
    begin: (asked) =>
      Effect.suspend(() => {
        if (asked !== id()) return Effect.fail(new NotThisOne({ id: asked }))
        writeFileSync(markIn(environment), `${asked}\n`)
        return Effect.asVoid(restart)
      })
  })
}

/**
 * Completes a reset before anything is opened. If the marker file names another sandbox, or the deployment has
 * real parts, nothing is deleted.
 */
export const finish = (environment: Environment): Effect.Effect<boolean> =>
  Effect.sync(() => {
    const mark = markIn(environment)
    if (!existsSync(mark)) return false
    const isAsked =
      isPossible(environment) && readFileSync(mark, "utf8").trim() === Identity.read(directoryOf(environment))
    if (isAsked) {
      rmSync(path.join(environment.dataDirectory, "database"), { recursive: true, force: true })
      const directory = directoryOf(environment)
      // Delete the identity last, because the marker file refers to it.
      const files = readdirSync(directory).toSorted(
        (one, other) => Number(one === Identity.file) - Number(other === Identity.file)
      )
      for (const name of files) rmSync(path.join(directory, name), { recursive: true, force: true })
    }
    rmSync(mark)
    return isAsked
  })
