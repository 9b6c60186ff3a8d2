import { assert } from "@effect/vitest"
import { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import { Records } from "@satrail/core/service/Records"
import { Effect, Option } from "effect"
import type * as Contract from "../Contract.ts"
import { begin, claimFor, companyWith, created, found, open, transfer } from "../Fixtures.ts"

const subjects = (events: ReadonlyArray<{ readonly subject: string }>) => events.map(({ subject }) => subject)

/** Guarantees about companies' events. */
export const other = {
  "a company's events are read from a position, in both directions, without those of other companies":
    Effect.gen(function* () {
      const { eventsOf, eventsBefore, event } = yield* Records
      const [one, other] = [yield* open, yield* open]
      const asked: Array<string> = []
      for (let i = 0; i < 5; i++) {
        asked.push((yield* created(one, 1)).id)
        yield* created(other, 1)
      }
      const all = yield* eventsOf(one, 0n, 100)
      assert.deepStrictEqual(subjects(all.slice(1)), asked)
      const [first, second] = all
      if (first === undefined || second === undefined) return assert.fail("there must be at least two events")
      assert.deepStrictEqual(yield* eventsOf(one, first.id, 2), all.slice(1, 3))
      assert.deepStrictEqual(yield* eventsOf(one, all.at(-1)?.id ?? 0n, 2), [])
      const newest = all.toReversed()
      assert.deepStrictEqual(yield* eventsBefore(one, (newest[0]?.id ?? 0n) + 1n, 100), newest)
      assert.deepStrictEqual(yield* eventsBefore(one, newest[1]?.id ?? 0n, 2), newest.slice(2, 4))
      assert.deepStrictEqual(yield* eventsBefore(one, first.id, 2), [])
      assert.deepStrictEqual(yield* found(event(second.id)), second)
      const everybody = yield* eventsOf(null, first.id - 1n, 1000)
      assert.includeMembers(subjects(everybody), asked)
      assert.isAbove(everybody.length, all.length)
    }),
  "an event's stored body never changes": Effect.gen(function* () {
    const { eventsOf, publicEvents, storePublicEvents } = yield* Records
    const companyId = yield* open
    yield* created(companyId, 1)
    const events = yield* eventsOf(companyId, 0n, 10)
    const ids = events.map(({ id }) => id)
    const as = (body: string) =>
      ids.map((id) => ({ id, companyId, events: [{ type: "a", subject: "s", body }] }))
    assert.deepStrictEqual(yield* publicEvents(ids), [])
    assert.deepStrictEqual(
      yield* storePublicEvents(as('{"said":"first"}').slice(0, 1)),
      as('{"said":"first"}').slice(0, 1)
    )
    const kept = yield* storePublicEvents(as('{"said":"then"}'))
    assert.sameDeepMembers(
      [...kept],
      [...as('{"said":"first"}').slice(0, 1), ...as('{"said":"then"}').slice(1)]
    )
    assert.sameDeepMembers([...(yield* publicEvents(ids))], [...kept])
    assert.deepStrictEqual(yield* publicEvents([]), [])
  }),
  "concurrent writers of an event's body all read the same body": Effect.gen(function* () {
    const { eventsOf, storePublicEvents } = yield* Records
    const companyId = yield* open
    const [event] = yield* eventsOf(companyId, 0n, 1)
    const id = event?.id ?? assert.fail("the opening of the company must be an event")
    const kept = yield* Effect.forEach(
      Array.from({ length: 8 }, (_, i) => i),
      (i) => storePublicEvents([{ id, companyId, events: [{ type: "a", subject: "s", body: String(i) }] }]),
      { concurrency: "unbounded" }
    )
    assert.strictEqual(new Set(kept.map((rows) => JSON.stringify(rows[0]?.events))).size, 1)
  }),
  "old events are deleted in batches, oldest first, with their stored bodies": Effect.gen(function* () {
    const { eventsOf, event, publicEvents, storePublicEvents, forgetEvents, forgottenUntil } = yield* Records
    const ever = Number.MAX_SAFE_INTEGER
    // Deletes the events of all earlier tests, which no longer read them.
    for (let gone = 1; gone > 0;) gone = yield* forgetEvents(ever, 1000)
    const [companyId, other] = [yield* open, yield* open]
    for (let i = 0; i < 4; i++) yield* created(companyId, 1, { createdAtMillis: 3 })
    const all = yield* eventsOf(null, 0n, 10)
    assert.lengthOf(all, 6)
    yield* storePublicEvents(
      all.map((one) => ({
        id: one.id,
        companyId: one.companyId,
        events: [{ type: "a", subject: "s", body: "{}" }]
      }))
    )
    assert.deepStrictEqual([yield* forgottenUntil(companyId), yield* forgottenUntil(other)], [0n, 0n])
    assert.strictEqual(yield* forgetEvents(3, 10), 0, "no event is older")
    assert.strictEqual(
      yield* forgetEvents(4, 2),
      0,
      "the two oldest events are openings of companies, dated now"
    )
    assert.strictEqual(yield* forgetEvents(4, 4), 2)
    assert.deepStrictEqual(yield* eventsOf(null, 0n, 10), [...all.slice(0, 2), ...all.slice(4)])
    assert.strictEqual(yield* forgetEvents(4, 10), 2)
    assert.strictEqual(yield* forgetEvents(4, 10), 0)
    assert.deepStrictEqual(yield* eventsOf(null, 0n, 10), all.slice(0, 2))
    const newest = all[5] ?? assert.fail()
    assert.isTrue(Option.isNone(yield* event(newest.id)))
    assert.lengthOf(yield* publicEvents(all.map(({ id }) => id)), 2)
    const until = yield* Effect.forEach([companyId, other, null], forgottenUntil)
    assert.deepStrictEqual(until, [newest.id, 0n, newest.id])
    yield* created(companyId, 1)
    assert.isTrue(
      ((yield* eventsOf(companyId, newest.id, 1))[0]?.id ?? 0n) > newest.id,
      "an id must not be reused"
    )
  }),
  "if all events were deleted, the last one's id is still known, so that a reader can begin now": Effect.gen(
    function* () {
      const { events, lastEvent, forgetEvents, forgottenUntil } = yield* Records
      yield* open
      const last = yield* lastEvent
      for (let gone = 1; gone > 0;) gone = yield* forgetEvents(Number.MAX_SAFE_INTEGER, 1000)
      assert.deepStrictEqual(yield* events(0n, 1), [])
      assert.deepStrictEqual([yield* lastEvent, yield* forgottenUntil(null)], [last, last])
    }
  ),
  "the payee of an internal payment receives a deposit event": Effect.gen(function* () {
    const { eventsOf } = yield* Records
    const [payer, payee] = [yield* companyWith(100), yield* open]
    const [begun, invoice] = [yield* begin(payer, 10), yield* created(payee, 10)]
    yield* claimFor(begun, invoice)
    const change = yield* transfer(begun, invoice)
    yield* (yield* Journal).commit(change)
    const last = (yield* eventsOf(payee, 0n, 10)).at(-1)
    assert.deepStrictEqual([last?.type, last?.subject], ["deposit.settled", change.deposit.id])
    assert.strictEqual((yield* eventsOf(payer, 0n, 100)).at(-1)?.type, "withdrawal.settled")
  })
} satisfies Contract.Promises<Journal | Records | Tasks>
