import { describe } from "@effect/vitest"
import * as Journal from "@satrail/contracts/Journal"
import * as Records from "@satrail/contracts/Records"
import * as Tasks from "@satrail/contracts/Tasks"
import { Effect, Layer, Redacted } from "effect"
import * as Storage from "../src/Storage.ts"
import { migrated, server, urlOf } from "./Roles.ts"

// All store contracts with only the rights of the application's role. roles.test.ts lists those rights.

describe.skipIf(server === undefined)("least rights (skipped where there is no PostgreSQL)", () => {
  const storage = Layer.unwrap(
    Effect.map(migrated, (database) => Storage.layer({ url: Redacted.make(urlOf("satrail_application", database)) }))
  )
  Journal.suite("postgres, with the application's rights", storage)
  Records.suite("postgres, with the application's rights", storage)
  Tasks.suite("postgres, with the application's rights", storage)
})
