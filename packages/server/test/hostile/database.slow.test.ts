import { assert, describe, it } from "@effect/vitest"
import * as Http from "@satrail/service/http/Http"
import * as PgClient from "@satrail/postgres/client/PgClient"
import type { Operation } from "@satrail/testing/OpenApi"
import { Effect, Layer } from "effect"
import * as Database from "../../../postgres/test/Database.ts"
import * as Embedded from "../../../postgres/test/Embedded.ts"
import * as Store from "./Store.ts"
import * as Suite from "./Suite.ts"

// A database rejects texts and numbers that the in-memory store accepts: NUL, lone surrogates, and values too
// large for their column.

/** Operations that store texts unchanged. */
const holdsText = ({ method, path, body }: Operation) =>
  body !== undefined || (method === "GET" && path.includes("{"))

const databases = {
  "the embedded PostgreSQL": Embedded.layer,
  "a PostgreSQL server": Layer.unwrap(Effect.map(Database.make, (url) => PgClient.layer({ url })))
}

describe("hostile requests, over a database", () => {
  for (const [name, client] of Object.entries(databases)) {
    it.skipIf(name === "a PostgreSQL server" && Database.server === undefined)(
      `${name}: hostile requests get documented envelopes, and a rejected request changes no row`,
      async () => {
        const world = await Suite.open(Store.database(client))
        const { handler, dispose } = Http.webHandler(world.routes)
        const { operations, good } = await Suite.sendAll(world, 1200, Suite.inProcess(handler), holdsText)
        assert.isAbove(good.size, operations.length / 2)
        await dispose()
        await world.dispose()
      }
    )
  }
})
