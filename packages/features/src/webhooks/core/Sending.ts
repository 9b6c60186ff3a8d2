import { Clock, Effect } from "effect"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import * as TraceContext from "@satrail/core/base/TraceContext"
import { cursorOf, placeOf } from "@satrail/core/events/Events"
import { Feed, type Item } from "@satrail/core/events/Feed"
import type * as Change from "@satrail/core/ledger/Change"
import { Journal } from "@satrail/core/ledger/Journal"
import * as Delivery from "./records/Delivery.ts"
import { type Endpoint, previousSecrets } from "./records/Endpoint.ts"
import { Renderer } from "@satrail/core/events/Renderer"
import { keptCharacters, Poster, type Posted } from "@satrail/core/nodes/Poster"
import { Secrets } from "./Secrets.ts"
import * as Schedule from "./Schedule.ts"
import * as Signature from "@satrail/core/base/Signature"

/** An event to be sent to an endpoint, with its recorded delivery, if any. */
export interface Entry {
  readonly item: Pick<Item, "place" | "companyId" | "type" | "subject" | "atMillis">
  /** Entries of one line are sent in order, one at a time. */
  readonly line: string
  /** Undefined if the body must be read first. */
  readonly body: string | undefined
  readonly recorded: Delivery.Delivery | undefined
  readonly attempts: number
  readonly dueAtMillis: number
}

export const testType = "webhook_endpoint.test"

/** Returns the record's id, or a test's own position, because a failed test must not delay the next one. */
const lineOf = ({ type, subject, place }: Entry["item"]): string =>
  type === testType ? cursorOf(place) : subject

export const entryOf = ({ body, ...item }: Item): Entry => ({
  item,
  line: lineOf(item),
  body,
  recorded: undefined,
  attempts: 0,
  dueAtMillis: 0
})

/** Returns an entry that waits, without its body, because many entries of many endpoints may wait at the same time. */
export const waiting = (entry: Entry): Entry => ({ ...entry, body: undefined })

/** Creates an entry from a recorded pending delivery. */
export const entryFrom = (delivery: Delivery.Delivery): Entry => {
  const item = {
    place: placeOf(delivery.place) ?? { event: 0n, part: 0 },
    companyId: delivery.eventCompanyId,
    type: delivery.type,
    subject: delivery.recordId,
    // This time is approximate, because it is the time at which the delivery was recorded.
    atMillis: delivery.createdAtMillis
  }
  const { attempts, nextAtMillis } = delivery
  return {
    item,
    line: lineOf(item),
    body: undefined,
    recorded: delivery,
    attempts,
    dueAtMillis: nextAtMillis ?? 0
  }
}

const isSuccess = (posted: Posted): boolean =>
  posted._tag === "Answered" && posted.status >= 200 && posted.status < 300

/** Returns the response as text that a store can hold. */
const textOf = (text: string): string => text.replaceAll("\0", "").slice(0, keptCharacters)

/** Returns the result of an attempt, with the time of the next one. */
const outcomeOf = (
  posted: Posted,
  attempts: number,
  startMillis: number,
  endMillis: number,
  random: number
): Delivery.Attempt => {
  const answered = posted._tag === "Answered" ? posted : undefined
  const asked = answered && Schedule.askedPauseMillis(answered.status, answered.retryAfter, endMillis)
  const scheduled = Schedule.pauseMillis(attempts, random)
  // A request for a short pause must not use up the attempts while the receiver is still down.
  const pause = scheduled && Math.max(scheduled, asked ?? 0)
  const isDone = isSuccess(posted) || answered?.status === 410 || pause === undefined
  return {
    status: isSuccess(posted) ? "delivered" : isDone ? "failed" : "pending",
    attempts,
    nextAtMillis: isDone ? null : endMillis + (pause ?? 0),
    lastAtMillis: startMillis,
    durationMillis: Math.max(0, endMillis - startMillis),
    answered: answered?.status ?? null,
    response: textOf(posted._tag === "Answered" ? posted.body : posted.reason)
  }
}

interface Signed {
  readonly id: string
  readonly attempt: number
  readonly body: string
  /** The endpoint's secret, and the service's. */
  readonly secret: string
  readonly secrets: Secrets
}

/** Returns the headers of a request, signed at `seconds` of the receiver's time. */
const headersOf = (
  endpoint: Endpoint,
  signed: Signed,
  nowMillis: number,
  seconds: number
): Readonly<Record<string, string>> => {
  const { companyId, signatureHeader } = endpoint
  const { id, attempt, body, secret, secrets } = signed
  const previous = previousSecrets(endpoint, nowMillis).flatMap(
    (sealed) => secrets.open(sealed, companyId) ?? []
  )
  const content = Signature.contentOf(id, seconds, body)
  const signatures = [
    ...[secret, ...previous].map((one) => Signature.symmetric(one, content)),
    `v1a,${secrets.sign(content)}`
  ]
  return {
    "content-type": "application/json",
    ...Signature.headers(id, attempt, seconds, signatures),
    ...(signatureHeader !== null && { [signatureHeader.toLowerCase()]: Signature.plain(secret, body) })
  }
}

