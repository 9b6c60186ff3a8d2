import { assert } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { ApiKeys } from "../src/accounts/ApiKeys.ts"
import { Companies } from "../src/accounts/Companies.ts"
import * as CompanyId from "../src/base/CompanyId.ts"
import * as Answer from "../src/ledger/Answer.ts"
import { type Acting, AuditStore, textOf } from "../src/ledger/Audit.ts"
import { Records } from "../src/service/Records.ts"
import { verify } from "../src/features/audit/AuditVerification.ts"
import { AuditLog, countedMillis, layer, layerWorker, link, unlinkedMillis, unreadable } from "../src/features/audit/AuditLog.ts"
import { endpoint, read, sending, world } from "./Receivers.ts"
import { beginsAtMillis, company, type Ports, scenario, start, working } from "./World.ts"

const verbs = Effect.gen(function* () {
  const entries = yield* (yield* Records).auditOf(null, null, 100)
  return entries.map(({ entry }): string => JSON.parse(entry.body).verb).toReversed()
})

const faults = Effect.gen(function* () {
  const { faults, records } = yield* Effect.provideService(
    verify(null, () => Effect.void),
    AuditStore,
    yield* Records
  )
  return [faults, records]
})

/** Runs the changes concurrently. Each change completes once every process has applied it. */
const inAMinute = Effect.fnUntraced(function* <E>(changes: ReadonlyArray<Effect.Effect<unknown, E>>) {
  const fiber = yield* Effect.forkChild(Effect.all(changes, { concurrency: "unbounded" }))
  yield* TestClock.adjust("1 minute")
  yield* Fiber.join(fiber)
})

scenario("audit: changes by an embedding application are logged, and an idle log gets no more entries", function* () {
  yield* working()
  const { id } = yield* company()
  const companies = yield* Companies
  yield* inAMinute([companies.changePlan(id, "free"), companies.limit(id, { daySats: 1000 })])
  yield* TestClock.adjust("61 minutes")
  assert.deepStrictEqual(yield* verbs, ["CompanyOpened", "PlanChanged", "CompanyLimited"])
  assert.deepStrictEqual(yield* faults, [0, 1])
})

scenario("audit: two simultaneous changes to one company's limits are not reported as tampering, whichever is applied last", function* () {
  yield* working()
  const { id } = yield* company()
  const companies = yield* Companies
  for (let i = 0; i < 5; i++) yield* inAMinute([1000, 2000, 1000].map((daySats) => companies.limit(id, { daySats })))
  assert.deepStrictEqual(yield* faults, [0, 1])
})

scenario("audit: the rotation of a key that expires before its overlap ends is not reported as tampering", function* () {
  yield* working()
  const { id: companyId } = yield* company()
  const { issue, rotate } = yield* ApiKeys
  const day = 86_400_000
  const expiresAtMillis = beginsAtMillis + day
  const issued = yield* Effect.forkChild(Effect.flatMap(issue({ companyId, name: "till", scopes: ["read"], expiresAtMillis }), Answer.made))
  yield* TestClock.adjust("1 hour")
  const { apiKey } = yield* Fiber.join(issued)
  yield* inAMinute([rotate(apiKey.id, (2 * day) / 1000)])
  assert.deepStrictEqual(yield* faults, [0, 3])
})

const acting: Acting = { actor: "key", actor_id: "k", actor_name: "till", verb: "confirm", address: "", request_id: "r" }

/** Starts a process's audit log, which rejects the same request twice. */
const rejecting = Effect.gen(function* () {
  const { id } = yield* company()
  const scope = yield* Scope.make()
  const { refused } = Context.get(yield* Layer.buildWithScope(Layer.fresh(layer), scope), AuditLog)
  for (let i = 0; i < 2; i++) yield* refused(id, acting, "insufficient_balance")
  return scope
})

