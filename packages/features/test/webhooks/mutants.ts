import { type Canary, core, crashTest, feature, featureTest } from "../../../../test/defences/Canary.ts"

export const webhooks: ReadonlyArray<Canary> = [
  {
    name: "webhook-cursor-before-delivery",
    bug: "an endpoint's cursor moves past events that are not committed yet",
    file: feature("webhooks/core/Runner"),
    in: "reached",
    find: `return first === undefined ? position : before(first)`,
    replace: `return position`,
    test: featureTest("webhooks/core/Webhooks"),
    titles: "webhooks: the stored cursor stays before an event"
  },
  {
    name: "webhook-behind-a-failure-unrecorded",
    bug: "events behind a failed delivery are kept only in one process's memory, and the cursor passes them",
    file: feature("webhooks/core/Runner"),
    in: "attempt",
    find: `queue[i] = yield* sending.defer(standing.endpoint, other, fence)`,
    replace: `queue[i] = other`,
    test: crashTest,
    titles: "webhooks whose server fails twice$"
  },
  {
    name: "webhook-two-of-a-record",
    bug: "two events of one record are sent at the same time",
    file: feature("webhooks/core/Runner"),
    in: "fill",
    find: `if (head === undefined && !standing.busy.has(entry.line)) {`,
    replace: `if (head === undefined) {`,
    test: "packages/features/test/webhooks/core/Webhooks.test.ts",
    titles: "delays only later events of the same record"
  },
  {
    name: "webhook-order-lost-in-a-restart",
    bug: "deliveries left by a dead process are sent in another order",
    file: feature("webhooks/core/Runner"),
    in: "load",
    find: `.toSorted((a, b) => (Notice.isAfter(a.item.place, b.item.place) ? 1 : -1))`,
    replace: `.toSorted((a, b) => (Notice.isAfter(a.item.place, b.item.place) ? -1 : 1))`,
    test: crashTest,
    titles: "webhooks whose server fails twice$"
  },
  {
    name: "webhook-silence-is-delivery",
    bug: "a server that does not respond counts as delivered",
    file: feature("webhooks/core/Sending"),
    in: "isSuccess",
    find: `const isSuccess = (posted: Posted): boolean => posted._tag === "Answered" &&`,
    replace: `const isSuccess = (posted: Posted): boolean => posted._tag === "Unanswered" ||`,
    test: crashTest,
    titles: "webhooks that their owner requests again$"
  },
  {
    name: "webhook-signed-by-id",
    rows: [58],
    bug: "a webhook's signature covers its id and time but not its body",
    file: core("base/Signature"),
    in: "contentOf",
    find: "`${id}.${timestampSeconds}.${body}`",
    replace: "`${id}.${timestampSeconds}.`",
    test: "packages/features/test/webhooks/http/webhooks.test.ts",
    titles: "C58:"
  },
  {
    name: "webhook-lag-of-the-recorded",
    bug: "the webhook delay metric ignores deliveries that wait for a retry",
    file: feature("webhooks/core/Runner"),
    in: "waitingSinceMillis",
    find: `for (const [head] of queues.values()) since = Math.min(since, head?.item.atMillis ?? Infinity)`,
    replace: `for (const [head] of queues.values()) since = Math.min(since, head?.recorded === undefined ? Infinity : since)`,
    test: featureTest("webhooks/core/Webhooks"),
    titles: "the delivery delay and the time for which readers wait"
  }
]
