import type { Source, Variable } from "./Variable.ts"

// A setting that is misspelt is a default that nobody chose: on the wrong network, or over an empty ledger. So what looks like ours and is not is an
// error, unless it is known to be somebody else's.

/** How the names of settings begin that are this program's. */
const prefixes = /^(?:SATRAIL_|LND_|CHAIN_|BITCOIN_|ESPLORA_|DATABASE)/

/** Ours too, and no settings of the service: the command line's, and those of this project's tools. */
const alsoOurs: ReadonlySet<string> = new Set(["SATRAIL_URL", "SATRAIL_REGTEST_CACHE"])

/** Names outside the prefixes are told from ours only where both are long enough that no other program's is so near. */
const shortest = 8
const slips = 2

/** Which of the environment's variables are somebody else's although they begin as ours do. */
export const ignored: Variable<ReadonlyArray<string>> = {
  name: "SATRAIL_IGNORED_VARIABLES",
  meaning: "Variables that begin as ours do and are another program's: without this, one that is not in this table stops the start",
  fallback: "",
  wants: "names separated by commas",
  read: (text) => text.split(",").map((name) => name.trim())
}

/** What Kubernetes and Docker put into every container for each service beside it, whatever it is called: `LND_SERVICE_HOST`, `SATRAIL_PORT_8080_TCP`. */
const isOrchestrators = (name: string, value: string) =>
  /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT_\d+_(?:TCP|UDP)(?:_(?:PROTO|PORT|ADDR))?$/.test(name) ||
  (name.endsWith("_PORT") && /^(?:tcp|udp):/.test(value))

/** Hosts that give a database name it in several ways. With the one that we read they are only more of the same. */
const isHosts = (name: string, env: Source) => name.startsWith("DATABASE") && (env["DATABASE_URL"] ?? "") !== ""

/** How many letters must be changed, added, left out or swapped with their neighbour to make one of the other. */
const distance = (one: string, other: string): number => {
  let [before, row]: [ReadonlyArray<number>, ReadonlyArray<number>] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1]
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      next.push(
        Math.min(
          (row[j] ?? 0) + 1,
          (next[j - 1] ?? 0) + 1,
          (row[j - 1] ?? 0) + (isSame ? 0 : 1),
          isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity
        )
      )
    }
    ;[before, row] = [row, next]
  }
  return row.at(-1) ?? 0
}

const bare = (name: string) => name.replaceAll("_", "")

/** How far a name is from one of ours: underscores do not count, nor does `SATRAIL_` before the name of another, and an abbreviation is near. */
const between = (name: string, ours: string) =>
  ours.startsWith(name) ? 1 : Math.min(...[name, name.replace(/^SATRAIL_/, "")].map((one) => distance(bare(one), bare(ours))))

const nearest = (name: string, ours: ReadonlyArray<string>) =>
  ours.map((one) => ({ name: one, distance: between(name, one) })).toSorted((a, b) => a.distance - b.distance)[0]

/** What is not a setting and looks like one: a line each, with the nearest right name. */
export const problems = (env: Source, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const known = new Set([...names, ...alsoOurs, ...(ignored.read(env[ignored.name] ?? "") ?? [])])
  return Object.entries(env).flatMap(([name, value = ""]) => {
    if (known.has(name) || value === "") return []
    const near = nearest(name.toUpperCase(), names)
    if (prefixes.test(name)) {
      if (isOrchestrators(name, value) || isHosts(name, env)) return []
      const isNear = near !== undefined && near.distance <= Math.max(slips, bare(name).length / 3)
      return [`${name} is not a setting${isNear ? `: did you mean ${near.name}?` : ". docs/reference/configuration.md has all of them"}`]
    }
    const isSlip = near !== undefined && near.distance <= slips && Math.min(near.name.length, name.length) >= shortest
    return isSlip ? [`${name} is not a setting: did you mean ${near.name}?`] : []
  })
}
