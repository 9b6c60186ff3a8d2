import * as CompanyId from "@satrail/core/base/CompanyId"
import { type Granting, type Invited, People } from "../core/People.ts"
import type * as Person from "../core/Person.ts"
import * as Operators from "@satrail/core/accounts/OperatorToken"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { OperatorCaller, OperatorScopes } from "@satrail/http/api/Authentication"
import * as Resource from "@satrail/http/api/Resource"
import * as Section from "@satrail/http/api/Section"
import * as Companies from "@satrail/http/resources/Companies"
import * as VoidedLinks from "@satrail/http/resources/VoidedLinks"
import * as Envelope from "@satrail/http/wire/Envelope"
import * as Errors from "@satrail/http/wire/Errors"
import { Example } from "@satrail/http/wire/Examples"
import * as Idempotency from "@satrail/http/wire/Idempotency"
import * as Scalars from "@satrail/http/wire/Scalars"
import { Seal } from "@satrail/http/wire/Seal"
import * as Member from "@satrail/http/wire/Member"
import * as View from "@satrail/http/wire/View"
import * as Own from "./People.ts"
import { errors } from "./PeopleErrors.ts"

const path = "/operator/people"
const params = { id: Scalars.Id }

export const view = View.make<Person.Person>()(
  { identifier: "OperatorPerson" },
  {
    ...Own.view.members,
    company_id: Member.uuidOrNull(
      (row) => (row.companyId === CompanyId.operator ? null : row.companyId),
      "The person's company; null for an operator"
    ),
    requested_by: Member.textOrNull(
      (row) => row.waiting?.requestedBy ?? null,
      "Operator who made the invitation; null unless it awaits approval"
    )
  }
)

const invitedView = View.make<Own.Linked>()(
  { identifier: "OperatorInvitedPerson" },
  {
    ...View.within(view.members, ({ person }: Own.Linked) => person),
    link: Member.text(
      ({ link }) => link,
      "Single-use link with which the person adds a passkey. Only this response contains it. Anyone who has it can use it"
    )
  }
)

const Company = Scalars.inLowerCase(
  Scalars.Uuid.annotate({ description: "The person's company. Omit it for an operator" })
)

/** Returns the company named in a request, or the operator's own company if none is named. */
const companyOf = (text: string | null | undefined) =>
  text === null || text === undefined ? CompanyId.operator : CompanyId.make(text)

/**
 * Managing operators requires the scope `all`, because anyone who can manage operators can grant themselves
 * every scope.
 */
const mayManage = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
  if (companyId === CompanyId.operator && !Operators.allows(yield* OperatorCaller, "all"))
    return yield* Effect.fail(Errors.failure("scope_required", "Managing operators requires the scope all."))
})

/** Returns the person if the caller may manage them. */
const manageable = Effect.fnUntraced(function* (people: People["Service"], id: string) {
  const person = yield* Errors.answered(people.get(id))
  yield* mayManage(person.companyId)
  return person
})

const granting = Effect.map(OperatorCaller, ({ id, name }): Granting => ({
  _tag: "Operator",
  operator: { id, name }
}))

const resource = Resource.make({ path, names: ["Person", "People"], view, example: Own.example })

const list = Section.operator(
  resource.list(
    "operatorListPeople",
    {
      summary: "List people",
      description: "Returns a company's people, or the operators, newest first, including removed ones."
    },
    { company_id: Schema.optionalKey(Company) }
  ),
  People,
  (people) => resource.lists((asked, { company_id }) => people.list(companyOf(company_id), asked))
)

const invite = Section.operator(
  HttpApiEndpoint.post("operatorInvitePerson", path, {
    headers: Idempotency.headers,
    payload: Schema.Struct({
      company_id: Scalars.given(Company),
      name: Companies.Name,
      role: Own.RoleGiven
    }).annotate({
      identifier: "OperatorInvitePerson"
    }),
    success: Envelope.success(201, invitedView.schema),
    error: errors.of(
      "malformed",
      "not_found",
      "person_required",
      "too_many_people",
      "unsupported",
      ...Idempotency.sealedErrors,
      "store_unavailable"
    )
  })
    .annotate(OperatorScopes, ["companies"])
    .annotate(OpenApi.Summary, "Invite a person")
    .annotate(
      OpenApi.Description,
      "Invites a person to join a company or the operators, and returns a single-use link for adding a passkey. If they can send or approve payments for a company that is already active, the link works only after a second operator approves it. Managing operators requires the `all` scope."
    )
    .annotate(Example, (world) => {
      const invited = Own.invitedExample(world)
      const { name, role } = invited.person
      return { body: { name, role }, message: "Person invited", data: invitedView.of(invited) }
    }),
  Effect.all([People, Seal, Own.linking]),
  ([people, sealer, { link, ready }]) => {
    const creation = Idempotency.sealedCreation(
      path,
      "Person invited",
      (invited: Invited) => invitedView.of(link(invited)),
      sealer
    )
    return Effect.fnUntraced(function* ({ payload, headers, request }) {
      yield* ready
      const { company_id, name, role } = payload
      const companyId = companyOf(company_id)
      yield* mayManage(companyId)
      const once = yield* creation.once(
        request,
        headers["idempotency-key"],
        { companyId, name, role },
        CompanyId.operator
      )
      const invited = yield* errors.answered(
        people.invite({ companyId, name, role, by: yield* granting, ...once })
      )
      return yield* creation.answer(invited, CompanyId.operator)
    })
  }
)

