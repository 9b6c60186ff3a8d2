import { Clock, Effect } from "effect"
import { isYoung, marginMillis } from "../base/ReadCache.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { AccountReads } from "./AccountReads.ts"
import * as ApiKey from "./ApiKey.ts"
import type { Spender } from "./Limits.ts"

/**
 * Makes a function that reads a sender's key and limits again if the request has taken long. The payee's server,
 * which may belong to the sender, decides how long: without this, a stolen key could send after its revocation.
 */
export const make = Effect.map(AccountReads, (accounts) =>
  Effect.fnUntraced(function* <S extends Spender>(
    spender: S,
    sinceMillis: number
  ): Effect.fn.Return<S, ApiKey.Unauthorized | StoreUnavailable> {
    const nowMillis = yield* Clock.currentTimeMillis
    if (spender.apiKey === undefined || isYoung(sinceMillis, nowMillis, marginMillis)) return spender
    const found = yield* accounts.apiKey(spender.apiKey.id)
    // The rights of a person are not stored as a key.
    if (found._tag === "None") return spender
    const { apiKey, companyLimits } = found.value
    const refusal = ApiKey.refusal(apiKey, nowMillis)
    if (refusal !== undefined) return yield* refusal
    return { ...spender, apiKey, company: { ...spender.company, limits: companyLimits } }
  })
)
