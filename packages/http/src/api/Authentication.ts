import * as AllowedFrom from "@satrail/core/accounts/AllowedFrom"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import type { Company } from "@satrail/core/accounts/Company"
import * as SecretHash from "@satrail/core/base/SecretHash"
import * as Operators from "@satrail/core/accounts/OperatorToken"
import { OperatorTokens } from "@satrail/core/accounts/OperatorTokens"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import { Context, Effect, Layer, Redacted } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { type HttpApiEndpoint, HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import { createHash, timingSafeEqual } from "node:crypto"
import * as Acting from "../edge/Acting.ts"
import { addressOf } from "../wire/Address.ts"
import * as Errors from "../wire/Errors.ts"
import * as Exchange from "../edge/Exchange.ts"
import { Lanes } from "../edge/Lanes.ts"
import { RequestRates } from "../edge/RequestRates.ts"
import { SignedIn } from "./SignedIn.ts"

/** What the operator shows to be let in. Undefined: the operator routes are closed to everybody. */
export class OperatorToken extends Context.Service<OperatorToken, Redacted.Redacted | undefined>()(
  "@satrail/http/api/Authentication/OperatorToken"
) {}

/** Who is asking, once its key was checked: the key, and the plan of its company. */
export class Caller extends Context.Service<Caller, ApiKey.Holder>()("@satrail/http/api/Authentication/Caller") {}

/** Whose records it may read and make. */
export const companyId = Effect.map(Caller, ({ apiKey }) => apiKey.companyId)

/** Who sends, with whatever limits it, and what it pays. */
export const sender = Effect.map(Caller, ({ apiKey, plan, companyLimits, fees, feesRevision }) => ({
  company: { id: apiKey.companyId, plan, limits: companyLimits, fees, feesRevision },
  apiKey
}))
/** The operator in a company's place, where it only reads: a key that no text is of, and that opens nothing else. */
export const readerOf = ({ id, plan, createdAtMillis }: Company): Caller["Service"] => ({
  apiKey: {
    id: "",
    companyId: id,
    name: "operator",
    secretHash: SecretHash.of(""),
    scopes: ["read"],
    createdAtMillis,
    expiresAtMillis: null,
    revokedAtMillis: null,
    lastUsedAtMillis: null,
    limits: null,
    spendsAs: null,
    allowedFrom: null,
    loosening: null,
    approval: null,
    approvedBy: null,
    approvedAtMillis: null
  },
  plan,
  companyLimits: null,
  fees: null,
  feesRevision: 0
})

// Digests have one length, which the comparison needs, and reveal nothing about the token's.
const digest = (text: string) => createHash("sha256").update(text).digest()

/** Whether a text is the token, in a time that does not reveal how much of it is. Without a token nothing is. */
export const tokenCheck = (token: Redacted.Redacted | undefined) => {
  const expected = token && digest(Redacted.value(token))
  return (text: string): boolean => expected !== undefined && timingSafeEqual(expected, digest(text))
}

/** Which scopes open an endpoint: one of them is enough, and `admin` opens all. An endpoint without this annotation opens to any key. */
export class Scopes extends Context.Service<Scopes, ReadonlyArray<ApiKey.Scope>>()("@satrail/http/api/Authentication/Scopes") {}

/** Of an endpoint that creates something with the scope `receive`: that it is in the audit log nevertheless. */
export class Audited extends Context.Service<Audited, true>()("@satrail/http/api/Authentication/Audited") {}

/** Whether what a company's key does there is in the audit log: everything that changes something, but what is created to be paid. */
const isAudited = ({ annotations, method }: Pick<HttpApiEndpoint.Top, "annotations" | "method">): boolean =>
  method !== "GET" &&
  (method !== "POST" ||
    Context.getOrUndefined(annotations, Audited) === true ||
    Context.getOrUndefined(annotations, Scopes)?.includes("receive") !== true)

/** Whether an endpoint sends money or approves it: what neither `read` nor another scope opens. */
export const isSending = ({ annotations }: Pick<HttpApiEndpoint.Top, "annotations">): boolean => {
  const scopes = Context.getOrUndefined(annotations, Scopes) ?? []
  return scopes.length > 0 && scopes.every((scope) => scope === "send" || scope === "approve")
}

/** Whether this request with the key comes from where the key may be used. */
export const isFromAllowed = (
  { allowedFrom }: ApiKey.ApiKey,
  sends: boolean,
  request: HttpServerRequest.HttpServerRequest,
  proxies: number
): boolean => allowedFrom === null || (allowedFrom.for === "sending" && !sends) || AllowedFrom.has(allowedFrom, addressOf(request, proxies))

/** The same words whatever it asked for, and from wherever. */
export const elsewhere = Errors.failure("address_not_allowed", "The API key may not be used from this address, or not to send")

/** Whether it gives rights or takes them: what only `admin` opens. */
const isOfRights = ({ annotations }: Pick<HttpApiEndpoint.Top, "annotations">): boolean => {
  const scopes = Context.getOrUndefined(annotations, Scopes) ?? []
  return scopes.length > 0 && scopes.every((scope) => scope === "admin")
}

/** Whether a session's key has to be shown again for it. */
const wantsStepUp = (endpoint: Pick<HttpApiEndpoint.Top, "annotations" | "method">): boolean =>
  endpoint.method !== "GET" && (isSending(endpoint) || isOfRights(endpoint))

/** The text after `Bearer` (RFC 6750, section 2.1), empty when there is none. */
export const credentialOf = (authorization: string | undefined): string =>
  authorization === undefined || !/^bearer /i.test(authorization) ? "" : authorization.slice("bearer ".length).trim()

/** A header with something in it, and not in the way it is sent: what would be right. */
const misplaced = (authorization: string | undefined): string | undefined =>
  authorization === undefined || authorization.trim() === "" || /^bearer\b/i.test(authorization.trim())
    ? undefined
    : "The Authorization header is not a bearer's: write `Bearer`, a space, and then the key"

/**
 * Checks the bearer key, and that it may do what the endpoint does. A plain middleware: the framework's own kind for security, which can try
 * several schemes one after another, costs every request a tenth more. So the document learns of it by `documented`.
 */
export class Authentication extends HttpApiMiddleware.Service<Authentication, { provides: Caller }>()("@satrail/http/api/Authentication", {
  error: Errors.of("unauthorized", "scope_required", "address_not_allowed", "step_up_required", "rate_limited", "store_unavailable")
}) {}

const strange = Effect.fail(elsewhere)

export const layer = Layer.effect(
  Authentication,
  Effect.gen(function* () {
    const apiKeys = yield* ApiKeys
    const isToken = tokenCheck(yield* OperatorToken)
    const { ofKey, refuse } = yield* RequestRates
    const proxies = yield* Acting.Proxies
    const inLane = yield* Lanes

    /** What is no key is refused in words for what it is instead. */
    const told = (authorization: string | undefined, failed: Errors.FailureFor<ApiKey.Unauthorized | StoreUnavailable>) => {
      if (failed.error.code !== "unauthorized") return failed
      const credential = credentialOf(authorization)
      const message =
        credential.startsWith(Operators.prefix) || isToken(credential)
          ? "This is the operator's token, which opens /operator and never /v1: use an API key, which begins with sr_"
          : misplaced(authorization)
      return message === undefined ? failed : Errors.failure("unauthorized", message)
    }

    const acting = yield* Acting.make

    const signedIn = yield* SignedIn

    const keyOf = (authorization: string | undefined, operation: Acting.Operation) =>
      apiKeys.check(credentialOf(authorization)).pipe(
        Effect.catch((error) => {
          const failed = Errors.answered(Effect.fail(error)).pipe(Effect.catch((one) => refuse(told(authorization, one))))
          return error._tag === "Unauthorized" && error.key !== undefined
            ? Effect.andThen(acting.refused(Acting.keyed(error.key), operation, "unauthorized"), failed)
            : failed
        })
      )

    const holderOf = (request: HttpServerRequest.HttpServerRequest, operation: Acting.Operation) => {
      const bySignIn = signedIn.company(request)
      return bySignIn === undefined ? keyOf(request.headers["authorization"], operation) : bySignIn.pipe(Effect.catch(refuse))
    }

    return Authentication.of((asked, operation) => {
      const { endpoint } = operation
      const http = wantsStepUp(endpoint)
        ? Effect.andThen(Effect.flatMap(HttpServerRequest.HttpServerRequest, signedIn.confirmed), asked)
        : asked
      const scopes = Context.getOrUndefined(endpoint.annotations, Scopes)
      const refused = Effect.fail(Errors.failure("scope_required", `This needs a key with the scope ${scopes?.join(" or ")}`))
      const records = isAudited(endpoint)
      const sends = isSending(endpoint)
      return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
        Effect.flatMap(
          holderOf(request, operation),
          (
            caller
          ): Effect.Effect<
            HttpServerResponse.HttpServerResponse,
            Effect.Error<typeof http | typeof refused | typeof strange> | Errors.Failure<"rate_limited">,
            HttpServerRequest.HttpServerRequest
          > => {
            const key = Acting.keyed(caller.apiKey)
            const isOpen = scopes === undefined || scopes.some((scope) => ApiKey.allows(caller.apiKey, scope))
            const served = inLane(caller.apiKey.companyId)(Effect.provideService(http, Caller, caller))
            const noted = Exchange.noting({ key: caller.apiKey.id })
            const opened: Effect.Effect<
              HttpServerResponse.HttpServerResponse,
              Effect.Error<typeof http | typeof refused | typeof strange>,
              HttpServerRequest.HttpServerRequest
            > = !isFromAllowed(caller.apiKey, sends, request, proxies)
              ? noted(Effect.andThen(acting.refused(key, operation, "address_not_allowed"), strange))
              : isOpen
                ? noted(records ? acting.recorded(key, operation, served) : served)
                : noted(Effect.andThen(acting.refused(key, operation, "scope_required"), refused))
            if (ofKey === undefined) return opened
            const taken = Effect.tapError(ofKey(caller.apiKey.id), () => acting.refused(key, operation, "rate_limited"))
            return Effect.andThen(taken, opened)
          }
        )
      )
    })
  })
)

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null
const mapped = (value: unknown, f: (member: unknown) => unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, f(member)])) : value

