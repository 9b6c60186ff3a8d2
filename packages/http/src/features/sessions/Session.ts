import type * as ApiKey from "@satrail/core/accounts/ApiKey"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import * as Operators from "@satrail/core/accounts/OperatorToken"
import { OperatorTokens } from "@satrail/core/accounts/OperatorTokens"
import * as Session from "@satrail/core/features/sessions/Session"
import { Sessions } from "@satrail/core/features/sessions/Sessions"
import type { Conflict, StoreUnavailable } from "@satrail/core/ledger/Journal"
import { Clock, Effect, Option, Redacted } from "effect"
import type { HttpServerRequest } from "effect/http"
import { OperatorToken } from "../../api/Authentication.ts"
import type { Entrance } from "../../api/SignedIn.ts"
import { consoleHeader } from "../../edge/Exchange.ts"
import * as Errors from "../../wire/Errors.ts"

// A person's browser shows a cookie in the place of the key or token that it signed in with. What the cookie opens is what that key or token opens.

const moved = Errors.failure("conflict", "Another sign-in took this session's place: sign in again")

/** `Errors.answered` for the service `Sessions`. */
export const answered = <A>(effect: Effect.Effect<A, Session.SessionMoved | Conflict | StoreUnavailable>) =>
  effect.pipe(Effect.catch((error) => (error._tag === "SessionMoved" ? Effect.fail(moved) : Errors.answered(Effect.fail(error)))))

/** Of this host alone, at no other path, and over https: no other host can set it (RFC 6265bis, section 4.1.3.2). Browsers take http on the loopback for as good. */
export const cookieName = "__Host-satrail"

/** The cookie of a request without a key. */
const cookieOf = ({ headers, cookies }: HttpServerRequest.HttpServerRequest): string | undefined =>
  headers["authorization"] === undefined && headers["cookie"]?.includes(cookieName) === true ? cookies[cookieName] : undefined

/** Whether our own page asks: its browser says so, and, but for what only reads, the page does. */
export const isOwn = ({ headers, method }: HttpServerRequest.HttpServerRequest): boolean => {
  const site = headers["sec-fetch-site"]
  const isMarked = headers[consoleHeader] !== undefined
  return site === undefined ? isMarked : site === "same-origin" && (isMarked || method === "GET" || method === "HEAD")
}

export const foreign = Errors.failure(
  "unauthorized",
  `A session opens what the console's own page asks for, with the header ${consoleHeader}`
)
const over = Errors.failure("unauthorized", "The session has ended: sign in again")
const ofOperator = Errors.failure("unauthorized", "This is an operator's session, which opens /operator and never /v1")
const ofCompany = Errors.failure("unauthorized", "This is a company's session, which opens /v1 and never /operator")
const unconfirmed = Errors.failure("step_up_required", "Show the key that you signed in with again: that is good for 5 minutes")

/** A configured token is part of what is kept of its sessions: they end when it is changed, and nobody learns it from the database. */
export const boundTo = (holder: Session.Holder | undefined, token: Redacted.Redacted | undefined): string =>
  holder === "root" && token !== undefined ? Redacted.value(token) : ""

/** Who may act by a session. */
export type Standing =
  | { readonly _tag: "Company"; readonly caller: ApiKey.Holder }
  | { readonly _tag: "Operator"; readonly caller: Operators.Operator }

export const make = Effect.gen(function* () {
  const [sessions, apiKeys, tokens, root] = [yield* Sessions, yield* ApiKeys, yield* OperatorTokens, yield* OperatorToken]

  /** The open session of a request of our own page's. */
  const open = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    if (!isOwn(request)) return yield* Effect.fail(foreign)
    const text = cookieOf(request) ?? ""
    const holder = Session.placeOf(text)?.holder
    if (holder === "root" && root === undefined) return yield* Effect.fail(over)
    const found = yield* Errors.answered(sessions.check(text, boundTo(holder, root)))
    return Option.isSome(found) ? found.value : yield* Effect.fail(over)
  })

  const operatorOf = ({ holder, holderId }: Session.Session) =>
    holder === "root" ? Effect.succeedSome(Operators.root) : Errors.answered(tokens.standing(holderId))

  /** What its key or token is now: one that was revoked opens nothing, and neither does its session. */
  const standing = Effect.fnUntraced(function* (session: Session.Session) {
    if (session.holder === "key")
      return { _tag: "Company" as const, caller: yield* Errors.answered(apiKeys.standing(session.holderId)) } satisfies Standing
    const caller = yield* operatorOf(session)
    return Option.isSome(caller) ? ({ _tag: "Operator", caller: caller.value } satisfies Standing) : yield* Effect.fail(over)
  })

  const entrance: Entrance = {
    /** The key of a request without one that has a session; undefined where there is none, and a key is to be shown. */
    company: (request) =>
      cookieOf(request) === undefined
        ? undefined
        : Effect.gen(function* () {
            const session = yield* open(request)
            if (session.holder !== "key") return yield* Effect.fail(ofOperator)
            return yield* Errors.answered(apiKeys.standing(session.holderId))
          }),
    operator: (request) =>
      cookieOf(request) === undefined
        ? undefined
        : Effect.gen(function* () {
            const session = yield* open(request)
            if (session.holder === "key") return yield* Effect.fail(ofCompany)
            const found = yield* operatorOf(session)
            return Option.isSome(found) ? found.value : yield* Effect.fail(over)
          }),
    /** Fails for a session whose key was not shown again lately. A key in the request is shown. */
    confirmed: Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      if (cookieOf(request) === undefined) return
      const session = yield* open(request)
      if (Session.steppedUpUntil(session, yield* Clock.currentTimeMillis) === null) return yield* Effect.fail(unconfirmed)
    })
  }
  return { ...entrance, open, standing }
})
