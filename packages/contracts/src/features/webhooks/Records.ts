import { assert } from "@effect/vitest"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import * as Endpoint from "@satrail/features/webhooks/core/records/Endpoint"
import * as Duty from "@satrail/core/ledger/Duty"
import { Journal } from "@satrail/core/ledger/Journal"
import { fence, Tasks } from "@satrail/core/ledger/Tasks"
import { Records } from "@satrail/core/service/Records"
import * as Delivery from "@satrail/features/webhooks/core/records/Delivery"
import { Effect } from "effect"
import type * as Contract from "../../Contract.ts"
import { created, open, verdict } from "../../Fixtures.ts"

let made = 0
/** Returns increasing ids. Ids created in the same millisecond would otherwise be in random order. */
const nextId = Effect.map(Entropy, (entropy) => Id.fromMillis(1_700_000_000_000 + ++made, entropy))

export const endpoint = (companyId: CompanyId.CompanyId) =>
  Effect.map(nextId, (id): Endpoint.Endpoint => ({
    id,
    companyId,
    url: "https://shop.example/webhooks",
    description: "",
    types: ["deposit.*"],
    signatureHeader: null,
    secret: "sealed",
    previousSecret: null,
    previousUntilMillis: null,
    status: "enabled",
    disabledReason: null,
    cursor: "1.0",
    epoch: 0,
    failingSinceMillis: null,
    createdAtMillis: 1,
    updatedAtMillis: 1
  }))

export const delivery = (to: Endpoint.Endpoint, place: string, fields: Partial<Delivery.Delivery> = {}) =>
  Effect.map(nextId, (id): Delivery.Delivery => ({
    id,
    companyId: to.companyId,
    endpointId: to.id,
    epoch: 0,
    place,
    eventCompanyId: to.companyId,
    type: "deposit.lightning.completed",
    recordId: "s",
    status: "delivered",
    attempts: 1,
    nextAtMillis: null,
    lastAtMillis: 2,
    durationMillis: 3,
    answered: 204,
    response: "",
    earlier: [],
    createdAtMillis: 4,
    ...fields
  }))

/** Creates a new role and claims its lease. */
export const held = Effect.gen(function* () {
  const role = yield* Id.make
  yield* (yield* Journal).commit(Duty.started(role, 0))
  const [task] = yield* (yield* Tasks).claim({ kind: role, nowMillis: 1, leaseMillis: 1_000_000, limit: 1 })
  return fence(task ?? assert.fail("no other process may hold the role"))
})

const applied = Effect.fnUntraced(function* (...changes: ReadonlyArray<Parameters<typeof verdict>[0]>) {
  for (const change of changes) assert.strictEqual(yield* verdict(change), "Applied", change._tag)
})