/** Says in an OpenAPI document which operations want a company's key: those that can answer 401 and name no other scheme. */
export const documented = (document: Json): Json => {
  const components = isObject(document["components"]) ? document["components"] : {}
  const apiKey = { type: "http", scheme: "bearer", description: "A company's API key: `Authorization: Bearer <API_KEY>`" }
  const wantsKey = ({ responses, security }: Json) =>
    isObject(responses) && "401" in responses && (!Array.isArray(security) || security.length === 0)
  return {
    ...document,
    components: {
      ...components,
      securitySchemes: { apiKey, ...(isObject(components["securitySchemes"]) && components["securitySchemes"]) }
    },
    paths: mapped(document["paths"], (path) =>
      mapped(path, (operation) => (isObject(operation) && wantsKey(operation) ? { ...operation, security: [{ apiKey: [] }] } : operation))
    )
  }
}

// As generators of clients look for it, in lower case; requests may write it in any.
const bearer = HttpApiSecurity.http({ scheme: "bearer" })

/** Who is asking as the operator, once the token was checked. */
export class OperatorCaller extends Context.Service<OperatorCaller, Operators.Operator>()(
  "@satrail/http/api/Authentication/OperatorCaller"
) {}

/**
 * Which scopes of an operator's token open an endpoint: one of them is enough, and `all` opens each. Without this annotation `read` opens a GET, and only
 * `all` what changes something.
 */
