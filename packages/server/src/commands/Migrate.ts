import * as Migrations from "@satrail/service/postgres/migrations/Migrations"
import * as Starting from "@satrail/postgres/client/Starting"
import { Console, Effect, Logger } from "effect"
import * as Database from "../environment/Database.ts"
import * as Output from "../client/Output.ts"

export const migrate = Effect.fnUntraced(function* ({ json }: { readonly json: boolean }) {
  const url = yield* Database.url
  const migrated = Effect.provide(Migrations.migrate, Starting.layer({ url, maxConnections: 1 }))
  const { before, now } = yield* Effect.provideService(migrated, Logger.LogToStderr, true)
  const said = before === now ? "There was nothing to migrate" : "Migrated"
  yield* Console.log(json ? JSON.stringify({ before, now }) : Output.forPeople(said, { before, now }))
}, Effect.mapError(Output.failed))
