import { assert, describe, it } from "@effect/vitest"
import { eventually } from "@satrail/contracts/Eventually"
import { companyWith, created, payment } from "@satrail/contracts/Fixtures"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Journal } from "@satrail/core/ledger/Journal"
import { Records } from "@satrail/core/service/Records"
import * as Client from "@satrail/testing/Client"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { Effect, Layer, Redacted } from "effect"
import * as Standby from "../src/Standby.ts"
import * as Storage from "@satrail/service/postgres/Storage"

const mark = (place: bigint, atMillis: number, of = "this") => ({ of, place, atMillis })

it("standby: the replayed position is measured against the primary, not the standby's clock", () => {
  const marks = [mark(10n, 1000), mark(20n, 2000), mark(30n, 3000)]
  assert.strictEqual(Standby.asOf(marks, { of: "this", place: 25n }), 2000)
  assert.strictEqual(Standby.asOf(marks, { of: "this", place: 30n }), 3000)
  assert.strictEqual(Standby.asOf(marks, { of: "this", place: 9n }), undefined)
  assert.strictEqual(
    Standby.asOf(marks, { of: "another, or this one before a failover", place: 99n }),
    undefined
  )
  assert.strictEqual(
    Standby.asOf([mark(10n, 1000, "before"), mark(5n, 2000)], { of: "this", place: 7n }),
    2000
  )
})

const installation = PostgresServer.find()

describe.skipIf("missing" in installation)(
  "lists from a standby (skipped where there is no PostgreSQL)",
  () => {
    const server = (standbyOf?: number) =>
      "missing" in installation
        ? Effect.die(installation.missing)
        : Effect.acquireRelease(
            // `track_activity_query_size` must hold the full text of every query.
            Effect.promise(() =>
              PostgresServer.start(installation, {
                standbyOf,
                settings: [...PostgresServer.careless, "track_activity_query_size=65536"]
              })
            ),
            (server) => Effect.promise(() => server.end())
          )
    const ask = ({ url }: PostgresServer.PostgresServer, text: string) =>
      Effect.sync(() =>
        "missing" in installation
          ? assert.fail(installation.missing)
          : Client.run(installation, "psql", [
              "--no-psqlrc",
              "--quiet",
              "--tuples-only",
              "--no-align",
              `--command=${text}`,
              url
            ]).trim()
      )
    /** The last queries from the service to this server, on any connection. */
    const askedOf = (at: PostgresServer.PostgresServer) =>
      ask(at, "select string_agg(query, ' ') from pg_stat_activity where application_name = 'satrail'")
    const storage = (
      first: PostgresServer.PostgresServer,
      read: PostgresServer.PostgresServer,
      role = "postgres"
    ) =>
      Layer.build(
        Storage.layer({
          url: Redacted.make(first.url),
          readUrl: Redacted.make(read.url.replace("postgres@", `${role}@`)),
          maxAgeMillis: 1500
        })
      )
    const funded = Effect.fnUntraced(function* (company: CompanyId.CompanyId, sats: number) {
      yield* (yield* Journal).commit(yield* payment(yield* created(company, sats), sats))
    })
    const listed = (company: CompanyId.CompanyId) =>
      Effect.flatMap(Records, (records) =>
        Effect.map(records.transactions(company, { limit: 10 }), (rows) => rows.length)
      )

    it.live(
      "standby: lists are read from the standby while it is up and nearly current, and otherwise from the primary",
      () =>
        Effect.gen(function* () {
          const first = yield* server()
          const second = yield* server(first.port)
          // The least privileged role suffices: it only has to connect and read.
          yield* ask(first, "create role reader login; grant pg_read_all_data to reader")
          const services = yield* storage(first, second, "reader")
          yield* Effect.gen(function* () {
            const company = yield* companyWith(100)
            const fromStandby = Effect.andThen(listed(company), askedOf(second))
            yield* eventually(fromStandby, (text) => text.includes("satrail."))
            yield* ask(second, "select pg_wal_replay_pause()")
            yield* funded(company, 100)
            yield* eventually(listed(company), (count) => count === 2)
            yield* ask(second, "select pg_wal_replay_resume()")
            yield* funded(company, 100)
            yield* Effect.promise(() => second.stop("immediate"))
            assert.strictEqual(yield* listed(company), 3)
          }).pipe(Effect.provide(services))
        })
    )

    it.live("standby: another database, or a server that is not a standby, is never queried", () =>
      Effect.gen(function* () {
        const [first, other] = [yield* server(), yield* server()]
        const otherStandby = yield* server(other.port)
        for (const wrong of [other, otherStandby]) {
          const services = yield* storage(first, wrong)
          yield* Effect.gen(function* () {
            const company = yield* companyWith(100)
            yield* eventually(askedOf(wrong), (text) => text.includes("pg_is_in_recovery"))
            assert.strictEqual(yield* listed(company), 1)
            assert.notInclude(yield* askedOf(wrong), "satrail.")
          }).pipe(Effect.provide(services))
        }
      })
    )
  }
)
