import { Clock, Effect, Layer, Option } from "effect"
import { MaySend } from "@satrail/core/accounts/CurrentSpender"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import * as PlatformKey from "./PlatformKey.ts"

/** A platform key may send while it is valid and has the scope. Its id belongs to no API key. */
export const layer = Layer.effect(
  MaySend,
  Effect.gen(function* () {
    const [nouns, others] = [yield* NounReads, yield* MaySend]
    return Effect.fnUntraced(function* (id: string) {
      if (!Id.is(id)) return yield* others(id)
      const found = yield* nouns.get(PlatformKey.noun, CompanyId.operator, id)
      if (Option.isNone(found)) return yield* others(id)
      const key = found.value
      return (
        PlatformKey.refusal(key, yield* Clock.currentTimeMillis) === undefined &&
        ApiKey.movesMoney(key.scopes)
      )
    })
  })
)
