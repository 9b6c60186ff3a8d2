import { countedAs } from "@satrail/core/accounts/Limits"
import { type CompanyGranting, type Invited, People } from "../core/People.ts"
import * as Person from "../core/Person.ts"
import { Role } from "../core/Role.ts"
import { Effect, Redacted, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Caller, companyId, Scopes } from "@satrail/http/api/Authentication"
import * as Resource from "@satrail/http/api/Resource"
import * as Section from "@satrail/http/api/Section"
import { partyOf, PublicUrl } from "@satrail/http/edge/PublicUrl"
import * as Companies from "@satrail/http/resources/Companies"
import * as VoidedLinks from "@satrail/http/resources/VoidedLinks"
import * as Envelope from "@satrail/http/wire/Envelope"
import * as Errors from "@satrail/http/wire/Errors"
import { Example, type World } from "@satrail/http/wire/Examples"
import * as Idempotency from "@satrail/http/wire/Idempotency"
import * as Scalars from "@satrail/http/wire/Scalars"
import { Seal } from "@satrail/http/wire/Seal"
import * as Member from "@satrail/http/wire/Member"
import * as View from "@satrail/http/wire/View"
import { errors } from "./PeopleErrors.ts"

const path = "/v1/people"

const Passkey = Schema.Struct({
  name: Scalars.text("laptop"),
  created_at: Scalars.Instant,
  last_used_at: Schema.NullOr(Scalars.Instant)
}).annotate({ identifier: "Passkey" })

export const RoleGiven = Role.annotate({
  identifier: "PersonRole",
  description:
    "`viewer` reads; `bookkeeper` also receives; `operator` also sends, approves and manages webhooks; `admin` can do everything, including managing people"
})

export const view = View.make<Person.Person>()(
  { identifier: "Person" },
  {
    id: Member.uuid((row) => row.id),
    name: [Scalars.text("Mara K."), (row) => row.name],
    role: [RoleGiven, (row) => row.role],
    status: [
      Person.Person.fields.status.annotate({
        description: "`invited` until the person adds a passkey, `active`, or `removed`, which is final"
      }),
      (row) => row.status
    ],
    passkeys: [
      Schema.Array(Passkey),
      (row) =>
        row.passkeys.map(({ id, name, createdAtMillis }) => ({
          name,
          created_at: Scalars.instant(createdAtMillis),
          last_used_at: Scalars.instantOrNull(
            row.uses.find((use) => use.id === id)?.challengedAtMillis ?? null
          )
        }))
    ],
    invited_until: Member.instantOrNull(
      (row) => row.invitedUntilMillis,
      "Expiry of the open invitation; null if there is none"
    ),
    approval: [
      Schema.NullOr(Schema.Literal("pending")).annotate({
        description: "`pending` if a second operator must approve the invitation before it can be used"
      }),
      (row) => (row.waiting === null ? null : ("pending" as const))
    ],
    created_at: Member.instant((row) => row.createdAtMillis)
  }
)

/** An invitation with its link. */
export interface Linked extends Invited {
  readonly link: string
}

export const invitedView = View.make<Linked>()(
  { identifier: "InvitedPerson" },
  {
    ...View.within(view.members, ({ person }: Linked) => person),
    link: Member.text(
      ({ link }) => link,
      "Single-use link with which the person adds a passkey. Only this response contains it. Anyone who has it can use it"
    )
  }
)

export const example = (world: World): Person.Person => ({
  id: world.id("person"),
  companyId: world.companyId,
  name: "Mara K.",
  role: "bookkeeper",
  status: "active",
  vouchedBy: null,
  passkeys: [{ id: "AQ", name: "laptop", publicKey: "pQEC", createdAtMillis: world.millis(60_000) }],
  uses: [{ id: "AQ", counter: 1, challengedAtMillis: world.millis(120_000) }],
  secretHash: null,
  invitedUntilMillis: null,
  waiting: null,
  epoch: 0,
  revision: world.id("person"),
  createdAtMillis: world.millis(),
  updatedAtMillis: world.millis(120_000)
})

export const invitedExample = (world: World): Linked => ({
  person: {
    ...example(world),
    status: "invited",
    passkeys: [],
    uses: [],
    invitedUntilMillis: world.millis(Person.invitationMillis)
  },
  text: Redacted.make(""),
  link: `https://${world.serviceDomain}/console#join=inv_${world.id("person")}_2mVx9TbZc7Kq2mVx9TbZc7Kq2mVx9TbZc7Kq2mVx9TbZ`
})

const off = Errors.failure(
  "unsupported",
  "People sign in at the service's public URL, which is not set. Set SATRAIL_PUBLIC_URL to https:// and a domain."
)

/** Adds the link to an invitation. Fails before anything is created if passkeys cannot work here. */
export const linking = Effect.map(PublicUrl, (publicUrl) => {
  const party = partyOf(publicUrl)
  const link = (invited: Invited): Linked => ({
    ...invited,
    link: party?.linkOf(Redacted.value(invited.text)) ?? ""
  })
  return { link, ready: party === undefined ? Effect.fail(off) : Effect.void }
})

/** The administrator or key that makes the request. */
const granting = Effect.map(Caller, ({ apiKey, actor }): CompanyGranting =>
  actor === "person" ? { _tag: "Person", id: apiKey.id } : { _tag: "Key", id: countedAs(apiKey) }
)

const resource = Resource.make({ path, names: ["Person", "People"], view, example })

const list = Section.company(
  resource.list("listPeople", {
    scope: "read",
    summary: "List people",
    description:
      "Returns the people who sign in to the console for this company, newest first, including removed ones."
  }),
  People,
  (people) => resource.lists(Resource.own(people.list))
)

