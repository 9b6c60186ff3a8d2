import { Clock, Context, Effect, Option } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as Id from "../base/Id.ts"
import { Journal, type StoreUnavailable } from "../ledger/Journal.ts"
import { NounReads } from "../ledger/NounReads.ts"
import * as OperatorRequest from "./OperatorRequest.ts"
import * as OperatorToken from "./OperatorToken.ts"
import { isSame, type Operator, RequesterGone, SameOperator } from "./SecondOperator.ts"

/** Returns whether a person, whose rights are not stored as a token, still has this scope. */
export const MayOperate = Context.Reference<
  (id: string, scope: OperatorToken.Scope) => Effect.Effect<boolean, StoreUnavailable>
>("@satrail/core/accounts/OperatorRequests/MayOperate", { defaultValue: () => () => Effect.succeed(true) })

/** Identifies the configured token in requests, so that they end when the token is replaced. */
export const ConfiguredToken = Context.Reference<string>(
  "@satrail/core/accounts/OperatorRequests/ConfiguredToken",
  { defaultValue: () => OperatorToken.root.id }
)

/** Operators as those who request something. A request ends with its operator's access. */
export const makeRequesters = Effect.gen(function* () {
  const [nouns, mayOperate, configured] = [yield* NounReads, yield* MayOperate, yield* ConfiguredToken]
  const { root } = OperatorToken

  /**
   * Returns whether an operator, who made a request, still has access and this scope. Ids that belong to no token and no
   * person are those of the configured token and of the host program's operators.
   */
  const mayAct = Effect.fnUntraced(function* (
    id: string,
    scope: OperatorToken.Scope
  ): Effect.fn.Return<boolean, StoreUnavailable> {
    if (!Id.is(id)) return id === configured || (id !== root.id && !id.startsWith(`${root.id}:`))
    const found = yield* nouns.get(OperatorToken.noun, CompanyId.operator, id)
    if (Option.isNone(found)) return yield* mayOperate(id, scope)
    return found.value.revokedAtMillis === null && OperatorToken.allows(found.value, scope)
  })

  return {
    mayAct,
    /** Returns the operator as they are stored with a request. */
    stored: ({ id, name }: Operator): Operator => ({ id: id === root.id ? configured : id, name }),
    /** Fails if the operator who made a request no longer has access and this scope. */
    current: Effect.fnUntraced(function* (
      id: string,
      { requestedById }: { readonly requestedById: string },
      scope: OperatorToken.Scope
    ): Effect.fn.Return<void, RequesterGone | StoreUnavailable> {
      if (!(yield* mayAct(requestedById, scope))) return yield* new RequesterGone({ id })
    })
  }
})

/** Operators as those who request something. */
export type Requesters = Effect.Success<typeof makeRequesters>

/** Actions that take two operators: one requests, and another confirms with the same request. */
export const make = Effect.gen(function* () {
  const [journal, nouns, requesters] = [yield* Journal, yield* NounReads, yield* makeRequesters]

  const stored = ({ id, companyId }: Pick<OperatorRequest.OperatorRequest, "id" | "companyId">) =>
    Effect.map(nouns.get(OperatorRequest.noun, companyId, id), Option.getOrNull)

  const counts = Effect.fnUntraced(function* ({
    action,
    requestedById,
    untilMillis
  }: OperatorRequest.OperatorRequest) {
    return (
      untilMillis > (yield* Clock.currentTimeMillis) &&
      (yield* requesters.mayAct(requestedById, OperatorRequest.scopes[action]))
    )
  })

  return {
    /**
     * Returns the request about a record; null if there is none that counts. A request counts for a day, while its
     * operator has access and the scope that it needs.
     */
    open: Effect.fnUntraced(function* (record: Pick<OperatorRequest.OperatorRequest, "id" | "companyId">) {
      const request = yield* stored(record)
      return request !== null && (yield* counts(request)) ? request : null
    }),
    /**
     * Returns whether `by` confirms another operator's request for this action. Otherwise, stores their request, which
     * replaces any other about the record. Fails for the operator who requested it.
     */
    confirm: Effect.fnUntraced(function* (
      wanted: OperatorRequest.Wanted,
      operator: Operator
    ): Effect.fn.Return<boolean, SameOperator | StoreUnavailable> {
      const by = requesters.stored(operator)
      const request = yield* stored(wanted)
      const isSameAction = request?.action === wanted.action && request.toCompanyId === wanted.toCompanyId
      if (request !== null && isSameAction && (yield* counts(request))) {
        const { requestedById, requestedBy } = request
        if (isSame(by, { id: requestedById, name: requestedBy }))
          return yield* new SameOperator({ id: wanted.id, name: requestedBy })
        return true
      }
      const nowMillis = yield* Clock.currentTimeMillis
      if (request !== null) yield* journal.commit(OperatorRequest.replaced(request, wanted, by, nowMillis))
      // Of two first requests at the same time, the store keeps one. The other operator can then confirm it.
      else
        yield* Effect.catchTag(
          journal.commit(OperatorRequest.created(wanted, by, nowMillis)),
          "Conflict",
          Effect.die
        )
      return false
    })
  }
})
