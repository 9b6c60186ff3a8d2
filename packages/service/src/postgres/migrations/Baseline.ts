import { all as features } from "../../features/postgres.ts"
import * as LedgerTables from "@satrail/postgres/migrations/LedgerTables"
import * as MoneyTables from "@satrail/postgres/migrations/MoneyTables"

/**
 * Creates the tables of the first release: those that everything shares, and those of each feature.
 *
 * - Everything is in the schema `satrail`, so that a host can share its database with the service.
 * - Times are milliseconds since 1970. Amounts are millisatoshis.
 * - `company_id` leads the primary key of each record, so that tables can be partitioned by company. A record
 *   that is looked up by an external name (hash, handle, script) has another index for that name.
 * - **Ids as bytes.** An index that serves a list contains ids as `uuid_send(id)`, their 16 bytes. Without
 *   statistics, the planner considers any index that contains a record's key as good as the primary key, and
 *   then reads all rows of a company. It can't mistake an index of bytes for the key.
 * - **BRIN.** Ids contain their time, so rows lie in the order of their ids. An index of page ranges finds a
 *   row by its id alone, at almost no cost to commits and disk space.
 */
export const script: string = [
  LedgerTables.tables,
  MoneyTables.tables,
  ...features.flatMap(({ tables }) => tables ?? [])
].join("\n")
