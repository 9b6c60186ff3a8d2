import { assert, describe } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Adjustments } from "@satrail/features/adjustments/core/Adjustments"
import { Approvals } from "@satrail/features/approvals/core/Approvals"
import { People } from "@satrail/features/people/core/People"
import type { Role } from "@satrail/features/people/core/Role"
import { Effect, Option, Redacted } from "effect"
import { ApiKeys } from "../src/accounts/ApiKeys.ts"
import { Companies } from "../src/accounts/Companies.ts"
import type { Company } from "../src/accounts/Company.ts"
import { ConfiguredToken } from "../src/accounts/OperatorRequests.ts"
import { root } from "../src/accounts/OperatorToken.ts"
import { OperatorTokens } from "../src/accounts/OperatorTokens.ts"
import type { Operator } from "../src/accounts/SecondOperator.ts"
import * as CompanyId from "../src/base/CompanyId.ts"
import { Withdrawals } from "../src/sending/Withdrawals.ts"
import { settings } from "./Rows.ts"
import {
  companyWith,
  everywhere,
  has,
  made,
  outside,
  type Ports,
  type Process,
  said,
  scenario,
  start
} from "./World.ts"

const bob = { id: "02", name: "Bob" }
const granting = { _tag: "Operator", operator: bob } as const

const operator = (by: Operator) => ({ _tag: "Operator", operator: by }) as const
const approveKey = (id: string, by: Operator) =>
  said(Effect.flatMap(ApiKeys, ({ approve }) => everywhere(approve(id, by))))
const approvePerson = (id: string, by: Operator) =>
  said(Effect.flatMap(People, ({ approve }) => approve(id, by)))

const issued = Effect.fnUntraced(function* ({ id: companyId }: Company, by?: Operator) {
  const ask = { companyId, name: "till", scopes: ["send"], expiresAtMillis: null } as const
  return (yield* made((yield* ApiKeys).issue({ ...ask, ...(by && { by }) }))).apiKey.id
})
const invited = Effect.fnUntraced(function* ({ id: companyId }: Company, by: Operator) {
  const ask = { companyId, name: "Mara", role: "admin", by: operator(by) } as const
  return (yield* made((yield* People).invite(ask))).person.id
})

interface Request {
  readonly ask: (company: Company, by: Operator) => Effect.Effect<string, unknown, Process>
  readonly approve: (id: string, by: Operator) => Effect.Effect<string, never, Process>
}

/** What an operator requests for a company that is in use, and how another approves it. */
const requests: { readonly [what: string]: Request } = {
  "an API key that can send": { ask: issued, approve: approveKey },
  "an API key that replaces another": {
    ask: Effect.fnUntraced(function* (company: Company, by: Operator) {
      const old = yield* issued(company)
      const { apiKey } = yield* everywhere(made((yield* ApiKeys).rotate(old, 0, undefined, by)))
      return apiKey.id
    }),
    approve: approveKey
  },
  "an invitation": { ask: invited, approve: approvePerson },
  "a recovery": {
    ask: Effect.fnUntraced(function* (company: Company, by: Operator) {
      const id = yield* invited(company, bob)
      yield* (yield* People).recover(company.id, id, operator(by))
      return id
    }),
    approve: approvePerson
  },
  "an adjustment": {
    ask: Effect.fnUntraced(function* ({ id: companyId }: Company, by: Operator) {
      const ask = { companyId, amount: Msat.fromSats(5), reason: "a gift", note: null, by }
      return (yield* made((yield* Adjustments).request(ask))).id
    }),
    approve: (id: string, by: Operator) => said(Effect.flatMap(Adjustments, ({ approve }) => approve(id, by)))
  }
}

const token = Effect.map(
  Effect.flatMap(OperatorTokens, ({ issue }) => made(issue({ name: "Ada", scopes: ["companies", "mend"] }))),
  ({ token }) => token
)
/** A person with this role. */
const person = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, name: string, role: Role) {
  const people = yield* People
  const { text, person } = yield* made(people.invite({ companyId, name, role, by: granting }))
  if (person.waiting !== null) yield* people.approve(person.id, { id: "03", name: "Eve" })
  const invited = Option.getOrThrow(yield* people.invited(Redacted.value(text)))
  const passkey = { id: invited.id, name: "laptop", publicKey: "pQEC", createdAtMillis: 0 }
  return yield* people.join(invited, passkey, { id: invited.id, counter: 0, challengedAtMillis: 0 })
})

const endings = [
  [
    "their token is revoked",
    Effect.map(token, (by) => ({
      by,
      end: said(Effect.flatMap(OperatorTokens, ({ revoke }) => revoke(by.id)))
    }))
  ],
  [
    "they are removed",
    Effect.map(person(CompanyId.operator, "Ada", "operator"), (by) => ({
      by,
      end: said(Effect.flatMap(People, ({ remove }) => remove(CompanyId.operator, by.id, granting)))
    }))
  ],
  [
    "their role no longer allows it",
    Effect.gen(function* () {
      const by = yield* person(CompanyId.operator, "Ada", "operator")
      const { id } = yield* person(CompanyId.operator, "Mara", "admin")
      const promote = Effect.flatMap(People, (people) =>
        people.promote(CompanyId.operator, by.id, "viewer", { _tag: "Person", id })
      )
      return { by, end: said(promote) }
    })
  ]
] as const

