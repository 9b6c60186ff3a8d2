import { it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as JournalContract from "@satrail/contracts/Journal"
import * as RecordsContract from "@satrail/contracts/Records"
import * as TasksContract from "@satrail/contracts/Tasks"
import { Journal, make as makeJournal } from "@satrail/core/Journal"
import type { Change } from "@satrail/core/Change"
import * as PgJournal from "../src/Journal.ts"
import * as Migrations from "../src/Migrations.ts"
import * as Records from "../src/Records.ts"
import * as Storage from "../src/Storage.ts"
import * as Tasks from "../src/Tasks.ts"
import * as Database from "./Database.ts"

const storage = (options: PgJournal.Options) => Layer.provide(Storage.layerClient(options), Database.layer)

/** Two processes on one database: commits go to one and the other in turn. Nothing orders them but the row locks. */
const twoJournals = Layer.effect(Journal, Effect.gen(function*() {
  const journals = [yield* PgJournal.make({}), yield* PgJournal.make({})] as const
  let turn = 0
  return makeJournal((change: Change) => journals[turn++ % 2 === 0 ? 0 : 1].commit(change))
}))

// The checks would turn a missing row lock into a retry with a right result. Without them, only the lock is left.
const withoutChecks = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Migrations.migrate
  yield* sql`alter table satrail.balances drop constraint balances_check, drop constraint balances_held_check`
})

const twoProcesses = Layer.mergeAll(twoJournals, Records.layer, Tasks.layer).pipe(
  Layer.provideMerge(Layer.unwrap(Effect.as(withoutChecks, Layer.empty))),
  Layer.provide(Database.layer)
)

if (Database.server === undefined) it.skip(`everything on a server (${Database.skipped})`, () => {})
else {
  JournalContract.suite("postgres, grouped", storage({}))
  JournalContract.suite("postgres, one item a flush", storage({ maxItemsPerFlush: 1 }))
  RecordsContract.suite("postgres", storage({}))
  TasksContract.suite("postgres", storage({}))

  it.layer(twoProcesses, { excludeTestServices: true })("two processes, and no CHECK to help", (it) => {
    // Not "first come, first served": that is each process's own promise.
    for (
      const promise of [
        "C12: 200 requests at once for all there is: exactly one is held",
        "C12: 64 callers with 512 requests for money that covers 99: exactly 99 are held",
        "C14: eight withdrawals that would pay one hash at once: one may",
        "C15: eight withdrawals that claim one invoice at once: one has it",
        "C15: paid from inside and outside at once: credited once",
        "C17: the same transfer again, also at once, moves the money once",
        "C19: eight payouts that would spend one coin at once: one may",
        "C42: an output seen by eight workers at once is one deposit",
        "C45: reversed and spent at once: never below zero",
        "confirmed by eight workers at once: credited once",
        "credits and withdrawals of one company at once come out exact",
        "one handle asked for by eight companies at once: one has it",
        "one key eight times at once: one takes effect, all get its answer",
        "one key with two bodies at once: one takes effect, the other is refused",
        "one payment told 64 times at once is credited once",
        "settled and failed at once: one of them, whole",
        "the same request committed again holds once",
        "transferred and failed at once: both companies agree",
        "two companies that pay each other many times at once come out exact",
        "what settled stays settled"
      ] as const
    ) {
      it.effect(promise, () => Effect.repeat(JournalContract.promises[promise], { times: 9 }))
    }
  })
}
