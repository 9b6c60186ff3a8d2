import type * as ApiKey from "@satrail/core/accounts/ApiKey"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import * as Http from "@satrail/http/Http"
import { Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import type { DatabaseSwitch } from "./DatabaseSwitch.ts"

/** So many keys that used a control are known while the database is away. */
const maxKnown = 100

const digest = (text: string) => createHash("sha256").update(text).digest("hex")

/**
 * Whose key it is, for the controls of the sandbox: while the database is away because one of them was told to take it away, a key that used a control before is
 * still known. Otherwise nobody could end that, or look at it.
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

/** Checks keys as everywhere; where the database can be taken away, by those that it knows too. */
export const layer = (database: DatabaseSwitch["Service"] | undefined) =>
  database === undefined ? Http.layerAuthentication : Layer.provide(Layer.fresh(Http.layerAuthentication), remembering(database))
