import { assert, it } from "@effect/vitest"
import { eventually } from "@satrail/contracts/Eventually"
import { quickest } from "@satrail/testing/Waiting"
import { Effect, Fiber, Layer, Option, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import * as Hosts from "../src/client/Hosts.ts"
import * as PgClient from "../src/client/PgClient.ts"
import * as Primary from "../src/client/Primary.ts"
import * as Impostor from "./Impostor.ts"

// ---- parsing URLs

const parsed = (text: string) => Result.getOrThrow(Hosts.parse(text))
const ats = (text: string) => parsed(text).all.map(({ at }) => at)

it("hosts: a URL names one or several hosts with their ports, and each can be addressed alone", () => {
  const url = "postgres://u:p%40ss@h1:5433,h2,[::1]:5434/money?sslmode=verify-full"
  const { all, demand, where, password } = parsed(url)
  assert.deepStrictEqual(
    all.map(({ at }) => at),
    ["h1:5433", "h2:5432", "[::1]:5434"]
  )
  assert.deepStrictEqual(
    all.map(({ url }) => Redacted.value(url)),
    ["h1:5433", "h2", "[::1]:5434"].map((host) => `postgres://u:p%40ss@${host}/money?sslmode=verify-full`)
  )
  assert.strictEqual(demand, "read-write")
  assert.strictEqual(where, "h1:5433,h2:5432,[::1]:5434/money")
  assert.strictEqual(Redacted.value(password), "p%40ss")
  assert.notInclude(JSON.stringify(parsed(url)), "p%40ss")
})

it("hosts: a URL can also name a single host or a socket", () => {
  assert.deepStrictEqual(ats("postgresql://u@db.example/money"), ["db.example:5432"])
  assert.strictEqual(parsed("postgres://db/money").demand, "any")
  assert.deepStrictEqual(ats("postgres:///money?host=/run/postgresql"), ["localhost:5432"])
  assert.strictEqual(parsed("postgres://db/money?target_session_attrs=primary").demand, "primary")
})

const wrong: ReadonlyArray<readonly [url: string, problem: RegExp]> = [
  ["mysql://u:hunter2@h1,h2/money", /not a postgres/],
  ["hunter2", /not a postgres/],
  ["postgres://u:hunter2@h1:5432,/money", /host 2 of 2 is empty/],
  ["postgres://u:hunter2@,h2/money", /host 1 of 2 is empty/],
  ["postgres://u:hunter2@h1:0,h2/money", /the port of host 1 of 2 must be a number from 1 to 65535/],
  ["postgres://u:hunter2@h1,h2:65536/money", /the port of host 2 of 2 must be/],
  ["postgres://u:hunter2@h1:5432:5433,h2/money", /the port of host 1 of 2 must be/],
  ["postgres://u:hunter2@h1:x/money", /the port of the host must be/],
  ["postgres://u:hunter2@h1,h2:5432,h1:5432/money", /host 3 of 3 is named twice/],
  ["postgres://u:hunter2@h 1,h2/money", /host 1 of 2 is not a host name/],
  ["postgres://u:/hunter2@h1/money", /a \/ in the user name or password must be written as %2F/],
  ["postgres://u:5432/hunter2@h1/money", /a \/ in the user name or password must be written as %2F/],
  ["postgres://u:hunter2@h1/mon@ey", /an @ in the database's name as %40/],
  ["postgres://u:hunter2%@h1/money", /a % in the user name or password must be written as %25/],
  ["postgres://u:hunter2%zz@h1,h2/money", /a % in the user name or password must be written as %25/],
  ["postgres://u:hunter2%ff@h1,h2/money", /a % in the user name or password must be written as %25/],
  ["postgres://u:hunter2@h1/mon%ey", /a % in the database's name must be written as %25/],
  ["postgres://u:hunter2@h1,h2/money?port=5432,5433,5434", /each with its port/],
  ["postgres://u:hunter2@h1/money?port=5432,5433", /each with its port/],
  ["postgres:///money?host=h1,h2", /each with its port/],
  [
    "postgres://u:hunter2@h1,h2/money?target_session_attrs=standby",
    /must be one of any, read-write, primary/
  ],
  [
    `postgres://u:hunter2@${Array.from({ length: 9 }, (_, i) => `h${i}`).join(",")}/money`,
    /contains 9 hosts, but the maximum is 8/
  ]
]
for (const [url, problem] of wrong) {
  it(`hosts: ${url.replace("hunter2", "…")} is rejected, and the reason does not repeat the password`, () => {
    const said = Result.match(Hosts.parse(url), { onSuccess: () => "nothing", onFailure: (text) => text })
    assert.match(said, problem)
    assert.notInclude(said, "hunter2")
  })
}

// ---- choosing the primary

const here = (timeline: number, isStandby = false, isReadOnly = isStandby): Primary.Standing => ({
  _tag: "Here",
  isStandby,
  isReadOnly,
  timeline
})
const away: Primary.Standing = { _tag: "Away", cause: new Error("gone") }

it("hosts: a writable host on the latest timeline is chosen: preferably the last one used, then the others in order", () => {
  const { choose } = Primary
  assert.strictEqual(choose([here(0, true), here(1)], "read-write", 0, 0), 1)
  assert.strictEqual(choose([here(1), here(1)], "read-write", undefined, 1), 0)
  assert.strictEqual(choose([here(1), here(1)], "read-write", 1, 1), 1)
  assert.strictEqual(
    choose([here(1), here(2)], "read-write", 0, 1),
    1,
    "the old primary is not preferred to the new one"
  )
  assert.strictEqual(
    choose([here(1), away], "read-write", 1, 2),
    undefined,
    "the old primary is not chosen while the new one is down"
  )
  assert.strictEqual(
    choose([here(0), away], "read-write", 1, 2),
    0,
    "a server without timelines can be chosen"
  )
  assert.strictEqual(choose([here(1, false, true), away], "read-write", 0, 1), undefined)
  assert.strictEqual(choose([here(1, false, true), away], "primary", 0, 1), 0)
  assert.strictEqual(choose([away, here(0, true)], "any", 0, 0), 1)
  assert.strictEqual(choose([here(0, true), here(5)], "any", 0, 0), 0)
})

// ---- connecting to the primary

const quick = { connectMillis: 300, maxConnections: 2 }

const clientOf = (hosts: ReadonlyArray<{ readonly at: string }>, query = "") =>
  Layer.build(
    PgClient.layer({
      url: Redacted.make(`postgres://somebody:hunter2@${hosts.map(({ at }) => at).join(",")}/money${query}`),
      ...quick
    })
  )

const who = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(sql.unsafe<{ readonly who: string }>("select 1 as who").unprepared, ([row]) => row?.who)
)

/**
 * Retries until a server responds: one caller receives a broken connection, and the next one connects
 * elsewhere.
 */
const whoAtLast = eventually(Effect.option(who), Option.isSome)

it.live("hosts: a silent host and a standby are skipped within the connection timeout", () =>
  Effect.gen(function* () {
    const [silent, standby, primary] = [
      yield* Impostor.make({ is: "silent" }),
      yield* Impostor.make({ is: "standby" }),
      yield* Impostor.make()
    ]
    const connecting = Effect.gen(function* () {
      const begun = performance.now()
      const client = yield* clientOf([silent, standby, primary])
      assert.strictEqual(yield* Effect.provide(who, client), primary.at)
      return performance.now() - begun
    })
    const millis = yield* Effect.promise(() =>
      quickest(5000, () => Effect.runPromise(Effect.scoped(connecting)))
    )
    assert.isBelow(millis, 5000)
  })
)

it.live("hosts: a host that disappears just before its connection is closed does not delay any request", () =>
  Effect.gen(function* () {
    const [standby, primary] = [
      yield* Impostor.make({ is: "standby", isDeaf: true }),
      yield* Impostor.make({ isDeaf: true })
    ]
    const client = yield* clientOf([standby, primary])
    assert.strictEqual(yield* Effect.provide(who, client), primary.at)
    for (const { part, stop } of [standby, primary]) {
      part.isDeaf = false
      yield* Effect.addFinalizer(() => Effect.sync(stop))
    }
  })
)

it.live("hosts: if no host is writable, the error gives the state of each host", () =>
  Effect.gen(function* () {
    const [silent, standby, reads, gone] = [
      yield* Impostor.make({ is: "silent" }),
      yield* Impostor.make({ is: "standby" }),
      yield* Impostor.make({ is: "read-only" }),
      yield* Impostor.make()
    ]
    gone.stop()
    const { message } = yield* Effect.flip(clientOf([silent, standby, reads, gone]))
    for (const words of [
      `${silent.at} does not respond (timeout`,
      `${standby.at} is a standby`,
      `${reads.at} is a read-only primary`,
      `${gone.at} does not respond (connect ECONNREFUSED`
    ])
      assert.include(message, words)
    assert.notInclude(message, "hunter2")
  })
)

it.live("hosts: after the primary has become a replica, the next connection goes to the new primary", () =>
  Effect.gen(function* () {
    const [first, second] = [yield* Impostor.make(), yield* Impostor.make({ is: "standby" })]
    const client = yield* clientOf([first, second])
    assert.strictEqual(yield* Effect.provide(who, client), first.at)
    first.part.is = "standby"
    second.part.is = "primary"
    first.drop()
    assert.deepStrictEqual(yield* Effect.provide(whoAtLast, client), Option.some(second.at))
  })
)

it.live("hosts: a process does not return to the old primary, even if the new one is down", () =>
  Effect.gen(function* () {
    const [first, second] = [yield* Impostor.make(), yield* Impostor.make({ timeline: 2 })]
    const client = yield* clientOf([first, second])
    assert.strictEqual(yield* Effect.provide(who, client), second.at)
    second.stop()
    const asked = yield* Effect.forEach(Array.from({ length: 40 }), () =>
      Effect.andThen(Effect.sleep(5), Effect.exit(Effect.provide(who, client)))
    )
    assert.isTrue(asked.every((exit) => exit._tag === "Failure"))
    const { message } = yield* Effect.flip(Effect.delay(Effect.provide(who, client), 1100))
    assert.include(message, `${first.at} is an old primary (timeline 1, but 2 was seen elsewhere)`)
  })
)

it.live(
  "hosts: a server without timelines is accepted, and a server that does not report its timeline counts as down",
  () =>
    Effect.gen(function* () {
      const [unsaid, none] = [
        yield* Impostor.make({ timeline: "unsaid" }),
        yield* Impostor.make({ timeline: null })
      ]
      const client = yield* clientOf([unsaid, none])
      assert.strictEqual(yield* Effect.provide(who, client), none.at)
    })
)

it.live(
  "hosts: while all hosts are down, one caller retries after a pause, and the others fail immediately",
  () =>
    Effect.gen(function* () {
      const hosts = [yield* Impostor.make(), yield* Impostor.make({ is: "standby" })]
      const client = yield* clientOf(hosts)
      for (const { part, drop } of hosts) {
        part.is = "standby"
        drop()
      }
      const before = hosts.reduce((sum, { connections }) => sum + connections(), 0)
      for (let asked = 0; asked < 300; asked++)
        assert.strictEqual((yield* Effect.exit(Effect.provide(who, client)))._tag, "Failure")
      assert.isBelow(hosts.reduce((sum, { connections }) => sum + connections(), 0) - before, 40)
    })
)

it.effect(
  "hosts: if a machine stops responding, queries to it are aborted once another host is the primary",
  () =>
    Effect.gen(function* () {
      const [first, second] = [yield* Impostor.make(), yield* Impostor.make({ is: "standby" })]
      const client = yield* clientOf([first, second])
      first.part.is = "silent"
      const hangs = yield* Effect.forkChild(Effect.flip(Effect.provide(who, client)), {
        startImmediately: true
      })
      second.part.is = "primary"
      second.part.timeline = 2
      yield* TestClock.adjust(Primary.defaults.watchMillis)
      const { reason } = yield* Fiber.join(hangs)
      // The query is not aborted by its own timeout, which is 30 seconds.
      assert.strictEqual(reason.message, "Connection terminated unexpectedly")
      assert.strictEqual(yield* Effect.provide(who, client), second.at)
    })
)
