import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { readFileSync } from "node:fs"
import path from "node:path"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import { Companies } from "@satrail/core/accounts/Companies"
import type { Company } from "@satrail/core/accounts/Company"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import { Approvals } from "../../../src/approvals/core/Approvals.ts"
import { type CompanyGranting, type Granting, People } from "../../../src/people/core/People.ts"
import * as Person from "../../../src/people/core/Person.ts"
import { Role, scopes, sends } from "../../../src/people/core/Role.ts"
import { Journal } from "@satrail/core/ledger/Journal"
import * as Page from "@satrail/core/ledger/Page"
import { Withdrawals } from "@satrail/core/sending/Withdrawals"
import { stalled } from "../../../../core/test/SlowPayee.ts"
import {
  beginsAtMillis,
  company,
  companyWith,
  everywhere,
  made,
  outside,
  said,
  scenario
} from "../../../../core/test/World.ts"

const [ada, bob] = [
  { id: "01", name: "Ada" },
  { id: "02", name: "Bob" }
]
const operator = (who = ada): Granting => ({ _tag: "Operator", operator: who })
const person = ({ id }: Person.Person): CompanyGranting => ({ _tag: "Person", id })

const invite = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  role: Role = "admin",
  by = operator()
) {
  return yield* made((yield* People).invite({ companyId, name: `a ${role}`, role, by }))
})
const isInvited = (text: Redacted.Redacted) =>
  Effect.map(
    Effect.flatMap(People, (people) => people.invited(Redacted.value(text))),
    Option.isSome
  )
const passkey = (id: string): Person.Passkey => ({
  id,
  name: "laptop",
  publicKey: "pQEC",
  createdAtMillis: 0
})
const join = Effect.fnUntraced(function* ({
  person,
  text
}: {
  readonly person: Person.Person
  readonly text: Redacted.Redacted
}) {
  const found = Option.getOrThrow(yield* (yield* People).invited(Redacted.value(text)))
  return yield* (yield* People).join(found, passkey(person.id), {
    id: person.id,
    counter: 0,
    challengedAtMillis: 0
  })
})
/** Creates a person with a passkey in this company. */
const member = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, role?: Role, by?: Granting) {
  return yield* join(yield* invite(companyId, role, by))
})
const stands = (who: Person.Person) => Effect.flatMap(People, ({ standing }) => standing(who.id))

