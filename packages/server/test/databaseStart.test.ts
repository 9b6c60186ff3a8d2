import { assert, describe, it } from "@effect/vitest"
import { DatabaseUnreachable } from "@satrail/postgres/client/PgError"
import * as Starting from "@satrail/postgres/client/Starting"
import * as Storage from "@satrail/service/postgres/Storage"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { eventually } from "@satrail/testing/Waiting"
import { Effect, Exit, Fiber, Layer, Logger, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Service from "./Service.ts"

const failing = (code: string | undefined) =>
  new DatabaseUnreachable({
    where: "db:5432/money",
    cause: Object.assign(new Error(`cannot connect`), code !== undefined && { code })
  })

/** Runs the wait with a connection that fails with this code until the given attempt. */
const waiting = Effect.fnUntraced(function* (code: string | undefined, worksAt = Infinity) {
  let attempts = 0
  const lines: Array<string> = []
  const connect = Effect.suspend(() =>
    ++attempts >= worksAt ? Effect.succeed("open") : Effect.fail(failing(code))
  )
  const log = Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
  const fiber = yield* Effect.forkChild(Effect.provide(Effect.exit(Starting.awaiting(connect)), log))
  yield* TestClock.adjust("1 hour")
  const exit = yield* Fiber.join(fiber)
  return { isOpen: Exit.isSuccess(exit), attempts, lines }
})

for (const code of ["ECONNREFUSED", "ENOENT", "ENOTFOUND", "ETIMEDOUT", "57P03"])
  it.effect(
    `start: the service waits for a database that is not running yet (${code}), with one line and a limit`,
    () =>
      Effect.gen(function* () {
        const late = yield* waiting(code, 5)
        assert.deepStrictEqual([late.isOpen, late.attempts, late.lines.length], [true, 5, 1])
        assert.match(
          late.lines[0] ?? "",
          /^database: (?=.*db:5432\/money)(?=.*cannot connect).* Waiting up to 60 s for it\.$/
        )
        const never = yield* waiting(code)
        assert.deepStrictEqual([never.isOpen, never.attempts, never.lines.length], [false, 61, 1])
      })
  )

for (const code of ["28P01", "3D000", "42501", "53300", "CERT_HAS_EXPIRED", "25006", undefined])
  it.effect(`start: the service does not wait for a database that refuses it (${code ?? "no code"})`, () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* waiting(code, 2), { isOpen: false, attempts: 1, lines: [] })
    })
  )

const installation = PostgresServer.find()

describe.skipIf("missing" in installation)("start before PostgreSQL (skipped where there is none)", () => {
  if ("missing" in installation) return

  it("start: `satrail migrate` and programs that embed the storage wait for PostgreSQL, with one line each", async () => {
    const postgres = await PostgresServer.start(installation)
    try {
      await postgres.stop("fast")
      const url = `postgres://postgres@127.0.0.1:${postgres.port}/postgres`
      const migrating = Service.run("cli", ["migrate", "--json"], { DATABASE_URL: url })
      const lines: Array<string> = []
      const log = Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
      const embedded = Effect.runPromise(
        Effect.scoped(Layer.build(Storage.layer({ url: Redacted.make(url) }))).pipe(
          Effect.asVoid,
          Effect.provide(log)
        )
      )
      const waits = (text: string) => text.split("Waiting up to 60 s").length - 1
      await eventually(
        "a line of each about the database",
        async () => [waits(migrating.stderr()), waits(lines.join())],
        (counts) => counts.every((count) => count === 1)
      )
      await postgres.restart()
      await embedded
      const { code, stdout, stderr } = await migrating.ended
      assert.deepStrictEqual([code, waits(stderr), waits(lines.join())], [0, 1, 1])
      assert.isAbove(JSON.parse(stdout).now, 0)
    } finally {
      await postgres.end()
    }
  })

  for (const [what, urlOf] of [
    ["one host", (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`],
    ["several hosts", (port: number) => `postgres://postgres@127.0.0.1:1,127.0.0.1:${port}/postgres`]
  ] as const)
    it(`start: a service started before PostgreSQL starts once it runs (${what})`, async () => {
      const postgres = await PostgresServer.start(installation)
      const service = Service.make()
      try {
        await postgres.stop("fast")
        const starting = service.start({ DATABASE_URL: urlOf(postgres.port) })
        await eventually(
          "a line about the database",
          async () => service.logs().filter((line) => line.includes("Waiting up to 60 s")),
          (lines) => lines.length === 1
        )
        await postgres.restart()
        await starting
        assert.strictEqual((await service.ask("GET", "/readyz")).status, 200)
        await service.stop("SIGTERM")
      } finally {
        await service.end()
        await postgres.end()
      }
    })
})
