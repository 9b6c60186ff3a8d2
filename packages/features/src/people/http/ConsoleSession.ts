import * as ApiKey from "@satrail/core/accounts/ApiKey"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import * as Operators from "@satrail/core/accounts/OperatorToken"
import { OperatorTokens } from "@satrail/core/accounts/OperatorTokens"
import { Sessions } from "../core/Sessions.ts"
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { HttpRouter, type HttpServerRequest } from "effect/http"
import * as Acting from "@satrail/http/edge/Acting"
import { elsewhere, isFromAllowed, OperatorToken, tokenCheck } from "@satrail/http/api/Authentication"
import * as Errors from "@satrail/http/wire/Errors"
import { RequestRates } from "@satrail/http/edge/RequestRates"
import * as Sessioned from "./Session.ts"
import * as SignIns from "./SignIn.ts"
import { answer, askingOf, decoded, noting, operation, setCookie, shown } from "./SignIn.ts"
import { SignInLinks } from "@satrail/http/api/SignInLinks"

// Console sign-in for human users. Programs send a key and have no session.

export const path = "/console/session"

/** Maximum sign-ins and step-ups per minute with one key, or with invalid keys from one address. They can all come at the same time. */
export const attemptsPerMinute = 20

const Credential = Schema.NonEmptyString.check(Schema.isMaxLength(256))
/** A key, a token, or the secret of a printed link. */
const SignIn = Schema.Union([Schema.Struct({ credential: Credential }), Schema.Struct({ link: Credential })])
const StepUp = Schema.Struct({ credential: Credential })
const expected = ["credential", "must be an API key or an operator token of at most 256 characters"] as const

/** The configured operator token can be any text. */
const neither = Errors.failure(
  "unauthorized",
  "This is not a valid operator token or API key. Check that you copied all of it."
)

export const routes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const [sessions, apiKeys, tokens, root] = [
      yield* Sessions,
      yield* ApiKeys,
      yield* OperatorTokens,
      yield* OperatorToken
    ]
    const [links, proxies] = [yield* SignInLinks, yield* Acting.Proxies]
    const { refuse } = yield* RequestRates
    const { open, standing } = yield* Sessioned.make
    const acting = yield* Acting.make
    const isRoot = tokenCheck(root)
    const { begin, fromPage, limited, routed, stepUp: step } = yield* SignIns.make(attemptsPerMinute)

    /** A key that is not allowed from this address reveals nothing and starts no session. */
    const fromAllowed = (
      found: Sessioned.Standing,
      request: HttpServerRequest.HttpServerRequest,
      name: string
    ) =>
      found._tag === "Operator" || isFromAllowed(found.caller.apiKey, false, request, proxies)
        ? Effect.void
        : Effect.andThen(
            acting.refused(Acting.keyed(found.caller.apiKey), operation(name), "address_not_allowed"),
            Effect.fail(elsewhere)
          )

    /** Returns the owner of a key or token. */
    const checked = Effect.fnUntraced(function* (
      request: HttpServerRequest.HttpServerRequest,
      text: string,
      name: string
    ) {
      if (isRoot(text)) return { _tag: "Operator", caller: Operators.root } satisfies Sessioned.Standing
      if (Operators.isToken(text)) {
        const found = yield* Errors.answered(tokens.check(text))
        if (Option.isSome(found))
          return { _tag: "Operator", caller: found.value } satisfies Sessioned.Standing
        return yield* refuse(
          Errors.failure("unauthorized", "This operator token is not valid or was revoked.")
        )
      }
      const noted = Effect.tapError(apiKeys.check(text), (error) =>
        error._tag === "Unauthorized" && error.key !== undefined
          ? acting.refused(Acting.keyed(error.key), operation(name), "unauthorized")
          : Effect.void
      )
      const caller = yield* Errors.answered(noted).pipe(
        Effect.catch((failed) =>
          refuse(failed.error.code === "unauthorized" && !text.startsWith(ApiKey.prefix) ? neither : failed)
        )
      )
      const found = { _tag: "Company", caller } satisfies Sessioned.Standing
      yield* fromAllowed(found, request, name)
      return found
    })

    /** Returns the key of a link, which then no longer works. */
    const taken = Effect.fnUntraced(function* (link: string) {
      const key = yield* links.take(link)
      if (key !== undefined) return Redacted.value(key)
      return yield* refuse(
        Errors.failure(
          "unauthorized",
          "This sign-in link was already used or has expired. Sign in with a key."
        )
      )
    })

    const signIn = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      yield* fromPage(request)
      const body = yield* decoded(request, SignIn, ...expected)
      const credential = "link" in body ? taken(body.link) : Effect.succeed(body.credential)
      const found = yield* limited(
        request,
        Effect.flatMap(credential, (text) => checked(request, text.trim(), "signIn"))
      )
      return yield* begin(request, found)
    })

    const who = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      const session = yield* open(request).pipe(Effect.catch(refuse))
      const found = yield* standing(session)
      yield* fromAllowed(found, request, "who")
      yield* noting(found)
      return answer("Session", shown(found, session, yield* Clock.currentTimeMillis))
    })

    const stepUp = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      yield* fromPage(request)
      const session = yield* open(request).pipe(Effect.catch(refuse))
      const { credential } = yield* decoded(request, StepUp, ...expected)
      const found = yield* limited(request, checked(request, credential.trim(), "stepUp"))
      const { asking } = askingOf(found)
      if (asking.holderId !== session.holderId || asking.holder !== session.holder)
        return yield* Effect.fail(Errors.failure("unauthorized", "This is not the key you signed in with."))
      return yield* step(session, found)
    })

    const signOut = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      const session = yield* open(request).pipe(Effect.catch(refuse))
      const found = yield* Effect.option(standing(session))
      const ending = Errors.answered(sessions.end(session))
      yield* Option.isSome(found)
        ? acting.recorded(askingOf(found.value).actor, operation("signOut"), ending)
        : ending
      return answer("Signed out", { signed_out: true }, setCookie("", 0))
    })

    yield* router.add("POST", path, routed(signIn))
    yield* router.add("GET", path, routed(who))
    yield* router.add("POST", `${path}/step-up`, routed(stepUp))
    yield* router.add("DELETE", path, routed(signOut))
  })
)
