import * as Hosts from "@satrail/postgres/client/Hosts"
import * as Journal from "@satrail/postgres/journal/Journal"
import { Config, type Redacted, Result } from "effect"
import * as Setting from "./Setting.ts"

/** The address of a PostgreSQL, or of several of which one takes writes. */
export const address: Setting.Kind<Redacted.Redacted> = {
  ...Setting.secret("postgres://user:password@host:port/database, or with several hosts: …@h1:5432,h2:5432/database", (text) =>
    Result.isSuccess(Hosts.parse(text))
  ),
  problem: (text) => Result.match(Hosts.parse(text), { onSuccess: () => undefined, onFailure: (problem) => problem })
}

/** The address of one server, whatever it is. */
const standby: Setting.Kind<Redacted.Redacted> = Setting.secret("postgres://user:password@host:port/database, one host", (text) =>
  Result.match(Hosts.parse(text), { onSuccess: ({ all }) => all.length === 1, onFailure: () => false })
)

/** The database, and how changes are committed to it. */
export const settings = {
  databaseUrl: Setting.optional({
    name: "DATABASE_URL",
    meaning:
      "A PostgreSQL server, or several, of which the one that takes writes is used; without one the database is embedded, in SATRAIL_DATA. Mainnet wants a server",
    ...address
  }),
  databaseReadUrl: Setting.optional({
    name: "DATABASE_READ_URL",
    meaning:
      "A standby of DATABASE_URL that lists of transactions are read from while it is five seconds behind at most; balances, payments and all else are the primary's",
    ...standby
  }),
  databaseConnections: Setting.withDefault({
    name: "SATRAIL_DATABASE_CONNECTIONS",
    meaning: "How many connections to PostgreSQL this process may hold",
    fallback: "10",
    ...Setting.whole(2, 500)
  }),
  commitLanes: Setting.withDefault({
    name: "SATRAIL_COMMIT_LANES",
    meaning: "How many groups of one kind of Change may be in flight to the database at once",
    fallback: String(Journal.defaults.lanes),
    ...Setting.whole(1, 16)
  }),
  commitItems: Setting.withDefault({
    name: "SATRAIL_COMMIT_ITEMS",
    meaning: "How many Changes may be committed together",
    fallback: String(Journal.defaults.maxItemsPerFlush),
    ...Setting.whole(1, Journal.maxItemsPerFlush)
  }),
  commitWaiting: Setting.withDefault({
    name: "SATRAIL_COMMIT_WAITING",
    meaning: "How many Changes may wait in a lane; above it, requests are answered 503",
    fallback: String(Journal.defaults.maxWaiting),
    ...Setting.whole(1, 1_000_000)
  })
}

/** The address of the database alone, for what can do nothing without. */
export const url = Config.flatMap(settings.databaseUrl, (url) => {
  const { name, wants } = settings.databaseUrl
  return url === undefined ? Setting.refused(`${name} must be ${wants}, got nothing`) : Config.succeed(url)
})
