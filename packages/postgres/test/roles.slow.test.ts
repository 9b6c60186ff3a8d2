import { describe } from "@effect/vitest"
import * as Journal from "@satrail/contracts/journal/Journal"
import * as Records from "@satrail/contracts/records/Records"
import * as Tasks from "@satrail/contracts/journal/Tasks"
import { isTurnOf } from "@satrail/testing/Turn"
import { Effect, Layer, Redacted } from "effect"
import * as Storage from "@satrail/service/postgres/Storage"
import * as Database from "./Database.ts"
import { migrated, server, urlOf } from "./Roles.ts"

// All store contracts with only the rights of the application's role. roles.test.ts lists those rights. The
// Journal's contracts use an application's own pool, without our pool's settings.

// These contracts, those behind PgBouncer, and those on the newest PostgreSQL (.ci/run) take turns.
describe.skipIf(server === undefined || !isTurnOf(0, 3))(
  "least rights (skipped where there is no PostgreSQL)",
  () => {
    const url = Effect.map(migrated, (database) => urlOf("satrail_application", database))
    const storage = Layer.unwrap(Effect.map(url, (url) => Storage.layer({ url: Redacted.make(url) })))
    const hosts = Layer.unwrap(
      Effect.gen(function* () {
        return Storage.layerPool(yield* Database.hostsPool({ connectionString: yield* url }))
      })
    )
    Journal.suite("postgres, an application's own pool with the application's rights", hosts)
    Records.suite("postgres, with the application's rights", storage)
    Tasks.suite("postgres, with the application's rights", storage)
  }
)
