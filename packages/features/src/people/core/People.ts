import { Clock, Context, Effect, Layer, Option, type Redacted } from "effect"
import { AccountReads } from "@satrail/core/accounts/AccountReads"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import { checkName } from "@satrail/core/accounts/Companies"
import * as NewCompany from "@satrail/core/accounts/NewCompany"
import * as OperatorRequests from "@satrail/core/accounts/OperatorRequests"
import type { Operator as OperatorCaller } from "@satrail/core/accounts/OperatorToken"
import {
  isSame,
  type Operator,
  type RequesterGone,
  SameOperator
} from "@satrail/core/accounts/SecondOperator"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import type { Invalid } from "@satrail/core/base/Invalid"
import * as SecretHash from "@satrail/core/base/SecretHash"
import * as Answer from "@satrail/core/ledger/Answer"
import * as Answers from "@satrail/core/ledger/Answers"
import {
  type Conflict,
  found,
  type IdempotencyMismatch,
  Journal,
  NotFound,
  type StoreUnavailable
} from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as Page from "@satrail/core/ledger/Page"
import * as PeopleErrors from "./PeopleErrors.ts"
import * as Person from "./Person.ts"
import * as Role from "./Role.ts"

/**
 * The actor that invites a person: an operator, an administrator of the company, or its API key with the scope
 * `admin`.
 */
export type Granting = CompanyGranting | { readonly _tag: "Operator"; readonly operator: Operator }

/** An administrator of the company, or its API key with the scope `admin`. */
export type CompanyGranting =
  | { readonly _tag: "Person"; readonly id: string }
  | { readonly _tag: "Key"; readonly id: string }

/** An invitation. `text` is its secret, which is shown only once. */
export interface Invited {
  readonly person: Person.Person
  readonly text: Redacted.Redacted
}

/** A person who has access, with their current permissions. */
export type Standing =
  | { readonly _tag: "Company"; readonly person: Person.Person; readonly caller: ApiKey.Holder }
  | { readonly _tag: "Operator"; readonly person: Person.Person; readonly caller: OperatorCaller }

type Refused = NotFound | Person.PersonMoved | StoreUnavailable

