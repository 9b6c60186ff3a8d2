import * as Hosts from "@satrail/postgres/client/Hosts"
import * as Journal from "@satrail/postgres/journal/Journal"
import { Config, type Redacted, Result } from "effect"
import * as Setting from "./Setting.ts"

/** The address of a PostgreSQL server, or the addresses of several, one of which accepts writes. */
export const address: Setting.Kind<Redacted.Redacted> = {
  ...Setting.secret(
    "postgres://user:password@host:port/database, or with several hosts: …@h1:5432,h2:5432/database",
    (text) => Result.isSuccess(Hosts.parse(text))
  ),
  problem: (text) =>
    Result.match(Hosts.parse(text), { onSuccess: () => undefined, onFailure: (problem) => problem })
}

/** The address of a single server. */
const standby: Setting.Kind<Redacted.Redacted> = Setting.secret(
  "postgres://user:password@host:port/database, with one host",
  (text) =>
    Result.match(Hosts.parse(text), { onSuccess: ({ all }) => all.length === 1, onFailure: () => false })
)

/** The database, and how changes are committed to it. */
export const settings = {
  databaseUrl: Setting.optional({
    name: "DATABASE_URL",
    meaning:
      "The PostgreSQL server. If you list several hosts, the service uses the one that accepts writes. Default: an embedded database in SATRAIL_DATA. Required on mainnet",
    ...address
  }),
  databaseReadUrl: Setting.optional({
    name: "DATABASE_READ_URL",
    meaning:
      "A standby of DATABASE_URL. Lists of transactions are read from it while it lags by less than five seconds. Everything else is read from the primary",
    ...standby
  }),
  databaseConnections: Setting.withDefault({
    name: "SATRAIL_DATABASE_CONNECTIONS",
    meaning: "The maximum number of PostgreSQL connections this process opens",
    fallback: "10",
    ...Setting.whole(2, 500)
  }),
  commitLanes: Setting.withDefault({
    name: "SATRAIL_COMMIT_LANES",
    meaning: "The maximum number of concurrent commits for each kind of change",
    fallback: String(Journal.defaults.lanes),
    ...Setting.whole(1, 16)
  }),
  commitItems: Setting.withDefault({
    name: "SATRAIL_COMMIT_ITEMS",
    meaning: "The maximum number of changes in one commit",
    fallback: String(Journal.defaults.maxItemsPerFlush),
    ...Setting.whole(1, Journal.maxItemsPerFlush)
  }),
  commitWaiting: Setting.withDefault({
    name: "SATRAIL_COMMIT_WAITING",
    meaning:
      "The maximum number of changes waiting for one concurrent commit (SATRAIL_COMMIT_LANES). At this number, requests return 503",
    fallback: String(Journal.defaults.maxWaiting),
    ...Setting.whole(1, 1_000_000)
  })
}

/** The address of the database, for commands that require it. */
export const url = Config.flatMap(settings.databaseUrl, (url) => {
  const { name, wants } = settings.databaseUrl
  return url === undefined ? Setting.refused(`${name} must be ${wants}, got nothing`) : Config.succeed(url)
})
