import { assert } from "@effect/vitest"
import { Clock, type Context, Deferred, Effect, Exit, Fiber, Redacted, Scope, Semaphore } from "effect"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import type { Company } from "@satrail/core/accounts/Company"
import { maxWaiting } from "../../../src/webhooks/core/Runner.ts"
import { maxAttempts } from "../../../src/webhooks/core/Schedule.ts"
import * as FairSlots from "@satrail/core/base/FairSlots"
import * as Signature from "@satrail/core/base/Signature"
import { Feed } from "@satrail/core/events/Feed"
import * as Notice from "@satrail/core/events/Notice"
import { EventStore } from "@satrail/core/ledger/EventStore"
import { Journal } from "@satrail/core/ledger/Journal"
import { entryOf, waiting } from "../../../src/webhooks/core/Sending.ts"
import { Webhooks } from "../../../src/webhooks/core/Webhooks.ts"
import {
  broken,
  endpoint,
  ok,
  read,
  type Request,
  second,
  sending,
  subscribed,
  types,
  world
} from "../../../../core/test/Receivers.ts"
import {
  company,
  confirm,
  invoice,
  lightningAddress,
  outside,
  type Ports,
  replace,
  scenario,
  steps
} from "../../../../core/test/World.ts"

const attemptsOf = (sent: ReadonlyArray<Request>) =>
  sent.map(({ headers }) => Number(headers["x-satrail-attempt"]))
const answering =
  (...answers: ReadonlyArray<number | "nothing">) =>
  (_: Request) => {
    const [now = 204] = answers
    return Effect.succeed(
      now === "nothing" ? { _tag: "Unanswered" as const, reason: "no connection" } : broken(now)
    )
  }
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

for (const answer of [302, 400, 500, "nothing"] as const)
  scenario(
    `webhooks: ${answer === "nothing" ? "no response" : answer} counts as a failure, and the event is retried to the end of the schedule`,
    () => world(),
    function* ({ sent, state }) {
      const { row } = yield* subscribed(0, { types: ["invoice.created"] })
      state.answer = answering(answer)
      yield* invoice(row, 1)
      for (let i = 0; i < 16; i++) yield* TestClock.adjust("6 hours")
      assert.deepStrictEqual(attemptsOf(sent), upTo(maxAttempts))
    }
  )

scenario(
  "webhooks: a Retry-After that is shorter than the scheduled pause does not use up the attempts",
  () => world(),
  function* ({ sent, state }) {
    yield* sending
    const row = yield* company()
    yield* endpoint(row, { types: ["invoice.created"] })
    yield* second
    state.answer = () => Effect.succeed(broken(503, "1"))
    yield* invoice(row, 1)
    for (let i = 0; i < 60; i++) yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(attemptsOf(sent), upTo(6))
    state.answer = () => Effect.succeed(ok)
    yield* TestClock.adjust("3 hours")
    assert.deepStrictEqual(attemptsOf(sent), upTo(7))
  }
)

scenario(
  "webhooks: a process that takes over during a retry schedule continues the schedule instead of restarting it",
  () => world(),
  function* ({ sent, state }) {
    const row = yield* company()
    yield* endpoint(row, { types: ["invoice.created"] })
    state.answer = answering(500)
    const first = yield* Scope.make()
    yield* Scope.provide(sending, first)
    yield* second
    yield* invoice(row, 1)
    yield* second
    yield* TestClock.adjust("10 minutes")
    assert.deepStrictEqual(attemptsOf(sent), upTo(5))
    yield* Scope.close(first, Exit.void)
    yield* TestClock.adjust("10 minutes")
    yield* sending
    yield* TestClock.adjust("5 minutes")
    assert.lengthOf(sent, 5, "the retry is not due yet")
    state.answer = () => Effect.succeed(ok)
    yield* TestClock.adjust("30 minutes")
    assert.deepStrictEqual(attemptsOf(sent), upTo(6))
    assert.strictEqual(new Set(sent.map(({ headers }) => headers["webhook-id"])).size, 1)
    yield* TestClock.adjust("2 days")
    assert.lengthOf(sent, 6, "the event was received")
  }
)

