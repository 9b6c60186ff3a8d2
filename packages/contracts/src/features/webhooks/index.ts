import { assert } from "@effect/vitest"
import * as Id from "@satrail/core/base/Id"
import * as Delivery from "@satrail/features/webhooks/core/records/Delivery"
import * as Endpoint from "@satrail/features/webhooks/core/records/Endpoint"
import { Effect } from "effect"
import { verdict } from "../../Fixtures.ts"
import { subjectOf } from "../../Subject.ts"
import * as Feature from "../Feature.ts"
import { delivery, endpoint, held as role, other } from "./Records.ts"

export const webhooks = Feature.make({
  money: {},
  other: {},
  records: other,
  subjects: {
    webhook_endpoints: subjectOf(
      Endpoint.noun,
      (companyId) => Effect.map(endpoint(companyId), (row) => Endpoint.created(row)),
      {
        changed: (row) =>
          Effect.succeed(Endpoint.changed(row, { ...row, url: "https://shop.example/others", types: [] }, 5)),
        rotated: (row) => Effect.succeed(Endpoint.rotated(row, "sealed anew", 9, 5)),
        disabled: (row) => Effect.succeed(Endpoint.disabled(row, "owner", 5)),
        enabled: ["disabled", (row) => Effect.succeed(Endpoint.enabled(row, { cursor: "0.7", epoch: 1 }, 6))],
        progressed: Effect.fnUntraced(function* (row) {
          return Endpoint.progressed(row, { cursor: "3.0", failingSinceMillis: 4 }, yield* role, 5)
        }),
        deleted: (row) => Effect.succeed(Endpoint.deleted(row, 5))
      }
    ),
    webhook_deliveries: subjectOf(
      Delivery.noun,
      Effect.fnUntraced(function* (companyId) {
        const to = yield* endpoint(companyId)
        assert.strictEqual(yield* verdict(Endpoint.created(to)), "Applied")
        return Delivery.made(
          yield* delivery(to, yield* Id.make, { status: "pending", nextAtMillis: 5 }),
          yield* role
        )
      }),
      {
        tried: Effect.fnUntraced(function* (row) {
          return Delivery.tried(
            row,
            { ...row, status: "failed", attempts: 2, nextAtMillis: null, answered: 500 },
            yield* role,
            6
          )
        }),
        resent: ["tried", (row) => Effect.succeed(Delivery.resent(row, 7))]
      }
    )
  }
})
