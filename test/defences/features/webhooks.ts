import { type Canary, core, coreTest, crashTest } from "../Canary.ts"

export const webhooks: ReadonlyArray<Canary> = [
  {
    name: "webhook-cursor-before-delivery",
    rows: [],
    bug: "an endpoint's cursor is moved past events that are not there yet",
    file: core("features/webhooks/Runner"),
    find: `return first === undefined ? position : before(first)`,
    replace: `return position`,
    test: coreTest("Webhooks"),
    titles: "webhooks: the stored cursor stays before an event"
  },
  {
    name: "webhook-behind-a-failure-unrecorded",
    rows: [],
    bug: "what waits behind a delivery that failed is in the memory of a process alone, and the cursor passes it",
    file: core("features/webhooks/Runner"),
    find: `queue[i] = yield* sending.defer(standing.endpoint, other, fence)`,
    replace: `queue[i] = other`,
    test: crashTest,
    titles: "webhooks whose server fails twice$"
  },
  {
    name: "webhook-two-of-a-record",
    rows: [],
    bug: "two events of a record are under way at once",
    file: core("features/webhooks/Runner"),
    find: `if (head === undefined && !standing.busy.has(subject)) {`,
    replace: `if (head === undefined) {`,
    test: "packages/core/test/Webhooks.test.ts",
    titles: "holds back only its own record$"
  },
  {
    name: "webhook-order-lost-in-a-restart",
    rows: [],
    bug: "what a dead process left is sent in another order",
    file: core("features/webhooks/Runner"),
    find: `.toSorted((a, b) => (Notice.isAfter(a.item.place, b.item.place) ? 1 : -1))`,
    replace: `.toSorted((a, b) => (Notice.isAfter(a.item.place, b.item.place) ? -1 : 1))`,
    test: crashTest,
    titles: "webhooks whose server fails twice$"
  },
  {
    name: "webhook-silence-is-delivery",
    rows: [],
    bug: "a server that does not answer was delivered to",
    file: core("features/webhooks/Sending"),
    find: `const isSuccess = (posted: Posted): boolean => posted._tag === "Answered" &&`,
    replace: `const isSuccess = (posted: Posted): boolean => posted._tag === "Unanswered" ||`,
    test: crashTest,
    titles: "webhooks that their owner has sent again$"
  },
  {
    name: "webhook-signed-by-id",
    rows: [58],
    bug: "a webhook's signature covers its id and time, and not what it says",
    file: core("features/webhooks/Signature"),
    find: "`${id}.${timestampSeconds}.${body}`",
    replace: "`${id}.${timestampSeconds}.`",
    test: "packages/http/test/webhooks.test.ts",
    titles: "C58:"
  },
  {
    name: "webhook-lag-of-the-recorded",
    rows: [],
    bug: "how late webhooks are is not about those that wait for another attempt",
    file: core("features/webhooks/Runner"),
    find: `for (const [head] of queues.values()) since = Math.min(since, head?.item.atMillis ?? Infinity)`,
    replace: `for (const [head] of queues.values()) since = Math.min(since, head?.recorded === undefined ? Infinity : since)`,
    test: coreTest("Webhooks"),
    titles: "how late they are is measured"
  }
]
