import { describe } from "@effect/vitest"
import * as Journal from "@satrail/contracts/Journal"
import { Effect, Layer, Redacted } from "effect"
import * as Storage from "../src/Storage.ts"
import * as Database from "./Database.ts"
import * as Embedded from "./Embedded.ts"

// Runs the ledger contracts on the same two databases, with the other ways to commit a Change.

const oneByOne = Storage.layerClient({ maxItemsPerFlush: 1 })

/** A host's own pool, without our pool's settings. */
const hosts = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* Database.make
    const pool = yield* Database.hostsPool({ connectionString: Redacted.value(url) })
    return Storage.layerPool(pool)
  })
)

// The size of a flush is our choice and the same on both databases.
describe.skipIf(Database.server !== undefined)("embedded (where there is no server)", () => {
  Journal.suite("pglite, one item per flush", Layer.provide(oneByOne, Embedded.layer))
})

describe.skipIf(Database.server === undefined)("on a server (skipped where there is none)", () => {
  Journal.suite("postgres, one item per flush", Layer.provide(oneByOne, Database.layer))
  Journal.suite("postgres, a host's own pool", hosts)
})
