import { assert } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Schema, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as Msat from "@satrail/bitcoin/Msat"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import * as Company from "@satrail/core/accounts/Company"
import { Companies } from "@satrail/core/accounts/Companies"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Answer from "@satrail/core/ledger/Answer"
import {
  type Acting,
  AuditStore,
  type Entry,
  layerJournal,
  textOf,
  type Value
} from "@satrail/core/ledger/Audit"
import { Journal } from "@satrail/core/ledger/Journal"
import type { Programs } from "@satrail/core/service/Changes"
import { Records } from "@satrail/core/service/Records"
import { verify } from "../../../src/audit/core/AuditVerification.ts"
import {
  AuditLog,
  countedMillis,
  layer,
  layerWorker,
  link,
  unlinkedMillis,
  unreadable
} from "../../../src/audit/core/AuditLog.ts"
import { People } from "../../../src/people/core/People.ts"
import { noun, type Person } from "../../../src/people/core/Person.ts"
import { settings } from "../../../../core/test/Rows.ts"
import { endpoint, read, sending, world } from "../../../../core/test/Receivers.ts"
import {
  beginsAtMillis,
  company,
  companyWith,
  everywhere,
  made,
  type Ports,
  said,
  scenario,
  start,
  working
} from "../../../../core/test/World.ts"

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

scenario(
  "audit: changes by an embedding application are logged, and an idle log gets no more entries",
  function* () {
    yield* working()
    const { id } = yield* company()
    const companies = yield* Companies
    yield* inAMinute([companies.changePlan(id, "free"), companies.limit(id, { daySats: 1000 })])
    yield* TestClock.adjust("61 minutes")
    assert.deepStrictEqual(yield* verbs, ["CompanyOpened", "PlanChanged", "CompanyLimited"])
    assert.deepStrictEqual(yield* faults, [0, 1])
  }
)

scenario(
  "audit: two simultaneous changes to one company's limits are not reported as tampering, whichever is applied last",
  function* () {
    yield* working()
    const { id } = yield* company()
    const companies = yield* Companies
    for (let i = 0; i < 5; i++)
      yield* inAMinute([1000, 2000, 1000].map((daySats) => companies.limit(id, { daySats })))
    assert.deepStrictEqual(yield* faults, [0, 1])
  }
)

scenario(
  "audit: the rotation of a key that expires before its overlap ends is not reported as tampering",
  function* () {
    yield* working()
    const { id: companyId } = yield* company()
    const { issue, rotate } = yield* ApiKeys
    const day = 86_400_000
    const expiresAtMillis = beginsAtMillis + day
    const issued = yield* Effect.forkChild(
      Effect.flatMap(issue({ companyId, name: "till", scopes: ["read"], expiresAtMillis }), Answer.made)
    )
    yield* TestClock.adjust("1 hour")
    const { apiKey } = yield* Fiber.join(issued)
    yield* inAMinute([rotate(apiKey.id, (2 * day) / 1000)])
    assert.deepStrictEqual(yield* faults, [0, 3])
  }
)

/** Whether the audit log contains the effect of each Change that stores apply in code. The contract tests of stores cover all others. */
const programs: { readonly [tag in keyof Programs]: boolean } = {
  CompanyOpened: true,
  PlanChanged: true,
  CompanyLimited: true,
  CompanyLooseningRequested: true,
  CompanyFeesChanged: true,
  FreezeChanged: true,
  ApiKeyIssued: true,
  ApiKeyApproved: true,
  ApiKeyUsed: false,
  DomainVerified: false,
  DomainChecked: false,
  KeyRangeReserved: false,
  InvoiceForgotten: false,
  WithdrawalDispatched: false,
  WithdrawalReplaced: false,
  WithdrawalSettled: false,
  InternalTransferred: false,
  PayoutBuried: false,
  PayoutReleased: false,
  AnswerKept: false,
  AnswersForgotten: false
}