const invite = Section.company(
  HttpApiEndpoint.post("invitePerson", path, {
    headers: Idempotency.headers,
    payload: Schema.Struct({ name: Companies.Name, role: RoleGiven }).annotate({
      identifier: "InvitePerson"
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
    .annotate(Scopes, ["admin"])
    .annotate(OpenApi.Summary, "Invite a person")
    .annotate(
      OpenApi.Description,
      `Creates a person and returns a single-use link for adding a passkey within ${Person.invitationMillis / 86_400_000} days. An API key can invite viewers and bookkeepers; only an administrator signed in with a passkey, or the operator, can invite people who send or approve. A person cannot approve withdrawals of the person or key that invited them. Requires the \`admin\` scope.`
    )
    .annotate(Example, (world) => {
      const invited = invitedExample(world)
      const { name, role } = invited.person
      return { body: { name, role }, message: "Person invited", data: invitedView.of(invited) }
    }),
  Effect.all([People, Seal, linking]),
  ([people, sealer, { link, ready }]) => {
    const creation = Idempotency.sealedCreation(
      path,
      "Person invited",
      (invited: Invited) => invitedView.of(link(invited)),
      sealer
    )
    return Effect.fnUntraced(function* ({ payload, headers, request }) {
      yield* ready
      const owner = yield* companyId
      const once = yield* creation.once(request, headers["idempotency-key"], payload, owner)
      const invited = yield* errors.answered(
        people.invite({ companyId: owner, by: yield* granting, ...payload, ...once })
      )
      return yield* creation.answer(invited, owner)
    })
  }
)

const changes = ["not_found", "own_access", "person_required", "person_changed", "store_unavailable"] as const

const recover = Section.company(
  HttpApiEndpoint.post("recoverPerson", `${path}/:id/recover`, {
    params: resource.one.params,
    success: Envelope.success(200, invitedView.schema),
    error: errors.of("unsupported", ...changes)
  })
    .annotate(Scopes, ["admin"])
    .annotate(OpenApi.Summary, "Recover a person's access")
    .annotate(
      OpenApi.Description,
      "Revokes all passkeys of a person, ends their sessions, and returns a one-time link for adding a new passkey. Use it if a passkey was lost or stolen, or an invitation expired. Afterwards, you and the person cannot approve each other's withdrawals. An API key can recover only viewers and bookkeepers. Requires the `admin` scope."
    )
    .annotate(Example, (world) => {
      const invited = invitedExample(world)
      return { params: { id: invited.person.id }, message: "Access recovered", data: invitedView.of(invited) }
    }),
  Effect.all([People, linking]),
  ([people, { link, ready }]) =>
    Effect.fnUntraced(function* ({ params: { id } }) {
      yield* ready
      const invited = yield* errors.answered(people.recover(yield* companyId, id, yield* granting))
      return View.answer("Access recovered", invitedView.of(link(invited)))
    })
)

const promote = Section.company(
  HttpApiEndpoint.put("setPersonRole", `${path}/:id/role`, {
    params: resource.one.params,
    payload: Schema.Struct({ role: RoleGiven }).annotate({ identifier: "SetPersonRole" }),
    success: Envelope.success(200, view.schema),
    error: errors.of("malformed", ...changes)
  })
    .annotate(Scopes, ["admin"])
    .annotate(OpenApi.Summary, "Change a person's role")
    .annotate(
      OpenApi.Description,
      "Changes another person's role immediately, and voids their open invitation or recovery link; recover the person for a new one. An API key can change only viewers and bookkeepers, and only to these roles. Requires the `admin` scope."
    )
    .annotate(Example, (world) => {
      const row = { ...example(world), role: "viewer" as const }
      return { params: { id: row.id }, body: { role: row.role }, message: "Role changed", data: view.of(row) }
    }),
  People,
  (people) =>
    Effect.fnUntraced(function* ({ params: { id }, payload: { role } }) {
      return View.answer(
        "Role changed",
        view.of(yield* errors.answered(people.promote(yield* companyId, id, role, yield* granting)))
      )
    })
)

const removedExample = (world: World) => {
  const row: Person.Person = { ...example(world), status: "removed", passkeys: [], uses: [] }
  return { params: { id: row.id }, message: "Person removed", data: view.of(row) }
}

const remove = Section.company(
  HttpApiEndpoint.delete("removePerson", `${path}/:id`, {
    params: resource.one.params,
    query: VoidedLinks.query,
    success: Envelope.success(200, view.schema),
    error: errors.of("malformed", ...changes)
  })
    .annotate(Scopes, ["admin"])
    .annotate(OpenApi.Summary, "Remove a person")
    .annotate(
      OpenApi.Description,
      `Revokes a person's passkeys and invitation and ends their sessions immediately. A removed person stays in the list and cannot regain access. Removing twice has no further effect. ${VoidedLinks.rule} An API key can remove only viewers and bookkeepers. Requires the \`admin\` scope.`
    )
    .annotate(Example, removedExample),
  Effect.all([People, VoidedLinks.make]),
  ([people, voided]) =>
    Effect.fnUntraced(function* ({ params: { id }, query }) {
      const person = yield* errors.answered(people.remove(yield* companyId, id, yield* granting))
      yield* voided(query, person.companyId, id)
      return View.answer("Person removed", view.of(person))
    })
)

export const section = Section.make(
  "people",
  {
    title: "People",
    manages: true,
    description: "People who sign in to the console with a passkey, managed with the `admin` scope"
  },
  [invite, list, recover, promote, remove]
)