describe("People", () => {
  scenario("people: an invitation can be used once, within three days, to add one passkey", function* () {
    const { id } = yield* company()
    const { join: use } = yield* People
    const asked = yield* invite(id)
    assert.isTrue(yield* isInvited(asked.text))
    assert.isTrue(Option.isNone(yield* stands(asked.person)))
    const joined = yield* join(asked)
    assert.deepStrictEqual([joined.status, joined.passkeys.length, joined.secretHash], ["active", 1, null])
    assert.isFalse(yield* isInvited(asked.text))
    assert.strictEqual(
      yield* said(use(asked.person, passkey("x"), { id: "x", counter: 0, challengedAtMillis: 0 })),
      "PersonMoved"
    )
    const late = yield* invite(id, "viewer")
    yield* TestClock.adjust(Person.invitationMillis)
    assert.isFalse(yield* isInvited(late.text))
    const why = (text: typeof late.text) =>
      Effect.flatMap(People, (people) => people.whyClosed(Redacted.value(text)))
    assert.deepStrictEqual([yield* why(late.text), yield* why(asked.text)], ["expired", "unknown"])
  })

  scenario(
    "people: only the SHA-256 hash of an invitation's text is stored, and only that exact text is accepted",
    function* () {
      const { person, text } = yield* invite((yield* company()).id)
      const secret = Redacted.value(text)
      assert.notInclude(JSON.stringify(person), secret)
      for (const other of [
        "",
        `${secret}1`,
        secret.replace(/.$/, (last) => (last === "1" ? "2" : "1")),
        person.secretHash ?? "",
        person.id
      ])
        assert.isFalse(yield* isInvited(Redacted.make(other)), other)
    }
  )

  scenario("people: a new role takes effect immediately, both in a company and for operators", function* () {
    const { id } = yield* company()
    const admin = yield* member(id)
    const other = yield* member(id, "viewer", person(admin))
    const granted = Effect.map(stands(other), (found) => Option.getOrThrow(found))
    const before = yield* granted
    assert.deepStrictEqual(before._tag === "Company" ? before.caller.apiKey.scopes : [], ["read"])
    yield* (yield* People).promote(id, other.id, "operator", person(admin))
    const found = yield* granted
    assert.deepStrictEqual(found._tag === "Company" ? found.caller.apiKey.scopes : [], [
      "read",
      "receive",
      "send",
      "approve",
      "webhooks"
    ])
    const onCall = Option.getOrThrow(yield* stands(yield* member(CompanyId.operator, "viewer")))
    assert.deepStrictEqual(onCall._tag === "Operator" ? onCall.caller.scopes : [], ["read"])
  })

  scenario(
    "people: a recovery revokes the person's passkeys and earlier invitation, and a removed person cannot be restored",
    function* () {
      const { id } = yield* company()
      const people = yield* People
      const admin = yield* member(id)
      const other = yield* member(id, "operator", person(admin))
      const one = yield* people.recover(id, other.id, person(admin))
      assert.isTrue(Option.isNone(yield* stands(other)))
      assert.strictEqual(one.person.epoch, other.epoch + 1)
      const again = yield* people.recover(id, other.id, person(admin))
      assert.deepStrictEqual([yield* isInvited(one.text), yield* isInvited(again.text)], [false, true])
      yield* people.remove(id, other.id, person(admin))
      yield* people.remove(id, other.id, person(admin))
      assert.isFalse(yield* isInvited(again.text))
      assert.strictEqual(yield* said(people.recover(id, other.id, person(admin))), "NotFound")
    }
  )

  /** A person of the payer who may send. */
  const sender = Effect.fnUntraced(function* ({ id }: Company) {
    const invited = yield* invite(id)
    yield* (yield* People).approve(invited.person.id, bob)
    const admin = yield* join(invited)
    const found = Option.getOrThrow(yield* stands(yield* member(id, "operator", person(admin))))
    return found._tag === "Operator"
      ? assert.fail()
      : { apiKey: found.caller.apiKey, who: found.person, by: person(admin) }
  })
  stalled("people: a person sends while the payee's server is slow", sender, () => Effect.void, "ok")
  stalled(
    "people: a person who is removed while the payee's server is slow sends nothing",
    sender,
    ({ who: { companyId, id }, by }) =>
      everywhere(Effect.flatMap(People, ({ remove }) => remove(companyId, id, by))),
    "Unauthorized: revoked"
  )
  stalled(
    "people: a person who loses the right to send while the payee's server is slow sends nothing",
    sender,
    ({ who: { companyId, id }, by }) =>
      everywhere(Effect.flatMap(People, ({ promote }) => promote(companyId, id, "viewer", by))),
    "Unauthorized: revoked"
  )
  stalled(
    "people: a company's limit that is lowered while the payee's server is slow applies to people",
    sender,
    ({ who: { companyId } }) =>
      everywhere(Effect.flatMap(Companies, ({ limit }) => limit(companyId, { daySats: 1 }))),
    "LimitExceeded"
  )

  scenario(
    "people: people cannot recover, promote or remove themselves or people in another company",
    function* () {
      const { id } = yield* company()
      const people = yield* People
      const admin = yield* member(id)
      assert.strictEqual(yield* said(people.recover(id, admin.id, person(admin))), "OwnAccess")
      assert.strictEqual(yield* said(people.promote(id, admin.id, "viewer", person(admin))), "OwnAccess")
      assert.strictEqual(yield* said(people.remove(id, admin.id, person(admin))), "OwnAccess")
      const stranger = yield* member((yield* company()).id)
      assert.strictEqual(yield* said(people.recover(id, stranger.id, person(admin))), "NotFound")
      assert.strictEqual(yield* said(people.promote(id, stranger.id, "viewer", person(admin))), "NotFound")
      assert.strictEqual(yield* said(people.remove(id, stranger.id, person(admin))), "NotFound")
    }
  )

  scenario(
    "people: an operator cannot promote anyone, since a promotion needs no second operator",
    function* () {
      const { id } = yield* company()
      const viewer = yield* member(id, "viewer")
      const promote = Effect.flatMap(People, (people) =>
        // @ts-expect-error -- only a person or key of the company can promote
        people.promote(id, viewer.id, "admin", operator())
      )
      assert.isTrue(Effect.isEffect(promote))
    }
  )

  scenario(
    "people: an API key can manage people who read and receive, but in no way those who can send",
    function* () {
      const { id } = yield* company()
      const people = yield* People
      const key: CompanyGranting = { _tag: "Key", id: "7Kq2mVx9TbZc" }
      const by = person(yield* member(id))
      for (const role of Role.literals) {
        const who = yield* member(id, role, by)
        const expected = sends(role) ? "PersonRequired" : "ok"
        assert.strictEqual(yield* said(invite(id, role, key)), expected, `invite ${role}`)
        for (const to of Role.literals) {
          const either = sends(role) || sends(to) ? "PersonRequired" : "ok"
          assert.strictEqual(yield* said(people.promote(id, who.id, to, key)), either, `${role} to ${to}`)
          if (either === "ok") yield* people.promote(id, who.id, role, key)
        }
        for (const each of [who, (yield* invite(id, role, by)).person]) {
          assert.strictEqual(
            yield* said(people.recover(id, each.id, key)),
            expected,
            `recover ${each.status} ${role}`
          )
          assert.strictEqual(
            yield* said(people.remove(id, each.id, key)),
            expected,
            `remove ${each.status} ${role}`
          )
        }
      }
    }
  )

  scenario(
    "people: a link with which a key recovered a viewer is void once an administrator promotes that person",
    function* () {
      const { id } = yield* company()
      const people = yield* People
      const admin = person(yield* member(id))
      const other = person(yield* member(id, "admin", admin))
      const who = yield* member(id, "admin", admin)
      yield* people.promote(id, who.id, "viewer", admin)
      const stolen = yield* people.recover(id, who.id, { _tag: "Key", id: "7Kq2mVx9TbZc" })
      const read = Option.getOrThrow(yield* people.invited(Redacted.value(stolen.text)))
      yield* people.promote(id, who.id, "admin", other)
      assert.isFalse(yield* isInvited(stolen.text))
      const use = { id: who.id, counter: 0, challengedAtMillis: 0 }
      assert.strictEqual(yield* said(people.join(read, passkey("x"), use)), "PersonMoved")
      assert.isTrue(Option.isNone(yield* people.standing(who.id)))
    }
  )

  scenario(
    "people: any change of a person's role or access voids their open invitation or recovery link",
    function* () {
      const { id } = yield* company()
      const people = yield* People
      const admin = yield* member(id)
      type Linked = { readonly person: Person.Person; readonly text: Redacted.Redacted }
      const links: Record<string, (role: Role) => Effect.Effect<Linked, unknown, People>> = {
        invitation: (role) => invite(id, role, person(admin)),
        "unapproved invitation": (role) => invite(id, role),
        recovery: (role) =>
          Effect.flatMap(member(id, role, person(admin)), (who) => people.recover(id, who.id, person(admin)))
      }
      for (const [what, make] of Object.entries(links))
        for (const role of Role.literals) {
          for (const to of Role.literals.filter((other) => other !== role)) {
            const { person: who, text } = yield* Effect.orDie(make(role))
            const read = yield* people.invited(Redacted.value(text))
            const moved = yield* people.promote(id, who.id, to, person(admin))
            assert.deepStrictEqual(
              [moved.role, moved.secretHash, moved.invitedUntilMillis, moved.waiting],
              [to, null, null, null]
            )
            yield* people.approve(who.id, bob)
            assert.isFalse(yield* isInvited(text), `${what}: ${role} to ${to}`)
            // A request that read the invitation earlier cannot use it either.
            const use = { id: who.id, counter: 0, challengedAtMillis: 0 }
            if (Option.isSome(read))
              assert.strictEqual(yield* said(people.join(read.value, passkey("x"), use)), "PersonMoved")
            yield* join(yield* people.recover(id, who.id, person(admin)))
            yield* people.remove(id, who.id, person(admin))
          }
          const same = yield* Effect.orDie(make(role))
          yield* people.promote(id, same.person.id, role, person(admin))
          yield* people.approve(same.person.id, bob)
          assert.isTrue(yield* isInvited(same.text), `${what}: ${role} is kept`)
          yield* people.remove(id, same.person.id, person(admin))
          assert.isFalse(yield* isInvited(same.text), `${what}: removed`)
        }
    }
  )

  scenario(
    "people: once a company is in use, inviting or recovering someone who can send takes two operators",
    function* () {
      const { id } = yield* companyWith(10)
      const people = yield* People
      const first = yield* invite(id)
      for (const asked of [first, yield* people.recover(id, (yield* invite(id)).person.id, operator())]) {
        assert.isFalse(yield* isInvited(asked.text))
        for (const same of [ada, { id: "03", name: " ADA " }])
          assert.strictEqual(yield* said(people.approve(asked.person.id, same)), "SameOperator")
        yield* people.approve(asked.person.id, bob)
        assert.isTrue(yield* isInvited(asked.text))
      }
      assert.isTrue(yield* isInvited((yield* invite(id, "bookkeeper")).text))
      // Creates a company that has people, but neither API keys nor money yet.
      const empty = yield* company()
      yield* member(empty.id, "viewer")
      assert.isNotNull((yield* invite(empty.id)).person.waiting)
      const keys = yield* ApiKeys
      const issued = yield* made(
        keys.issue({ companyId: empty.id, name: "x", scopes: ["send"], expiresAtMillis: null, by: ada })
      )
      assert.isNotNull(issued.apiKey.approval)
    }
  )

  scenario(
    "people: once a person has joined a company, one operator cannot take it over by recovering or removing that person",
    function* () {
      const people = yield* People
      const keys = yield* ApiKeys
      const waits = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
        const issued = yield* made(
          keys.issue({ companyId, name: "x", scopes: ["send"], expiresAtMillis: null, by: ada })
        )
        return [(yield* invite(companyId)).person.waiting !== null, issued.apiKey.approval !== null]
      })
      const recovered = yield* member((yield* company()).id)
      for (let i = 0; i < 2; i++)
        assert.isNotNull(
          (yield* people.recover(recovered.companyId, recovered.id, operator())).person.waiting,
          `recovery ${i}`
        )
      assert.deepStrictEqual(yield* waits(recovered.companyId), [true, true])
      const removed = yield* member((yield* company()).id)
      yield* people.remove(removed.companyId, removed.id, operator())
      assert.deepStrictEqual(yield* waits(removed.companyId), [true, true])
      // However many people were invited and removed since.
      const hidden = yield* member((yield* company()).id)
      yield* TestClock.adjust(1)
      for (let i = 0; i < Page.limit.maximum; i++) {
        const id = yield* Id.make
        yield* (yield* Journal).commit(
          Person.invited({ ...hidden, id, revision: id, status: "removed", createdAtMillis: beginsAtMillis })
        )
      }
      assert.deepStrictEqual(yield* waits(hidden.companyId), [true, true])
      // Nobody used this invitation, so one operator can replace it.
      const { person: absent } = yield* invite((yield* company()).id)
      for (let i = 0; i < 2; i++)
        assert.isNull((yield* people.recover(absent.companyId, absent.id, operator())).person.waiting)
      yield* people.remove(absent.companyId, absent.id, operator())
      assert.deepStrictEqual(yield* waits(absent.companyId), [false, false])
    }
  )

  scenario(
    "people: removed people neither count toward the limit of 100 people nor hide those who do",
    function* () {
      const { id } = yield* company()
      const people = yield* People
      for (let i = 1; i < Person.maxPeople; i++) yield* member(id, "viewer")
      yield* TestClock.adjust(1)
      const { person } = yield* invite(id, "viewer")
      const removed = yield* people.remove(id, person.id, operator())
      for (let i = 1; i < Page.limit.maximum; i++)
        yield* (yield* Journal).commit(Person.invited({ ...removed, id: yield* Id.make }))
      yield* invite(id, "viewer")
      assert.strictEqual(yield* said(invite(id, "viewer")), "TooManyPeople")
    }
  )

  scenario("people: the numbers of open invitations, people and passkeys are limited", function* () {
    const { id } = yield* company()
    const people = yield* People
    const admin = yield* member(id)
    for (let i = 0; i < Person.maxInvited; i++) yield* invite(id, "viewer")
    assert.strictEqual(yield* said(invite(id, "viewer")), "TooManyPeople")
    let who = admin
    for (let i = 1; i < Person.maxPasskeys; i++)
      who = yield* people.addPasskey(who, passkey(`k${i}`), {
        id: `k${i}`,
        counter: 0,
        challengedAtMillis: 0
      })
    assert.strictEqual(
      yield* said(people.addPasskey(who, passkey("more"), { id: "more", counter: 0, challengedAtMillis: 0 })),
      "TooManyPasskeys"
    )
    assert.strictEqual(who.epoch, admin.epoch)
    for (let i = 1; i < Person.maxPasskeys; i++) who = yield* people.removePasskey(who, `k${i}`)
    assert.strictEqual(who.epoch, admin.epoch + Person.maxPasskeys - 1)
    assert.strictEqual(yield* said(people.removePasskey(who, who.passkeys[0]?.id ?? "")), "LastPasskey")
  })

  scenario("people: a challenge can be used only once", function* () {
    const { id } = yield* company()
    const people = yield* People
    const admin = yield* member(id)
    const use = { id: admin.id, counter: 1, challengedAtMillis: 5 }
    assert.deepStrictEqual((yield* people.use(admin, use)).uses, [use])
    assert.strictEqual(yield* said(people.use(admin, { ...use, counter: 2 })), "PersonMoved")
  })
})

