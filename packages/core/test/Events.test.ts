import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { invoice as invoiceRow } from "@satrail/contracts/Fixtures"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Cause, Effect, Exit, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Events from "../src/events/Events.ts"
import { Feed, make as makeFeed } from "../src/events/Feed.ts"
import type { Notice, Place } from "../src/events/Notice.ts"
import * as Retention from "../src/events/Retention.ts"
import { EventStore } from "../src/ledger/EventStore.ts"
import { Journal } from "../src/ledger/Journal.ts"
import { PollMillis } from "../src/ledger/Wakes.ts"
import * as Invoice from "../src/receiving/Invoice.ts"
import {
  company,
  companyWith,
  confirm,
  follow,
  invoice,
  mine,
  onChainAddress,
  outside,
  scenario,
  steps
} from "./World.ts"

type Ask = Parameters<Events.Events["Service"]["tail"]>[0]

const tail = (ask: Ask) => Stream.unwrap(Effect.map(Events.Events, (events) => events.tail(ask)))

/** The first `count` events of the stream. */
const heard = (count: number, ask: Ask) => Stream.runCollect(Stream.take(tail(ask), count))

/** Type and status of each event. */
const shown = (notices: ReadonlyArray<Notice>) =>
  notices.map(({ type, record }) => ("status" in record ? `${type} ${record.status}` : type))

scenario(
  "events: an old event contains the state that its record had at the time of the event",
  function* () {
    const row = yield* companyWith(1000)
    yield* confirm(row, (yield* outside({ sats: 100 })).destination)
    yield* steps(3)
    const all = yield* heard(5, { companyId: row.id })
    assert.deepStrictEqual(shown(all), [
      "invoice.created pending",
      "deposit.lightning.completed settled",
      "invoice.settled settled",
      "withdrawal.lightning.pending pending",
      "withdrawal.lightning.completed settled"
    ])
    const preimages = all.flatMap(({ record }) => ("preimage" in record ? [record.preimage !== null] : []))
    assert.deepStrictEqual(
      preimages,
      [false, true, false, true],
      "no preimage before the invoice or withdrawal is settled"
    )
    assert.strictEqual(new Set(all.map(({ cursor }) => cursor)).size, 5)
  }
)

scenario("events: an event is returned only to the company to which it belongs", function* () {
  const [row, other] = [yield* company(), yield* company()]
  yield* invoice(row, 10)
  const [notice] = yield* heard(1, { companyId: row.id })
  const place = notice?.place ?? assert.fail("no event")
  const feed = yield* Feed
  const render = () => "{}"
  assert.strictEqual((yield* feed.get(row.id, place, render)).body, "{}")
  assert.strictEqual((yield* Effect.flip(feed.get(other.id, place, render)))._tag, "NotFound")
})

scenario(
  "events: reading pages backwards from the newest event returns every event, even with a filter by type and when a page ends between two events of one commit",
  function* () {
    const row = yield* companyWith(1000)
    const other = yield* companyWith(1000)
    yield* invoice(row, 10)
    const all = yield* heard(4, { companyId: row.id })
    const feed = yield* Feed
    const read = Effect.fnUntraced(function* (limit: number, types?: ReadonlySet<string>) {
      const seen: Array<string> = []
      for (let before: Place | undefined; ;) {
        const { items, next } = yield* feed.newest(
          { companyId: row.id, before, limit, ...(types !== undefined && { types }) },
          () => "{}"
        )
        seen.push(...items.map(({ type, subject }) => `${type} ${subject}`))
        if (next === undefined) return seen
        assert.lengthOf(items, limit)
        before = next
      }
    })
    const expected = all.map(({ type, subject }) => `${type} ${subject}`).toReversed()
    for (const limit of [1, 2, 3, 100]) assert.deepStrictEqual(yield* read(limit), expected)
    const created = expected.filter((one) => one.startsWith("invoice.created"))
    assert.deepStrictEqual(yield* read(1, new Set(["invoice.created"])), created)
    assert.isNotEmpty(created)
    const { items } = yield* feed.newest({ companyId: other.id, before: undefined, limit: 100 }, () => "{}")
    assert.lengthOf(items, 3)
  }
)

