import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import * as Operators from "@satrail/core/accounts/OperatorToken"
import { OperatorTokens } from "@satrail/core/accounts/OperatorTokens"
import * as Session from "@satrail/core/features/sessions/Session"
import { Sessions } from "@satrail/core/features/sessions/Sessions"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as JsonText from "@satrail/core/base/JsonText"
import * as Throttle from "@satrail/core/base/Throttle"
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Acting from "../../edge/Acting.ts"
import { addressOf } from "../../wire/Address.ts"
import { elsewhere, isFromAllowed, OperatorToken, tokenCheck } from "../../api/Authentication.ts"
import * as Envelope from "../../wire/Envelope.ts"
import * as Errors from "../../wire/Errors.ts"
import * as Exchange from "../../edge/Exchange.ts"
import { RequestRates } from "../../edge/RequestRates.ts"
import * as Scalars from "../../wire/Scalars.ts"
import * as Sessioned from "./Session.ts"
import { SignInLinks } from "./SignInLinks.ts"

// Signing in to the console, for people. Programs send a key, and have no session.

export const path = "/console/session"

/** Sign-ins and step-ups that are tried from one address in a minute, and as many at once. */
export const attemptsPerMinute = 20

const Credential = Schema.NonEmptyString.check(Schema.isMaxLength(256))
/** A key or a token, or the secret of a printed link. */
const SignIn = Schema.Union([Schema.Struct({ credential: Credential }), Schema.Struct({ link: Credential })])
const StepUp = Schema.Struct({ credential: Credential })

const decoded = Effect.fnUntraced(function* <A>(request: HttpServerRequest.HttpServerRequest, schema: Schema.Decoder<A>) {
  const body = JsonText.parsed(yield* Effect.orDie(request.text))
  const found = Schema.decodeUnknownOption(schema)(body, { onExcessProperty: "error" })
  if (Option.isSome(found)) return found.value
  return yield* Effect.fail(
    Errors.malformedRequest([{ path: "credential", message: "An API key, or an operator's token, up to 256 characters" }])
  )
})

const setCookie = (text: string, seconds: number) => ({
  "set-cookie": `${Sessioned.cookieName}=${text}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Strict`
})

