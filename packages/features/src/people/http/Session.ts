import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import * as Operators from "@satrail/core/accounts/OperatorToken"
import { OperatorTokens } from "@satrail/core/accounts/OperatorTokens"
import * as People from "../../people/core/People.ts"
import type * as Person from "../../people/core/Person.ts"
import * as Session from "../core/Session.ts"
import { Sessions } from "../core/Sessions.ts"
import type { Conflict, StoreUnavailable } from "@satrail/core/ledger/Journal"
import { Clock, Effect, Option, Redacted } from "effect"
import type { HttpServerRequest } from "effect/http"
import { OperatorToken } from "@satrail/http/api/Authentication"
import type { Entrance, Member } from "@satrail/http/api/SignedIn"
import { consoleHeader, cookieName } from "@satrail/http/edge/Exchange"
import * as Errors from "@satrail/http/wire/Errors"

// A browser sends a cookie instead of the key, token or passkey that it signed in with. The cookie grants what the
// key, token or person's role grants.

const moved = Errors.failure("conflict", "A newer sign-in replaced this session. Sign in again.")

/** Same as `Errors.answered`, for the errors of `Sessions`. */
export const answered = <A>(effect: Effect.Effect<A, Session.SessionMoved | Conflict | StoreUnavailable>) =>
  effect.pipe(
    Effect.catch((error) =>
      error._tag === "SessionMoved" ? Effect.fail(moved) : Errors.answered(Effect.fail(error))
    )
  )

/** Schemes with which a browser itself signs in to a proxy in front of the service. Our keys use another. */
const ofProxy = /^(?:basic|digest|negotiate|ntlm) /i

/** Returns the cookie of a request without a key. */
const cookieOf = ({ headers, cookies }: HttpServerRequest.HttpServerRequest): string | undefined =>
  (headers["authorization"] === undefined || ofProxy.test(headers["authorization"])) &&
  headers["cookie"]?.includes(cookieName) === true
    ? cookies[cookieName]
    : undefined

/**
 * Returns whether the console's own page sent the request, according to the browser. The page's own header is
 * also required if the request changes something, or if the browser does not state the origin.
 */
export const isOwn = ({ headers, method }: HttpServerRequest.HttpServerRequest): boolean => {
  const site = headers["sec-fetch-site"]
  const isMarked = headers[consoleHeader] !== undefined
  return site === undefined
    ? isMarked
    : site === "same-origin" && (isMarked || method === "GET" || method === "HEAD")
}

export const foreign = Errors.failure(
  "unauthorized",
  `A session is valid only for requests from the console page, which sends the header ${consoleHeader}.`
)
const over = Errors.failure("unauthorized", "The session has ended. Sign in again.")
const ofOperator = Errors.failure(
  "unauthorized",
  "This is an operator's session, which is valid only for /operator."
)
const ofCompany = Errors.failure("unauthorized", "This is a company's session, which is valid only for /v1.")
const unconfirmed = Errors.failure(
  "step_up_required",
  "Confirm the key or passkey you signed in with. The confirmation is valid for 5 minutes."
)

/** A person's session is bound to the epoch of their passkeys, so it ends when a passkey is revoked. */
export const boundToEpoch = ({ epoch }: { readonly epoch: number }): string => `epoch ${epoch}`

/**
 * A session of the configured token is bound to that token, so it ends when the token changes. The stored
 * binding does not reveal the token.
 */
export const boundTo = (holder: Session.Holder | undefined, token: Redacted.Redacted | undefined): string =>
  holder === "root" && token !== undefined ? Redacted.value(token) : ""

/** The owner of a session. */
export type Standing =
  | { readonly _tag: "Company"; readonly caller: Member; readonly person?: Person.Person }
  | { readonly _tag: "Operator"; readonly caller: Operators.Operator; readonly person?: Person.Person }

/** Returns the owner of a person's session. */
export const ofPerson = (found: People.Standing): Standing =>
  found._tag === "Company" ? { ...found, caller: { ...found.caller, actor: "person" } } : found

export const make = Effect.gen(function* () {
  const [sessions, apiKeys, tokens, root] = [
    yield* Sessions,
    yield* ApiKeys,
    yield* OperatorTokens,
    yield* OperatorToken
  ]
  const people = yield* People.People

  const personOf = Effect.fnUntraced(function* (id: string) {
    const found = yield* Errors.answered(people.standing(id))
    return Option.isSome(found) ? found.value : yield* Effect.fail(over)
  })

  /** Returns the open session of a request from the console's own page. */
  const open = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    if (!isOwn(request)) return yield* Effect.fail(foreign)
    const text = cookieOf(request) ?? ""
    const place = Session.placeOf(text)
    if (place?.holder === "root" && root === undefined) return yield* Effect.fail(over)
    const bound =
      place?.holder === "person"
        ? boundToEpoch((yield* personOf(place.holderId)).person)
        : boundTo(place?.holder, root)
    const found = yield* Errors.answered(sessions.check(text, bound))
    return Option.isSome(found) ? found.value : yield* Effect.fail(over)
  })

  /**
   * Returns the session's owner with their current rights. If the key or token was revoked, the session grants
   * nothing.
   */
  const standing = Effect.fnUntraced(function* (session: Session.Session) {
    const { holder, holderId } = session
    if (holder === "key")
      return {
        _tag: "Company" as const,
        caller: yield* Errors.answered(apiKeys.standing(holderId))
      } satisfies Standing
    if (holder === "person") return ofPerson(yield* personOf(holderId))
    const caller =
      holder === "root" ? Option.some(Operators.root) : yield* Errors.answered(tokens.standing(holderId))
    return Option.isSome(caller)
      ? ({ _tag: "Operator", caller: caller.value } satisfies Standing)
      : yield* Effect.fail(over)
  })

  const entrance: Entrance = {
    /**
     * Returns the session's key for a request without a key; undefined if there is no session, so that a key
     * is required.
     */
    company: (request) =>
      cookieOf(request) === undefined
        ? undefined
        : Effect.gen(function* () {
            const found = yield* standing(yield* open(request))
            return found._tag === "Company" ? found.caller : yield* Effect.fail(ofOperator)
          }),
    operator: (request) =>
      cookieOf(request) === undefined
        ? undefined
        : Effect.gen(function* () {
            const found = yield* standing(yield* open(request))
            return found._tag === "Operator" ? found.caller : yield* Effect.fail(ofCompany)
          }),
    /** Fails for a session whose key was not confirmed recently. A request with a key passes. */
    confirmed: (request) =>
      cookieOf(request) === undefined
        ? Effect.void
        : Effect.gen(function* () {
            const session = yield* open(request)
            if (Session.steppedUpUntil(session, yield* Clock.currentTimeMillis) === null)
              return yield* Effect.fail(unconfirmed)
          })
  }
  return { ...entrance, open, standing }
})