scenario(
  "audit: after every Change that a store applies in code, the log matches the records, even if another Change came between its read and its commit",
  { settings: { ...settings, secondOperatorAbove: Msat.fromSats(500) } },
  function* () {
    const [companies, keys] = [yield* Companies, yield* ApiKeys]
    const journal = Context.get(yield* Layer.build(Layer.fresh(layerJournal)), Journal)
    const [ada, bob] = [
      { id: "01", name: "Ada", mayLoosen: true },
      { id: "02", name: "Bob", mayLoosen: true }
    ]
    const found = yield* companyWith(1000)
    yield* everywhere(companies.changePlan(found.id, "free"))
    yield* everywhere(companies.charge(found.id, { internal: { baseMsat: 1, partsPerMillion: 1 } }))
    yield* everywhere(companies.limit(found.id, { daySats: 5 }))
    assert.strictEqual(
      yield* said(everywhere(companies.limit(found.id, null, ada))),
      "SecondOperatorRequired"
    )
    // This Change read the company before a request was stored, and clears that request.
    yield* journal.commit(Company.limited(found.id, { daySats: 4 }, beginsAtMillis, found))
    yield* everywhere(companies.freeze(found.id, { reason: "stolen", pending: "wait" }))
    yield* journal.commit(Company.freezeChanged(found.id, null, beginsAtMillis))

    const issue = { companyId: found.id, name: "till", scopes: ["send"], expiresAtMillis: null } as const
    const { apiKey } = yield* everywhere(Effect.flatMap(keys.issue(issue), Answer.made))
    yield* everywhere(keys.limit(apiKey.id, { daySats: 5 }))
    assert.strictEqual(yield* said(everywhere(keys.limit(apiKey.id, null, ada))), "SecondOperatorRequired")
    yield* journal.commit(
      ApiKey.limited({ ...apiKey, limits: { daySats: 5 } }, { daySats: 4 }, beginsAtMillis)
    )
    const next = yield* everywhere(Effect.flatMap(keys.rotate(apiKey.id, 60, undefined, ada), Answer.made))
    yield* everywhere(keys.approve(next.apiKey.id, bob))
    yield* everywhere(keys.revoke(next.apiKey.id))

    assert.deepStrictEqual(yield* faults, [0, 3])
    const logged = Object.entries(programs).flatMap(([tag, isLogged]) => (isLogged ? [tag] : []))
    assert.includeMembers([...new Set(yield* verbs)], logged)
  }
)

/** The log as version 0.1.0 would have written it: without the status of transitions, and without nulls that are set again. */
const writtenBefore = ({ body, ...entry }: Entry): Entry => {
  const { changes = [], ...rest } = Schema.decodeUnknownSync(
    Schema.fromJsonString(Schema.Record(Schema.String, Schema.Any))
  )(body)
  const logged = changes.filter(
    ({ field, before, after }: Value) => (before ?? after) !== null && (field !== "status" || before === null)
  )
  const { nonce, mac, ...said } = rest
  return {
    ...entry,
    body: JSON.stringify({ ...said, ...(logged.length > 0 && { changes: logged }), nonce, mac })
  }
}

