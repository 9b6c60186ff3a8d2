import * as Suggestion from "@satrail/core/base/Suggestion"
import { Context } from "effect"
import * as Setting from "./Setting.ts"

// With a misspelled setting, the service would silently use the default, such as the wrong network or an empty
// ledger. So a variable that looks like a setting but isn't is an error, unless it is known to belong to
// another program.

/** A process's environment variables. */
export type Source = Readonly<Record<string, string | undefined>>

/** The variables of this process. They are needed in addition to the `ConfigProvider`, which cannot list variables. */
export const Variables = Context.Reference<Source>("@satrail/server/environment/Unknown/Variables", {
  defaultValue: () => process.env
})

/** Prefixes of this program's settings, in addition to those of its backends. */
const prefixes = ["SATRAIL_", "CHAIN_", "DATABASE"]

/** The variables that a command reads to call a running service (`client/Operator.ts`). */
export const ofClient: ReadonlyArray<string> = [
  "SATRAIL_URL",
  "SATRAIL_API_KEY",
  "SATRAIL_OPERATOR_TOKEN",
  "SATRAIL_DATA"
]

/**
 * Our variables that are not settings of the service: those of the command line and of this project's tools.
 */
const alsoOurs: ReadonlySet<string> = new Set([...ofClient, "SATRAIL_REGTEST_CACHE"])

/**
 * Names without our prefixes are compared with our settings only from this length on. Shorter names could be
 * similar by chance.
 */
const shortest = 8
const slips = 2

const names: Setting.Kind<ReadonlyArray<string>> = {
  wants: "names separated by commas",
  read: (text) => text.split(",").map((name) => name.trim())
}

/** Variables with our prefixes that belong to another program. */
export const ignored = Setting.optional({
  name: "SATRAIL_IGNORED_VARIABLES",
  meaning:
    "Variables that belong to other programs but have the prefix of a setting. Any other unknown variable with such a prefix prevents startup",
  ...names
})

/**
 * Variables that Kubernetes and Docker add to every container for each neighboring service, whatever its name,
 * such as `LND_SERVICE_HOST` or `SATRAIL_PORT_8080_TCP`.
 */
const isOrchestrators = (name: string, value: string) =>
  /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT_\d+_(?:TCP|UDP)(?:_(?:PROTO|PORT|ADDR))?$/.test(name) ||
  (name.endsWith("_PORT") && /^(?:tcp|udp):/.test(value))

const bare = (name: string) => name.replaceAll("_", "")

/**
 * Returns the edit distance between a name and one of our settings. Underscores and a `SATRAIL_` prefix are
 * ignored, and the beginning of a setting's name counts as distance 1.
 */
const between = (name: string, ours: string, most: number) =>
  ours.startsWith(name)
    ? 1
    : Math.min(
        ...[name, name.replace(/^SATRAIL_/, "")].map((one) =>
          Suggestion.editDistance(bare(one), bare(ours), most)
        )
      )

/** Returns the most similar setting, if one is similar enough. */
const nearest = (name: string, ours: ReadonlyArray<string>, most: number): string | undefined =>
  Suggestion.closest(ours, most, (one) => between(name, one, most))

/**
 * Hosting platforms set several variables for a database. If the one that we read is set, the others are
 * harmless, unless they resemble another setting.
 */
const isHosts = (name: string, env: Source, settings: ReadonlyArray<string>) => {
  const ours = "DATABASE_URL"
  return (
    name.startsWith("DATABASE") &&
    (env[ours] ?? "") !== "" &&
    (nearest(name.toUpperCase(), settings, slips) ?? ours) === ours
  )
}

/**
 * Returns whether any variable may be a misspelling of a name in `read`. Unlike `problems`, this needs no list
 * of all settings.
 */
export const isSuspect = (env: Source, read: ReadonlyArray<string>): boolean =>
  Object.entries(env).some(
    ([name, value = ""]) =>
      value !== "" &&
      !read.includes(name) &&
      (name.startsWith("SATRAIL_") ||
        (name.length >= shortest && nearest(name.toUpperCase(), read, slips) !== undefined))
  )

/**
 * Returns a line for each variable that looks like a setting but isn't one. The line suggests the most similar
 * setting. `others` are the backends' prefixes.
 */
export const problems = (
  env: Source,
  settings: ReadonlyArray<string>,
  others: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const known = new Set([
    ...settings,
    ...alsoOurs,
    ...(names.read(env[ignored.name] ?? "", ignored.name) ?? [])
  ])
  return Object.entries(env).flatMap(([name, value = ""]) => {
    if (known.has(name) || value === "") return []
    if ([...prefixes, ...others].some((prefix) => name.startsWith(prefix))) {
      if (isOrchestrators(name, value) || isHosts(name, env, settings)) return []
      const near = nearest(name.toUpperCase(), settings, Math.max(slips, bare(name).length / 3))
      return [
        `${name} is not a setting${near === undefined ? ". docs/reference/configuration.md lists all settings" : `: did you mean ${near}?`}`
      ]
    }
    const near = name.length < shortest ? undefined : nearest(name.toUpperCase(), settings, slips)
    return near === undefined || near.length < shortest
      ? []
      : [`${name} is not a setting: did you mean ${near}?`]
  })
}
