import type * as ApiKey from "@satrail/core/accounts/ApiKey"
import type { Operator } from "@satrail/core/accounts/OperatorToken"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Audit from "@satrail/core/ledger/Audit"
import { AuditLog } from "@satrail/core/features/audit/AuditLog"
import { Context, Effect, References } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { callerOf } from "../wire/Address.ts"
import * as Errors from "../wire/Errors.ts"
import * as RequestId from "./RequestId.ts"

// Who asks for something, for the audit log: what is committed for him is written down in the same commit, what he is refused is counted.

/** How many reverse proxies of the operator's own stand in front, each adding to `X-Forwarded-For` who asked it. */
export const Proxies = Context.Reference<number>("@satrail/http/edge/Acting/Proxies", { defaultValue: () => 0 })

/** Who, and of whose log the lines are that have no record. */
interface Somebody extends Audit.Actor {
  readonly companyId: CompanyId.CompanyId
}

/** What is asked for: together its `operationId`. */
export interface Operation {
  readonly endpoint: Pick<HttpApiEndpoint.Top, "identifier">
  readonly group: Pick<HttpApiGroup.Top, "identifier">
}

export const keyed = ({ id, companyId, name }: Pick<ApiKey.ApiKey, "id" | "companyId" | "name">): Somebody => ({
  companyId,
  actor: "key",
  actor_id: id,
  actor_name: name
})

export const operating = ({ id, name }: Pick<Operator, "id" | "name">): Somebody => ({
  companyId: CompanyId.operator,
  actor: "operator",
  actor_id: id,
  actor_name: name
})

/** What happens for somebody who is known. */
export const make = Effect.gen(function* () {
  const log = yield* AuditLog
  const proxies = yield* Proxies

  const actingOf = ({ companyId: _, ...actor }: Somebody, { endpoint, group }: Operation) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      Effect.withFiber((fiber) => {
        const acting: Audit.Acting = {
          ...actor,
          verb: `${group.identifier}.${endpoint.identifier}`,
          address: callerOf(request, proxies),
          request_id: String(fiber.getRef(References.CurrentLogAnnotations)[RequestId.annotation] ?? "")
        }
        return Effect.succeed(acting)
      })
    )

  /** He was refused this endpoint, with this code. */
  const refused = (somebody: Somebody, operation: Operation, code: string) =>
    Effect.flatMap(actingOf(somebody, operation), (acting) => log.refused(somebody.companyId, acting, code))

  /** Work for him: what it commits is in the log, and what it is refused with. */
  const recorded = <A, E, R>(somebody: Somebody, operation: Operation, http: Effect.Effect<A, E, R>) =>
    Effect.flatMap(actingOf(somebody, operation), (acting) =>
      Effect.tapError(Effect.provideService(http, Audit.Acting, acting), (error) =>
        Errors.isFailure(error) ? log.refused(somebody.companyId, acting, error.error.code) : Effect.void
      )
    )

  return { refused, recorded }
})
