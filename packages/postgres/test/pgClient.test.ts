import { assert, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { SqlError } from "effect/sql"
import { boundPort } from "@satrail/testing/boundPort"
import { freePort } from "@satrail/testing/freePort"
import { once } from "node:events"
import { createServer, Socket } from "node:net"
import { vi } from "vitest"
import { translate } from "../src/client/Outage.ts"
import * as PgClient from "../src/client/PgClient.ts"
import { failed } from "../src/client/PgConnection.ts"
import * as PgError from "../src/client/PgError.ts"
import * as SqlState from "../src/client/SqlState.ts"

const start = (url: string) =>
  Effect.flip(Effect.scoped(Layer.build(PgClient.layer({ url: Redacted.make(url) }))))

it.effect("store: an unreachable database is reported with its address and without the password", () =>
  Effect.gen(function* () {
    const port = yield* Effect.promise(freePort)
    const error = yield* start(`postgres://somebody:hunter2@127.0.0.1:${port}/money`)
    assert.strictEqual(error._tag, "DatabaseUnreachable")
    assert.include(error.message, `No database responds at 127.0.0.1:${port}/money`)
    assert.include(error.message, "ECONNREFUSED")
    assert.notInclude(JSON.stringify(error), "hunter2")
  })
)

/** A message of a PostgreSQL server. */
const message = (type: string, body: string): Buffer => {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(Buffer.byteLength(body) + 4, 1)
  return Buffer.concat([head, Buffer.from(body)])
}

/**
 * A server that refuses connections like PostgreSQL:
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
const refusing = (code: string, text: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const refusal = message("E", `SFATAL\0VFATAL\0C${code}\0M${text}\0\0`)
      const server = createServer((socket) => socket.once("data", () => socket.end(refusal))).listen(
        0,
        "127.0.0.1"
      )
      return { server, port: await boundPort(server) }
    }),
    ({ server }) => Effect.promise(() => once(server.close(), "close"))
  )

it.live(
  "store: a connection whose caller leaves while it is opened is closed, and its server's shutdown harms nothing",
  () =>
    Effect.gen(function* () {
      const opened = yield* Deferred.make<Socket>()
      const server = createServer({ allowHalfOpen: true }, (socket) =>
        socket.once("data", () => Deferred.doneUnsafe(opened, Effect.succeed(socket)))
      )
      const port = yield* Effect.promise(() => boundPort(server.listen(0, "127.0.0.1")))
      yield* Effect.addFinalizer(() => Effect.promise(() => once(server.close(), "close")))
      const { beside } = yield* PgClient.lazily({
        url: Redacted.make(`postgres://somebody@127.0.0.1:${port}/money`)
      })
      const caller = yield* Effect.forkChild(Effect.scoped(beside.connection))
      const socket = yield* Deferred.await(opened)
      yield* Fiber.interrupt(caller)
      let received = ""
      socket.on("data", (bytes) => (received += String(bytes)))
      socket.write(Buffer.concat([message("R", "\0\0\0\0"), message("Z", "I")]))
      socket.end(
        message("E", "SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0")
      )
      yield* Effect.promise(() => once(socket, "close"))
      assert.strictEqual(received, "X\0\0\0\u0004")
    })
)

const refusals = [
  ["28P01", 'password authentication failed for user "somebody"', "rejected the login"],
  ["28000", 'role "somebody" does not exist', "rejected the login"],
  ["3D000", 'database "money" does not exist', "has no database with this name"]
] as const
for (const [code, message, says] of refusals) {
  it.effect(`store: the server's refusal with error code ${code} is reported`, () =>
    Effect.gen(function* () {
      const { port } = yield* refusing(code, message)
      const error = yield* start(`postgres://somebody:hunter2@127.0.0.1:${port}/money`)
      for (const words of [`127.0.0.1:${port}`, says, message]) assert.include(error.message, words)
      assert.notInclude(error.message, "No database responds")
      assert.notInclude(JSON.stringify(error), "hunter2")
    })
  )
}

it.effect(
  "store: a connection whose server has vanished ends after minutes, also during a statement without a timeout",
  () =>
    Effect.gen(function* () {
      const set = vi.spyOn(Socket.prototype, "setKeepAlive")
      yield* Effect.addFinalizer(() => Effect.sync(() => set.mockRestore()))
      const { port } = yield* refusing("53300", "too many clients")
      yield* start(`postgres://somebody@127.0.0.1:${port}/money`)
      assert.deepStrictEqual(set.mock.calls[0], [true, 60_000])
    })
)

it.effect(
  "store: the error starts with the server's reason for rejecting a connection and guesses no cause",
  () =>
    Effect.gen(function* () {
      const { port } = yield* refusing("08P01", "unsupported startup parameter: geqo")
      const { message } = yield* start(`postgres://somebody:hunter2@127.0.0.1:${port}/money`)
      assert.strictEqual(
        message,
        `unsupported startup parameter: geqo: the server at 127.0.0.1:${port}/money refused the connection with this error.`
      )
    })
)

const isOutage = (error: SqlError.SqlError) =>
  Effect.map(
    Effect.exit(translate("test")(error)),
    (exit) => exit._tag === "Failure" && !Cause.hasDies(exit.cause)
  )

for (const code of ["XX000", "3D000", "28P01", "55000", "08P01"]) {
  it.effect(
    `store: a server or pooler that refuses a connection with ${code} is an outage, with a reason and a remedy`,
    () =>
      Effect.gen(function* () {
        const { port } = yield* refusing(code, "max client connections reached")
        const { sql } = yield* PgClient.lazily({
          url: Redacted.make(`postgres://somebody:hunter2@127.0.0.1:${port}/money`)
        })
        const error = yield* Effect.flip(sql.unsafe("select 1").unprepared)
        assert.isTrue(yield* isOutage(error))
        const { reason, remedy } = PgError.wordsOf(error)
        assert.isDefined(reason)
        assert.isDefined(remedy)
      })
  )
}

for (const code of ["XX000", "08P01"]) {
  it.effect(`store: ${code} in response to a statement is an outage only if it ends the session`, () =>
    Effect.gen(function* () {
      const failure = (severity: string) =>
        failed(Object.assign(new Error("no"), { code, severity }), "query")
      const outages = yield* Effect.forEach(["FATAL", "PANIC", "ERROR"], (severity) =>
        isOutage(failure(severity))
      )
      assert.deepStrictEqual(outages, [true, true, false])
    })
  )
}

it.effect(
  "store: the error for a malformed URL does not repeat the URL, because the text may be a password",
  () =>
    Effect.gen(function* () {
      const error = yield* start("hunter2")
      assert.strictEqual(error._tag, "DatabaseUnreachable")
      assert.include(error.message, "not a postgres:// URL")
      assert.notInclude(`${error.message} ${JSON.stringify(error)}`, "hunter2")
    })
)

/** Error codes of PostgreSQL and the network, with our reasons for them. */
const reasons = {
  "23505": "UniqueViolation",
  "23514": "ConstraintError",
  "40P01": "DeadlockError",
  "40001": "SerializationError",
  "42601": "SqlSyntaxError",
  "42501": "AuthorizationError",
  "28P01": "AuthenticationError",
  "55P03": "LockTimeoutError",
  "57014": "StatementTimeoutError",
  "57P01": "ConnectionError",
  "53300": "ConnectionError",
  "08006": "ConnectionError",
  "08P01": "UnknownError",
  "22P02": "UnknownError",
  "25001": "UnknownError",
  "25006": "ConnectionError",
  "25P02": "UnknownError",
  "25P03": "ConnectionError",
  "40003": "ConnectionError",
  "53100": "ConnectionError",
  "57P03": "ConnectionError",
  "58030": "ConnectionError",
  XX000: "UnknownError",
  XX001: "ConnectionError",
  "0A000": "UnknownError",
  "26000": "ConnectionError",
  "42P05": "ConnectionError",
  ECONNRESET: "ConnectionError"
} as const
for (const [code, tag] of Object.entries(reasons)) {
  it(`store: the error code ${code} is classified as ${tag}`, () =>
    assert.strictEqual(PgError.reasonOf(Object.assign(new Error("no"), { code }), "query")._tag, tag))
}

it("store: the error of a closed connection has no code; a value that cannot be sent is a defect", () => {
  assert.strictEqual(
    PgError.reasonOf(new Error("Connection terminated unexpectedly"), "query")._tag,
    "ConnectionError"
  )
  assert.strictEqual(
    PgError.reasonOf(new TypeError("Do not know how to serialize a BigInt"), "query")._tag,
    "UnknownError"
  )
})

/** The message shown to the operator, and whether the connection is dropped. */
const words = {
  "53100": [/disk of the database is full/, /Free some space/, undefined],
  "53200": [/out of memory/, /Give it more/, undefined],
  "53300": [/no free connection/, /SATRAIL_DATABASE_CONNECTIONS/, undefined],
  "25006": [/accepts no writes/, /primary/, "all"],
  "26000": [/pooler in transaction mode/, /direct URL/, "this"],
  "42P05": [/pooler in transaction mode/, /direct URL/, "this"],
  "28P01": [/rejected the login/, /user and password/, undefined],
  "57P01": [/being stopped or started/, /recovers automatically/, "this"],
  "58030": [/machine of the database/, /disks/, undefined],
  XX001: [/data of the database is damaged/, /backup/, undefined],
  "08006": [/connection to the database broke/, /log/, "this"]
} as const
for (const [code, [reason, remedy, drops]] of Object.entries(words)) {
  it(`store: SQLSTATE ${code} is explained, and a remedy is given`, () => {
    const error = new SqlError.SqlError({
      reason: PgError.reasonOf(Object.assign(new Error("no"), { code }), "query")
    })
    const said = PgError.wordsOf(error)
    assert.match(said.reason ?? "", reason)
    assert.match(said.remedy ?? "", remedy)
    assert.strictEqual(SqlState.meaningOf(code).drops, drops)
  })
}
