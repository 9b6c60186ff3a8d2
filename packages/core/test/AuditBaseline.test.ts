import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as Audit from "../src/ledger/Audit.ts"
import { company, scenario } from "./World.ts"

scenario("audit: if the first Changes run concurrently, the records that already exist are logged only once", function* () {
  yield* company()
  const store = yield* Audit.AuditStore
  let appends = 0
  const begin = yield* Effect.provideService(Audit.baseline, Audit.AuditStore, {
    ...store,
    auditOf: () => Effect.succeed([]),
    recordedAudit: (after, limit) => Effect.andThen(Effect.yieldNow, store.recordedAudit(after, limit)),
    appendAudit: () => Effect.sync(() => void appends++)
  })
  yield* Effect.all(
    Array.from({ length: 8 }, () => begin(Effect.void)),
    { concurrency: "unbounded" }
  )
  yield* begin(Effect.void)
  assert.strictEqual(appends, 1)
})
