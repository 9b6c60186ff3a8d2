import { Clock, Effect, Layer, Option } from "effect"
import { RightsOf } from "@satrail/core/accounts/CurrentSpender"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import * as PlatformKey from "./PlatformKey.ts"

/**
 * A platform key may send while it is valid and has the scope. A payment that waits for approval ends with the key that
 * requested it, and its limits are checked again.
 */
export const layer = Layer.effect(
  RightsOf,
  Effect.gen(function* () {
    const [nouns, others] = [yield* NounReads, yield* RightsOf]
    return Effect.fnUntraced(function* (id: string) {
      if (!Id.is(id)) return yield* others(id)
      const found = yield* nouns.get(PlatformKey.noun, CompanyId.operator, id)
      if (Option.isNone(found)) return yield* others(id)
      const key = found.value
      const isValid = PlatformKey.refusal(key, yield* Clock.currentTimeMillis) === undefined
      return isValid && ApiKey.movesMoney(key.scopes) ? { limits: key.limits } : undefined
    })
  })
)
