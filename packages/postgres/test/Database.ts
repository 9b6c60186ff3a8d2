import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import Pg from "pg"
import * as PgClient from "../src/client/PgClient.ts"

const ours = (process.env["SATRAIL_TEST_SERVERS"] ?? "").split(" ").filter((url) => url !== "")

/**
 * A PostgreSQL server with a role that may create databases and roles. If test/postgres.ts started several,
 * each worker uses one.
 */
export const server =
  ours[(Number(process.env["VITEST_POOL_ID"] ?? 1) - 1) % ours.length] ?? process.env["TEST_DATABASE_URL"]

const urlOf = (name: string) => {
  const url = new URL(server ?? "")
  url.pathname = `/${name}`
  return Redacted.make(url.href)
}

/** Queries the server through its default database. */
const administer = (text: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(text).unprepared).pipe(
    Effect.provide(PgClient.layer({ url: urlOf("postgres"), maxConnections: 1 })),
    Effect.orDie
  )

/** Creates an empty database, which is dropped when the scope closes. Returns its URL. */
export const make = Effect.map(
  Effect.acquireRelease(
    Effect.tap(
      Effect.sync(() => `satrail_test_${randomUUID().replaceAll("-", "")}`),
      (name) => administer(`create database ${name}`)
    ),
    (name) => administer(`drop database ${name} with (force)`)
  ),
  urlOf
)

/** A client of such a database. */
export const layer = Layer.unwrap(Effect.map(make, (url) => PgClient.layer({ url })))

/**
 * An application's own pool, without our pool's settings. It handles errors of idle connections, as every
 * application must.
 */
export const hostsPool = (config: Pg.PoolConfig) =>
  Effect.acquireRelease(
    Effect.sync(() => new Pg.Pool(config).on("error", () => {})),
    (pool) => Effect.promise(() => pool.end())
  )
