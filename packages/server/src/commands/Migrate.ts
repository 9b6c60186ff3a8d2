import * as Migrations from "@satrail/postgres/migrations/Migrations"
import * as PgClient from "@satrail/postgres/client/PgClient"
import { Console, Effect } from "effect"
import * as Database from "../environment/Database.ts"
import * as Output from "../client/Output.ts"

/** Migrates the tables and grants the roles their privileges. */
export const migrate = Effect.fnUntraced(function* ({ json }: { readonly json: boolean }) {
  const url = yield* Database.url
  const { before, now } = yield* Effect.provide(Migrations.migrate, PgClient.layer({ url, maxConnections: 1 }))
  const said = before === now ? "There was nothing to migrate" : "Migrated"
  yield* Console.log(json ? JSON.stringify({ before, now }) : Output.forPeople(said, { before, now }))
}, Effect.mapError(Output.failed))
