import { assert } from "@effect/vitest"
import { Clock, type Context, Deferred, Effect, Metric, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Signature from "@satrail/core/base/Signature"
import * as Events from "@satrail/core/events/Events"
import { Feed } from "@satrail/core/events/Feed"
import * as Notice from "@satrail/core/events/Notice"
import { maxAttempts, pausesMillis } from "../../../src/webhooks/core/Schedule.ts"
import * as Endpoint from "../../../src/webhooks/core/records/Endpoint.ts"
import { EventStore } from "@satrail/core/ledger/EventStore"
import { Journal } from "@satrail/core/ledger/Journal"
import { WebhookReads } from "../../../src/webhooks/core/records/WebhookReads.ts"
import { Webhooks } from "../../../src/webhooks/core/Webhooks.ts"
import * as Lag from "../../../src/webhooks/core/Lag.ts"
import {
  broken,
  endpoint,
  ok,
  read,
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
  outside,
  type Ports,
  replace,
  scenario,
  steps
} from "../../../../core/test/World.ts"

scenario(
  "webhooks: each event is sent once, in order, with its id",
  () => world(),
  function* ({ sent }) {
    const { row } = yield* subscribed(1000)
    yield* confirm(row, (yield* outside({ sats: 100 })).destination)
    yield* steps(2)
    yield* second
    assert.deepStrictEqual(
      types(sent),
      ["withdrawal.lightning.pending", "withdrawal.lightning.completed"],
      "events from the endpoint's creation on"
    )
    assert.deepStrictEqual(
      sent.map(read).map(({ status }) => status),
      ["pending", "settled"]
    )
    assert.deepStrictEqual(
      sent.map(({ headers }) => headers["webhook-id"]),
      sent.map((request) => read(request).id)
    )
    assert.strictEqual(sent[0]?.headers["x-satrail-attempt"], "1")
  }
)

/** Counts non-empty reads of all companies' events, and all reads of a company's. */
const counting = () => {
  const made = world()
  const reads = { count: 0, own: 0 }
  const counted = replace(EventStore, (store) => ({
    eventsOf: (companyId, ...ask) => {
      const page = store.eventsOf(companyId, ...ask)
      return companyId === null
        ? Effect.tap(page, ({ length }) => Effect.sync(() => (reads.count += Math.min(1, length))))
        : Effect.tap(page, () => Effect.sync(() => reads.own++))
    }
  }))
  return { ...made, reads, change: (ports: Context.Context<Ports>) => counted(made.change?.(ports) ?? ports) }
}

scenario(
  "webhooks: events that were read to find new commits are not read again for sending",
  counting,
  function* ({ sent, reads }) {
    const { row } = yield* subscribed()
    const before = { ...reads }
    for (const sats of [1, 2, 3]) {
      yield* invoice(row, sats)
      yield* second
    }
    assert.deepStrictEqual(types(sent), ["invoice.created", "invoice.created", "invoice.created"])
    assert.strictEqual(reads.count - before.count, 3)
    assert.strictEqual(reads.own - before.own, 3, "the end of a page is not read once more")
  }
)

/** A process of a version that does not know this type of event. */
const older = () => {
  const made = world()
  const renamed = replace(EventStore, (store) =>
    EventStore.of({
      ...store,
      eventsOf: (...ask) =>
        Effect.map(store.eventsOf(...ask), (events) =>
          events.map((event) =>
            event.type === "withdrawal.requested" ? { ...event, type: "withdrawal.newer" } : event
          )
        )
    })
  )
  return { ...made, change: (ports: Context.Context<Ports>) => renamed(made.change?.(ports) ?? ports) }
}

scenario(
  "webhooks: if a rolling upgrade is never completed, the events after a newer version's event are sent after ten minutes",
  older,
  function* ({ sent }) {
    const { row } = yield* subscribed(1000)
    yield* invoice(row, 1)
    yield* confirm(row, (yield* outside({ sats: 100 })).destination)
    yield* invoice(row, 2)
    yield* second
    assert.deepStrictEqual(types(sent), ["invoice.created"])
    yield* TestClock.adjust("10 minutes")
    assert.deepStrictEqual(types(sent), ["invoice.created", "invoice.created"])
  }
)

/** Makes listing endpoints slow, so that a list is a second old when it is returned. */
const slowList = () => {
  const made = world()
  const slow = replace(WebhookReads, (reads) => ({
    enabledEndpoints: (...ask) => Effect.tap(reads.enabledEndpoints(...ask), () => Effect.sleep("1 second"))
  }))
  return { ...made, change: (ports: Context.Context<Ports>) => slow(made.change?.(ports) ?? ports) }
}

scenario(
  "webhooks: an endpoint created while the others are listed is not missed, however many checks happen in the meantime",
  slowList,
  function* ({ sent }) {
    yield* sending
    const row = yield* company()
    yield* TestClock.adjust(100)
    yield* endpoint(row)
    yield* TestClock.adjust(100)
    yield* invoice(row, 1)
    yield* TestClock.adjust(100)
    assert.lengthOf(sent, 0)
    yield* second
    yield* second
    assert.deepStrictEqual(types(sent), ["invoice.created"])
  }
)

scenario(
  "webhooks: filters apply, and the operator's endpoint receives events of all companies",
  () => world(),
  function* ({ sent }) {
    yield* sending
    const [row, other] = [yield* company(), yield* company()]
    yield* endpoint(row, { types: ["deposit.*"], url: "https://one.example/" })
    yield* endpoint(
      { id: CompanyId.operator },
      { types: ["invoice.created"], url: "https://operator.example/" }
    )
    yield* second
    yield* invoice(row, 1)
    yield* invoice(other, 1)
    yield* second
    assert.deepStrictEqual(
      sent.map(({ url }) => url),
      ["https://operator.example/", "https://operator.example/"]
    )
  }
)

scenario(
  "webhooks: the stored cursor stays before an event whose request is in flight, even if later events were delivered",
  () => world(),
  function* ({ sent, state }) {
    const { row } = yield* subscribed()
    const answered = yield* Deferred.make<void>()
    state.answer = () => (sent.length === 1 ? Effect.as(Deferred.await(answered), ok) : Effect.succeed(ok))
    const [slow, fast] = [yield* invoice(row, 1), yield* invoice(row, 2)]
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(
      sent.map((request) => read(request).subject),
      [slow.id, fast.id]
    )
    const { items } = yield* (yield* Feed).page(
      { companyId: row.id, after: Notice.first, limit: 10 },
      () => "{}"
    )
    const placeOf = (id: string) =>
      items.find(({ subject }) => subject === id)?.place ?? assert.fail("no event")
    const hasPassed = Effect.fnUntraced(function* (id: string) {
      const [stored] = yield* (yield* WebhookReads).endpointsOf(row.id)
      const reached = Events.placeOf(stored?.cursor ?? "") ?? assert.fail("no cursor")
      return !Notice.isAfter(placeOf(id), reached)
    })
    const whileInFlight = yield* hasPassed(slow.id)
    yield* Deferred.succeed(answered, undefined)
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual([whileInFlight, yield* hasPassed(fast.id)], [false, true])
  }
)

scenario(
  "webhooks: an endpoint that fails twice receives the event, and later events of the same record, within 25 seconds",
  world,
  function* ({ sent, state }) {
    const { row } = yield* subscribed(1000)
    let failures = 0
    state.answer = () => Effect.succeed(failures++ < 2 ? broken(500) : ok)
    const { id } = yield* confirm(row, (yield* outside({ sats: 100 })).destination)
    yield* steps(2)
    yield* TestClock.adjust("25 seconds")
    assert.deepStrictEqual(types(sent.filter((request) => read(request).subject === id)).slice(-2), [
      "withdrawal.lightning.pending",
      "withdrawal.lightning.completed"
    ])
  }
)

scenario(
  "webhooks: a failing event is sent twelve times over three days, and delays only later events of the same record",
  world,
  function* ({ sent, state }) {
    const { row } = yield* subscribed(1000)
    const bad = yield* confirm(row, (yield* outside({ sats: 100 })).destination)
    state.answer = (request) => Effect.succeed(read(request).subject === bad.id ? broken(500) : ok)
    yield* steps(2)
    yield* second
    const { id } = yield* invoice(row, 1)
    yield* second
    assert.deepStrictEqual(types(sent.filter((request) => read(request).subject === id)), ["invoice.created"])
    for (let i = 0; i < 80; i++) {
      yield* TestClock.adjust("2 hours")
      // An occasional success keeps the endpoint from being disabled.
      if (i % 20 === 0) yield* invoice(row, 1)
    }
    const tries = sent.filter((request) => read(request).subject === bad.id)
    assert.deepStrictEqual(types(tries), [
      ...Array.from({ length: maxAttempts }, () => "withdrawal.lightning.pending"),
      ...Array.from({ length: maxAttempts }, () => "withdrawal.lightning.completed")
    ])
    assert.deepStrictEqual(
      tries.slice(0, maxAttempts).map(({ headers }) => headers["x-satrail-attempt"]),
      Array.from({ length: maxAttempts }, (_, i) => String(i + 1))
    )
    for (const [i, pause] of pausesMillis.entries()) {
      const took = (tries[i + 1]?.atMillis ?? 0) - (tries[i]?.atMillis ?? 0)
      assert.isAtLeast(took, pause * 0.79, `pause ${i}`)
      assert.isAtMost(took, pause * 1.21 + 2000, `pause ${i}`)
    }
    const { rows: deliveries } = yield* (yield* Webhooks).deliveries(
      row.id,
      (yield* (yield* Webhooks).list(row.id))[0]?.id ?? "",
      {
        limit: 10,
        before: null
      }
    )
    const failed = deliveries.filter(({ status }) => status === "failed")
    assert.deepStrictEqual(
      failed.map(({ attempts, answered, response }) => [attempts, answered, response]),
      [
        [maxAttempts, 500, "no"],
        [maxAttempts, 500, "no"]
      ]
    )
    state.answer = () => Effect.succeed(ok)
    yield* (yield* Webhooks).resend(row.id, failed[0]?.id ?? "")
    yield* second
    assert.strictEqual(types(sent).at(-1), failed[0]?.type)
  }
)

scenario(
  "webhooks: a delivery that waits for its next attempt can be sent now, once",
  () => world(),
  function* ({ sent, state }) {
    const { row, endpoint: made } = yield* subscribed()
    const answers = [broken(500, "60"), ok]
    state.answer = () => Effect.succeed(answers.shift() ?? ok)
    yield* invoice(row, 1)
    yield* second
    assert.lengthOf(sent, 1)
    const webhooks = yield* Webhooks
    const delivery = Effect.map(
      webhooks.deliveries(row.id, made.id, { limit: 10, before: null }),
      ({ rows: [first] }) => first
    )
    const { id = "", status } = (yield* delivery) ?? {}
    assert.strictEqual(status, "pending")
    yield* Effect.all([webhooks.resend(row.id, id), webhooks.resend(row.id, id)])
    yield* second
    assert.lengthOf(sent, 2)
    assert.deepInclude(yield* delivery, { status: "delivered", attempts: 1 })
    yield* TestClock.adjust("1 hour")
    assert.lengthOf(sent, 2)
  }
)

scenario(
  "webhooks: 429 and 503 are retried after their Retry-After, and 410 ends delivery",
  () => world(),
  function* ({ sent, state }) {
    const { row, endpoint: made } = yield* subscribed()
    const answers = [
      broken(429, "7200"),
      broken(503, new Date(1_700_000_000_000 + 5 * 3_600_000).toUTCString()),
      ok,
      broken(410)
    ]
    state.answer = () => Effect.succeed(answers.shift() ?? ok)
    yield* invoice(row, 1)
    yield* second
    yield* TestClock.adjust("1 hour")
    assert.lengthOf(sent, 1)
    yield* TestClock.adjust("65 minutes")
    assert.lengthOf(sent, 2)
    yield* TestClock.adjust("4 hours")
    assert.lengthOf(sent, 3)
    yield* invoice(row, 1)
    yield* second
    yield* second
    const now = yield* (yield* Webhooks).get(row.id, made.id)
    assert.deepStrictEqual([now.status, now.disabledReason], ["disabled", "gone"])
    const count = sent.length
    const { id } = yield* invoice(row, 1)
    yield* TestClock.adjust("1 hour")
    assert.lengthOf(sent, count)
    // Once enabled, the endpoint resumes where it stopped and loses nothing.
    yield* (yield* Webhooks).enable(row.id, made.id, undefined)
    yield* second
    assert.isTrue(sent.slice(count).some((request) => read(request).subject === id))
    assert.include(types(sent.slice(count)), "webhook_endpoint.disabled")
  }
)

scenario(
  "webhooks: after five days in which every delivery failed, an endpoint is disabled and its owner is notified",
  () => world(),
  function* ({ sent, state }) {
    const { row, endpoint: made } = yield* subscribed()
    state.answer = () => Effect.succeed({ _tag: "Unanswered", reason: "no connection" })
    for (let day = 0; day < 7; day++) {
      yield* invoice(row, 1)
      yield* TestClock.adjust("1 day")
    }
    assert.strictEqual((yield* (yield* Webhooks).get(row.id, made.id)).disabledReason, "failing")
    const count = sent.length
    yield* TestClock.adjust("2 days")
    assert.lengthOf(sent, count)
    state.answer = () => Effect.succeed(ok)
    yield* (yield* Webhooks).enable(row.id, made.id, { event: 0n, part: 0 })
    yield* second
    yield* TestClock.adjust("2 days")
    const told = new Set(sent.slice(count).map((request) => read(request).id))
    assert.isAtLeast(
      told.size,
      8,
      "all events from the beginning, and the one about the endpoint being disabled"
    )
  }
)

scenario(
  "webhooks: an event whose delivery was not recorded is sent again with the same id",
  () => world({ isAway: true }),
  function* ({ sent, store }) {
    const { row, endpoint: made } = yield* subscribed()
    yield* invoice(row, 1)
    yield* second
    assert.isAtLeast(sent.length, 1)
    assert.deepStrictEqual(
      (yield* (yield* Webhooks).deliveries(row.id, made.id, { limit: 10, before: null })).rows,
      []
    )
    store.isAway = false
    yield* Effect.repeat(second, { times: 30 })
    assert.isAtLeast(sent.length, 2)
    assert.strictEqual(new Set(sent.map(({ headers }) => headers["webhook-id"])).size, 1)
    const count = sent.length
    assert.lengthOf(
      (yield* (yield* Webhooks).deliveries(row.id, made.id, { limit: 10, before: null })).rows,
      1
    )
    yield* TestClock.adjust("1 hour")
    assert.lengthOf(sent, count)
  }
)

scenario(
  "webhooks: after a rotation, requests are signed with both the new and the old secret until the overlap ends",
  () => world(),
  function* ({ sent }) {
    const { row, ...issued } = yield* subscribed(0, { signatureHeader: "X-Shop-Signature" })
    const rotated = yield* (yield* Webhooks).rotate(row.id, issued.endpoint.id, 3600)
    assert.notStrictEqual(Redacted.value(rotated.secret), Redacted.value(issued.secret))
    yield* second
    yield* invoice(row, 1)
    yield* second
    assert.match(sent[0]?.headers["webhook-signature"] ?? "", /^v1,\S{44} v1,\S{44} v1a,\S+$/)
    const body = sent[0]?.body ?? assert.fail("nothing sent")
    // A header with one signature has the new secret's.
    assert.strictEqual(
      sent[0]?.headers["x-shop-signature"],
      Signature.plain(Redacted.value(rotated.secret), body)
    )
    yield* TestClock.adjust("1 hour")
    yield* invoice(row, 1)
    yield* second
    assert.match(sent[1]?.headers["webhook-signature"] ?? "", /^v1,\S{44} v1a,\S+$/)
  }
)

scenario(
  "webhooks: a slow endpoint gets at most eight concurrent requests, and does not delay other endpoints",
  () => world(),
  function* ({ sent, state }) {
    yield* sending
    const row = yield* company()
    yield* endpoint(row, { url: "https://slow.example/" })
    yield* endpoint(row, { url: "https://fast.example/" })
    yield* second
    state.answer = ({ url }) =>
      url.includes("slow") ? Effect.as(Effect.sleep("14 seconds"), ok) : Effect.succeed(ok)
    for (let i = 0; i < 20; i++) yield* invoice(row, 1)
    yield* second
    const count = (name: string) => sent.filter(({ url }) => url.includes(name)).length
    assert.deepStrictEqual([count("fast"), count("slow")], [20, 8])
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual([count("fast"), count("slow")], [20, 20])
  }
)

scenario(
  "webhooks: the delivery delay and the time for which readers wait for a transaction are measured",
  () => world(),
  function* ({ sent, state }) {
    const seconds = Effect.map(
      Effect.all([Metric.value(Lag.gauges.lag), Metric.value(Lag.gauges.horizon)]),
      (all) => all.map(({ value }) => value)
    )
    const measured = Effect.andThen(TestClock.adjust(Lag.everyMillis), seconds)
    yield* Effect.scoped(
      Effect.gen(function* () {
        const { row } = yield* subscribed()
        assert.deepStrictEqual(yield* measured, [0, 0])
        state.answer = () => Effect.succeed(broken(500))
        const beganAtMillis = yield* Clock.currentTimeMillis
        yield* invoice(row, 1)
        yield* second
        yield* measured
        const [lag = 0] = yield* measured
        assert.isAtLeast(sent.length, 2)
        assert.isAtLeast(lag, Lag.everyMillis / 1000)
        assert.isAtMost(lag, ((yield* Clock.currentTimeMillis) - beganAtMillis) / 1000)
        assert.isAtLeast(
          (yield* Lag.waitingSinceMillis) ?? 0,
          beganAtMillis,
          "every process reports the waiting time"
        )
        state.answer = () => Effect.succeed(ok)
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual(yield* seconds, [0, 0])
        assert.isNull(yield* Lag.waitingSinceMillis)
        state.answer = () => Effect.as(Effect.sleep("2 minutes"), ok)
        yield* invoice(row, 1)
        yield* second
        yield* measured
        assert.isAbove((yield* measured)[0] ?? 0, 0, "the event is being sent")
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual(yield* seconds, [0, 0])
      })
    )
  }
)

scenario(
  "webhooks: an endpoint with an event type that this process does not know can be changed, but not get another such type",
  () => world(),
  function* () {
    const row = yield* company()
    const { endpoint: created } = yield* endpoint(row)
    const webhooks = yield* Webhooks
    const stored = { ...created, types: ["reminder.due", "deposit.*"] }
    yield* (yield* Journal).commit(Endpoint.changed(created, stored, yield* Clock.currentTimeMillis))
    const described = yield* webhooks.updateSettings(row.id, created.id, (current) =>
      Effect.succeed({ ...current, description: "shop" })
    )
    assert.deepStrictEqual([described.description, described.types], ["shop", stored.types])
    const more = { ...stored, types: [...stored.types, "reminder.sent"] }
    const refused = yield* Effect.flip(webhooks.change(row.id, created.id, more))
    assert.strictEqual(refused._tag === "Invalid" && refused.path, "types.2")
  }
)
