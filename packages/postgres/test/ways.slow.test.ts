import { describe } from "@effect/vitest"
import * as Journal from "@satrail/contracts/Journal"
import { Effect, Layer, Redacted } from "effect"
import * as Storage from "../src/Storage.ts"
import * as Database from "./Database.ts"
import * as Embedded from "./Embedded.ts"

// The ledger's promises once more, on the same two databases: in the other ways in which a Change gets there.

const oneByOne = Storage.layerClient({ maxItemsPerFlush: 1 })

/** A host's own pool, with none of the settings that ours has. */
const hosts = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* Database.make
    const pool = yield* Database.hostsPool({ connectionString: Redacted.value(url) })
    return Storage.layerPool(pool)
  })
)

// How many items a flush has is our own, and the same on both.
describe.skipIf(Database.server !== undefined)("embedded (where there is no server)", () => {
  Journal.suite("pglite, one item a flush", Layer.provide(oneByOne, Embedded.layer))
})

describe.skipIf(Database.server === undefined)("on a server (skipped where there is none)", () => {
  Journal.suite("postgres, one item a flush", Layer.provide(oneByOne, Database.layer))
  Journal.suite("postgres, a host's own pool", hosts)
})
