import { afterAll, assert } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Client from "@satrail/testing/Client"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import path from "node:path"
import * as PgClient from "../src/client/PgClient.ts"
import * as Migrations from "@satrail/service/postgres/migrations/Migrations"
import * as Storage from "@satrail/service/postgres/Storage"

// Roles belong to a whole server, so these tests start their own server.
export const installation = PostgresServer.find()
if ("missing" in installation && process.env["REQUIRE_REAL_POSTGRES"] === "1")
  throw new Error(`no PostgreSQL here: ${installation.missing}`)
export const server = "missing" in installation ? undefined : await PostgresServer.start(installation)
afterAll(() => server?.end())

export type Role = "postgres" | "satrail_migration" | "satrail_application" | "satrail_reader" | "stranger"

export const urlOf = (role: Role, database: string) =>
  `postgres://${role}@127.0.0.1:${server?.port}/${database}`

export const clientAs = (role: Role, database: string) =>
  PgClient.layer({ url: Redacted.make(urlOf(role, database)), maxConnections: 4 })

export const as =
  (role: Role, database: string) =>
  <A, E>(work: Effect.Effect<A, E, SqlClient.SqlClient>) =>
    Effect.provide(work, clientAs(role, database))

export const run = (text: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<object>(text).unprepared)

let databases = 0

export const rolesFile = path.join(import.meta.dirname, "../roles.sql")

/** A database prepared by roles.sql. */
export const prepared = Effect.gen(function* () {
  if ("missing" in installation) return assert.fail(installation.missing)
  const database = `money_${++databases}`
  yield* as("postgres", "postgres")(run(`create database ${database}`))
  Client.script(installation, urlOf("postgres", database), rolesFile)
  return database
})

/** A prepared database with tables. */
export const migrated = Effect.tap(prepared, (database) =>
  as("satrail_migration", database)(Migrations.migrate)
)

export const start = (role: Role, database: string) =>
  Effect.scoped(Layer.build(Layer.provide(Storage.layerClient(), clientAs(role, database))))
