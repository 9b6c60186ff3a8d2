import { assert } from "@effect/vitest"
import type { Scope } from "@satrail/core/accounts/ApiKey"
import { RightsOf } from "@satrail/core/accounts/CurrentSpender"
import { Effect, Layer } from "effect"
import { everywhere, made, scenario } from "../../../../core/test/World.ts"
import * as PlatformHooks from "../../../src/platform/core/PlatformHooks.ts"
import { PlatformKeys } from "../../../src/platform/core/PlatformKeys.ts"

scenario("platform: a key may send only with the scope, and only until it is revoked", function* () {
  const keys = yield* PlatformKeys
  const issue = (scopes: ReadonlyArray<Scope>) =>
    Effect.map(made(keys.issue({ name: "marketplace", scopes, expiresAtMillis: null })), ({ key }) => key.id)
  const rightsOf = yield* Effect.provide(Effect.service(RightsOf), Layer.fresh(PlatformHooks.layer))
  const [reads, sends] = [yield* issue(["read", "receive"]), yield* issue(["send"])]
  assert.deepStrictEqual([yield* rightsOf(reads), yield* rightsOf(sends)], [undefined, { limits: null }])
  yield* everywhere(keys.revoke(sends))
  assert.isUndefined(yield* rightsOf(sends))
})
