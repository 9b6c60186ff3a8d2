import * as Journal from "@satrail/postgres/Journal"
import { Redacted, Result } from "effect"
import { type Reader, secret, type Source, whole } from "./Variable.ts"

/** The database, and how changes are committed to it. */
export interface Database {
  readonly databaseUrl: Redacted.Redacted | undefined
  readonly databaseConnections: number
  readonly commitLanes: number
  readonly commitItems: number
  readonly commitWaiting: number
}

const label = { label: "DATABASE_URL" }

export const variables = {
  databaseUrl: {
    ...secret("DATABASE_URL"),
    meaning: "A PostgreSQL server; without one the database is embedded, in SATRAIL_DATA",
    wants: "postgres://user:password@host:port/database",
    read: (text: string) => (/^postgres(ql)?:$/.test(URL.parse(text)?.protocol ?? "") ? Redacted.make(text, label) : undefined)
  },
  databaseConnections: {
    name: "SATRAIL_DATABASE_CONNECTIONS",
    meaning: "How many connections to PostgreSQL this process may hold",
    fallback: "10",
    ...whole(2, 500)
  },
  commitLanes: {
    name: "SATRAIL_COMMIT_LANES",
    meaning: "How many groups of one kind of change may be on their way to the database at once",
    fallback: String(Journal.defaults.lanes),
    ...whole(1, 16)
  },
  commitItems: {
    name: "SATRAIL_COMMIT_ITEMS",
    meaning: "How many changes may be committed together",
    fallback: String(Journal.defaults.maxItemsPerFlush),
    ...whole(1, Journal.maxItemsPerFlush)
  },
  commitWaiting: {
    name: "SATRAIL_COMMIT_WAITING",
    meaning: "How many changes may wait in a lane; a request whose change is one more is answered 503",
    fallback: String(Journal.defaults.maxWaiting),
    ...whole(1, 1_000_000)
  }
}

export const read = ({ optional, required }: Reader): Database => ({
  databaseUrl: optional(variables.databaseUrl),
  databaseConnections: required(variables.databaseConnections),
  commitLanes: required(variables.commitLanes),
  commitItems: required(variables.commitItems),
  commitWaiting: required(variables.commitWaiting)
})

/** The address of the database alone, or what is wrong with it, for what needs nothing else. */
export const url = (env: Source): Result.Result<Redacted.Redacted, string> => {
  const { name, read, wants } = variables.databaseUrl
  const text = env[name] ?? ""
  const got = text === "" ? "nothing" : "something else (not shown, it is a secret)"
  const found = read(text)
  return found === undefined ? Result.fail(`${name} wants ${wants}, and got ${got}`) : Result.succeed(found)
}