it("people: the guide lists the scopes of each role", () => {
  const guide = readFileSync(path.join(import.meta.dirname, "../../../../../docs/guides/console.md"), "utf8")
  const list = (scopes: ReadonlyArray<string>) => scopes.map((scope) => `\`${scope}\``).join(", ")
  for (const [role, { company, operator }] of Object.entries(scopes))
    assert.include(guide, `| ${role} | ${list(company)} | ${list(operator)} |`)
})

describe("Approvals by people", () => {
  const key = ({ id }: Person.Person) => ({ id, limits: { approvalAboveSats: 500 }, spendsAs: null })
  const ask = Effect.fnUntraced(function* (of: Company, by: Person.Person) {
    const { destination } = yield* outside({ sats: 1000 })
    return yield* made(
      (yield* Withdrawals).confirm({
        company: of,
        apiKey: key(by),
        asked: undefined,
        destination,
        metadata: {}
      })
    )
  })
  const approves = Effect.fnUntraced(function* (of: Company, asker: Person.Person, by: Person.Person) {
    const { id } = yield* ask(of, asker)
    return yield* said(
      Effect.flatMap(Approvals, ({ approve }) => approve({ company: of, apiKey: key(by), id }))
    )
  })

  scenario(
    "approval: two people invited by the operator can approve each other's withdrawals, and the withdrawal names both people",
    function* () {
      const of = yield* companyWith(100_000)
      const admit = Effect.fnUntraced(function* () {
        const asked = yield* invite(of.id)
        yield* (yield* People).approve(asked.person.id, bob)
        return yield* join(asked)
      })
      const [one, other] = [yield* admit(), yield* admit()]
      const { id } = yield* ask(of, one)
      const row = yield* Effect.flatMap(Approvals, ({ approve }) =>
        approve({ company: of, apiKey: key(other), id })
      )
      assert.deepStrictEqual([row.approvalAskedBy, row.approvalBy], [one.id, other.id])
      assert.strictEqual(yield* approves(of, one, one), "ApprovalByAsker")
      // The person who issues a recovery link could also use it.
      yield* join(yield* (yield* People).recover(of.id, other.id, person(one)))
      assert.strictEqual(yield* approves(of, one, other), "ApprovalByAsker")
      assert.strictEqual(yield* approves(of, other, one), "ApprovalByAsker")
    }
  )

  scenario(
    "approval: a person cannot approve the withdrawals of people whom they invited, directly or indirectly, or to whom they gave the right to send",
    function* () {
      const of = yield* companyWith(100_000)
      const asked = yield* invite(of.id)
      yield* (yield* People).approve(asked.person.id, bob)
      const admin = yield* join(asked)
      const second = yield* member(of.id, "admin", person(admin))
      const third = yield* member(of.id, "operator", person(second))
      const viewer = yield* member(of.id, "viewer", { _tag: "Key", id: "7Kq2mVx9TbZc" })
      yield* (yield* People).promote(of.id, viewer.id, "operator", person(admin))
      for (const [one, other] of [
        [admin, second],
        [second, admin],
        [admin, third],
        [second, third],
        [admin, viewer],
        [viewer, third]
      ] as const)
        assert.strictEqual(yield* approves(of, one, other), "ApprovalByAsker")
    }
  )

  scenario(
    "approval: the people who invited, recovered or promoted a person stay the same party when a colleague recovers or promotes that person",
    function* () {
      const of = yield* companyWith(100_000)
      const people = yield* People
      const admit = Effect.fnUntraced(function* () {
        const asked = yield* invite(of.id)
        yield* people.approve(asked.person.id, bob)
        return yield* join(asked)
      })
      const [founder, colleague] = [yield* admit(), yield* admit()]
      const invited = yield* member(of.id, "operator", person(founder))
      const viewer = yield* member(of.id, "viewer", person(founder))
      yield* people.promote(of.id, viewer.id, "operator", person(colleague))
      const neither = Effect.fnUntraced(function* (one: Person.Person, other: Person.Person) {
        assert.strictEqual(yield* approves(of, one, other), "ApprovalByAsker")
        assert.strictEqual(yield* approves(of, other, one), "ApprovalByAsker")
      })
      yield* neither(founder, viewer)
      yield* neither(colleague, viewer)
      yield* join(yield* people.recover(of.id, founder.id, person(colleague)))
      yield* neither(founder, invited)
      yield* neither(colleague, founder)
      yield* neither(colleague, invited)
      // A recovery by the operator does not make them two parties. Only a new invitation does.
      const recovered = yield* people.recover(of.id, invited.id, operator())
      yield* people.approve(invited.id, bob)
      yield* join(recovered)
      yield* neither(founder, invited)
      assert.strictEqual(yield* approves(of, founder, yield* admit()), "ok")
    }
  )
})
