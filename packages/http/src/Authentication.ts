import { Context, Effect, Layer, Redacted } from "effect"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import { createHash, timingSafeEqual } from "node:crypto"
import * as ApiKey from "@satrail/core/ApiKey"
import { ApiKeys } from "@satrail/core/ApiKeys"
import * as Errors from "./Errors.ts"

/** Who is asking, once its key was checked: the key, and the plan of its company. */
export class Caller extends Context.Service<Caller, ApiKey.Holder>()("http/Caller") {}

/** Which scopes open an endpoint: one of them is enough, and `admin` opens all. An endpoint without this annotation opens to any key. */
export class Scopes extends Context.Service<Scopes, ReadonlyArray<ApiKey.Scope>>()("http/Scopes") {}

// As generators of clients look for it, in lower case; requests may write it in any.
const bearer = HttpApiSecurity.http({ scheme: "bearer" })

/** Checks the bearer key, and that it may do what the endpoint does. */
export class Authentication extends HttpApiMiddleware.Service<Authentication, { provides: Caller }>()("http/Authentication", {
  security: {
    apiKey: bearer.pipe(HttpApiSecurity.annotate(OpenApi.Description, "A company's API key: `Authorization: Bearer <API_KEY>`"))
  },
  error: Errors.of("unauthorized", "scope_required", "store_unavailable")
}) {}

export const layer = Layer.effect(
  Authentication,
  Effect.gen(function* () {
    const apiKeys = yield* ApiKeys

    return Authentication.of({
      apiKey: (http, { credential, endpoint }) =>
        Effect.flatMap(Errors.answered(apiKeys.check(Redacted.value(credential))), (caller) => {
          const scopes = Context.getOrUndefined(endpoint.annotations, Scopes)
          const refused = scopes !== undefined && !scopes.some((scope) => ApiKey.allows(caller.apiKey, scope))
          return Effect.andThen(
            refused ? Effect.fail(Errors.failure("scope_required", `This needs a key with the scope ${scopes.join(" or ")}`)) : Effect.void,
            Effect.provideService(http, Caller, caller)
          )
        })
    })
  })
)

/** What the operator shows to be let in. Undefined: the operator routes are closed to everybody. */
export class OperatorToken extends Context.Service<OperatorToken, Redacted.Redacted | undefined>()("http/OperatorToken") {}

/** Checks the operator's bearer token. No API key opens these routes, and the token opens no others. */
export class OperatorAuthentication extends HttpApiMiddleware.Service<OperatorAuthentication>()("http/OperatorAuthentication", {
  security: {
    operatorToken: bearer.pipe(HttpApiSecurity.annotate(OpenApi.Description, "The operator's own token, from the configuration"))
  },
  error: Errors.of("unauthorized")
}) {}

// Digests have one length, which the comparison asks for, and tell nothing about the token's.
const digest = (text: string) => createHash("sha256").update(text).digest()

export const layerOperator = Layer.effect(
  OperatorAuthentication,
  Effect.gen(function* () {
    const token = yield* OperatorToken
    const expected = token && digest(Redacted.value(token))

    return OperatorAuthentication.of({
      operatorToken: (http, { credential }) =>
        expected !== undefined && timingSafeEqual(expected, digest(Redacted.value(credential)))
          ? http
          : Effect.fail(Errors.failure("unauthorized", "The operator's token is needed: Authorization: Bearer <OPERATOR_TOKEN>"))
    })
  })
)