/** Guarantees about webhook endpoints and deliveries. */
export const other = {
  "webhook endpoints are returned until deleted, and receive events while enabled": Effect.gen(function* () {
    const { endpointsOf, enabledEndpoints, get } = yield* Records
    const [companyId, stranger] = [yield* open, yield* open]
    const [one, two, foreign] = [
      yield* endpoint(companyId),
      yield* endpoint(companyId),
      yield* endpoint(stranger)
    ]
    yield* applied(Endpoint.created(one), Endpoint.created(two), Endpoint.created(foreign))
    assert.deepStrictEqual(yield* endpointsOf(companyId), [one, two])
    const enabled = Effect.map(enabledEndpoints(null, 1000), (rows) =>
      rows.filter((row) => row.companyId === companyId).map(({ id }) => id)
    )
    assert.deepStrictEqual(yield* enabled, [one.id, two.id])
    yield* applied(Endpoint.disabled(one, "owner", 5), Endpoint.disabled(one, "owner", 6))
    assert.deepStrictEqual(yield* enabled, [two.id])
    yield* applied(Endpoint.rotated(two, "second", 9, 5), Endpoint.rotated(two, "second", 9, 6))
    for (const late of [Endpoint.rotated(two, "third", 9, 6), Endpoint.disabled(two, "owner", 6)])
      assert.strictEqual(yield* verdict(late), "EndpointNotEnabled", late._tag)
    assert.deepStrictEqual(yield* enabled, [two.id])
    yield* applied(Endpoint.deleted(two, 7))
    assert.deepStrictEqual(
      (yield* endpointsOf(companyId)).map(({ id, status, disabledReason }) => [id, status, disabledReason]),
      [[one.id, "disabled", "owner"]]
    )
    assert.strictEqual(
      yield* verdict(Endpoint.enabled(two, { cursor: "9.0", epoch: 1 }, 8)),
      "EndpointNotEnabled"
    )
    assert.strictEqual((yield* get(Endpoint.noun, companyId, two.id))._tag, "Some")
  }),
  "C24: only the process that has the leader role writes an endpoint's cursor, and only for the current replay":
    Effect.gen(function* () {
      const { get } = yield* Records
      const companyId = yield* open
      const one = yield* endpoint(companyId)
      yield* applied(Endpoint.created(one))
      const role = yield* held
      const cursor = Effect.map(get(Endpoint.noun, companyId, one.id), (row) =>
        row._tag === "Some" ? row.value.cursor : ""
      )
      yield* applied(Endpoint.progressed(one, { cursor: "5.0", failingSinceMillis: null }, role, 5))
      assert.strictEqual(yield* cursor, "5.0")
      const stale = { ...role, token: role.token - 1 }
      assert.strictEqual(
        yield* verdict(Endpoint.progressed(one, { cursor: "6.0", failingSinceMillis: null }, stale, 6)),
        "StaleFence"
      )
      yield* applied(Endpoint.enabled(one, { cursor: "2.0", epoch: 1 }, 7))
      yield* applied(Endpoint.progressed(one, { cursor: "8.0", failingSinceMillis: null }, role, 8))
      assert.strictEqual(yield* cursor, "2.0", "progress from before the replay must not count toward it")
    }),
  "an event has one delivery per endpoint and replay, and the delivery is listed as due for an attempt while it is pending":
    Effect.gen(function* () {
      const { pendingDeliveries, knownDeliveries, deliveriesTo, get } = yield* Records
      const one = yield* endpoint(yield* open)
      const role = yield* held
      const [sent, waiting] = [
        yield* delivery(one, "10.1"),
        yield* delivery(one, "11.1", { status: "pending", nextAtMillis: 9 })
      ]
      yield* applied(Delivery.made(sent, role), Delivery.made(waiting, role), Delivery.made(sent, role))
      assert.strictEqual(yield* verdict(Delivery.made(yield* delivery(one, "10.1"), role)), "Conflict")
      yield* applied(Delivery.made(yield* delivery(one, "10.1", { epoch: 1 }), role))
      assert.deepStrictEqual(yield* knownDeliveries(one.id, 0, ["9.1", "10.1", "11.1"]), ["10.1", "11.1"])
      assert.deepStrictEqual(yield* knownDeliveries(one.id, 1, ["10.1", "11.1"]), ["10.1"])
      assert.deepStrictEqual(yield* pendingDeliveries(one.id, null, 10), [waiting])
      assert.deepStrictEqual(
        (yield* deliveriesTo(one.id, null, 2)).map(({ place, epoch }) => [place, epoch]),
        [
          ["10.1", 1],
          ["11.1", 0]
        ]
      )
      const ended = {
        ...waiting,
        status: "failed",
        attempts: 10,
        nextAtMillis: null,
        answered: 500,
        response: "no"
      } as const
      yield* applied(Delivery.tried(waiting, ended, role, 12))
      assert.deepStrictEqual(yield* pendingDeliveries(one.id, null, 10), [])
      yield* applied(Delivery.resent(ended, 13))
      const again = yield* get(Delivery.noun, one.companyId, waiting.id)
      assert.deepStrictEqual(
        again._tag === "Some" && [again.value.status, again.value.attempts, again.value.nextAtMillis],
        ["pending", 0, 13]
      )
    }),
  "the operator's events are deleted together with a company's": Effect.gen(function* () {
    const { eventsOf, forgetEvents, forgottenUntil } = yield* Records
    for (let gone = 1; gone > 0;) gone = yield* forgetEvents(Number.MAX_SAFE_INTEGER, 1000)
    yield* (yield* Journal).commit(Endpoint.tested(yield* endpoint(CompanyId.operator), 3))
    yield* created(yield* open, 1, { createdAtMillis: 3 })
    const newest = (yield* eventsOf(null, 0n, 10)).at(-1)
    assert.strictEqual(yield* forgetEvents(4, 10), 2)
    assert.deepStrictEqual(yield* eventsOf(CompanyId.operator, 0n, 10), [])
    assert.strictEqual(yield* forgottenUntil(null), newest?.id)
  }),
  "old deliveries are deleted, however many pending ones are older; pending ones are deleted together with their events":
    Effect.gen(function* () {
      const { deliveriesTo, forgetDeliveries } = yield* Records
      const one = yield* endpoint(yield* open)
      const role = yield* held
      const pending = { status: "pending", nextAtMillis: 9 } as const
      const first = yield* nextId
      const [older, waiting] = [
        yield* delivery(one, "1.1", { ...pending, createdAtMillis: 3 }),
        yield* delivery(one, "2.1", pending)
      ]
      const done = yield* delivery(one, "3.1")
      yield* applied(Delivery.made(older, role), Delivery.made(waiting, role), Delivery.made(done, role))
      const forget = Effect.fnUntraced(function* (beforeMillis: number, pendingBeforeMillis: number) {
        let after: string | null = null
        do after = yield* forgetDeliveries({ beforeMillis, pendingBeforeMillis, after, limit: 1 })
        while (after !== null)
      })
      yield* forget(4, 3)
      assert.lengthOf(yield* deliveriesTo(one.id, null, 10), 3)
      // A batch checks `limit` deliveries, pending ones included, so that each is short.
      const batch = { beforeMillis: 5, pendingBeforeMillis: 3, after: first, limit: 2 }
      assert.strictEqual(yield* forgetDeliveries(batch), waiting.id)
      assert.lengthOf(yield* deliveriesTo(one.id, null, 10), 3)
      assert.isNull(
        yield* forgetDeliveries({ beforeMillis: 5, pendingBeforeMillis: 5, after: done.id, limit: 10 })
      )
      yield* forget(5, 3)
      assert.deepStrictEqual(yield* deliveriesTo(one.id, null, 10), [waiting, older])
      yield* forget(5, 4)
      assert.deepStrictEqual(yield* deliveriesTo(one.id, null, 10), [waiting])
      const failed = { ...older, status: "failed", attempts: 2, nextAtMillis: null } as const
      yield* applied(Delivery.tried(older, failed, role, 6))
    })
} satisfies Contract.Promises<Journal | Records | Tasks>