/** A process whose configured token has this id. */
const configuredAs = (id: string) =>
  Effect.flatMap(Effect.context<Ports>(), (ports) =>
    Effect.provideService(
      start(ports, { ...settings, secondOperatorAbove: Msat.fromSats(500) }),
      ConfiguredToken,
      id
    )
  )

describe("Requests that end with the access of those who made them", () => {
  for (const [what, { ask, approve }] of Object.entries(requests)) {
    for (const [ended, requester] of endings)
      scenario(
        `two operators: ${what} can no longer be approved once its operator's access ends: ${ended}`,
        function* () {
          const company = yield* companyWith(1000)
          const { by, end } = yield* requester
          const [id, earlier] = [yield* ask(company, by), yield* ask(company, by)]
          assert.strictEqual(yield* approve(earlier, bob), "ok", "while they have access")
          assert.strictEqual(yield* end, "ok")
          assert.strictEqual(yield* approve(id, bob), "RequesterGone")
          assert.strictEqual(yield* approve(earlier, bob), "ok", "an approval is final")
        }
      )

    scenario(
      `two operators: ${what} can no longer be approved once the configured token that requested it is replaced`,
      function* () {
        const company = yield* companyWith(1000)
        const [before, after] = [yield* configuredAs("root:1"), yield* configuredAs("root:2")]
        const asks = Effect.provideContext(ask(company, root), before)
        const [id, other] = [yield* asks, yield* asks]
        assert.strictEqual(yield* Effect.provideContext(approve(id, root), before), "SameOperator")
        assert.strictEqual(yield* Effect.provideContext(approve(id, bob), before), "ok")
        assert.strictEqual(yield* Effect.provideContext(approve(other, bob), after), "RequesterGone")
      }
    )
  }

  scenario(
    "two operators: a request to loosen limits no longer counts once the configured token that made it is replaced",
    function* () {
      const { id } = yield* companyWith(1000)
      const [before, after] = [yield* configuredAs("root:1"), yield* configuredAs("root:2")]
      yield* everywhere(Effect.flatMap(Companies, ({ limit }) => limit(id, { daySats: 1 })))
      const loosened = (by: Operator) =>
        said(everywhere(Effect.flatMap(Companies, ({ limit }) => limit(id, { daySats: 2 }, by))))
      assert.strictEqual(yield* Effect.provideContext(loosened(root), before), "SecondOperatorRequired")
      assert.strictEqual(yield* Effect.provideContext(loosened(bob), after), "SecondOperatorRequired")
      assert.strictEqual(yield* Effect.provideContext(loosened(root), after), "ok")
    }
  )

  const limits = { approvalAboveSats: 500 }
  /** A withdrawal of 1000 sats that waits for approval, and its approval by another key. */
  const waiting = Effect.fnUntraced(function* (company: Company, id: string) {
    const { destination } = yield* outside({ sats: 1000 })
    const apiKey = { id, limits, spendsAs: null }
    const draft = { company, apiKey, asked: undefined, destination, metadata: {} }
    const row = yield* made((yield* Withdrawals).confirm(draft))
    const by = { id: "boss", limits: null, spendsAs: null }
    const approve = Effect.flatMap(Approvals, (approvals) =>
      approvals.approve({ company, apiKey: by, id: row.id })
    )
    const reject = Effect.flatMap(Approvals, (approvals) =>
      approvals.reject({ company, apiKey: by, id: row.id })
    )
    return { approve: said(approve), reject: said(reject) }
  })

  scenario("approval: a withdrawal can only be rejected once its key is revoked or expires", function* () {
    const company = yield* companyWith(100_000)
    const keys = yield* ApiKeys
    const [revoked, replaced] = [yield* issued(company), yield* issued(company)]
    const [one, other] = [yield* waiting(company, revoked), yield* waiting(company, replaced)]
    yield* everywhere(keys.revoke(revoked))
    yield* everywhere(made(keys.rotate(replaced, 0)))
    assert.strictEqual(yield* one.approve, "RequesterGone")
    assert.strictEqual(yield* other.approve, "ok", "the key that replaces it has access")
    assert.strictEqual(yield* one.reject, "ok")
    const { held } = yield* has(company)
    assert.isTrue(held > 1000 && held < 2000, "only the approved withdrawal is held")
  })

  scenario(
    "approval: a withdrawal can only be rejected once its person is removed or may no longer send",
    function* () {
      const company = yield* companyWith(100_000)
      const people = yield* People
      const [mara, nils, admin] = [
        yield* person(company.id, "Mara", "operator"),
        yield* person(company.id, "Nils", "operator"),
        yield* person(company.id, "Olga", "admin")
      ]
      const [one, other] = [yield* waiting(company, mara.id), yield* waiting(company, nils.id)]
      const by = { _tag: "Person", id: admin.id } as const
      yield* people.remove(company.id, mara.id, by)
      yield* people.promote(company.id, nils.id, "bookkeeper", by)
      for (const { approve, reject } of [one, other]) {
        assert.strictEqual(yield* approve, "RequesterGone")
        assert.strictEqual(yield* reject, "ok")
      }
      assert.strictEqual((yield* has(company)).held, 0)
    }
  )
})