const approve = Section.operator(
  HttpApiEndpoint.post("operatorApprovePerson", `${path}/:id/approve`, {
    params,
    success: Envelope.success(200, view.schema),
    error: errors.of(
      "not_found",
      "another_operator_required",
      "requester_gone",
      "person_changed",
      "store_unavailable"
    )
  })
    .annotate(OperatorScopes, ["companies"])
    .annotate(OpenApi.Summary, "Approve an invitation")
    .annotate(
      OpenApi.Description,
      "Approves an invitation that another operator made, so that its link can be used. Approving twice has no further effect."
    )
    .annotate(Example, (world) => {
      const { person } = Own.invitedExample(world)
      return { params: { id: person.id }, message: "Invitation approved", data: view.of(person) }
    }),
  People,
  (people) =>
    Effect.fnUntraced(function* ({ params: { id } }) {
      yield* manageable(people, id)
      return View.answer(
        "Invitation approved",
        view.of(yield* errors.answered(people.approve(id, yield* OperatorCaller)))
      )
    })
)

const recover = Section.operator(
  HttpApiEndpoint.post("operatorRecoverPerson", `${path}/:id/recover`, {
    params,
    success: Envelope.success(200, invitedView.schema),
    error: errors.of(
      "not_found",
      "person_required",
      "own_access",
      "unsupported",
      "person_changed",
      "store_unavailable"
    )
  })
    .annotate(OperatorScopes, ["companies"])
    .annotate(OpenApi.Summary, "Recover a person's access")
    .annotate(
      OpenApi.Description,
      "Revokes all passkeys of a person, ends their sessions, and returns a one-time link for adding a new passkey. If they can send or approve payments for a company that is already active, the link works only after a second operator approves it."
    )
    .annotate(Example, (world) => {
      const invited = Own.invitedExample(world)
      return { params: { id: invited.person.id }, message: "Access recovered", data: invitedView.of(invited) }
    }),
  Effect.all([People, Own.linking]),
  ([people, { link, ready }]) =>
    Effect.fnUntraced(function* ({ params: { id } }) {
      yield* ready
      const { companyId } = yield* manageable(people, id)
      const invited = yield* errors.answered(people.recover(companyId, id, yield* granting))
      return View.answer("Access recovered", invitedView.of(link(invited)))
    })
)

const remove = Section.operator(
  HttpApiEndpoint.delete("operatorRemovePerson", `${path}/:id`, {
    params,
    query: VoidedLinks.query,
    success: Envelope.success(200, view.schema),
    error: errors.of(
      "malformed",
      "not_found",
      "own_access",
      "person_required",
      "person_changed",
      "store_unavailable"
    )
  })
    .annotate(OperatorScopes, ["companies", "stop"])
    .annotate(OpenApi.Summary, "Remove a person")
    .annotate(
      OpenApi.Description,
      `Revokes a person's passkeys and invitation and ends their sessions immediately. Removing twice has no further effect. ${VoidedLinks.rule}`
    )
    .annotate(Example, (world) => {
      const row: Person.Person = { ...Own.example(world), status: "removed", passkeys: [], uses: [] }
      return { params: { id: row.id }, message: "Person removed", data: view.of(row) }
    }),
  Effect.all([People, VoidedLinks.make]),
  ([people, voided]) =>
    Effect.fnUntraced(function* ({ params: { id }, query }) {
      const { companyId } = yield* manageable(people, id)
      const person = yield* errors.answered(people.remove(companyId, id, yield* granting))
      yield* voided(query, companyId, id)
      return View.answer("Person removed", view.of(person))
    })
)

export const section = Section.make(
  "operatorPeople",
  {
    title: "People and operators",
    description: "Operators and company members, who sign in to the console with a passkey"
  },
  [invite, list, approve, recover, remove]
)
