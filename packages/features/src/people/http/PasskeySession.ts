import * as CompanyId from "@satrail/core/base/CompanyId"
import { People } from "../core/People.ts"
import type * as Person from "../core/Person.ts"
import * as SecretHash from "@satrail/core/base/SecretHash"
import { Effect, Option, Schema } from "effect"
import { HttpRouter, type HttpServerRequest } from "effect/http"
import { SignedIn } from "@satrail/http/api/SignedIn"
import * as Acting from "@satrail/http/edge/Acting"
import { RequestRates } from "@satrail/http/edge/RequestRates"
import * as Errors from "@satrail/http/wire/Errors"
import * as Sessioned from "./Session.ts"
import * as SignIn from "./SignIn.ts"
import * as Passkeys from "./Passkeys.ts"
import { errors } from "./PeopleErrors.ts"

// Console sign-in with a passkey. Every request must come from the console's own page.

const path = "/console/passkeys"

/** Maximum requests per address and minute. Signing in takes two. */
export const attemptsPerMinute = 60

const Invitation = Schema.String.check(Schema.isMaxLength(128))
const Name = Schema.String.check(Schema.isPattern(/\S/), Schema.isMaxLength(40))
const Asked = Schema.Union([
  Schema.Struct({ for: Schema.Literals(["sign-in", "step-up", "add"]) }),
  Schema.Struct({ for: Schema.Literal("join"), invitation: Invitation })
])
const Signing = Schema.Struct({ passkey: Passkeys.Assertion })
const Joining = Schema.Struct({ invitation: Invitation, name: Name, passkey: Passkeys.Attestation })
const Adding = Schema.Struct({ name: Name, passkey: Passkeys.Attestation })

const expected = ["", "must be the body that this console's page sends. Reload the page"] as const
const closed: { readonly [why in Person.Closed]: string } = {
  unknown:
    "This invitation was already used, or a newer one replaced it. If you have a passkey, sign in with it. Otherwise, ask for a new link.",
  expired: "This invitation has expired. Ask the person who sent it for a new link.",
  waiting:
    "This invitation needs the approval of a second operator, who can open your page under People or run “satrail people approve”. Then open the link again."
}
const notInvited = (why: Person.Closed) => Errors.failure("unauthorized", closed[why])
const noPerson = Errors.failure(
  "unauthorized",
  "This session was started with a key. Confirm the key instead."
)

type Request = HttpServerRequest.HttpServerRequest

const { answer, decoded, operation } = SignIn

const make = Effect.gen(function* () {
  const people = yield* People
  const { refuse } = yield* RequestRates
  const { open, standing } = yield* Sessioned.make
  const acting = yield* Acting.make
  const passkeys = yield* Passkeys.make
  const shared = yield* SignIn.make(attemptsPerMinute)
  const { here, challenge, signed } = passkeys
  const { admitted } = shared

  /** Returns a person's session, and the string to which its challenges are bound. */
  const ownSession = Effect.fnUntraced(function* (request: Request) {
    const session = yield* open(request).pipe(Effect.catch(refuse))
    const found: Sessioned.Standing = yield* standing(session)
    if (found.person === undefined) return yield* Effect.fail(noPerson)
    return { session, found, person: found.person, bound: session.secretHash }
  })

  const invitedBy = Effect.fnUntraced(function* (invitation: string) {
    const found = yield* Errors.answered(people.invited(invitation))
    if (Option.isSome(found)) return found.value
    return yield* refuse(notInvited(yield* Errors.answered(people.whyClosed(invitation))))
  })

  /** Options for a browser to create a passkey for this person. */
  const creation = ({ id, name, passkeys }: Person.Person) => ({
    user: { id: Buffer.from(id).toString("base64url"), name },
    exclude: passkeys.map((passkey) => passkey.id),
    algorithms: Passkeys.algorithms
  })

  const ask = Effect.fnUntraced(function* (request: Request) {
    yield* admitted(request)
    const asked = yield* decoded(request, Asked, ...expected)
    const { id: rp_id } = yield* here
    const challenged = (bound: string) =>
      Effect.map(challenge(asked.for, bound), (text) => ({ rp_id, challenge: text }))
    if (asked.for === "sign-in") return answer("Challenge", yield* challenged(""))
    if (asked.for === "join") {
      const person = yield* invitedBy(asked.invitation)
      return answer("Challenge", {
        ...(yield* challenged(SecretHash.of(asked.invitation))),
        ...creation(person),
        role: person.role
      })
    }
    const { person, bound } = yield* ownSession(request)
    return answer("Challenge", { ...(yield* challenged(bound)), ...creation(person) })
  })

  /** Returns the person once they have proved their identity; otherwise records the failed attempt. */
  const proved = Effect.fnUntraced(function* (
    assertion: Passkeys.Assertion,
    found: Sessioned.Standing & { readonly person: Person.Person },
    purpose: "sign-in" | "step-up",
    bound: string
  ) {
    const { actor } = SignIn.askingOf(found)
    const use = yield* signed(assertion, found.person, purpose, bound).pipe(
      Effect.tapError((failure) =>
        acting.refused(actor, operation(purpose === "sign-in" ? "signIn" : "stepUp"), failure.error.code)
      ),
      Effect.catch(refuse)
    )
    return { ...found, person: yield* errors.answered(people.use(found.person, use)) }
  })

  return { people, refuse, acting, ...passkeys, ...shared, ownSession, invitedBy, ask, proved }
})