scenario(
  "webhooks: a process that stops completes the request in progress, but not those that wait for a slot, which the next process sends",
  () => world(),
  function* ({ state }) {
    const first = yield* Scope.make()
    yield* Scope.provide(sending, first)
    const row = yield* company()
    yield* endpoint(row, { types: ["invoice.created"] })
    yield* second
    const slots = FairSlots.make({ most: 1, each: 1 })
    const mayEnd = yield* Deferred.make<void>()
    const started: Array<string> = []
    state.answer = (request) =>
      slots.run(
        row.id,
        Effect.suspend(() => {
          started.push(read(request).subject)
          return Effect.as(Deferred.await(mayEnd), ok)
        })
      )
    const [one, other] = [yield* invoice(row, 1), yield* invoice(row, 1)]
    yield* second
    const stopping = yield* Effect.forkChild(Scope.close(first, Exit.void), { startImmediately: true })
    yield* second
    assert.isUndefined(stopping.pollUnsafe())
    yield* Deferred.succeed(mayEnd, undefined)
    yield* Fiber.join(stopping)
    assert.deepStrictEqual(started, [one.id])
    yield* sending
    yield* second
    assert.deepStrictEqual(started, [one.id, other.id])
  }
)

scenario(
  "webhooks: a delivery that the store records late, during the next attempt, continues its own schedule",
  () => world({ isAway: true }),
  function* ({ sent, state, store }) {
    const { row } = yield* subscribed(0, { types: ["invoice.created"] })
    state.answer = answering(500)
    yield* invoice(row, 1)
    yield* TestClock.adjust(100)
    assert.deepStrictEqual(attemptsOf(sent), [1])
    store.isAway = false
    state.answer = () => Effect.as(store.arrive, broken(500))
    yield* second
    assert.deepStrictEqual(attemptsOf(sent), [1, 1], "the first attempt had no record")
    state.answer = answering(500)
    for (let i = 0; i < 16; i++) yield* TestClock.adjust("6 hours")
    assert.deepStrictEqual(attemptsOf(sent), [1, ...upTo(maxAttempts)])
  }
)

scenario(
  "webhooks: an endpoint whose last event failed a week ago is not disabled by the first failed attempt of the next one",
  () => world(),
  function* ({ sent, state }) {
    const { row, endpoint: made } = yield* subscribed(0, { types: ["invoice.created"] })
    state.answer = answering(500)
    yield* invoice(row, 1)
    for (let i = 0; i < 28; i++) yield* TestClock.adjust("6 hours")
    assert.deepStrictEqual(attemptsOf(sent), upTo(maxAttempts))
    yield* invoice(row, 1)
    yield* second
    state.answer = () => Effect.succeed(ok)
    yield* TestClock.adjust("10 seconds")
    assert.deepStrictEqual(attemptsOf(sent).slice(maxAttempts), [1, 2])
    assert.strictEqual((yield* (yield* Webhooks).get(row.id, made.id)).status, "enabled")
  }
)

scenario(
  "webhooks: a request that waited for others is signed when it is sent, because receivers refuse an old signature",
  () => world(),
  function* ({ sent, state }) {
    const { row, endpoint: made } = yield* subscribed(0, { types: ["invoice.created"] })
    state.turn = Effect.sleep("10 minutes")
    yield* invoice(row, 1)
    yield* TestClock.adjust("11 minutes")
    const { headers, atMillis } = sent[0] ?? assert.fail("nothing sent")
    assert.strictEqual(headers["webhook-timestamp"], String(Math.floor(atMillis / 1000)))
    const [delivery = assert.fail()] = (yield* (yield* Webhooks).deliveries(row.id, made.id, {
      limit: 1,
      before: null
    })).rows
    assert.deepStrictEqual(
      [delivery.lastAtMillis, delivery.durationMillis],
      [atMillis, 0],
      "waiting is no time of the receiver"
    )
  }
)

scenario(
  "webhooks: a failed test does not delay the next one, so that a repaired endpoint can be tested at once",
  () => world(),
  function* ({ sent, state }) {
    const { row, endpoint: made } = yield* subscribed()
    const { test } = yield* Webhooks
    state.answer = answering(500)
    yield* test(row.id, made.id)
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(attemptsOf(sent), [1, 2, 3])
    state.answer = () => Effect.succeed(ok)
    yield* test(row.id, made.id)
    yield* second
    assert.deepStrictEqual(attemptsOf(sent), [1, 2, 3, 1])
  }
)