/** People who sign in with a passkey. `companyId` is the operator's company for people who operate the service. */
export class People extends Context.Service<
  People,
  {
    /**
     * Invites a person. Only an administrator or the operator can invite people who can move money. If an
     * operator invites such a person to an active company, a second operator must approve the invitation.
     */
    readonly invite: (ask: {
      readonly companyId: CompanyId.CompanyId
      readonly name: string
      readonly role: Role.Role
      readonly by: Granting
      /** The output of `render` is stored, so `render` must encrypt the invitation. */
      readonly request?: Answer.Request<Invited>
    }) => Effect.Effect<
      Answer.Outcome<Invited>,
      | Invalid
      | NotFound
      | PeopleErrors.PersonRequired
      | PeopleErrors.TooManyPeople
      | Conflict
      | IdempotencyMismatch
      | StoreUnavailable
    >
    /**
     * Approves an operator's invitation. Fails for the operator who made the invitation, and once that operator has no
     * access.
     */
    readonly approve: (
      id: string,
      by: Operator
    ) => Effect.Effect<Person.Person, Refused | SameOperator | RequesterGone>
    /**
     * Revokes the person's passkeys, ends their sessions, and invites them again. Requires the same approval as
     * an invitation. An earlier invitation is no longer valid.
     */
    readonly recover: (
      companyId: CompanyId.CompanyId,
      id: string,
      by: Granting
    ) => Effect.Effect<Invited, Refused | PeopleErrors.PersonRequired | PeopleErrors.OwnAccess>
    /**
     * Changes the role of another person of the company, and voids their open invitation; `recover` issues a new
     * one. Only an administrator can change the role of a person who can move money, or to such a role. An
     * operator cannot change roles, because no second operator would have to approve it.
     */
    readonly promote: (
      companyId: CompanyId.CompanyId,
      id: string,
      role: Role.Role,
      by: CompanyGranting
    ) => Effect.Effect<Person.Person, Refused | PeopleErrors.PersonRequired | PeopleErrors.OwnAccess>
    /**
     * Removes another person. Once this returns, they have no access. Removing them again changes nothing. A key
     * cannot remove a person who can move money.
     */
    readonly remove: (
      companyId: CompanyId.CompanyId,
      id: string,
      by: Granting
    ) => Effect.Effect<Person.Person, Refused | PeopleErrors.PersonRequired | PeopleErrors.OwnAccess>
    /** Returns a person of any company. */
    readonly get: (id: string) => Effect.Effect<Person.Person, NotFound | StoreUnavailable>
    /** Returns a page of a company's people, including removed ones, newest first. */
    readonly list: (
      companyId: CompanyId.CompanyId,
      asked: Page.Asked
    ) => Effect.Effect<Page.Page<Person.Person>, Invalid | StoreUnavailable>
    /** Returns this person's current permissions; none if they have no passkey or were removed. */
    readonly standing: (id: string) => Effect.Effect<Option.Option<Standing>, StoreUnavailable>
    /** Returns the person to whom this open invitation belongs. */
    readonly invited: (text: string) => Effect.Effect<Option.Option<Person.Person>, StoreUnavailable>
    /** Returns why an invitation cannot be used. */
    readonly whyClosed: (text: string) => Effect.Effect<Person.Closed, StoreUnavailable>
    /** Uses up the invitation, and adds the person's first passkey. */
    readonly join: (
      person: Person.Person,
      passkey: Person.Passkey,
      use: Person.Use
    ) => Effect.Effect<Person.Person, Person.PersonMoved | StoreUnavailable>
    /** Records that the person signed a challenge, which then cannot be used again. */
    readonly use: (
      person: Person.Person,
      use: Person.Use
    ) => Effect.Effect<Person.Person, Person.PersonMoved | StoreUnavailable>
    readonly addPasskey: (
      person: Person.Person,
      passkey: Person.Passkey,
      use: Person.Use
    ) => Effect.Effect<Person.Person, Person.PersonMoved | PeopleErrors.TooManyPasskeys | StoreUnavailable>
    /** Revokes one of several passkeys, and ends the person's sessions. */
    readonly removePasskey: (
      person: Person.Person,
      passkeyId: string
    ) => Effect.Effect<Person.Person, Refused | PeopleErrors.LastPasskey>
  }
>()("@satrail/features/people/core/People") {}

/** Returns the API key that represents a person. The company's limits apply to it. */
const keyOf = ({ id, companyId, name, role, createdAtMillis }: Person.Person): ApiKey.ApiKey =>
  ApiKey.withoutSecret({ id, companyId, name, scopes: Role.scopes[role].company, createdAtMillis })

/**
 * Only a person or an operator can invite or change people who can move money, so that a leaked key cannot create
 * further access or lock out those who would revoke it.
 */
const mayManage = (by: Granting, role: Role.Role) =>
  by._tag === "Key" && Role.sends(role) ? Effect.fail(new PeopleErrors.PersonRequired({ role })) : Effect.void

const notOneself = (by: Granting, id: string) =>
  (by._tag === "Operator" ? by.operator.id : by.id) === id
    ? Effect.fail(new PeopleErrors.OwnAccess({ id }))
    : Effect.void

/** Returns the id of the person or key that vouches for people invited by `by`; null for an operator. */
const sponsorOf = (by: Granting) => (by._tag === "Operator" ? null : by.id)

/** Reads people, and commits changes to them. */
const makeRecords = Effect.gen(function* () {
  const [journal, nouns, entropy] = [yield* Journal, yield* NounReads, yield* Entropy]
  const { noun } = Person

  const at = Effect.map(Clock.currentTimeMillis, (atMillis): Person.At => ({
    atMillis,
    revision: Id.fromMillis(atMillis, entropy)
  }))

  const find = (id: string) => nouns.named(noun, { id })
  const get = (id: string) => found("person", id, find(id))

  const present = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, id: string) {
    const person = yield* get(id)
    return person.companyId === companyId && person.status !== "removed"
      ? person
      : yield* new NotFound({ what: "person", id })
  })

  /** Commits a transition and returns the updated person. */
  const moved = Effect.fnUntraced(function* (change: Exclude<Person.Changes, Person.PersonInvited>) {
    yield* journal.commit(change)
    return yield* Effect.orDie(Effect.map(nouns.get(noun, change.companyId, change.id), Option.getOrThrow))
  })

  return { at, find, get, present, moved }
})

