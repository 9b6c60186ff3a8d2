import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Companies } from "../src/accounts/Companies.ts"
import { AuditStore, signedVerb } from "../src/ledger/Audit.ts"
import { Records } from "../src/service/Records.ts"
import { verify } from "../src/reports/AuditVerification.ts"
import { AuditLog, unreadable } from "../src/reports/AuditLog.ts"
import { beginsAtMillis, company, scenario, working } from "./World.ts"

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

/** At once: each answers when every process knows. */
const inAMinute = Effect.fnUntraced(function* <E>(changes: ReadonlyArray<Effect.Effect<unknown, E>>) {
  const fiber = yield* Effect.forkChild(Effect.all(changes, { concurrency: "unbounded" }))
  yield* TestClock.adjust("1 minute")
  yield* Fiber.join(fiber)
})

scenario("audit: what a host changes in process is in the log, and a quiet log goes on with one signed entry after an hour", function* () {
  yield* working()
  const { id } = yield* company()
  const companies = yield* Companies
  yield* inAMinute([companies.changePlan(id, "free"), companies.limit(id, { daySats: 1000 })])
  const changed = ["CompanyOpened", "PlanChanged", "CompanyLimited"]
  assert.deepStrictEqual(yield* verbs, changed)
  yield* TestClock.adjust("61 minutes")
  assert.deepStrictEqual(yield* verbs, [...changed, signedVerb])
  yield* TestClock.adjust("61 minutes")
  assert.deepStrictEqual(yield* verbs, [...changed, signedVerb])
  assert.deepStrictEqual(yield* faults, [0, 1])
})

scenario("audit: two changes of one company's limits at once are no evidence of tampering, whichever is last", function* () {
  yield* working()
  const { id } = yield* company()
  const companies = yield* Companies
  for (let i = 0; i < 5; i++) yield* inAMinute([1000, 2000, 1000].map((daySats) => companies.limit(id, { daySats })))
  assert.deepStrictEqual(yield* faults, [0, 1])
})

scenario("audit: an entry that cannot be read is listed as unreadable, and is evidence of tampering", function* () {
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
      [signedVerb, "done"],
      ["CompanyOpened", "done"]
    ]
  )
  assert.deepStrictEqual(yield* faults, [1, 1])
})