const events = maxWaiting + 50
/** An endpoint with as many waiting deliveries as possible, each due in a day, and more events. Its receiver works again. */
const full = Effect.fnUntraced(function* ({ sent, state }: ReturnType<typeof world>) {
  const { row, endpoint: made } = yield* subscribed(0, { types: ["invoice.created"] })
  const begin = yield* (yield* Feed).now
  state.answer = () => Effect.succeed(broken(503, "86400"))
  for (let i = 0; i < events; i++) yield* invoice(row, 1)
  for (let i = 0; i < 60; i++) yield* second
  const waiting = sent.length
  assert.isTrue(waiting >= maxWaiting && waiting < events)
  state.answer = () => Effect.succeed(ok)
  sent.length = 0
  return { row, made, begin, waiting }
})

scenario(
  "webhooks: a test is sent immediately even if 1,000 waiting deliveries keep other events from being read, and no event is lost or repeated",
  () => world(),
  function* (given) {
    const { sent } = given
    const { row, made } = yield* full(given)
    yield* (yield* Webhooks).test(row.id, made.id)
    yield* second
    assert.deepStrictEqual(types(sent), ["webhook_endpoint.test"])
    for (let i = 0; i < 30; i++) yield* TestClock.adjust("1 hour")
    assert.lengthOf(sent, events + 1)
    assert.strictEqual(new Set(sent.map((request) => read(request).id)).size, events + 1)
  }
)

scenario(
  "webhooks: a replay also sends the deliveries that wait for a retry, so that it is not delayed by them",
  () => world(),
  function* (given) {
    const { sent } = given
    const { row, made, begin, waiting } = yield* full(given)
    yield* (yield* Webhooks).replay(row.id, made.id, begin)
    for (let i = 0; i < 60; i++) yield* second
    assert.strictEqual(new Set(sent.map((request) => read(request).id)).size, events)
    assert.lengthOf(sent, waiting + events)
    yield* TestClock.adjust("2 days")
    assert.lengthOf(sent, waiting + events)
  }
)

/** Counts the events that are read by their id. */
const reading = () => {
  const made = world()
  const reads = { count: 0 }
  const counted = replace(EventStore, (store) => ({
    event: (id) => Effect.tap(store.event(id), () => Effect.sync(() => reads.count++))
  }))
  return { ...made, reads, change: (ports: Context.Context<Ports>) => counted(made.change?.(ports) ?? ports) }
}

scenario(
  "webhooks: a delivery that waits keeps no body in memory, so that endpoints that fail or are slow cannot fill it",
  reading,
  function* ({ sent, state, reads }) {
    const { row } = yield* subscribed(1000, { types: ["withdrawal.*"] })
    const ended = yield* Deferred.make<void>()
    state.answer = () => Effect.as(Deferred.await(ended), broken(500))
    yield* confirm(row, (yield* outside({ sats: 100 })).destination)
    yield* steps(2)
    yield* second
    assert.deepStrictEqual([attemptsOf(sent), reads.count], [[1], 0])
    // The first event failed, and the second one waited for it.
    state.answer = () => Effect.succeed(ok)
    yield* Deferred.succeed(ended, undefined)
    yield* TestClock.adjust("10 seconds")
    assert.deepStrictEqual([attemptsOf(sent), reads.count], [[1, 2, 1], 2])
    yield* confirm(row, (yield* outside({ sats: 100 })).destination)
    yield* second
    assert.deepStrictEqual(
      [attemptsOf(sent), reads.count],
      [[1, 2, 1, 1], 2],
      "the first attempt uses the body that was just read"
    )
    const [item = assert.fail()] = (yield* (yield* Feed).page(
      { companyId: row.id, after: Notice.first, limit: 1 },
      () => "its body"
    )).items
    assert.notInclude(inspect(waiting(entryOf(item)), { depth: null }), item.body)
  }
)

/**
 * A clock that is off by `state.aheadMillis`. Sleeps still take the correct time, as a machine's timers do.
 */
