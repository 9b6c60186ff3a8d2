import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as FairSlots from "@satrail/core/base/FairSlots"
import type { Delivery } from "../core/records/Delivery.ts"
import type { Webhooks } from "../core/Webhooks.ts"
import * as Pages from "@satrail/core/ledger/Page"
import { Context, Effect, Option, Schedule } from "effect"

/**
 * How long a test waits for the outcome of its first attempt. This is longer than a connection attempt may
 * take, but a receiver may take longer to respond. The outcome is then shown only in the delivery.
 */
export const waitSeconds = 8

/** `waitSeconds` in milliseconds. A program that sends no webhooks can lower it. */
export const WaitMillis = Context.Reference<number>(
  "@satrail/features/webhooks/http/WebhookTest/WaitMillis",
  {
    defaultValue: () => waitSeconds * 1000
  }
)

/** Message if the outcome is still unknown after `waitSeconds`. */
export const unanswered = `No response within ${waitSeconds} seconds. See the endpoint's deliveries`

const testType = "webhook_endpoint.test"

/** Maximum number of tests that wait for their outcome in a process: in total, and of each company. Further ones wait. */
export const tests: FairSlots.Limits = { most: 16, each: 8 }
const slots = FairSlots.make(tests)

/** Number of deliveries read at a time. Usually, the test's delivery is the newest. */
const pageSize = 20

type Used = Pick<Webhooks["Service"], "get" | "deliveries" | "test">

/** Returns the deliveries after this id, newest first; at most as many as on the largest page of a list. */
const deliveredSince = Effect.fnUntraced(function* (
  webhooks: Used,
  companyId: CompanyId.CompanyId,
  id: string,
  since: string
) {
  const found: Array<Delivery> = []
  for (
    let before: string | null | undefined = null;
    before !== undefined && found.length < Pages.limit.maximum;
  ) {
    const { rows, next }: Pages.Page<Delivery> = yield* webhooks.deliveries(companyId, id, {
      limit: pageSize,
      before
    })
    const isNew = rows.filter((one) => one.id > since)
    found.push(...isNew)
    before = isNew.length < rows.length ? undefined : next?.id
  }
  return found
})

const testing = Effect.fnUntraced(function* (
  webhooks: Used,
  waitMillis: number,
  companyId: CompanyId.CompanyId,
  id: string
) {
  const { rows } = yield* webhooks.deliveries(companyId, id, { limit: 1, before: null })
  const tested = yield* webhooks.test(companyId, id)
  // The test was sent, so an endpoint deleted in the meantime is not an error.
  const found = yield* deliveredSince(webhooks, companyId, id, rows[0]?.id ?? "").pipe(
    Effect.map((all) => all.find(({ type, lastAtMillis }) => type === testType && lastAtMillis !== null)),
    Effect.repeat({ until: (one) => one !== undefined, schedule: Schedule.spaced("200 millis") }),
    Effect.timeoutOption(waitMillis),
    Effect.map(Option.getOrUndefined),
    Effect.catchTag("NotFound", () => Effect.undefined)
  )
  const endpoint = yield* Effect.catchTag(webhooks.get(companyId, id), "NotFound", () =>
    Effect.succeed(tested)
  )
  if (found === undefined) return { endpoint, message: unanswered }
  const { status, answered, response, durationMillis } = found
  const said =
    answered === null
      ? (response ?? "no answer")
      : `the endpoint returned ${answered} in ${durationMillis} ms`
  return { endpoint, message: status === "delivered" ? `Delivered: ${said}` : `Not delivered: ${said}` }
})

/** Sends a test event and reports the outcome of its first attempt. */
export const sent = (webhooks: Used, waitMillis: number, companyId: CompanyId.CompanyId, id: string) =>
  slots.run(companyId, testing(webhooks, waitMillis, companyId, id))
