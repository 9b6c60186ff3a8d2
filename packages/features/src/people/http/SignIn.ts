import * as Operators from "@satrail/core/accounts/OperatorToken"
import { countedAs } from "@satrail/core/accounts/Limits"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as JsonText from "@satrail/core/base/JsonText"
import * as Throttle from "@satrail/core/base/Throttle"
import type * as Person from "../../people/core/Person.ts"
import * as Session from "../core/Session.ts"
import { Sessions } from "../core/Sessions.ts"
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { OperatorToken } from "@satrail/http/api/Authentication"
import * as Acting from "@satrail/http/edge/Acting"
import * as Exchange from "@satrail/http/edge/Exchange"
import { addressOf } from "@satrail/http/wire/Address"
import * as Envelope from "@satrail/http/wire/Envelope"
import * as Errors from "@satrail/http/wire/Errors"
import * as Scalars from "@satrail/http/wire/Scalars"
import * as Sessioned from "./Session.ts"

// Shared by sign-in with a key and sign-in with a passkey.

type Request = HttpServerRequest.HttpServerRequest

/** Decodes a request's body. `path` and `message` describe what is expected. */
export const decoded = Effect.fnUntraced(function* <A>(
  request: Request,
  schema: Schema.Decoder<A>,
  path: string,
  message: string
) {
  const body = JsonText.parsed(yield* Effect.orDie(request.text))
  const found = Schema.decodeUnknownOption(schema)(body, { onExcessProperty: "error" })
  return Option.isSome(found) ? found.value : yield* Effect.fail(Errors.malformedRequest([{ path, message }]))
})

export const setCookie = (text: string, seconds: number) => ({
  "set-cookie": `${Exchange.cookieName}=${text}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Lax`
})