/** Operations that people perform on their own invitations and passkeys. */
const makeAccess = Effect.gen(function* () {
  const accounts = yield* AccountReads
  const { at, find, moved } = yield* makeRecords

  const standingOf = Effect.fnUntraced(function* (
    person: Person.Person
  ): Effect.fn.Return<Option.Option<Standing>, StoreUnavailable> {
    if (person.status !== "active") return Option.none()
    const { id, name, role, companyId } = person
    if (companyId === CompanyId.operator)
      return Option.some({
        _tag: "Operator",
        person,
        caller: { id, name, scopes: Role.scopes[role].operator }
      })
    return Option.map(yield* accounts.company(companyId), ({ plan, limits, fees, feesRevision }) => ({
      _tag: "Company",
      person,
      caller: { apiKey: keyOf(person), plan, companyLimits: limits, fees, feesRevision }
    }))
  })

  const invitation = Effect.fnUntraced(function* (text: string) {
    const found = yield* find(Person.invitedId(text) ?? "")
    const nowMillis = yield* Clock.currentTimeMillis
    const why = Option.match(found, {
      onNone: () => "unknown" as const,
      onSome: (person) =>
        Person.closedBecause(person, ApiKey.isSame(SecretHash.of(text), person.secretHash ?? ""), nowMillis)
    })
    return { found, why }
  })

  return {
    standing: Effect.fnUntraced(function* (id) {
      const found = yield* find(id)
      return Option.isSome(found) ? yield* standingOf(found.value) : Option.none()
    }),
    invited: Effect.fnUntraced(function* (text) {
      const { found, why } = yield* invitation(text)
      return why === undefined ? found : Option.none()
    }),
    whyClosed: (text) => Effect.map(invitation(text), ({ why }) => why ?? "unknown"),
    join: Effect.fnUntraced(function* (person, passkey, use) {
      return yield* moved(Person.joined(person, passkey, use, yield* at))
    }),
    use: Effect.fnUntraced(function* (person, use) {
      return yield* moved(Person.used(person, use, yield* at))
    }),
    addPasskey: Effect.fnUntraced(function* (person, passkey, use) {
      if (person.passkeys.length >= Person.maxPasskeys)
        return yield* new PeopleErrors.TooManyPasskeys({ maximum: Person.maxPasskeys })
      return yield* moved(Person.keyed(person, passkey, use, yield* at))
    }),
    removePasskey: Effect.fnUntraced(function* (person, passkeyId) {
      if (!person.passkeys.some(({ id }) => id === passkeyId))
        return yield* new NotFound({ what: "passkey", id: passkeyId })
      if (person.passkeys.length === 1) return yield* new PeopleErrors.LastPasskey({ id: passkeyId })
      return yield* moved(Person.unkeyed(person, passkeyId, yield* at))
    })
  } satisfies Partial<People["Service"]>
})

/**
 * Makes a function that returns the approval that an operator's invitation requires. A key with the same scopes
 * requires the same approval.
 */
const makeWaiting = Effect.gen(function* () {
  const isNew = yield* NewCompany.make
  const requesters = yield* OperatorRequests.makeRequesters
  return Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, role: Role.Role, by: Granting) {
    if (
      by._tag !== "Operator" ||
      companyId === CompanyId.operator ||
      !Role.sends(role) ||
      (yield* isNew(companyId))
    )
      return null
    const { id, name } = requesters.stored(by.operator)
    return { requestedById: id, requestedBy: name }
  })
})

