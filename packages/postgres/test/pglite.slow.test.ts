import * as Journal from "@satrail/contracts/journal/Journal"
import * as Records from "@satrail/contracts/records/Records"
import * as Tasks from "@satrail/contracts/journal/Tasks"
import { Layer } from "effect"
import * as Storage from "@satrail/service/postgres/Storage"
import * as Edges from "./Edges.ts"
import * as Embedded from "./Embedded.ts"
import { shared } from "./Shared.ts"

// All store contracts on the embedded database. Without a PostgreSQL server, pglite.test.ts runs them in the
// fast tests.

const storage = await shared(Layer.provide(Storage.layerClient(), await shared(Embedded.layer)))

Journal.suite("pglite, grouped", storage)
Records.suite("pglite, grouped", storage)
Tasks.suite("pglite, grouped", storage)
Edges.suite("pglite", storage)