scenario(
  "audit: a log that version 0.1.0 wrote explains each person's status, and an altered status is reported",
  function* () {
    const { id: companyId } = yield* company()
    const steps = yield* People
    // Values logged within 10 seconds count as simultaneous.
    const people: People["Service"] = {
      ...steps,
      join: (...asked) => Effect.tap(steps.join(...asked), () => TestClock.adjust("1 minute")),
      recover: (...asked) => Effect.tap(steps.recover(...asked), () => TestClock.adjust("1 minute")),
      invite: (asked) => Effect.tap(steps.invite(asked), () => TestClock.adjust("1 minute"))
    }
    const by = { _tag: "Operator", operator: { id: "01", name: "Ada" } } as const
    const invite = Effect.map(
      made(people.invite({ companyId, name: "Eve", role: "viewer", by })),
      ({ person }) => person
    )
    const join = (person: Person) =>
      people.join(
        person,
        { id: person.id, name: "laptop", publicKey: "pQEC", createdAtMillis: 0 },
        { id: person.id, counter: 0, challengedAtMillis: 0 }
      )
    const joined = Effect.flatMap(invite, join)
    yield* invite
    const active = yield* joined
    yield* people.use(active, { id: active.id, counter: 1, challengedAtMillis: 1 })
    const second = { id: "other", name: "phone", publicKey: "pQEC", createdAtMillis: 0 }
    const keyed = yield* people.addPasskey(yield* joined, second, {
      id: "other",
      counter: 0,
      challengedAtMillis: 0
    })
    yield* people.removePasskey(keyed, "other")
    const { person: recovered } = yield* people.recover(companyId, (yield* joined).id, by)
    yield* people.recover(companyId, (yield* joined).id, by)
    yield* join(recovered)
    yield* people.remove(companyId, (yield* joined).id, by)
    yield* people.remove(companyId, (yield* invite).id, by)

    const records = yield* Records
    const before: AuditStore["Service"] = {
      ...records,
      auditOf: (...asked) =>
        Effect.map(records.auditOf(...asked), (page) =>
          page.map((one) => ({ ...one, entry: writtenBefore(one.entry) }))
        )
    }
    const found = (store: AuditStore["Service"]) =>
      Effect.gen(function* () {
        const all: Array<string> = []
        yield* Effect.provideService(
          verify(null, ({ kind, record, field }) =>
            Effect.sync(() => kind === "record" && all.push(`${record} ${field}`))
          ),
          AuditStore,
          store
        )
        return all
      })
    assert.deepStrictEqual(yield* found(before), [])
    const all = yield* records.newestFirst(noun, companyId, null, 100)
    for (const status of ["invited", "active", "removed"]) {
      const altered: AuditStore["Service"] = {
        ...before,
        recordedAudit: (after, limit) =>
          Effect.map(records.recordedAudit(after, limit), (page) =>
            page.map((row) =>
              row.record === "people" ? { ...row, values: new Map([...row.values, ["status", status]]) } : row
            )
          )
      }
      assert.lengthOf(yield* found(altered), all.filter((person) => person.status !== status).length, status)
    }
  }
)

const acting: Acting = {
  actor: "key",
  actor_id: "k",
  actor_name: "till",
  verb: "confirm",
  address: "",
  request_id: "r"
}

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

scenario(
  "audit: entries of a restored database are not reported as unlinked, however old its last process's lease is",
  function* () {
    const scope = yield* Scope.make()
    yield* Layer.buildWithScope(Layer.fresh(layerWorker), scope)
    yield* TestClock.adjust("1 second")
    yield* Scope.close(scope, Exit.void)
    yield* company()
    yield* TestClock.adjust("1 day")
    assert.deepStrictEqual((yield* faults)[0], 0)
    yield* Effect.forkScoped(
      Effect.scoped(Effect.andThen(Layer.build(Layer.fresh(layerWorker)), Effect.never))
    )
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual((yield* faults)[0], 0, "they are linked now")
  }
)

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
    yield* Effect.provideContext(
      Layer.build(Layer.fresh(layerWorker)),
      yield* start(yield* Effect.context<Ports>())
    )
    const heads = () =>
      sent.filter(({ url }) => url === "https://operator.example/").map((request) => read(request).subject)
    const stored = Effect.map((yield* Records).auditHead, (head) => head && textOf(head))
    const changed = (daySats: number) =>
      Effect.flatMap(Companies, (companies) => inAMinute([companies.limit(id, { daySats })]))

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
    assert.isFalse(
      sent.some(
        (request) => request.url === "https://shop.example/" && read(request).type === "audit_head.updated"
      )
    )
  }
)
