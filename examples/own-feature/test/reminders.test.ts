import { assert, it } from "@effect/vitest"
import { Fences, Nouns } from "@satrail/contracts"
import { Answer, Companies, features, Policy, Satrail } from "@satrail/core"
import { Features } from "@satrail/core/ports"
import { Id } from "@satrail/core/records"
import { Memory } from "@satrail/memory"
import { PgliteClient, Storage } from "@satrail/postgres"
import { FixedRates, Sandbox } from "@satrail/sandbox"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Reminder from "../Reminder.ts"
import { Reminders, reminders } from "../Reminders.ts"

const atMillis = 1_700_000_000_000
const subject = Nouns.subjectOf(
  Reminder.noun,
  (companyId) =>
    Effect.map(Id.make, (id) => {
      const at = { dueAtMillis: atMillis + 1000, createdAtMillis: atMillis, updatedAtMillis: atMillis }
      return Reminder.created({ id, companyId, text: "Order beans", status: "waiting", ...at })
    }),
  {
    due: (row) =>
      Effect.map(Fences.fenceOf(Reminder.taskKind, row.id, row.dueAtMillis), (fence) => Reminder.due(row, fence, row.dueAtMillis))
  }
)

/** The embedded PostgreSQL with the feature's table. */
const postgres = Layer.effectDiscard(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(Reminder.table))).pipe(
  Layer.provideMerge(Storage.layerClient()),
  Layer.provideMerge(PgliteClient.layer())
)

for (const [name, storage] of [
  ["memory", Memory.layer],
  ["postgres", postgres]
] as const) {
  Nouns.suite("reminders", subject)(name, storage)

  it.live(`own feature: a reminder is set once per idempotency key and becomes due only once, even if several workers run (${name})`, () =>
    Effect.gen(function* () {
      const { set, list, step } = yield* Reminders
      const { id } = yield* Effect.flatMap((yield* Companies.Companies).open({ name: "Café", plan: "free" }), Answer.made)
      const request = { key: "beans", fingerprint: "Order beans", render: ({ text }: Reminder.Reminder) => text }
      yield* set(id, "Order beans", Date.now(), request)
      assert.deepStrictEqual(yield* set(id, "Order beans", Date.now(), request), { _tag: "Replayed", answer: "Order beans" })
      yield* set(id, "Close", Date.now() + 3_600_000)
      yield* Effect.all([step, step], { concurrency: 2 })
      assert.deepStrictEqual((yield* list(id)).map(({ status }) => status).toSorted(), ["due", "waiting"])
    }).pipe(
      Effect.provide(
        reminders.layer.pipe(
          Layer.provideMerge(Satrail.layer({ ...Policy.defaults, network: "regtest", domain: "pay.example.com" })),
          Layer.provideMerge(Layer.mergeAll(storage, Sandbox.layer({ seed: "own", network: "regtest" }), FixedRates.layer())),
          Layer.provide(Layer.succeed(Features.Features, [...features, reminders]))
        )
      )
    )
  )
}
