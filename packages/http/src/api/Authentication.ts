import * as AllowedFrom from "@satrail/core/accounts/AllowedFrom"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import type { Company } from "@satrail/core/accounts/Company"
import type { Changer } from "@satrail/core/accounts/Loosening"
import * as Operators from "@satrail/core/accounts/OperatorToken"
import { OperatorTokens } from "@satrail/core/accounts/OperatorTokens"
import { isYoung, marginMillis } from "@satrail/core/base/ReadCache"
import type { NotFound, StoreUnavailable } from "@satrail/core/ledger/Journal"
import { Context, Effect, Layer, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { type HttpApiEndpoint, HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import { createHash, timingSafeEqual } from "node:crypto"
import * as Acting from "../edge/Acting.ts"
import { addressOf } from "../wire/Address.ts"
import * as Errors from "../wire/Errors.ts"
import { isObject, type Json, mapOperations, objectIn } from "../wire/Json.ts"
import * as Received from "../wire/Received.ts"
import * as Exchange from "../edge/Exchange.ts"
import * as Inside from "../edge/Inside.ts"
import { Lanes } from "../edge/Lanes.ts"
import { RequestRates } from "../edge/RequestRates.ts"
import * as Credentials from "./Credentials.ts"
import { type Member, SignedIn } from "./SignedIn.ts"

/** The operator's root token. If undefined, the operator routes are closed. */
export class OperatorToken extends Context.Service<OperatorToken, Redacted.Redacted | undefined>()(
  "@satrail/http/api/Authentication/OperatorToken"
) {}

/** The authenticated caller: the API key and its company's plan. */
export class Caller extends Context.Service<Caller, Member>()("@satrail/http/api/Authentication/Caller") {}

/** The company whose records the caller can read and create. */
export const companyId = Effect.map(Caller, ({ apiKey }) => apiKey.companyId)

/** A payment's sender, with the limits and fees that apply. */
export const sender = Effect.map(Caller, ({ apiKey, plan, companyLimits, fees, feesRevision }) => ({
  company: { id: apiKey.companyId, plan, limits: companyLimits, fees, feesRevision },
  apiKey
}))
/**
 * Returns a caller that lets the operator read a company's records. The caller's key matches no secret and
 * grants nothing else.
 */
export const readerOf = ({ id, plan, createdAtMillis }: Company): Caller["Service"] => ({
  apiKey: ApiKey.withoutSecret({
    id: "",
    companyId: id,
    name: "operator",
    scopes: ["read"],
    createdAtMillis
  }),
  plan,
  companyLimits: null,
  fees: null,
  feesRevision: 0
})

// Digests have equal length, as the comparison requires, and do not reveal the token's length.
const digest = (text: string) => createHash("sha256").update(text).digest()

/** Compares a string with the token in constant time. Without a token, nothing matches. */
export const tokenCheck = (token: Redacted.Redacted | undefined) => {
  const expected = token && digest(Redacted.value(token))
  return (text: string): boolean => expected !== undefined && timingSafeEqual(expected, digest(text))
}

/**
 * Scopes that grant access to an endpoint. Any one of them suffices, and `admin` grants access to every
 * endpoint. Without this annotation, any key has access.
 */
export class Scopes extends Context.Service<Scopes, ReadonlyArray<ApiKey.Scope>>()(
  "@satrail/http/api/Authentication/Scopes"
) {}

/**
 * Marks an endpoint whose use is recorded in the audit log even though it requires the scope `receive` and
 * creates a record.
 */
export class Audited extends Context.Service<Audited, true>()("@satrail/http/api/Authentication/Audited") {}

/**
 * Returns whether a company's use of an endpoint is recorded in the audit log. Every change is recorded, unless
 * it creates something that payers can pay, such as an invoice.
 */
const isAudited = ({ annotations, method }: Pick<HttpApiEndpoint.Top, "annotations" | "method">): boolean =>
  method !== "GET" &&
  (method !== "POST" ||
    Context.getOrUndefined(annotations, Audited) === true ||
    Context.getOrUndefined(annotations, Scopes)?.includes("receive") !== true)

/** Returns whether an endpoint sends or approves payments, which requires the scope `send` or `approve`. */
export const isSending = ({ annotations }: Pick<HttpApiEndpoint.Top, "annotations">): boolean => {
  const scopes = Context.getOrUndefined(annotations, Scopes) ?? []
  return scopes.length > 0 && scopes.every((scope) => scope === "send" || scope === "approve")
}

/** Returns whether a request comes from an address that the key allows. */
export const isFromAllowed = (
  { allowedFrom }: ApiKey.ApiKey,
  sends: boolean,
  request: HttpServerRequest.HttpServerRequest,
  proxies: number
): boolean =>
  allowedFrom === null ||
  (allowedFrom.for === "sending" && !sends) ||
  AllowedFrom.has(allowedFrom, addressOf(request, proxies))

/** The message is the same for all requests and addresses. */
export const elsewhere = Errors.failure(
  "address_not_allowed",
  "This API key cannot be used, or cannot send, from this address. Use an address in its allowed_from."
)

/**
 * Returns whether signed-in users must confirm their identity to use this endpoint. Every change requires it,
 * except that estimates (`read`) and requests for payment (`receive`) stay quick to create.
 */
const wantsStepUp = ({
  annotations,
  method
}: Pick<HttpApiEndpoint.Top, "annotations" | "method">): boolean => {
  const scopes = Context.getOrUndefined(annotations, Scopes) ?? []
  const isQuick = scopes.length === 0 || scopes.some((scope) => scope === "read" || scope === "receive")
  return method !== "GET" && (method !== "POST" || !isQuick)
}

/** Returns advice for a non-empty header that does not use the bearer scheme. */
const misplaced = (authorization: string | undefined): string | undefined =>
  authorization === undefined || authorization.trim() === "" || /^bearer\b/i.test(authorization.trim())
    ? undefined
    : "The Authorization header does not use the Bearer scheme. Send `Bearer`, a space and the key."

/**
 * Checks the bearer key and its scopes. This is plain middleware, because the framework's security middleware,
 * which can try several schemes, makes each request a tenth more expensive. `documented` adds the scheme to the
 * OpenAPI document.
 */
export class Authentication extends HttpApiMiddleware.Service<Authentication, { provides: Caller }>()(
  "@satrail/http/api/Authentication",
  {
    error: Errors.of(
      "malformed",
      "unauthorized",
      "not_found",
      "scope_required",
      "address_not_allowed",
      "step_up_required",
      "rate_limited",
      "store_unavailable"
    )
  }
) {}

export const layer = Layer.effect(
  Authentication,
  Effect.gen(function* () {
    const credentials = yield* Credentials.make
    const isToken = tokenCheck(yield* OperatorToken)
    const { ofKey, refuse } = yield* RequestRates
    const proxies = yield* Acting.Proxies
    const inLane = yield* Lanes

    /** Explains a rejection if the credential is an operator token, or if the header does not use the bearer scheme. */
    const told = (
      authorization: string | undefined,
      failed:
        | Errors.FailureFor<ApiKey.Unauthorized | NotFound | StoreUnavailable>
        | Errors.Failure<"malformed">
    ) => {
      if (failed.error.code !== "unauthorized") return failed
      const credential = Credentials.credentialOf(authorization)
      const message =
        credential.startsWith(Operators.prefix) || isToken(credential)
          ? "This is an operator token, which is valid only for /operator. Use an API key, which begins with sr_."
          : misplaced(authorization)
      return message === undefined ? failed : Errors.failure("unauthorized", message)
    }

    const acting = yield* Acting.make

    const signedIn = yield* SignedIn

    const keyOf = (request: HttpServerRequest.HttpServerRequest, operation: Acting.Operation) =>
      credentials.caller(request).pipe(
        Effect.catch((error) => {
          if (Errors.isFailure(error)) return Effect.fail(error)
          const failed = Errors.answered(Effect.fail(error)).pipe(
            Effect.catch((one) => refuse(told(request.headers["authorization"], one)))
          )
          return error._tag === "Unauthorized" && error.key !== undefined
            ? Effect.andThen(acting.refused(Acting.keyed(error.key), operation, "unauthorized"), failed)
            : failed
        })
      )

    const holderOf = (
      request: HttpServerRequest.HttpServerRequest,
      operation: Acting.Operation
    ): Effect.Effect<Member, Effect.Error<ReturnType<typeof keyOf>>, HttpServerRequest.HttpServerRequest> => {
      const bySignIn = signedIn.company(request)
      return bySignIn === undefined
        ? keyOf(request, operation)
        : Effect.tap(bySignIn.pipe(Effect.catch(refuse)), () => credentials.plain(request))
    }

    return Authentication.of((asked, operation) => {
      const { endpoint } = operation
      const http = wantsStepUp(endpoint)
        ? Received.withRequest((request) => Effect.andThen(signedIn.confirmed(request), asked))
        : asked
      const scopes = Context.getOrUndefined(endpoint.annotations, Scopes)
      const needed = Errors.failure(
        "scope_required",
        `This request requires a key with the scope ${scopes?.join(" or ")}.`
      )
      const records = isAudited(endpoint)
      const sends = isSending(endpoint)
      const changes = endpoint.method !== "GET"
      const manages = Context.getOrUndefined(operation.group.annotations, Credentials.Managing) === true

      const admitted = <A, E, R>(
        request: HttpServerRequest.HttpServerRequest,
        caller: Member,
        work: (caller: Member) => Effect.Effect<A, E, R>
      ): Effect.Effect<
        A,
        E | Errors.Failure<"address_not_allowed" | "scope_required">,
        R | HttpServerRequest.HttpServerRequest
      > => {
        const isOpen = scopes === undefined || scopes.some((scope) => ApiKey.allows(caller.apiKey, scope))
        const refusal = !isFromAllowed(caller.apiKey, sends, request, proxies)
          ? elsewhere
          : manages && caller.kind !== undefined
            ? Credentials.notOwn
            : isOpen
              ? undefined
              : needed
        return refusal === undefined
          ? work(caller)
          : Effect.andThen(
              acting.refused(Acting.member(caller), operation, refusal.error.code),
              Effect.fail(refusal)
            )
      }

      const serve = (caller: Member) => Effect.provideService(http, Caller, caller)

      // A sender decides how slowly a body arrives. The key may have been revoked, or its limits changed, since
      // the headers arrived.
      const serveCurrent = (request: HttpServerRequest.HttpServerRequest, caller: Member) =>
        Effect.clockWith((clock) => {
          const sinceMillis = clock.currentTimeMillisUnsafe()
          const current = Effect.suspend(() =>
            isYoung(sinceMillis, clock.currentTimeMillisUnsafe(), marginMillis)
              ? serve(caller)
              : Effect.flatMap(holderOf(request, operation), (current) => admitted(request, current, serve))
          )
          return inLane(caller.apiKey.companyId)(Effect.andThen(Received.wholeBody(request), current))
        })

      return Received.withRequest((request) => {
        // The program that embeds the service is no caller of it: it has no address, key or rate.
        const host = Inside.hostOf(request)
        if (typeof host === "object") return Effect.provideService(asked, Caller, host)
        return Effect.flatMap(holderOf(request, operation), (caller) => {
          const opened = Exchange.noting({ key: caller.apiKey.id })(
            admitted(request, caller, () => {
              const served = changes
                ? serveCurrent(request, caller)
                : inLane(caller.apiKey.companyId)(serve(caller))
              return records ? acting.recorded(Acting.member(caller), operation, served) : served
            })
          )
          if (ofKey === undefined) return opened
          const taken = Effect.tapError(ofKey(Credentials.rateOf(caller)), () =>
            acting.refused(Acting.member(caller), operation, "rate_limited")
          )
          return Effect.andThen(taken, opened)
        })
      })
    })
  })
)

/**
 * Adds the API key scheme to each operation in an OpenAPI document that can return 401 and has no other scheme.
 */
export const documented = (document: Json): Json => {
  const components = objectIn(document, "components")
  const apiKey = {
    type: "http",
    scheme: "bearer",
    description: "A company's API key: `Authorization: Bearer <API_KEY>`"
  }
  const wantsKey = ({ responses, security }: Json) =>
    isObject(responses) && "401" in responses && (!Array.isArray(security) || security.length === 0)
  return {
    ...mapOperations(document, (operation) =>
      wantsKey(operation) ? { ...operation, security: [{ apiKey: [] }] } : operation
    ),
    components: { ...components, securitySchemes: { apiKey, ...objectIn(components, "securitySchemes") } }
  }
}

// Client generators expect lower case. Requests can use any case.
const bearer = HttpApiSecurity.http({ scheme: "bearer" })

/** The authenticated operator. */
export class OperatorCaller extends Context.Service<OperatorCaller, Operators.Operator>()(
  "@satrail/http/api/Authentication/OperatorCaller"
) {}

/**
 * Operator token scopes that grant access to an endpoint. Any one of them suffices, and `all` grants access to
 * every endpoint. Without this annotation, a GET requires `read` or `all`, and a change requires `all`.
 */
export class OperatorScopes extends Context.Service<OperatorScopes, ReadonlyArray<Operators.Scope>>()(
  "@satrail/http/api/Authentication/OperatorScopes"
) {}

/** Returns the scopes that grant access to an operator endpoint. */
export const operatorScopesOf = ({
  annotations,
  method
}: Pick<HttpApiEndpoint.Top, "annotations" | "method">) =>
  Context.getOrUndefined(annotations, OperatorScopes) ??
  (method === "GET" ? ["read" as const] : ["all" as const])

/**
 * The operator who requests a change that may need a second operator; undefined for the program that embeds the
 * service, which can change everything anyway.
 */
export const requester = Effect.map(OperatorCaller, (caller) =>
  caller === Operators.program ? undefined : caller
)

/**
 * The operator as they may change the protection of a company. The scopes `stop` and `companies` allow only changes
 * that tighten it.
 */
export const changer = Effect.map(
  requester,
  (caller): Changer | undefined =>
    caller && {
      ...caller,
      mayLoosen: Operators.allows(caller, "loosen")
    }
)

/**
 * Checks the operator's bearer token and its scopes. Operator routes do not accept API keys, and no other route
 * accepts operator tokens.
 */
export class OperatorAuthentication extends HttpApiMiddleware.Service<
  OperatorAuthentication,
  { provides: OperatorCaller }
>()("@satrail/http/api/Authentication/OperatorAuthentication", {
  security: {
    operatorToken: bearer.pipe(
      HttpApiSecurity.annotate(
        OpenApi.Description,
        "Operator token: the configured root token, or a token from `POST /operator/tokens` with a scope that the operation lists"
      )
    )
  },
  error: Errors.of("unauthorized", "scope_required", "step_up_required", "rate_limited", "store_unavailable")
}) {}

export const layerOperator = Layer.effect(
  OperatorAuthentication,
  Effect.gen(function* () {
    const isRoot = tokenCheck(yield* OperatorToken)
    const tokens = yield* OperatorTokens
    const { refuse } = yield* RequestRates
    const acting = yield* Acting.make
    const signedIn = yield* SignedIn
    const needed = 'A valid operator token is required. Send "Authorization: Bearer <OPERATOR_TOKEN>".'

    const callerOf = Effect.fnUntraced(function* (text: string) {
      if (isRoot(text)) return Operators.root
      const found = yield* Errors.answered(tokens.check(text))
      if (found._tag === "Some") return found.value
      const isKey = text.trimStart().startsWith(ApiKey.prefix)
      return yield* refuse(
        Errors.failure(
          "unauthorized",
          isKey ? `This is an API key, which is valid only for /v1. ${needed}` : needed
        )
      )
    })

    return OperatorAuthentication.of({
      operatorToken: Effect.fnUntraced(function* (http, { credential, endpoint, group }) {
        const request = yield* HttpServerRequest.HttpServerRequest
        if (Inside.hostOf(request) === "operator")
          return yield* Effect.provideService(http, OperatorCaller, Operators.program)
        const bySignIn = signedIn.operator(request)
        const current =
          bySignIn === undefined ? callerOf(Redacted.value(credential)) : bySignIn.pipe(Effect.catch(refuse))
        const first = yield* current
        // As above, the token may have been revoked while the body arrived.
        const caller =
          endpoint.method === "GET" ? first : yield* Effect.andThen(Received.wholeBody(request), current)
        yield* Exchange.noting({ key: `operator:${caller.id}` })(Effect.void)
        const scopes = operatorScopesOf(endpoint)
        const operator = Acting.operating(caller)
        if (!scopes.some((scope) => Operators.allows(caller, scope))) {
          yield* acting.refused(operator, { endpoint, group }, "scope_required")
          return yield* Effect.fail(
            Errors.failure(
              "scope_required",
              `This request requires an operator token with the scope ${scopes.join(" or ")}.`
            )
          )
        }
        const served = Effect.provideService(http, OperatorCaller, caller)
        return yield* endpoint.method === "GET"
          ? served
          : acting.recorded(
              operator,
              { endpoint, group },
              Effect.andThen(signedIn.confirmed(request), served)
            )
      })
    })
  })
)
