import { assert, it } from "@effect/vitest"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import { Companies } from "@satrail/core/accounts/Companies"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { StoreUnavailable } from "@satrail/core/ledger/Journal"
import { Effect, Layer, Option } from "effect"
import { rmSync } from "node:fs"
import * as Demo from "../src/deployment/Demo.ts"
import * as DemoFile from "../src/deployment/DemoFile.ts"
import * as Service from "./Service.ts"

it.effect("demo: an outage at the start does not replace the company and its only key", () =>
  Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(Effect.sync(Service.directory), (home) =>
      Effect.sync(() => rmSync(home, { recursive: true }))
    )
    const demo = { base_url: "http://127.0.0.1", api_key: "the only key", company_id: CompanyId.operator }
    DemoFile.write(directory, demo)
    const away = new StoreUnavailable({ operation: "test", cause: new Error("away") })
    const services = [
      Layer.mock(Companies, { get: () => Effect.fail(away) }),
      Layer.mock(ApiKeys, {})
    ] as const
    const prepared = Demo.prepare({ directory, baseUrl: demo.base_url, operator: { _tag: "Closed" } })
    const error = yield* Effect.flip(Effect.provide(prepared, Layer.mergeAll(...services)))
    assert.strictEqual(error, away)
    assert.deepStrictEqual(DemoFile.read(directory), Option.some(demo))
  }).pipe(Effect.scoped)
)
