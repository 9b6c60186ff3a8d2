import * as Nearest from "@satrail/core/base/Nearest"
import { Context } from "effect"
import * as Setting from "./Setting.ts"

// A misspelt setting is a default by mistake: on the wrong network, or over an empty ledger. So what looks like ours and is not is an
// error, unless it is known to be another program's.

/** Where variables are: a process's environment. */
export type Source = Readonly<Record<string, string | undefined>>

/** The variables of this process. A `ConfigProvider` cannot list them. */
export const Variables = Context.Reference<Source>("@satrail/server/environment/Unknown/Variables", { defaultValue: () => process.env })

/** How the names of settings begin that are this program's, besides those of its backends. */
const prefixes = ["SATRAIL_", "CHAIN_", "DATABASE"]

/** Ours too, and no settings of the service: the command line's, and those of this project's tools. */
const alsoOurs: ReadonlySet<string> = new Set(["SATRAIL_URL", "SATRAIL_API_KEY", "SATRAIL_REGTEST_CACHE"])

/** Names outside the prefixes are distinguished from ours only where both are long enough that no other program's is so near. */
const shortest = 8
const slips = 2

const names: Setting.Kind<ReadonlyArray<string>> = {
  wants: "names separated by commas",
  read: (text) => text.split(",").map((name) => name.trim())
}

/** Which of the environment's variables are another program's although they begin as ours do. */
export const ignored = Setting.optional({
  name: "SATRAIL_IGNORED_VARIABLES",
  meaning: "Variables of other programs with a prefix of ours: without this, one that is not in this table stops the start",
  ...names
})

/** What Kubernetes and Docker put into every container for each service beside it, whatever it is called: `LND_SERVICE_HOST`, `SATRAIL_PORT_8080_TCP`. */
const isOrchestrators = (name: string, value: string) =>
  /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT_\d+_(?:TCP|UDP)(?:_(?:PROTO|PORT|ADDR))?$/.test(name) ||
  (name.endsWith("_PORT") && /^(?:tcp|udp):/.test(value))

/** Hosts that give a database name it in several ways. With the one that we read they are only more of the same. */
const isHosts = (name: string, env: Source) => name.startsWith("DATABASE") && (env["DATABASE_URL"] ?? "") !== ""

const bare = (name: string) => name.replaceAll("_", "")

/** How far a name is from one of ours: underscores do not count, nor does `SATRAIL_` before the name of another, and an abbreviation is near. */
const between = (name: string, ours: string, most: number) =>
  ours.startsWith(name) ? 1 : Math.min(...[name, name.replace(/^SATRAIL_/, "")].map((one) => Nearest.distance(bare(one), bare(ours), most)))

/** The nearest of ours, if one is near enough. */
const nearest = (name: string, ours: ReadonlyArray<string>, most: number): string | undefined =>
  Nearest.of(ours, most, (one) => between(name, one, most))

/** What is not a setting and looks like one: a line each, with the nearest right name. `others` is how the names of backends' settings begin. */
export const problems = (env: Source, settings: ReadonlyArray<string>, others: ReadonlyArray<string>): ReadonlyArray<string> => {
  const known = new Set([...settings, ...alsoOurs, ...(names.read(env[ignored.name] ?? "", ignored.name) ?? [])])
  return Object.entries(env).flatMap(([name, value = ""]) => {
    if (known.has(name) || value === "") return []
    if ([...prefixes, ...others].some((prefix) => name.startsWith(prefix))) {
      if (isOrchestrators(name, value) || isHosts(name, env)) return []
      const near = nearest(name.toUpperCase(), settings, Math.max(slips, bare(name).length / 3))
      return [
        `${name} is not a setting${near === undefined ? ". docs/reference/configuration.md has all of them" : `: did you mean ${near}?`}`
      ]
    }
    const near = name.length < shortest ? undefined : nearest(name.toUpperCase(), settings, slips)
    return near === undefined || near.length < shortest ? [] : [`${name} is not a setting: did you mean ${near}?`]
  })
}
