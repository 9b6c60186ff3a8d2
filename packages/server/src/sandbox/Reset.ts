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
     * Stops the service, deletes this sandbox with its database, and restarts. Fails if the id is another
     * sandbox's.
     */
    readonly begin: (id: string) => Effect.Effect<void, NotThisOne>
  }
>()("@satrail/server/sandbox/Reset") {}

/** The named sandbox is not this one, for example because it was reset in the meantime. */
export class NotThisOne extends Schema.TaggedError<NotThisOne>()("NotThisOne", { id: Schema.String }) {}

/** Directories that a reset deletes, within the data directory. */
export const deleted = ["database", "sandbox"] as const

const directoryOf = ({ dataDirectory }: Environment) => path.join(dataDirectory, "sandbox")
const markIn = ({ dataDirectory }: Environment) => path.join(dataDirectory, "reset")

/** Returns whether the deployment contains nothing that a reset must not touch. */
export const isPossible = (environment: Environment): boolean =>
  environment.databaseUrl === undefined && Simulated.isFullySimulated(Simulated.of(environment))

/**
 * The mark is written before the service stops, so that a process that dies in between completes the deletion
 * at its next start.
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
 * Completes a reset before anything is opened. A mark for another sandbox, or in a deployment with real
 * parts, deletes nothing.
 */
export const finish = (environment: Environment): Effect.Effect<boolean> =>
  Effect.sync(() => {
    const mark = markIn(environment)
    if (!existsSync(mark)) return false
    const isAsked = isPossible(environment) && readFileSync(mark, "utf8").trim() === Identity.read(directoryOf(environment))
    if (isAsked) {
      rmSync(path.join(environment.dataDirectory, "database"), { recursive: true, force: true })
      const directory = directoryOf(environment)
      // The identity is deleted last, because the mark refers to it.
      const files = readdirSync(directory).toSorted((one, other) => Number(one === Identity.file) - Number(other === Identity.file))
      for (const name of files) rmSync(path.join(directory, name), { recursive: true, force: true })
    }
    rmSync(mark)
    return isAsked
  })