export const answer = (message: string, data: unknown, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.jsonUnsafe(Envelope.ok(message, data), { headers })

/** Returns the owner of the new session, and the owner as an actor in the audit log. */
export const askingOf = (standing: Sessioned.Standing) => {
  if (standing._tag === "Company") {
    const { apiKey, actor } = standing.caller
    const holder = actor === "person" ? ("person" as const) : ("key" as const)
    return {
      asking: { holder, holderId: apiKey.id, companyId: apiKey.companyId },
      actor: Acting.member(standing.caller)
    }
  }
  const operator = standing.caller
  const holder =
    standing.person !== undefined
      ? ("person" as const)
      : operator.id === Operators.root.id
        ? ("root" as const)
        : ("token" as const)
  return {
    asking: { holder, holderId: operator.id, companyId: CompanyId.operator },
    actor: Acting.operating(operator)
  }
}

const passkeyOf = ({ id, name, createdAtMillis }: Person.Passkey, { uses }: Person.Person) => ({
  id,
  name,
  created_at: Scalars.instant(createdAtMillis),
  last_used_at: Scalars.instantOrNull(uses.find((use) => use.id === id)?.challengedAtMillis ?? null)
})

/** Facts about the session, for the page. */
export const shown = (standing: Sessioned.Standing, session: Session.Session, nowMillis: number) => {
  const { person } = standing
  const facts = {
    person:
      person === undefined
        ? null
        : { role: person.role, passkeys: person.passkeys.map((passkey) => passkeyOf(passkey, person)) },
    expires_at: Scalars.instant(session.expiresAtMillis),
    stepped_up_until: Scalars.instantOrNull(Session.steppedUpUntil(session, nowMillis))
  }
  if (standing._tag === "Operator") {
    const { id, name, scopes } = standing.caller
    return { kind: "operator", id, name, scopes, counts_as: id, company_id: null, ...facts }
  }
  const { apiKey } = standing.caller
  const { id, name, scopes, companyId } = apiKey
  return { kind: "company", id, name, scopes, counts_as: countedAs(apiKey), company_id: companyId, ...facts }
}

export const operation = (identifier: string): Acting.Operation => ({
  endpoint: { identifier },
  group: { identifier: "console" }
})

export const noting = (found: Sessioned.Standing) =>
  Exchange.noting({ key: found._tag === "Company" ? found.caller.apiKey.id : `operator:${found.caller.id}` })(
    Effect.void
  )

type Answering = (
  request: Request
) => Effect.Effect<HttpServerResponse.HttpServerResponse, Errors.Failure, Request>

/** `attempts` is the maximum number of requests per minute from one address, or with one key. They can all come at the same time. */
export const make = Effect.fnUntraced(function* (attempts: number) {
  const [sessions, root, proxies] = [yield* Sessions, yield* OperatorToken, yield* Acting.Proxies]
  const { open } = yield* Sessioned.make
  const acting = yield* Acting.make
  const context = yield* Effect.context<never>()
  const mayTry = Throttle.callers(Throttle.perMinute(attempts))
  const counted = Effect.fnUntraced(function* (name: string, whose: string) {
    if (!mayTry(name, yield* Clock.currentTimeMillis).isWithin)
      return yield* Effect.fail(
        Errors.failure("rate_limited", `Rate limit reached: ${attempts} sign-ins per minute ${whose}.`)
      )
  })
  /** Counts a request against its caller's address and the networks around it. */
  const fromAddress = (request: Request) => counted(addressOf(request, proxies), "from this address")
  /** Requires that the console's own page sent the request. */
  const fromPage = (request: Request) =>
    Sessioned.isOwn(request) ? Effect.void : Effect.fail(Sessioned.foreign)

  return {
    fromPage,
    /** Requires that the console's own page sent the request, and limits the rate. */
    admitted: (request: Request) => Effect.andThen(fromPage(request), fromAddress(request)),
    /**
     * Limits the rate of checks of a key: of invalid ones per address, and of valid ones per key, so that those who
     * guess keys cannot keep others at their address from signing in.
     */
    limited: <R>(request: Request, check: Effect.Effect<Sessioned.Standing, Errors.Failure, R>) =>
      check.pipe(
        Effect.tapError(({ error }) => (error.code === "unauthorized" ? fromAddress(request) : Effect.void)),
        Effect.tap((found) => counted(askingOf(found).asking.holderId, "with this key"))
      ),
    /** Begins a session, and sets its cookie. */
    begin: Effect.fnUntraced(function* (request: Request, found: Sessioned.Standing) {
      yield* noting(found)
      const { asking, actor } = askingOf(found)
      // End an earlier session in the same browser, which can be another person's. Never adopt a session secret
      // that someone else set there.
      const earlier = yield* Effect.option(open(request))
      if (Option.isSome(earlier)) yield* Errors.answered(sessions.end(earlier.value))
      const bound =
        found.person === undefined
          ? Sessioned.boundTo(asking.holder, root)
          : Sessioned.boundToEpoch(found.person)
      const beginning = Sessioned.answered(sessions.begin(asking, bound))
      const { session, text } = yield* acting.recorded(actor, operation("signIn"), beginning)
      const told = shown(found, session, yield* Clock.currentTimeMillis)
      return answer("Signed in", told, setCookie(Redacted.value(text), Session.lifeMillis / 1000))
    }),
    /** Records that the person confirmed who they are. */
    stepUp: Effect.fnUntraced(function* (session: Session.Opened, found: Sessioned.Standing) {
      yield* noting(found)
      const stepped = yield* acting.recorded(
        askingOf(found).actor,
        operation("stepUp"),
        Sessioned.answered(sessions.stepUp(session))
      )
      return answer("Confirmed", shown(found, stepped, yield* Clock.currentTimeMillis))
    }),
    routed: (answering: Answering) => (request: Request) =>
      answering(request).pipe(
        Effect.catch((failure) =>
          Effect.succeed(HttpServerResponse.jsonUnsafe(failure, { status: failure.status }))
        ),
        Effect.provideContext(context)
      )
  }
})