/** Makes delivery attempts and records them. */
export const make = Effect.gen(function* () {
  const [journal, feed, entropy] = [yield* Journal, yield* Feed, yield* Entropy]
  const [poster, renderer, secrets] = [yield* Poster, yield* Renderer, yield* Secrets]

  const around = yield* TraceContext.make

  const random = () => (entropy(1)[0] ?? 0) / 255

  const unanswered = (reason: string): Posted => ({ _tag: "Unanswered", reason })

  /** Returns the bytes of the event as first rendered, or undefined if the event was deleted. */
  const bodyOf = ({ item, body }: Entry) =>
    body === undefined
      ? feed.get(null, item.place, renderer.render).pipe(
          Effect.map((found): string | undefined => found.body),
          Effect.catchTag("NotFound", () => Effect.succeed(undefined))
        )
      : Effect.succeed(body)

  /** Makes one attempt. Calls `started` when its request starts. */
  const post = Effect.fnUntraced(function* (
    endpoint: Endpoint,
    entry: Entry,
    body: string | undefined,
    started: (atMillis: number) => void
  ) {
    if (body === undefined) return unanswered("the event is older than events are kept")
    const { companyId, url } = endpoint
    const [id, attempt] = [renderer.idOf(entry.item.place, entry.item.companyId), entry.attempts + 1]
    const secret = secrets?.open(endpoint.secret, companyId)
    if (secrets === null || secret === undefined)
      return unanswered("the secret of the endpoint was sealed with another key: rotate it")
    const [clock, trace] = [yield* Clock.Clock, yield* TraceContext.headers]
    const headers = () => {
      const nowMillis = clock.currentTimeMillisUnsafe()
      started(nowMillis)
      const seconds = Math.floor((poster.nowMillis?.() ?? nowMillis) / 1000)
      return { ...headersOf(endpoint, { id, attempt, body, secret, secrets }, nowMillis, seconds), ...trace }
    }
    return yield* Effect.tap(poster.post({ companyId, url, headers, body }), (posted) =>
      Effect.logDebug("webhook: attempt", {
        endpointId: endpoint.id,
        requestId: `${id}.${attempt}`,
        ...(posted._tag === "Answered" ? { status: posted.status } : { reason: posted.reason })
      })
    )
  })

  const recordOf = (
    endpoint: Endpoint,
    { item }: Entry,
    attempt: Delivery.Attempt,
    nowMillis: number
  ): Delivery.Delivery => ({
    id: Id.fromMillis(nowMillis, entropy),
    companyId: endpoint.companyId,
    endpointId: endpoint.id,
    epoch: endpoint.epoch,
    place: cursorOf(item.place),
    eventCompanyId: item.companyId,
    type: item.type,
    recordId: item.subject,
    ...attempt,
    earlier: [],
    createdAtMillis: nowMillis
  })

  /**
   * Records an attempt. Fails with `Conflict` if the store recorded an earlier attempt of the event only now,
   * after its sender had given up. The deliveries then have to be read again.
   */
  const record = Effect.fnUntraced(function* (
    endpoint: Endpoint,
    entry: Entry,
    attempt: Delivery.Attempt,
    fence: Change.Fence,
    atMillis: number
  ) {
    const { recorded } = entry
    if (recorded !== undefined) {
      const tried = { ...attempt, earlier: Delivery.earlierOf(recorded) }
      yield* journal.commit(Delivery.tried(recorded, tried, fence, atMillis))
      return {
        ...waiting(entry),
        ...attempt,
        recorded: { ...recorded, ...tried },
        dueAtMillis: attempt.nextAtMillis ?? 0
      }
    }
    const delivery = recordOf(endpoint, entry, attempt, atMillis)
    yield* journal.commit(Delivery.made(delivery, fence))
    return {
      ...waiting(entry),
      attempts: attempt.attempts,
      recorded: delivery,
      dueAtMillis: attempt.nextAtMillis ?? 0
    }
  })

  return {
    /**
     * Makes one attempt and records it. Returns the updated `entry`. Sends before recording, so after a crash
     * in between, the event is sent again.
     */
    attempt: Effect.fnUntraced(function* (endpoint: Endpoint, entry: Entry, fence: Change.Fence) {
      const body = yield* bodyOf(entry)
      let startMillis = yield* Clock.currentTimeMillis
      const started = (atMillis: number) => {
        startMillis = atMillis
      }
      const posted = yield* around(
        "Webhook.attempt",
        entry.item.subject
      )(post(endpoint, entry, body, started))
      const endMillis = yield* Clock.currentTimeMillis
      const made = outcomeOf(posted, entry.attempts + 1, startMillis, endMillis, random())
      const outcome: Delivery.Attempt =
        body === undefined ? { ...made, status: "failed", nextAtMillis: null } : made
      return { outcome, entry: yield* record(endpoint, entry, outcome, fence, startMillis) }
    }),
    /**
     * Records an event that waits behind another event of the same record, so that the endpoint can continue
     * with other records.
     */
    defer: Effect.fnUntraced(function* (endpoint: Endpoint, entry: Entry, fence: Change.Fence) {
      const nowMillis = yield* Clock.currentTimeMillis
      const untried = {
        status: "pending",
        attempts: 0,
        nextAtMillis: nowMillis,
        lastAtMillis: null,
        durationMillis: null
      } as const
      return yield* record(endpoint, entry, { ...untried, answered: null, response: null }, fence, nowMillis)
    })
  }
})
export type Sending = Effect.Success<typeof make>
