import type * as ApiKey from "@satrail/core/accounts/ApiKey"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import * as Http from "@satrail/service/http/Http"
import { Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import type { DatabaseSwitch } from "./DatabaseSwitch.ts"

/** Maximum number of keys remembered, so that they work while the database is unavailable. */
const maxKnown = 100

const digest = (text: string) => createHash("sha256").update(text).digest("hex")

/**
 * Authenticates keys for the sandbox's controls. While the database is deliberately unavailable, a key that
 * used a control before is still accepted. Otherwise it would be impossible to inspect or end that fault.
 */
const remembering = (database: DatabaseSwitch["Service"]) =>
  Layer.effect(
    ApiKeys,
    Effect.map(ApiKeys, (keys) => {
      const known = new Map<string, ApiKey.Holder>()
      const remember = (text: string, holder: ApiKey.Holder) =>
        Effect.sync(() => {
          if (known.size >= maxKnown) known.clear()
          known.set(digest(text), holder)
        })
      return ApiKeys.of({
        ...keys,
        check: (text) =>
          keys.check(text).pipe(
            Effect.tap((holder) => remember(text, holder)),
            Effect.catchTag("StoreUnavailable", (error) => {
              const holder = database.isAway() ? known.get(digest(text)) : undefined
              return holder === undefined ? Effect.fail(error) : Effect.succeed(holder)
            })
          )
      })
    })
  )

/** Authenticates keys as usual. If the database can be made unavailable, remembered keys are accepted too. */
export const layer = (database: DatabaseSwitch["Service"] | undefined) =>
  database === undefined
    ? Http.layerAuthentication
    : Layer.provide(Layer.fresh(Http.layerAuthentication), remembering(database))