scenario(
  "events: a small page reads many events at a time if there is a filter, and otherwise no more than requested",
  function* () {
    const row = yield* companyWith(1000)
    yield* heard(3, { companyId: row.id })
    const store = yield* EventStore
    const asked: Array<number> = []
    const feed = yield* Effect.provideService(makeFeed, EventStore, {
      ...store,
      eventsOf: (companyId, after, limit) =>
        Effect.andThen(
          Effect.sync(() => asked.push(limit)),
          store.eventsOf(companyId, after, limit)
        ),
      eventsBefore: (companyId, before, limit) =>
        Effect.andThen(
          Effect.sync(() => asked.push(limit)),
          store.eventsBefore(companyId, before, limit)
        )
    })
    const ask = { companyId: row.id, after: yield* feed.oldest(row.id), before: undefined, limit: 1 }
    asked.length = 0
    yield* feed.page(ask, () => "{}")
    yield* feed.newest(ask, () => "{}")
    assert.isAtLeast(asked.length, 2)
    assert.deepStrictEqual(new Set(asked), new Set([1]))
    asked.length = 0
    const types = new Set(["withdrawal.lightning.completed"])
    yield* feed.page({ ...ask, types }, () => "{}")
    yield* feed.newest({ ...ask, types }, () => "{}")
    yield* feed.page({ ...ask, subject: "another" }, () => "{}")
    assert.deepStrictEqual(asked, [100, 100, 100])
  }
)

scenario(
  "events: an on-chain deposit causes an event when it is seen, when it is completed and when it is reversed",
  function* () {
    const row = yield* company()
    const { address } = yield* onChainAddress(row)
    yield* (yield* Sandbox).send({ address, amount: Msat.fromSats(5000) })
    yield* follow
    yield* mine(6)
    yield* follow
    assert.deepStrictEqual(shown(yield* heard(3, { companyId: row.id })), [
      "on_chain_address.created",
      "deposit.on_chain.pending pending",
      "deposit.on_chain.completed settled"
    ])
  }
)

scenario("events: a stream resumes after any cursor, even between two events of one commit", function* () {
  const row = yield* companyWith(1000)
  const all = yield* heard(3, { companyId: row.id })
  for (const [i, { cursor }] of all.entries()) {
    if (i === all.length - 1) break
    assert.deepStrictEqual(
      yield* heard(all.length - 1 - i, { companyId: row.id, after: cursor }),
      all.slice(i + 1)
    )
  }
  assert.strictEqual(Events.cursorOf(Events.placeOf(all[0]?.cursor ?? "") ?? assert.fail()), all[0]?.cursor)
})

scenario(
  "events: a subscriber receives its own company's committed events, and no other company's",
  function* () {
    const [row, other] = [yield* company(), yield* company()]
    const told: Array<string> = []
    const listening = yield* Effect.forkChild(
      Stream.runForEach(tail({ companyId: row.id, after: "now" }), ({ subject }) =>
        Effect.sync(() => told.push(subject))
      )
    )
    yield* TestClock.adjust(1000)
    const expected: Array<string> = []
    for (let i = 0; i < 3; i++) {
      expected.push((yield* invoice(row, 1)).id)
      yield* invoice(other, 1)
      yield* TestClock.adjust(50)
    }
    assert.deepStrictEqual(told, expected)
    yield* Fiber.interrupt(listening)
    // Listen again after a while without listeners.
    const again = yield* Effect.forkChild(heard(2, { companyId: row.id, after: "now" }))
    yield* TestClock.adjust(1000)
    const [first, second] = [yield* invoice(row, 1), yield* invoice(row, 1)]
    yield* TestClock.adjust(1000)
    assert.deepStrictEqual(
      (yield* Fiber.join(again)).map(({ subject }) => subject),
      [first.id, second.id]
    )
  }
)