const answer = (message: string, data: unknown, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.jsonUnsafe(Envelope.ok(message, data), { headers })

/** Whose session it is to be, and who that is for the audit log. */
const askingOf = (standing: Sessioned.Standing) => {
  if (standing._tag === "Company") {
    const { apiKey } = standing.caller
    return { asking: { holder: "key", holderId: apiKey.id, companyId: apiKey.companyId } as const, actor: Acting.keyed(apiKey) }
  }
  const operator = standing.caller
  const holder = operator.id === Operators.root.id ? ("root" as const) : ("token" as const)
  return { asking: { holder, holderId: operator.id, companyId: CompanyId.operator }, actor: Acting.operating(operator) }
}

/** What the page is told of who signed in. */
const shown = (standing: Sessioned.Standing, session: Session.Session, nowMillis: number) => {
  const times = {
    expires_at: Scalars.instant(session.expiresAtMillis),
    stepped_up_until: Scalars.instantOrNull(Session.steppedUpUntil(session, nowMillis))
  }
  if (standing._tag === "Operator") {
    const { id, name, scopes } = standing.caller
    return { kind: "operator", id, name, scopes, company_id: null, ...times }
  }
  const { id, name, scopes, companyId } = standing.caller.apiKey
  return { kind: "company", id, name, scopes, company_id: companyId, ...times }
}

const operation = (identifier: string): Acting.Operation => ({ endpoint: { identifier }, group: { identifier: "console" } })

export const routes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const [sessions, apiKeys, tokens, root] = [yield* Sessions, yield* ApiKeys, yield* OperatorTokens, yield* OperatorToken]
    const [links, proxies] = [yield* SignInLinks, yield* Acting.Proxies]
    const { refuse } = yield* RequestRates
    const { open, standing } = yield* Sessioned.make
    const acting = yield* Acting.make
    const isRoot = tokenCheck(root)
    const context = yield* Effect.context<never>()
    const mayTry = Throttle.callers(Throttle.perMinute(attemptsPerMinute))

    /** Our own page asks, and not too often. */
    const admitted = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      if (!Sessioned.isOwn(request)) return yield* Effect.fail(Sessioned.foreign)
      if (!mayTry(addressOf(request, proxies), yield* Clock.currentTimeMillis).isWithin)
        return yield* Effect.fail(
          Errors.failure("rate_limited", `There are more than ${attemptsPerMinute} sign-ins a minute from this address`)
        )
    })

    /** A key that may not be used from there tells nothing, and begins nothing. */
    const fromAllowed = (found: Sessioned.Standing, request: HttpServerRequest.HttpServerRequest, name: string) =>
      found._tag === "Operator" || isFromAllowed(found.caller.apiKey, false, request, proxies)
        ? Effect.void
        : Effect.andThen(acting.refused(Acting.keyed(found.caller.apiKey), operation(name), "address_not_allowed"), Effect.fail(elsewhere))

    /** What a key or a token is of. */
    const checked = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, text: string, name: string) {
      if (isRoot(text)) return { _tag: "Operator", caller: Operators.root } satisfies Sessioned.Standing
      if (Operators.isToken(text)) {
        const found = yield* Errors.answered(tokens.check(text))
        if (Option.isSome(found)) return { _tag: "Operator", caller: found.value } satisfies Sessioned.Standing
        return yield* refuse(Errors.failure("unauthorized", "The operator's token is unknown, or was revoked"))
      }
      const noted = Effect.tapError(apiKeys.check(text), (error) =>
        error._tag === "Unauthorized" && error.key !== undefined
          ? acting.refused(Acting.keyed(error.key), operation(name), "unauthorized")
          : Effect.void
      )
      const caller = yield* Errors.answered(noted).pipe(Effect.catch(refuse))
      const found = { _tag: "Company", caller } satisfies Sessioned.Standing
      yield* fromAllowed(found, request, name)
      return found
    })

    const noting = (found: Sessioned.Standing) =>
      Exchange.noting({ key: found._tag === "Company" ? found.caller.apiKey.id : `operator:${found.caller.id}` })(Effect.void)

    const signIn = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      yield* admitted(request)
      const body = yield* decoded(request, SignIn)
      const key = "link" in body ? yield* links.take(body.link) : Redacted.make(body.credential)
      if (key === undefined)
        return yield* refuse(Errors.failure("unauthorized", "The link was used before, or is too old: sign in with a key"))
      const found = yield* checked(request, Redacted.value(key).trim(), "signIn")
      yield* noting(found)
      const { asking, actor } = askingOf(found)
      // Another person's session at the same browser ends; a secret that somebody else has put there is never taken over.
      const earlier = yield* Effect.option(open(request))
      if (Option.isSome(earlier)) yield* Errors.answered(sessions.end(earlier.value))
      const beginning = Sessioned.answered(sessions.begin(asking, Sessioned.boundTo(asking.holder, root)))
      const { session, text } = yield* acting.recorded(actor, operation("signIn"), beginning)
      const told = shown(found, session, yield* Clock.currentTimeMillis)
      return answer("Signed in", told, setCookie(Redacted.value(text), Session.lifeMillis / 1000))
    })

    const who = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      const session = yield* open(request).pipe(Effect.catch(refuse))
      const found = yield* standing(session)
      yield* fromAllowed(found, request, "who")
      yield* noting(found)
      return answer("Session", shown(found, session, yield* Clock.currentTimeMillis))
    })

    const stepUp = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      yield* admitted(request)
      const session = yield* open(request).pipe(Effect.catch(refuse))
      const { credential } = yield* decoded(request, StepUp)
      const found = yield* checked(request, credential.trim(), "stepUp")
      yield* noting(found)
      const { asking, actor } = askingOf(found)
      if (asking.holderId !== session.holderId || asking.holder !== session.holder)
        return yield* Effect.fail(Errors.failure("unauthorized", "This is not the key that you signed in with"))
      const stepped = yield* acting.recorded(actor, operation("stepUp"), Sessioned.answered(sessions.stepUp(session)))
      return answer("Confirmed", shown(found, stepped, yield* Clock.currentTimeMillis))
    })

    const signOut = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      const session = yield* open(request).pipe(Effect.catch(refuse))
      const found = yield* Effect.option(standing(session))
      const ending = Errors.answered(sessions.end(session))
      yield* Option.isSome(found) ? acting.recorded(askingOf(found.value).actor, operation("signOut"), ending) : ending
      return answer("Signed out", { signed_out: true }, setCookie("", 0))
    })

    type Answering = (
      request: HttpServerRequest.HttpServerRequest
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, Errors.Failure, HttpServerRequest.HttpServerRequest>
    const routed = (answering: Answering) => (request: HttpServerRequest.HttpServerRequest) =>
      answering(request).pipe(
        Effect.catch((failure) => Effect.succeed(HttpServerResponse.jsonUnsafe(failure, { status: failure.status }))),
        Effect.provideContext(context)
      )

    yield* router.add("POST", path, routed(signIn))
    yield* router.add("GET", path, routed(who))
    yield* router.add("POST", `${path}/step-up`, routed(stepUp))
    yield* router.add("DELETE", path, routed(signOut))
  })
)
