import { assert, it } from "@effect/vitest"
import * as CompanyId from "@satrail/core/base/CompanyId"
import type { Delivery } from "../../../src/webhooks/core/records/Delivery.ts"
import type { Endpoint } from "../../../src/webhooks/core/records/Endpoint.ts"
import { maxEndpoints, type Webhooks } from "../../../src/webhooks/core/Webhooks.ts"
import * as Page from "@satrail/core/ledger/Page"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { timeoutMillis } from "@satrail/http/edge/Edge"
import * as WebhookTest from "../../../src/webhooks/http/WebhookTest.ts"

const companyId = CompanyId.make("00000000-0000-7000-8000-000000000001")
const [id, url] = ["00000000-0000-7000-8000-000000000002", "https://shop.example/"]

const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`
const delivery = (n: number, type: string): Delivery => ({
  id: idOf(n),
  companyId,
  endpointId: id,
  epoch: 0,
  place: "",
  eventCompanyId: companyId,
  type: type as Delivery["type"],
  recordId: id,
  status: "delivered",
  attempts: 1,
  nextAtMillis: null,
  lastAtMillis: 0,
  durationMillis: 7,
  answered: 200,
  response: "ok",
  earlier: [],
  createdAtMillis: 0
})

/** An endpoint with many deliveries, which counts the tests that were sent and the deliveries that were read. */
const make = () => {
  const endpoint: Endpoint = {
    id,
    companyId,
    url,
    description: "",
    types: [],
    signatureHeader: null,
    secret: "",
    previousSecret: null,
    previousUntilMillis: null,
    status: "enabled",
    disabledReason: null,
    cursor: "",
    epoch: 0,
    failingSinceMillis: null,
    createdAtMillis: 0,
    updatedAtMillis: 0
  }
  const deliveries = Array.from({ length: 2000 }, (_, n) => delivery(n, "webhook_endpoint.test"))
  const counts = { tests: 0, read: 0 }
  const webhooks: Pick<Webhooks["Service"], "get" | "deliveries" | "test"> = {
    get: () => Effect.succeed(endpoint),
    deliveries: (_company, _id, asked) =>
      Page.read(asked, (before, limit) => {
        const rows = deliveries
          .toReversed()
          .filter((one) => before === null || one.id < before)
          .slice(0, limit)
        counts.read += rows.length
        return Effect.succeed(rows)
      }),
    test: () =>
      Effect.sync(() => {
        counts.tests++
        return endpoint
      })
  }
  return { deliveries, counts, sent: WebhookTest.sent(webhooks, 8000, companyId, id) }
}

it.effect(
  "webhook tests: tests of all endpoints of a company end within a request's time, and read few earlier deliveries",
  () =>
    Effect.gen(function* () {
      const { counts, sent } = make()
      const running = yield* Effect.forkChild(
        Effect.replicateEffect(sent, maxEndpoints, { concurrency: "unbounded" })
      )
      yield* TestClock.adjust("7 seconds")
      assert.strictEqual(counts.tests, WebhookTest.tests.each)
      yield* TestClock.adjust(timeoutMillis - 7000 - 1)
      assert.isDefined(running.pollUnsafe(), `${counts.tests} tests were sent`)
      assert.deepStrictEqual(
        (yield* Fiber.join(running)).map(({ message }) => message),
        Array.from({ length: maxEndpoints }, () => WebhookTest.unanswered)
      )
      assert.isAtMost(counts.read, 1000 * maxEndpoints)
    })
)

it.effect("webhook tests: a test's delivery is found behind many newer deliveries of other events", () =>
  Effect.gen(function* () {
    const { deliveries, sent } = make()
    const running = yield* Effect.forkChild(sent)
    yield* TestClock.adjust("1 second")
    deliveries.push(delivery(2000, "webhook_endpoint.test"))
    for (let n = 2001; n < 2100; n++) deliveries.push(delivery(n, "invoice.created"))
    yield* TestClock.adjust("1 second")
    assert.strictEqual((yield* Fiber.join(running)).message, "Delivered: the endpoint returned 200 in 7 ms")
  })
)
