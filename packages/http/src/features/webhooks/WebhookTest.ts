import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Webhooks } from "@satrail/core/features/webhooks/Webhooks"
import * as Pages from "@satrail/core/ledger/Page"
import { Context, Effect, Option, Schedule } from "effect"

/**
 * How long a test waits for the outcome of its first attempt. This is longer than a connection attempt may
 * take, but a receiver may take longer to respond. The outcome is then shown only in the delivery.
 */
export const waitSeconds = 8

/** `waitSeconds` in milliseconds. A program that sends no webhooks can lower it. */
export const WaitMillis = Context.Reference<number>("@satrail/http/features/webhooks/WebhookTest/WaitMillis", {
  defaultValue: () => waitSeconds * 1000
})

/** Message if the outcome is still unknown after `waitSeconds`. */
export const unanswered = `No response within ${waitSeconds} seconds. See the endpoint's deliveries`

const testType = "webhook_endpoint.test"

/** Sends a test event and reports the outcome of its first attempt. */
export const sent = Effect.fnUntraced(function* (
  webhooks: Webhooks["Service"],
  waitMillis: number,
  companyId: CompanyId.CompanyId,
  id: string
) {
  const attempted = Effect.map(webhooks.deliveries(companyId, id, { limit: Pages.limit.maximum, before: null }), ({ rows }) =>
    rows.filter(({ type, lastAtMillis }) => type === testType && lastAtMillis !== null)
  )
  yield* webhooks.get(companyId, id)
  const before = new Set((yield* attempted).map((one) => one.id))
  const tested = yield* webhooks.test(companyId, id)
  // The test was sent, so an endpoint deleted in the meantime is not an error.
  const found = yield* Effect.map(attempted, (all) => all.find((one) => !before.has(one.id))).pipe(
    Effect.repeat({ until: (one) => one !== undefined, schedule: Schedule.spaced("200 millis") }),
    Effect.timeoutOption(waitMillis),
    Effect.map(Option.getOrUndefined),
    Effect.catchTag("NotFound", () => Effect.undefined)
  )
  const endpoint = yield* Effect.catchTag(webhooks.get(companyId, id), "NotFound", () => Effect.succeed(tested))
  if (found === undefined) return { endpoint, message: unanswered }
  const { status, answered, response, durationMillis } = found
  const said = answered === null ? (response ?? "no answer") : `the endpoint returned ${answered} in ${durationMillis} ms`
  return { endpoint, message: status === "delivered" ? `Delivered: ${said}` : `Not delivered: ${said}` }
})
