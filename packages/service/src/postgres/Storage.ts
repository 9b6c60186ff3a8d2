import type { Journal as JournalPort } from "@satrail/core/ledger/Journal"
import type { Tasks as TasksPort } from "@satrail/core/ledger/Tasks"
import type { Records as RecordsPort } from "@satrail/core/service/Records"
import { Effect, Layer } from "effect"
import type { Migrator, SqlClient, SqlError } from "effect/sql"
import type Pg from "pg"
import type { Commits } from "@satrail/postgres/journal/Commits"
import type { DirectoryLocked, DirectoryUnusable } from "@satrail/postgres/client/DirectoryLock"
import * as Journal from "@satrail/postgres/journal/Journal"
import * as Migrations from "./migrations/Migrations.ts"
import * as PgClient from "@satrail/postgres/client/PgClient"
import * as PgliteClient from "@satrail/postgres/client/PgliteClient"
import * as Records from "./Records.ts"
import * as Signals from "@satrail/postgres/Signals"
import * as Starting from "@satrail/postgres/client/Starting"
import * as Standby from "@satrail/postgres/Standby"
import * as Tasks from "@satrail/postgres/Tasks"

/** The three storage ports, and the service that tracks whether commits succeed. */
export type Storage = JournalPort | RecordsPort | TasksPort | Commits

/** The reason why the tables could not be migrated. */
export type MigrationFailed =
  | Migrations.SchemaTooNew
  | Migrations.RoleMayNot
  | Migrator.MigrationError
  | SqlError.SqlError

/** All reasons why storage cannot be used, for programs that choose it at run time. */
export type Unusable = PgClient.DatabaseUnreachable | DirectoryLocked | DirectoryUnusable | MigrationFailed

/** The storage ports over any client. Migrates the tables first. */
export const layerClient = (
  options: Journal.Options = {}
): Layer.Layer<Storage, MigrationFailed, SqlClient.SqlClient> =>
  Layer.unwrap(
    Effect.as(Migrations.ready, Layer.mergeAll(Journal.layer(options), Records.layer, Tasks.layer))
  )

/** The storage ports on a PostgreSQL server. Waits for one that is not running yet. With `readUrl`, lists are read from its standby. */
export const layer = (
  options: PgClient.Options & Journal.Options & Standby.Options
): Layer.Layer<Storage, PgClient.DatabaseUnreachable | MigrationFailed> => {
  const { readUrl, maxAgeMillis, maxConnections } = options
  const all = layerClient(options)
  const reading =
    readUrl === undefined
      ? all
      : Layer.provideMerge(Standby.layer({ readUrl, maxAgeMillis, maxConnections }), all)
  return Layer.provide(Layer.merge(reading, Signals.layer), Starting.layer(options))
}

/**
 * The storage ports on a host's pool, plus one connection for signals. Our tables are in the schema
 * `satrail`.
 */
export const layerPool = (
  pool: Pg.Pool,
  options: Journal.Options = {}
): Layer.Layer<Storage, PgClient.DatabaseUnreachable | MigrationFailed> =>
  Layer.provide(Layer.merge(layerClient(options), Signals.layer), PgClient.layerPool(pool))

/**
 * The storage ports in this process, in a directory or (without one) in memory, for trials, development and
 * tests.
 */
export const layerEmbedded = (
  options: PgliteClient.Options & Journal.Options = {}
): Layer.Layer<Storage, DirectoryLocked | DirectoryUnusable | MigrationFailed> =>
  Layer.provide(layerClient(options), PgliteClient.layer(options))