scenario("audit: after a clean stop, no entry is unlinked, and a forged one is reported", function* () {
  const scope = yield* rejecting
  yield* TestClock.adjust("3 seconds")
  yield* Scope.close(scope, Exit.void)
  yield* TestClock.adjust(unlinkedMillis + 1)
  assert.deepStrictEqual(yield* verbs, ["CompanyOpened", "confirm", "confirm"])
  assert.deepStrictEqual(yield* faults, [0, 1])
  const { id } = yield* company()
  yield* (yield* Records).appendAudit([{ companyId: id, atMillis: beginsAtMillis, body: "{}" }])
  assert.deepStrictEqual((yield* faults)[0], 2, "it is unsigned, and was not linked")
})

scenario("audit: entries of a restored database are not reported as unlinked, however old its last process's lease is", function* () {
  const scope = yield* Scope.make()
  yield* Layer.buildWithScope(Layer.fresh(layerWorker), scope)
  yield* TestClock.adjust("1 second")
  yield* Scope.close(scope, Exit.void)
  yield* company()
  yield* TestClock.adjust("1 day")
  assert.deepStrictEqual((yield* faults)[0], 0)
  yield* Effect.forkScoped(Effect.scoped(Effect.andThen(Layer.build(Layer.fresh(layerWorker)), Effect.never)))
  yield* TestClock.adjust("1 second")
  assert.deepStrictEqual((yield* faults)[0], 0, "they are linked now")
})

scenario("audit: a count of rejections that was just written is not reported as unlinked", function* () {
  yield* rejecting
  yield* TestClock.adjust(countedMillis - 1)
  yield* Effect.repeat(link, { while: (count) => count > 0 })
  yield* TestClock.adjust(1000)
  assert.deepStrictEqual(yield* verbs, ["CompanyOpened", "confirm", "confirm"])
  assert.deepStrictEqual(yield* faults, [0, 1])
})

scenario("audit: an unreadable entry is listed as unreadable and reported as tampering", function* () {
  yield* working()
  const { id } = yield* company()
  yield* TestClock.adjust("61 minutes")
  const { appendAudit } = yield* Records
  yield* appendAudit([{ companyId: id, atMillis: beginsAtMillis + 3_660_000, body: "{}" }])
  yield* TestClock.adjust("2 minutes")
  const { rows } = yield* (yield* AuditLog).list(null, { limit: 10, before: null })
  assert.deepStrictEqual(
    rows.map(({ verb, outcome }) => [verb, outcome]),
    [
      ["", unreadable],
      ["CompanyOpened", "done"]
    ]
  )
  assert.deepStrictEqual(yield* faults, [1, 1])
})

scenario(
  "audit: each hour, one of two processes sends the log's head to the operator's webhooks if the head has changed",
  () => world(),
  function* ({ sent }) {
    yield* sending
    const { id } = yield* company()
    yield* endpoint({ id: CompanyId.operator }, { types: ["audit_head.*"], url: "https://operator.example/" })
    yield* endpoint({ id }, { url: "https://shop.example/" })
    const first = yield* Scope.make()
    yield* Layer.buildWithScope(Layer.fresh(layerWorker), first)
    yield* Effect.provideContext(Layer.build(Layer.fresh(layerWorker)), yield* start(yield* Effect.context<Ports>()))
    const heads = () => sent.filter(({ url }) => url === "https://operator.example/").map((request) => read(request).subject)
    const stored = Effect.map((yield* Records).auditHead, (head) => head && textOf(head))
    const changed = (daySats: number) => Effect.flatMap(Companies, (companies) => inAMinute([companies.limit(id, { daySats })]))

    yield* TestClock.adjust("10 minutes")
    const began = yield* stored
    assert.deepStrictEqual(heads(), [began])
    yield* TestClock.adjust("190 minutes")
    assert.deepStrictEqual(heads(), [began], "an unchanged head is not published again")
    yield* changed(1000)
    yield* TestClock.adjust("190 minutes")
    const next = yield* stored
    assert.deepStrictEqual(heads(), [began, next])

    yield* Scope.close(first, Exit.void)
    yield* TestClock.adjust("190 minutes")
    assert.lengthOf(heads(), 2, "the other process does not publish the same head again")
    yield* changed(2000)
    yield* TestClock.adjust("190 minutes")
    assert.deepStrictEqual(heads(), [began, next, yield* stored])
    assert.isFalse(sent.some((request) => request.url === "https://shop.example/" && read(request).type === "audit_head.updated"))
  }
)
