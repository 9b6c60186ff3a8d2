import { assert, describe } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Clock, Effect, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import type { Scope } from "../src/accounts/OperatorToken.ts"
import { OperatorTokens } from "../src/accounts/OperatorTokens.ts"
import type { Operator } from "../src/accounts/SecondOperator.ts"
import * as CompanyId from "../src/base/CompanyId.ts"
import * as Id from "../src/base/Id.ts"
import { People } from "@satrail/features/people/core/People"
import type { Role } from "@satrail/features/people/core/Role"
import { Journal } from "../src/ledger/Journal.ts"
import { NounReads } from "../src/ledger/NounReads.ts"
import * as Invoice from "../src/receiving/Invoice.ts"
import { Suspense } from "../src/receiving/Suspense.ts"
import { company, has, made, replace, said, scenario, type World } from "./World.ts"

const bob = { id: "02", name: "Bob" }
const granting = { _tag: "Operator", operator: bob } as const

/** Books a payment in suspense. */
const suspended = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
  const paymentHash = PaymentHash.make("ab".repeat(32))
  const [id, createdAtMillis] = [Id.fromHash(paymentHash), yield* Clock.currentTimeMillis]
  yield* (yield* Journal).commit(
    Invoice.unmatched({
      id,
      companyId,
      paymentHash,
      received: Msat.fromSats(40),
      reason: "invoice settled by another payment",
      createdAtMillis
    })
  )
  return id
})

/** Assigns the payment to the company. Returns the name of the operator whose request waits, or the outcome. */
const assigned = (id: string, companyId: CompanyId.CompanyId, by: Operator) =>
  Effect.flatMap(Suspense, ({ assign }) =>
    Effect.match(assign({ id, companyId, by }), {
      onSuccess: ({ request, assignment }) => (assignment === null ? request?.requestedBy : "assigned"),
      onFailure: ({ _tag }) => _tag
    })
  )
const waiting = Effect.flatMap(Suspense, ({ list }) =>
  Effect.map(list({ limit: 9, after: null }), ({ rows }) =>
    rows.map(({ request }) => request?.requestedBy ?? null)
  )
)

const token = Effect.fnUntraced(function* (name: string, scope: Scope = "mend") {
  return (yield* made((yield* OperatorTokens).issue({ name, scopes: [scope] }))).token
})

/** A person who operates the service. */
const person = Effect.fnUntraced(function* (name: string, role: Role) {
  const people = yield* People
  const { text } = yield* made(people.invite({ companyId: CompanyId.operator, name, role, by: granting }))
  const invited = Option.getOrThrow(yield* people.invited(Redacted.value(text)))
  const { id } = invited
  const passkey = { id, name: "laptop", publicKey: "pQEC", createdAtMillis: 0 }
  return yield* people.join(invited, passkey, { id, counter: 0, challengedAtMillis: 0 })
})

/** The payment of a test stays in suspense, which the node of these tests does not know. */
const world = { isPending: true } as const
/** All concurrent reads end before the first commit. */
const overlapping: World = {
  ...world,
  change: replace(NounReads, ({ get }) => ({ get: (...asked) => Effect.tap(get(...asked), Effect.yieldNow) }))
}

describe("Requests that another operator confirms", () => {
  scenario(
    "two operators: a request to assign a payment in suspense expires after a day",
    world,
    function* () {
      const shop = yield* company()
      const companyId = shop.id
      const id = yield* suspended(companyId)
      const ada = { id: "01", name: "Ada" }
      assert.strictEqual(yield* assigned(id, companyId, ada), "Ada")
      yield* TestClock.adjust("24 hours")
      assert.deepStrictEqual(yield* waiting, [null])
      assert.strictEqual(yield* assigned(id, companyId, bob), "Bob")
      assert.strictEqual(yield* assigned(id, companyId, bob), "SameOperator")
      yield* TestClock.adjust("23 hours")
      assert.deepStrictEqual(yield* waiting, ["Bob"])
      assert.strictEqual(yield* assigned(id, companyId, ada), "assigned")
      yield* TestClock.adjust("24 hours")
      assert.strictEqual(yield* assigned(id, companyId, ada), "assigned", "repeated")
      assert.deepStrictEqual(yield* has(shop), { posted: 40, held: 0 })
    }
  )

  scenario(
    "two operators: of two first requests at the same time, one is kept, and the other operator can confirm it",
    overlapping,
    function* () {
      const { id: companyId } = yield* company()
      const id = yield* suspended(companyId)
      const ada = { id: "01", name: "Ada" }
      const both = [bob, ada].map((by) => assigned(id, companyId, by))
      assert.deepStrictEqual(yield* Effect.all(both, { concurrency: "unbounded" }), ["Bob", "Bob"])
      assert.strictEqual(yield* assigned(id, companyId, ada), "assigned")
    }
  )

  for (const [what, requester] of [
    [
      "their token is revoked",
      Effect.map(token("Ada"), (by) => ({
        by,
        end: said(Effect.flatMap(OperatorTokens, ({ revoke }) => revoke(by.id)))
      }))
    ],
    [
      "they are removed",
      Effect.map(person("Ada", "bookkeeper"), (by) => ({
        by,
        end: said(Effect.flatMap(People, ({ remove }) => remove(CompanyId.operator, by.id, granting)))
      }))
    ],
    [
      "their role no longer allows it",
      Effect.gen(function* () {
        const [by, admin] = [yield* person("Ada", "bookkeeper"), yield* person("Mara", "admin")]
        const promote = Effect.flatMap(People, (people) =>
          people.promote(CompanyId.operator, by.id, "viewer", { _tag: "Person", id: admin.id })
        )
        return { by, end: said(promote) }
      })
    ]
  ] as const)
    scenario(`two operators: an operator's request no longer counts once ${what}`, world, function* () {
      const { id: companyId } = yield* company()
      const id = yield* suspended(companyId)
      const { by, end } = yield* requester
      assert.strictEqual(yield* assigned(id, companyId, by), "Ada")
      assert.deepStrictEqual(yield* waiting, ["Ada"])
      assert.strictEqual(yield* end, "ok")
      assert.deepStrictEqual(yield* waiting, [null])
      assert.strictEqual(yield* assigned(id, companyId, bob), "Bob")
      assert.strictEqual(yield* assigned(id, companyId, yield* token("Eve")), "assigned")
    })
})