export const routes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { confirmed } = yield* SignedIn
    const {
      acting,
      admitted,
      ask,
      begin,
      invitedBy,
      ownSession,
      people,
      proved,
      refuse,
      registered,
      routed,
      stepUp: step
    } = yield* make

    const signIn = Effect.fnUntraced(function* (request: Request) {
      yield* admitted(request)
      const { passkey } = yield* decoded(request, Signing, ...expected)
      const found = yield* Errors.answered(people.standing(Passkeys.personIdOf(passkey)))
      if (Option.isNone(found)) return yield* refuse(Passkeys.notVerified)
      const owner = { ...Sessioned.ofPerson(found.value), person: found.value.person }
      return yield* begin(request, yield* proved(passkey, owner, "sign-in", ""))
    })

    const stepUp = Effect.fnUntraced(function* (request: Request) {
      yield* admitted(request)
      const { session, found, person, bound } = yield* ownSession(request)
      const { passkey } = yield* decoded(request, Signing, ...expected)
      return yield* step(session, yield* proved(passkey, { ...found, person }, "step-up", bound))
    })

    const join = Effect.fnUntraced(function* (request: Request) {
      yield* admitted(request)
      const { invitation, name, passkey } = yield* decoded(request, Joining, ...expected)
      const invited = yield* invitedBy(invitation)
      const made = yield* registered(passkey, name, "join", SecretHash.of(invitation)).pipe(
        Effect.catch(refuse)
      )
      const { id, companyId, name: actor_name } = invited
      const actor = {
        companyId,
        actor: companyId === CompanyId.operator ? ("operator" as const) : ("person" as const),
        actor_id: id,
        actor_name
      }
      yield* acting.recorded(
        actor,
        operation("join"),
        errors.answered(people.join(invited, made.passkey, made.use))
      )
      const found = yield* Errors.answered(people.standing(id))
      if (Option.isNone(found)) return yield* refuse(notInvited("unknown"))
      return yield* begin(request, Sessioned.ofPerson(found.value))
    })

    const add = Effect.fnUntraced(function* (request: Request) {
      yield* admitted(request)
      const { session, found, person, bound } = yield* ownSession(request)
      yield* confirmed(request)
      const { name, passkey } = yield* decoded(request, Adding, ...expected)
      const made = yield* registered(passkey, name, "add", bound).pipe(Effect.catch(refuse))
      if (person.passkeys.some(({ id }) => id === made.passkey.id))
        return yield* Effect.fail(Passkeys.notVerified)
      const adding = people.addPasskey(person, made.passkey, made.use).pipe(
        Effect.catchTag("TooManyPasskeys", ({ maximum }) =>
          Effect.fail(
            Errors.failure("conflict", `You already have ${maximum} passkeys, the maximum. Revoke one first.`)
          )
        ),
        Effect.catchTag(["PersonMoved", "StoreUnavailable"], (error) => errors.answered(Effect.fail(error)))
      )
      const after = yield* acting.recorded(SignIn.askingOf(found).actor, operation("addPasskey"), adding)
      return answer(
        "Passkey added",
        SignIn.shown({ ...found, person: after }, session, after.updatedAtMillis)
      )
    })

    const remove = Effect.fnUntraced(function* (request: Request, id: string) {
      const { found, person } = yield* ownSession(request)
      yield* confirmed(request)
      const removing = people.removePasskey(person, id).pipe(
        Effect.catchTag("LastPasskey", () =>
          Effect.fail(
            Errors.failure("conflict", "This is your only passkey. Add another one before you revoke it.")
          )
        ),
        Effect.catchTag(["PersonMoved", "NotFound", "StoreUnavailable"], (error) =>
          errors.answered(Effect.fail(error))
        )
      )
      yield* acting.recorded(SignIn.askingOf(found).actor, operation("removePasskey"), removing)
      return answer("Passkey revoked", { signed_out: true }, SignIn.setCookie("", 0))
    })

    yield* router.add("POST", `${path}/challenge`, routed(ask))
    yield* router.add("POST", `${path}/sign-in`, routed(signIn))
    yield* router.add("POST", `${path}/step-up`, routed(stepUp))
    yield* router.add("POST", `${path}/join`, routed(join))
    yield* router.add("POST", path, routed(add))
    yield* router.add("DELETE", `${path}/:id`, (request) =>
      Effect.flatMap(HttpRouter.params, (params) => routed((one) => remove(one, params["id"] ?? ""))(request))
    )
  })
)
