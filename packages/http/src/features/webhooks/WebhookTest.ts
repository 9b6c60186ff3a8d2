import type * as CompanyId from "@satrail/core/base/CompanyId"
import { limit, type Webhooks } from "@satrail/core/features/webhooks/Webhooks"
import { Context, Effect, Option, Schedule } from "effect"

/** How long a test waits for its first attempt: longer than connecting may take. A receiver has longer to answer, which its delivery shows. */
export const waitSeconds = 8

/** The same in milliseconds, for a program that sends no webhooks and need not wait. */
export const WaitMillis = Context.Reference<number>("@satrail/http/features/webhooks/WebhookTest/WaitMillis", {
  defaultValue: () => waitSeconds * 1000
})

/** Of a test of which nothing is known by then. */
export const unanswered = `Not answered within ${waitSeconds} seconds: see its deliveries`

const testType = "webhook_endpoint.test"

/** Sends a test, and says what became of its first attempt. */
export const sent = Effect.fnUntraced(function* (
  webhooks: Webhooks["Service"],
  waitMillis: number,
  companyId: CompanyId.CompanyId,
  id: string
) {
  const attempted = Effect.map(webhooks.deliveries(companyId, id, { limit: limit.maximum, before: null }), ({ deliveries }) =>
    deliveries.filter(({ type, lastAtMillis }) => type === testType && lastAtMillis !== null)
  )
  yield* webhooks.get(companyId, id)
  const before = new Set((yield* attempted).map((one) => one.id))
  const tested = yield* webhooks.test(companyId, id)
  // The test is sent. An endpoint that is deleted meanwhile makes it no refusal.
  const found = yield* Effect.map(attempted, (all) => all.find((one) => !before.has(one.id))).pipe(
    Effect.repeat({ until: (one) => one !== undefined, schedule: Schedule.spaced("200 millis") }),
    Effect.timeoutOption(waitMillis),
    Effect.map(Option.getOrUndefined),
    Effect.catchTag("NotFound", () => Effect.undefined)
  )
  const endpoint = yield* Effect.catchTag(webhooks.get(companyId, id), "NotFound", () => Effect.succeed(tested))
  if (found === undefined) return { endpoint, message: unanswered }
  const { status, answered, response, durationMillis } = found
  const said = answered === null ? (response ?? "no answer") : `the endpoint answered ${answered} in ${durationMillis} ms`
  return { endpoint, message: status === "delivered" ? `Delivered: ${said}` : `Not delivered: ${said}` }
})
