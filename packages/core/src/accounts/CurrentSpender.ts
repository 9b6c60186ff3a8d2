import { Clock, Context, Effect, Option } from "effect"
import { isYoung, marginMillis } from "../base/ReadCache.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { AccountReads } from "./AccountReads.ts"
import * as ApiKey from "./ApiKey.ts"
import type { Limits, Spender } from "./Limits.ts"

/** The rights of a sender who may send. */
export interface Rights {
  /** The sender's own limits. They count for each company separately. */
  readonly limits: Limits | null
}

/**
 * Returns the current rights of a sender whose rights are not stored as an API key; undefined if the sender may no
 * longer send.
 */
export const RightsOf = Context.Reference<
  (id: string) => Effect.Effect<Rights | undefined, StoreUnavailable>
>("@satrail/core/accounts/CurrentSpender/RightsOf", {
  defaultValue: () => () => Effect.succeed({ limits: null })
})

/**
 * Makes a function that reads a sender's rights and limits again if the request has taken long. The payee's server,
 * which may belong to the sender, decides how long: without this, a stolen key could send after its revocation.
 */
export const make = Effect.gen(function* () {
  const [accounts, rightsOf] = [yield* AccountReads, yield* RightsOf]
  return Effect.fnUntraced(function* <S extends Spender>(
    spender: S,
    sinceMillis: number
  ): Effect.fn.Return<S, ApiKey.Unauthorized | StoreUnavailable> {
    const nowMillis = yield* Clock.currentTimeMillis
    if (isYoung(sinceMillis, nowMillis, marginMillis)) return spender
    const id = spender.apiKey?.id
    const found = id === undefined ? Option.none() : yield* accounts.apiKey(id)
    if (found._tag === "None") {
      if (id !== undefined && (yield* rightsOf(id)) === undefined)
        return yield* new ApiKey.Unauthorized({ reason: "revoked" })
      const company = yield* accounts.company(spender.company.id)
      return company._tag === "None"
        ? spender
        : { ...spender, company: { ...spender.company, limits: company.value.limits } }
    }
    const { apiKey, companyLimits } = found.value
    const refusal = ApiKey.refusal(apiKey, nowMillis)
    if (refusal !== undefined) return yield* refusal
    return { ...spender, apiKey, company: { ...spender.company, limits: companyLimits } }
  })
})
