import type * as ApiKey from "@satrail/core/accounts/ApiKey"
import type { Operator } from "@satrail/core/accounts/OperatorToken"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Audit from "@satrail/core/ledger/Audit"
import { Context, Effect, References } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { callerOf } from "../wire/Address.ts"
import * as Errors from "../wire/Errors.ts"
import * as RequestId from "./RequestId.ts"

// Identifies each request's actor for the audit log. A commit records its actor, and rejected requests are
// counted.

/**
 * Number of the operator's reverse proxies in front of the service, each of which appends its caller's address
 * to `X-Forwarded-For`.
 */
export const Proxies = Context.Reference<number>("@satrail/http/edge/Acting/Proxies", {
  defaultValue: () => 0
})

/** Records a rejected request. The default records nothing. */
export const Refusals = Context.Reference<
  (companyId: CompanyId.CompanyId, acting: Audit.Acting, code: string) => Effect.Effect<void>
>("@satrail/http/edge/Acting/Refusals", { defaultValue: () => () => Effect.void })

/** An actor, and the company in whose log rejected requests are recorded. */
export interface Somebody extends Audit.Actor {
  readonly companyId: CompanyId.CompanyId
}

/** The requested operation. Its parts form the `operationId`. */
export interface Operation {
  readonly endpoint: Pick<HttpApiEndpoint.Top, "identifier">
  readonly group: Pick<HttpApiGroup.Top, "identifier">
}

export const keyed = ({
  id,
  companyId,
  name
}: Pick<ApiKey.ApiKey, "id" | "companyId" | "name">): Somebody => ({
  companyId,
  actor: "key",
  actor_id: id,
  actor_name: name
})

/** The caller of a company's request. */
export const member = ({
  apiKey,
  actor = "key"
}: Partial<Pick<Somebody, "actor">> & ApiKey.Holder): Somebody => ({
  ...keyed(apiKey),
  actor
})

export const operating = ({ id, name }: Pick<Operator, "id" | "name">): Somebody => ({
  companyId: CompanyId.operator,
  actor: "operator",
  actor_id: id,
  actor_name: name
})

/** Makes the functions that record a known actor's requests. */
export const make = Effect.gen(function* () {
  const refuse = yield* Refusals
  const proxies = yield* Proxies

  const acting = <A, E, R>(
    { actor, actor_id, actor_name }: Somebody,
    { endpoint, group }: Operation,
    work: (acting: Audit.Acting) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, E, R | HttpServerRequest.HttpServerRequest> =>
    Effect.withFiber<A, E, R | HttpServerRequest.HttpServerRequest>((fiber) =>
      work({
        actor,
        actor_id,
        actor_name,
        verb: `${group.identifier}.${endpoint.identifier}`,
        address: callerOf(Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest), proxies),
        request_id: String(fiber.getRef(References.CurrentLogAnnotations)[RequestId.annotation] ?? "")
      })
    )

  /** Records that the actor's request was rejected with this code. */
  const refused = (somebody: Somebody, operation: Operation, code: string) =>
    acting(somebody, operation, (acting) => refuse(somebody.companyId, acting, code))

  /** Runs work for an actor, and records the actor with each commit and any rejection. */
  const recorded = <A, E, R>(somebody: Somebody, operation: Operation, http: Effect.Effect<A, E, R>) =>
    acting(somebody, operation, (acting) =>
      Effect.tapError(Effect.provideService(http, Audit.Acting, acting), (error) =>
        Errors.isFailure(error) ? refuse(somebody.companyId, acting, error.error.code) : Effect.void
      )
    )

  return { refused, recorded }
})
