import { assert, describe, it } from "@effect/vitest"
import { open } from "@satrail/contracts/Fixtures"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Records } from "@satrail/core/service/Records"
import { Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import Pg from "pg"
import { Commits, refusedMillis } from "../src/journal/Commits.ts"
import * as Storage from "@satrail/service/postgres/Storage"
import * as Database from "./Database.ts"

/** Queries the database directly, as its administrator can. */
const administer = (url: Redacted.Redacted, text: string) =>
  Effect.promise(async () => {
    const client = new Pg.Client({
      connectionString: Redacted.value(url),
      options: "-c default_transaction_read_only=off"
    })
    await client.connect()
    try {
      await client.query(text)
    } finally {
      await client.end()
    }
  })

/**
 * Refuses every commit of a cursor with this SQLSTATE, like a commit that needs disk space when none is left.
 */
const refusing = (code: string) => `
create function satrail.refuse() returns trigger language plpgsql as $$ begin raise exception 'no' using errcode = '${code}'; end $$;
create trigger refuse before insert or update on satrail.companies for each row execute function satrail.refuse();
create trigger refuse before insert or update on satrail.cursors for each row execute function satrail.refuse()`
const relenting = "drop function satrail.refuse() cascade"

const check = Effect.flatMap(Commits, ({ check }) => check)

const read = Effect.flatMap(Records, ({ company }) =>
  company(CompanyId.make("0".repeat(8) + "-0000-7000-8000-000000000000"))
)

describe.skipIf(Database.server === undefined)(
  "a store that refuses commits (skipped where there is no server)",
  () => {
    for (const [code, reason] of [
      ["53100", "the disk of the database is full"],
      ["53200", "the database is out of memory"],
      ["58030", "the machine of the database has an error"]
    ] as const) {
      it.effect(
        `store: after the error ${code}, reads succeed, and commits are reported as rejected until a commit succeeds`,
        () =>
          Effect.gen(function* () {
            const url = yield* Database.make
            const store = yield* Layer.build(Storage.layer({ url }))
            yield* Effect.gen(function* () {
              yield* open
              yield* check
              yield* administer(url, refusing(code))
              const outage = yield* Effect.flip(open)
              assert.strictEqual(outage._tag, "StoreUnavailable")
              assert.strictEqual("reason" in outage && outage.reason, reason)
              yield* read
              assert.strictEqual((yield* Effect.flip(check)).reason, reason)
              // Without commits, the check's own attempt is refused as well.
              yield* TestClock.adjust(refusedMillis)
              assert.strictEqual((yield* Effect.flip(check)).reason, reason)
              yield* administer(url, relenting)
              yield* TestClock.adjust(refusedMillis - 1)
              assert.strictEqual((yield* Effect.flip(check)).reason, reason)
              yield* TestClock.adjust(1)
              yield* check
              // The check succeeds as soon as a commit does.
              yield* administer(url, refusing(code))
              yield* Effect.flip(open)
              yield* Effect.flip(check)
              yield* administer(url, relenting)
              yield* open
              yield* check
            }).pipe(Effect.provide(store))
          })
      )
    }

    it.effect("store: a lock timeout fails one Change and does not affect the store's status", () =>
      Effect.gen(function* () {
        const url = yield* Database.make
        const store = yield* Layer.build(Storage.layer({ url }))
        yield* Effect.gen(function* () {
          yield* administer(url, refusing("55P03"))
          assert.strictEqual((yield* Effect.flip(open))._tag, "StoreUnavailable")
          yield* check
        }).pipe(Effect.provide(store))
      })
    )

    it.effect(
      "store: connections to a demoted primary are closed, and the next commit goes to the new primary",
      () =>
        Effect.gen(function* () {
          const url = yield* Database.make
          const pool = yield* Database.hostsPool({ connectionString: Redacted.value(url), max: 3 })
          const store = yield* Layer.build(Storage.layerPool(pool))
          yield* Effect.gen(function* () {
            yield* open
            // Like a server that becomes a replica: connections stay open but accept no writes.
            yield* Effect.promise(async () => {
              const clients = await Promise.all([pool.connect(), pool.connect(), pool.connect()])
              for (const client of clients) {
                await client.query("set default_transaction_read_only = on")
                client.release()
              }
            })
            const outage = yield* Effect.flip(open)
            assert.strictEqual(outage._tag, "StoreUnavailable")
            assert.match(("reason" in outage && outage.reason) || "", /accepts no writes/)
            for (let i = 0; i < 5; i++) yield* open
            yield* check
          }).pipe(Effect.provide(store))
        })
    )

    it.effect("store: while the server accepts no writes, commits fail as outages, not defects", () =>
      Effect.gen(function* () {
        const url = yield* Database.make
        const name = new URL(Redacted.value(url)).pathname.slice(1)
        const store = yield* Layer.build(Storage.layer({ url }))
        yield* Effect.gen(function* () {
          yield* open
          yield* administer(url, `alter database ${name} set default_transaction_read_only = on`)
          yield* administer(
            url,
            `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`
          )
          for (let i = 0; i < 4; i++) assert.strictEqual((yield* Effect.flip(open))._tag, "StoreUnavailable")
          assert.match((yield* Effect.flip(check)).reason ?? "", /accepts no writes/)
          yield* administer(url, `alter database ${name} reset default_transaction_read_only`)
          // Connections opened in the meantime are still read-only. One commit detects this.
          yield* Effect.ignore(open)
          yield* open
          yield* check
        }).pipe(Effect.provide(store))
      })
    )
  }
)