export const make = Effect.gen(function* () {
  const [journal, ledger, nouns, entropy] = [
    yield* Journal,
    yield* LedgerReads,
    yield* NounReads,
    yield* Entropy
  ]
  const accounts = yield* AccountReads
  const waitingFor = yield* makeWaiting
  const requesters = yield* OperatorRequests.makeRequesters
  const { noun } = Person
  const now = Clock.currentTimeMillis

  const { at, get, present, moved } = yield* makeRecords
  const access = yield* makeAccess

  const checkRoom = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, nowMillis: number) {
    const all: Array<Person.Person> = []
    // Removed people stay recorded, so those who remain may be on any page.
    for (
      let before: string | null | undefined = null;
      before !== undefined && all.length < Person.maxPeople;
    ) {
      const rows: ReadonlyArray<Person.Person> = yield* nouns.newestFirst(
        noun,
        companyId,
        before,
        Page.limit.maximum
      )
      all.push(...rows.filter(({ status }) => status !== "removed"))
      before = rows.at(Page.limit.maximum - 1)?.id
    }
    const open = all.filter(
      ({ status, invitedUntilMillis }) => status === "invited" && nowMillis < (invitedUntilMillis ?? 0)
    )
    if (all.length >= Person.maxPeople)
      return yield* new PeopleErrors.TooManyPeople({ what: "people", maximum: Person.maxPeople })
    if (open.length >= Person.maxInvited)
      return yield* new PeopleErrors.TooManyPeople({ what: "open invitations", maximum: Person.maxInvited })
  })

  return People.of({
    invite: Effect.fnUntraced(function* ({ companyId, name, role, by, request }) {
      const owner = by._tag === "Operator" ? CompanyId.operator : companyId
      const before = yield* Answers.earlier(ledger, owner, request)
      if (before !== undefined) return before
      yield* checkName(name)
      yield* mayManage(by, role)
      if (companyId !== CompanyId.operator && Option.isNone(yield* accounts.company(companyId)))
        return yield* new NotFound({ what: "company", id: companyId })
      const nowMillis = yield* now
      yield* checkRoom(companyId, nowMillis)
      const id = Id.fromMillis(nowMillis, entropy)
      const { secretHash, text } = Person.generate(id, entropy)
      const person: Person.Person = {
        id,
        companyId,
        name,
        role,
        status: "invited",
        vouchedBy: sponsorOf(by),
        passkeys: [],
        uses: [],
        secretHash,
        invitedUntilMillis: nowMillis + Person.invitationMillis,
        waiting: yield* waitingFor(companyId, role, by),
        epoch: 0,
        revision: id,
        createdAtMillis: nowMillis,
        updatedAtMillis: nowMillis
      }
      const once = Answer.once(owner, request, { person, text }, nowMillis + Answer.keptMillis)
      return Answers.outcome(yield* journal.commit(Person.invited(person, once)), { person, text })
    }),
    approve: Effect.fnUntraced(function* (id, by) {
      const person = yield* get(id)
      if (person.waiting === null) return person
      if (isSame(by, { id: person.waiting.requestedById, name: person.waiting.requestedBy }))
        return yield* new SameOperator({ id, name: by.name })
      yield* requesters.current(id, person.waiting, "companies")
      return yield* moved(Person.approved(person, yield* at))
    }),
    recover: Effect.fnUntraced(function* (companyId, id, by) {
      yield* notOneself(by, id)
      const person = yield* present(companyId, id)
      yield* mayManage(by, person.role)
      const { secretHash, text } = Person.generate(id, entropy)
      const vouchedBy = Person.vouched(person, sponsorOf(by))
      const invitation = { secretHash, vouchedBy, waiting: yield* waitingFor(companyId, person.role, by) }
      return { person: yield* moved(Person.recovered(person, invitation, yield* at)), text }
    }),
    promote: Effect.fnUntraced(function* (companyId, id, role, by) {
      yield* notOneself(by, id)
      const person = yield* present(companyId, id)
      for (const each of [person.role, role]) yield* mayManage(by, each)
      if (role === person.role) return person
      const vouchedBy =
        Role.sends(role) && !Role.sends(person.role)
          ? Person.vouched(person, sponsorOf(by))
          : person.vouchedBy
      return yield* moved(Person.promoted(person, { role, vouchedBy }, yield* at))
    }),
    remove: Effect.fnUntraced(function* (companyId, id, by) {
      yield* notOneself(by, id)
      const person = yield* get(id)
      if (person.companyId !== companyId) return yield* new NotFound({ what: "person", id })
      if (person.status === "removed") return person
      yield* mayManage(by, person.role)
      return yield* moved(Person.removed(person, yield* at))
    }),
    get,
    list: (companyId, asked) =>
      Page.read(asked, (before, limit) => nouns.newestFirst(noun, companyId, before, limit)),
    ...access
  })
})

export const layer = Layer.effect(People, make)