export class OperatorScopes extends Context.Service<OperatorScopes, ReadonlyArray<Operators.Scope>>()(
  "@satrail/http/api/Authentication/OperatorScopes"
) {}

/** Which scopes open an endpoint of the operator's. */
export const operatorScopesOf = ({ annotations, method }: Pick<HttpApiEndpoint.Top, "annotations" | "method">) =>
  Context.getOrUndefined(annotations, OperatorScopes) ?? (method === "GET" ? ["read" as const] : ["all" as const])

/** Refuses a change that loosens, unless the operator's token has the scope for it: `stop` and `companies` may only tighten. */
export const mayLoosen = Effect.fnUntraced(function* (loosens: boolean) {
  if (!loosens || Operators.allows(yield* OperatorCaller, "loosen")) return
  return yield* Effect.fail(
    Errors.failure(
      "scope_required",
      "This raises or removes a limit, or lets waiting payments go. It needs an operator's token with the scope loosen"
    )
  )
})

/** Checks the operator's bearer token, and that it may do what the endpoint does. No API key opens these routes, and no token opens others. */
export class OperatorAuthentication extends HttpApiMiddleware.Service<OperatorAuthentication, { provides: OperatorCaller }>()(
  "@satrail/http/api/Authentication/OperatorAuthentication",
  {
    security: {
      operatorToken: bearer.pipe(
        HttpApiSecurity.annotate(
          OpenApi.Description,
          "The operator's own token, from the configuration, or one of `POST /operator/tokens` with the scope that the operation names"
        )
      )
    },
    error: Errors.of("unauthorized", "scope_required", "step_up_required", "rate_limited", "store_unavailable")
  }
) {}

export const layerOperator = Layer.effect(
  OperatorAuthentication,
  Effect.gen(function* () {
    const isRoot = tokenCheck(yield* OperatorToken)
    const tokens = yield* OperatorTokens
    const { refuse } = yield* RequestRates
    const acting = yield* Acting.make
    const signedIn = yield* SignedIn
    const needed = "The operator's token is needed: Authorization: Bearer <OPERATOR_TOKEN>"

    const callerOf = Effect.fnUntraced(function* (text: string) {
      if (isRoot(text)) return Operators.root
      const found = yield* Errors.answered(tokens.check(text))
      if (found._tag === "Some") return found.value
      const isKey = text.trimStart().startsWith(ApiKey.prefix)
      return yield* refuse(
        Errors.failure("unauthorized", isKey ? `This is an API key, which opens /v1 and never /operator. ${needed}` : needed)
      )
    })

    return OperatorAuthentication.of({
      operatorToken: Effect.fnUntraced(function* (http, { credential, endpoint, group }) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const bySignIn = signedIn.operator(request)
        const caller = yield* bySignIn === undefined ? callerOf(Redacted.value(credential)) : bySignIn.pipe(Effect.catch(refuse))
        yield* Exchange.noting({ key: `operator:${caller.id}` })(Effect.void)
        const scopes = operatorScopesOf(endpoint)
        const operator = Acting.operating(caller)
        if (!scopes.some((scope) => Operators.allows(caller, scope))) {
          yield* acting.refused(operator, { endpoint, group }, "scope_required")
          return yield* Effect.fail(
            Errors.failure("scope_required", `This needs an operator's token with the scope ${scopes.join(" or ")}`)
          )
        }
        const served = Effect.provideService(http, OperatorCaller, caller)
        return yield* endpoint.method === "GET"
          ? served
          : acting.recorded(operator, { endpoint, group }, Effect.andThen(signedIn.confirmed(request), served))
      })
    })
  })
)
