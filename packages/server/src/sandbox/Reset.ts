import { Context, Effect, Schema } from "effect"
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import type { Environment } from "../deployment/Environment.ts"
import * as Identity from "../deployment/Identity.ts"
import * as Pretended from "../deployment/Pretended.ts"

/** Begins a sandbox anew. Only where nothing is real, and its database is the embedded one, which this service made itself. */
export class Reset extends Context.Service<
  Reset,
  {
    /** Which sandbox it is: each has an id of its own. */
    readonly id: () => string | undefined
    /** The service stops, deletes this sandbox with its database, and starts again. Fails where it is another one. */
    readonly begin: (id: string) => Effect.Effect<void, NotThisOne>
  }
>()("@satrail/server/sandbox/Reset") {}

/** Another sandbox than the one that was named: it may have been reset meanwhile. */
export class NotThisOne extends Schema.TaggedError<NotThisOne>()("NotThisOne", { id: Schema.String }) {}

/** What a reset deletes, in the directory of the data. */
export const deleted = ["database", "sandbox"] as const

const directoryOf = ({ dataDirectory }: Environment) => path.join(dataDirectory, "sandbox")
const markIn = ({ dataDirectory }: Environment) => path.join(dataDirectory, "reset")

/** Whether there is anything in it that a reset must not touch. */
export const isPossible = (environment: Environment): boolean =>
  environment.databaseUrl === undefined && Pretended.isWhole(Pretended.of(environment))

/** The mark is there before the service stops: a process that dies in between deletes at its next start. */
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

/** Ends what `begin` began, before anything of it is opened. A mark that is about another sandbox, or is found where something is real, deletes nothing. */
export const finish = (environment: Environment): Effect.Effect<boolean> =>
  Effect.sync(() => {
    const mark = markIn(environment)
    if (!existsSync(mark)) return false
    const isAsked = isPossible(environment) && readFileSync(mark, "utf8").trim() === Identity.read(directoryOf(environment))
    if (isAsked) {
      rmSync(path.join(environment.dataDirectory, "database"), { recursive: true, force: true })
      const directory = directoryOf(environment)
      // Its identity goes last: until then it says what the mark is about.
      const files = readdirSync(directory).toSorted((one, other) => Number(one === Identity.file) - Number(other === Identity.file))
      for (const name of files) rmSync(path.join(directory, name), { recursive: true, force: true })
    }
    rmSync(mark)
    return isAsked
  })