scenario("events: if a signal is lost, another process's events arrive at the next check", function* () {
  const row = yield* company()
  const told: Array<string> = []
  const listening = yield* Effect.forkChild(
    Stream.runForEach(tail({ after: "now" }), ({ subject }) => Effect.sync(() => told.push(subject)))
  )
  yield* TestClock.adjust(1000)
  const change = Invoice.created(yield* invoiceRow(row.id, 1))
  yield* (yield* Journal).commit(change) // commits through the port directly, so this process is not notified
  yield* TestClock.adjust(yield* PollMillis)
  assert.deepStrictEqual(told, [change.id])
  yield* Fiber.interrupt(listening)
})

scenario("events: an internal transfer sends events to payee and payer", function* () {
  const [payer, payee] = [yield* companyWith(1000), yield* company()]
  const { paymentRequest } = yield* invoice(payee, 100)
  yield* confirm(payer, paymentRequest)
  yield* steps(3)
  assert.deepStrictEqual(shown(yield* heard(3, { companyId: payee.id })), [
    "invoice.created pending",
    "deposit.lightning.completed settled",
    "invoice.settled settled"
  ])
  assert.strictEqual(
    shown(yield* heard(5, { companyId: payer.id })).at(-1),
    "withdrawal.lightning.completed settled"
  )
})

scenario(
  "events: events older than ninety days are deleted, and a cursor before a deleted event is refused",
  function* () {
    const row = yield* company()
    for (let i = 0; i < 3; i++) yield* invoice(row, 1)
    const [first, , last] = yield* heard(3, { companyId: row.id })
    yield* TestClock.adjust(Events.keptMillis + 1)
    const { id } = yield* invoice(row, 1)
    yield* Retention.step
    const left = yield* heard(1, { companyId: row.id })
    assert.deepStrictEqual(
      left.map(({ subject }) => subject),
      [id]
    )
    // The cursor of the last deleted event is still valid, because every later event still exists.
    assert.deepStrictEqual(yield* heard(1, { companyId: row.id, after: last?.cursor ?? "" }), left)
    const refused = yield* Effect.exit(heard(1, { companyId: row.id, after: first?.cursor ?? "" }))
    assert.strictEqual(
      Exit.isFailure(refused) && Cause.squash(refused.cause) instanceof Events.CursorTooOld,
      true
    )
    const nonsense = yield* Effect.exit(heard(1, { after: "yesterday" }))
    assert.isTrue(Exit.isFailure(nonsense))
  }
)

scenario(
  "events: a process of an older version does not skip a newer version's event until it is ten minutes old, so that a newer process sends it",
  function* () {
    const row = yield* companyWith(1000)
    yield* invoice(row, 10)
    const store = yield* EventStore
    // The older version does not know this type.
    const older = EventStore.of({
      ...store,
      eventsOf: (companyId, after, limit) =>
        Effect.map(store.eventsOf(companyId, after, limit), (events) =>
          events.map((event) =>
            event.type === "invoice.settled" ? { ...event, type: "invoice.newer" } : event
          )
        )
    })
    const [feed, newer] = [yield* Effect.provideService(makeFeed, EventStore, older), yield* Feed]
    const ask = { companyId: row.id, after: yield* feed.oldest(row.id), limit: 100 }
    const page = (feed: Feed["Service"], after: Place) =>
      Effect.map(
        feed.page({ ...ask, after }, () => "{}"),
        ({ items, next }) => ({ next, types: items.map(({ type }) => type) })
      )
    const streamed: Array<string> = []
    const events = yield* Effect.provideService(Events.make, EventStore, older)
    yield* Effect.forkChild(
      Stream.runForEach(events.tail({ companyId: row.id }), ({ type }) =>
        Effect.sync(() => streamed.push(type))
      )
    )
    const first = yield* page(feed, ask.after)
    assert.deepStrictEqual(first.types, ["invoice.created"])
    yield* TestClock.adjust("10 minutes")
    assert.deepStrictEqual(yield* page(feed, first.next), { next: first.next, types: [] })
    assert.deepStrictEqual(streamed, first.types)
    yield* TestClock.adjust(1)
    assert.deepStrictEqual(streamed, ["invoice.created", "invoice.created"])
    assert.deepStrictEqual((yield* page(feed, first.next)).types, ["invoice.created"])
    const rest = ["deposit.lightning.completed", "invoice.settled", "invoice.created"]
    assert.deepStrictEqual((yield* page(newer, first.next)).types, rest)
  }
)