const jumping = Effect.map(Clock.Clock, (clock) => {
  const state = { aheadMillis: 0 }
  const ahead: Clock.Clock = {
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + state.aheadMillis,
    currentTimeMillis: Effect.map(clock.currentTimeMillis, (millis) => millis + state.aheadMillis),
    currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
    currentTimeNanos: clock.currentTimeNanos,
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
  return { state, clock: ahead }
})

scenario(
  "webhooks: a clock jump neither repeats nor loses events",
  () => world(),
  function* ({ sent, state }) {
    const { clock, state: jumped } = yield* jumping
    yield* Effect.provideService(sending, Clock.Clock, clock)
    const row = yield* company()
    yield* endpoint(row, { types: ["invoice.created"] })
    yield* second
    state.answer = answering(503)
    yield* invoice(row, 1)
    yield* second
    assert.deepStrictEqual(attemptsOf(sent), [1])
    // The clock jumps a day ahead. The retry is now due and is sent once.
    jumped.aheadMillis = 86_400_000
    yield* TestClock.adjust("10 seconds")
    assert.deepStrictEqual(attemptsOf(sent), [1, 2])
    // The clock jumps two days back. A new event is sent, and the pending retry waits until it is due.
    jumped.aheadMillis = -86_400_000
    state.answer = () => Effect.succeed(ok)
    const { id } = yield* invoice(row, 1)
    yield* second
    assert.deepStrictEqual(
      sent.slice(2).map((one) => read(one).subject),
      [id]
    )
    yield* TestClock.adjust("1 day")
    assert.lengthOf(sent, 3)
    yield* TestClock.adjust("2 days")
    assert.deepStrictEqual(attemptsOf(sent), [1, 2, 1, 3])
    yield* TestClock.adjust("5 days")
    assert.lengthOf(sent, 4)
  }
)

scenario(
  "webhooks: during a secret rotation under load, each request is signed with a secret that the endpoint's owner knows",
  () => world(),
  function* ({ sent, state }) {
    const { row, ...issued } = yield* subscribed(0, { types: ["invoice.created"] })
    state.answer = () => Effect.as(Effect.sleep(500), ok)
    const secrets = [Redacted.value(issued.secret)]
    const known: Array<ReadonlyArray<string>> = []
    for (let round = 0; round < 6; round++) {
      for (let i = 0; i < 12; i++) yield* invoice(row, 1)
      yield* TestClock.adjust(100)
      const { secret } = yield* (yield* Webhooks).rotate(row.id, issued.endpoint.id, 3600)
      secrets.push(Redacted.value(secret))
      yield* second
      while (known.length < sent.length) known.push([...secrets])
    }
    yield* TestClock.adjust("1 minute")
    while (known.length < sent.length) known.push([...secrets])
    assert.strictEqual(new Set(sent.map((request) => read(request).subject)).size, 72)
    for (const [i, { headers, body }] of sent.entries()) {
      const content = Signature.contentOf(
        headers["webhook-id"] ?? "",
        Number(headers["webhook-timestamp"]),
        body
      )
      const signatures = headers["webhook-signature"]?.split(" ") ?? []
      // One of the last two secrets must verify, because the receiver may not have installed the new one yet.
      const recent = known[i]?.slice(-2) ?? []
      assert.isTrue(
        recent.some((secret) => signatures.includes(Signature.symmetric(secret, content))),
        `request ${i}`
      )
    }
  }
)

scenario(
  "webhooks: a secret that was replaced twice during one overlap still signs, because the first new secret may never have arrived",
  () => world(),
  function* ({ sent }) {
    const { row, secret, endpoint: made } = yield* subscribed(0, { types: ["invoice.created"] })
    const rotate = Effect.map((yield* Webhooks).rotate(row.id, made.id, 3600), ({ secret }) => secret)
    // Concurrent rotations must not drop each other's secret either.
    const secrets = [
      secret,
      ...(yield* Effect.all([rotate, rotate], { concurrency: "unbounded" })),
      yield* rotate
    ]
    const signatures = Effect.gen(function* () {
      yield* invoice(row, 1)
      yield* second
      const { headers, body } = sent.at(-1) ?? assert.fail("nothing sent")
      const content = Signature.contentOf(
        headers["webhook-id"] ?? "",
        Number(headers["webhook-timestamp"]),
        body
      )
      return secrets.map((one) =>
        (headers["webhook-signature"] ?? "").includes(Signature.symmetric(Redacted.value(one), content))
      )
    })
    assert.deepStrictEqual(yield* signatures, [true, true, true, true])
    secrets.push(yield* rotate)
    assert.deepStrictEqual(
      yield* signatures,
      [false, true, true, true, true],
      "a request has at most four such signatures"
    )
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual(yield* signatures, [false, false, false, false, true])
  }
)

scenario(
  "webhooks: of concurrent rotations without an overlap, the last to finish returns the secret that signs",
  () => world(),
  function* ({ sent }) {
    const { row, endpoint: made } = yield* subscribed(0, { types: ["invoice.created"] })
    const secrets: Array<string> = []
    const rotate = Effect.map(
      (yield* Webhooks).rotate(row.id, made.id, 0),
      ({ secret }) => void secrets.push(Redacted.value(secret))
    )
    yield* Effect.replicateEffect(rotate, 8, { concurrency: "unbounded", discard: true })
    yield* invoice(row, 1)
    yield* second
    const { headers, body } = sent.at(-1) ?? assert.fail("nothing sent")
    const content = Signature.contentOf(
      headers["webhook-id"] ?? "",
      Number(headers["webhook-timestamp"]),
      body
    )
    const signs = secrets.map((secret) =>
      (headers["webhook-signature"] ?? "").includes(Signature.symmetric(secret, content))
    )
    assert.deepStrictEqual(signs, [...Array.from({ length: 7 }, () => false), true])
  }
)

scenario(
  "webhooks: a dead endpoint among a hundred does not affect the others, and gets all events when it recovers",
  () => world(),
  function* ({ sent, state }) {
    yield* sending
    const dead = yield* company()
    yield* endpoint(dead, { url: "https://dead.example/", types: ["invoice.created"] })
    const others: Array<Company> = []
    for (let i = 0; i < 99; i++) {
      const row = yield* company()
      others.push(row)
      yield* endpoint(row, { url: `https://alive.example/${row.id}`, types: ["invoice.created"] })
    }
    yield* second
    state.answer = ({ url }) =>
      Effect.succeed(url.includes("dead") ? { _tag: "Unanswered", reason: "no connection" } : ok)
    const count = 20
    for (let i = 0; i < count; i++) yield* invoice(dead, 1)
    for (const row of others) yield* invoice(row, 1)
    yield* second
    const to = (name: string) => sent.filter(({ url }) => url.includes(name))
    assert.strictEqual(new Set(to("alive").map(({ url }) => url)).size, 99)
    assert.lengthOf(to("alive"), 99)
    state.answer = () => Effect.succeed(ok)
    yield* TestClock.adjust("1 hour")
    assert.strictEqual(new Set(to("dead").map((request) => read(request).subject)).size, count)
    assert.lengthOf(to("alive"), 99)
  }
)

/** A store in which the progress of endpoints takes `commits.millis` to commit, one commit at a time. */
const progressingSlowly = () => {
  const made = world()
  const commits = { millis: 0 }
  const inTurn = Semaphore.makeUnsafe(1)
  const slow = replace(Journal, (journal) => ({
    commit: (change) =>
      change._tag === "EndpointProgressed"
        ? inTurn.withPermit(Effect.andThen(Effect.sleep(commits.millis), journal.commit(change)))
        : journal.commit(change)
  }))
  return { ...made, commits, change: (ports: Context.Context<Ports>) => slow(made.change?.(ports) ?? ports) }
}

scenario(
  "webhooks: after a success, an endpoint does not count as failing, although its position is stored at the same time",
  progressingSlowly,
  function* ({ commits, sent, state }) {
    const { row, endpoint } = yield* subscribed(0, { types: ["invoice.created"] })
    state.answer = answering(500)
    yield* invoice(row, 1)
    yield* second
    state.answer = () =>
      Effect.sync(() => {
        commits.millis = 3000
        return ok
      })
    for (let i = 0; i < 200; i++) {
      yield* lightningAddress(row)
      yield* TestClock.adjust(100)
    }
    assert.deepStrictEqual(attemptsOf(sent), [1, 2])
    assert.isNull((yield* (yield* Webhooks).get(row.id, endpoint.id)).failingSinceMillis)
  }
)
