import { Cause, Clock, Deferred, Effect, Metric, Semaphore } from "effect"
import * as Measure from "@satrail/core/base/Measure"
import * as Pages from "@satrail/core/base/Pages"
import { cursorOf, placeOf } from "@satrail/core/events/Events"
import { Feed, type Page } from "@satrail/core/events/Feed"
import * as Notice from "@satrail/core/events/Notice"
import type * as Change from "@satrail/core/ledger/Change"
import { Journal } from "@satrail/core/ledger/Journal"
import * as CompanyId from "@satrail/core/base/CompanyId"
import type * as Delivery from "./records/Delivery.ts"
import * as Endpoint from "./records/Endpoint.ts"
import { Renderer } from "@satrail/core/events/Renderer"
import type { Inbox } from "./Inbox.ts"
import * as Schedule from "./Schedule.ts"
import { type Entry, entryFrom, entryOf, make as makeSending, testType, waiting } from "./Sending.ts"
import { WebhookReads } from "./records/WebhookReads.ts"

/** Maximum number of concurrent requests to an endpoint. While attempts fail, only one is made at a time. */
export const attemptsAtOnce = 8

/**
 * Maximum number of waiting deliveries per endpoint. While it is reached, only tests are read from the feed. No
 * event is lost, because the feed keeps them.
 */
export const maxWaiting = 1000

/** Maximum number of endpoints for which the store is read concurrently. */
export const readsAtOnce = 32

const pageSize = 32
const progressMillis = 1000

const attempts = Measure.counter("satrail_webhook_attempts_total", "Webhook attempts: delivered or failed", [
  "outcome"
])
const disabledCount = Measure.counter(
  "satrail_webhook_endpoints_disabled_total",
  "Webhook endpoints disabled because they failed"
)({})

/** Returns the position directly before the given one. */
const before = ({ event, part }: Notice.Place): Notice.Place => ({ event, part: part - 1 })

/** Sending state of one endpoint. */
interface Standing {
  endpoint: Endpoint.Endpoint
  /** Waiting events by line. Only the first of each queue is sent. */
  readonly queues: Map<string, Array<Entry>>
  /** Lines of which an event is being sent. */
  readonly busy: Set<string>
  /** Positions of events that were read but have no recorded delivery yet, with their commit times. */
  readonly unrecorded: Map<Notice.Place, number>
  /** Events that were read but whose first attempt has not started. */
  backlog: Array<Entry>
  position: Notice.Place
  /** Position up to which tests were read, and the positions of tests read before other events. */
  testedTo: Notice.Place
  readonly tested: Set<string>
  /** True if only tests were read since there was news. */
  isBehind: boolean
  progressedAtMillis: number
  /** Time at which events of a newer version are read, if no process of that version has replaced this one. */
  againAtMillis: number
}

const waitingIn = ({ queues }: Standing): number => {
  let count = 0
  for (const queue of queues.values()) count += queue.length
  return count
}

/** Returns the position up to which every event was sent or is recorded as waiting. */
const reached = ({ unrecorded, position }: Standing): Notice.Place => {
  let first: Notice.Place | undefined
  for (const place of unrecorded.keys())
    if (first === undefined || Notice.isAfter(first, place)) first = place
  return first === undefined ? position : before(first)
}

const waitingSinceMillis = ({ unrecorded, queues }: Standing): number | undefined => {
  let since = Infinity
  for (const atMillis of unrecorded.values()) since = Math.min(since, atMillis)
  for (const [head] of queues.values()) since = Math.min(since, head?.item.atMillis ?? Infinity)
  return since === Infinity ? undefined : since
}

/** Returns the time at which the next waiting event is due, or Infinity if no event is waiting. */
const nextDueMillis = ({ queues, busy }: Standing): number => {
  let due = Infinity
  for (const [line, [head]] of queues)
    if (head !== undefined && !busy.has(line)) due = Math.min(due, head.dueAtMillis)
  return due
}

const push = ({ queues }: Standing, entry: Entry): void => {
  const queue = queues.get(entry.line)
  if (queue === undefined) queues.set(entry.line, [entry])
  else queue.push(entry)
}

const parts = Effect.gen(function* () {
  const [journal, feed, reads, renderer] = [yield* Journal, yield* Feed, yield* WebhookReads, yield* Renderer]
  const reading = (yield* Semaphore.make(readsAtOnce)).withPermits(1)
  return { journal, feed, reads, renderer, reading, sending: yield* makeSending }
})
type Parts = Effect.Success<typeof parts>

/** State and dependencies for serving one endpoint until it changes. */
interface Run extends Parts {
  readonly standing: Standing
  readonly fence: Change.Fence
  readonly inbox: Inbox
}

/** A replay retries waiting deliveries immediately, because they would delay it. */
const replayed = (entry: Entry, { epoch, updatedAtMillis }: Endpoint.Endpoint): Entry => {
  const { recorded } = entry
  return recorded !== undefined && recorded.epoch < epoch && (recorded.lastAtMillis ?? 0) < updatedAtMillis
    ? { ...entry, dueAtMillis: 0 }
    : entry
}

const load = Effect.fnUntraced(function* ({ reads }: Parts, endpoint: Endpoint.Endpoint) {
  const position = placeOf(endpoint.cursor) ?? Notice.first
  const standing: Standing = {
    endpoint,
    queues: new Map(),
    busy: new Set(),
    unrecorded: new Map(),
    backlog: [],
    position,
    testedTo: position,
    tested: new Set(),
    isBehind: false,
    progressedAtMillis: 0,
    againAtMillis: Infinity
  }
  const pending = yield* Pages.all(maxWaiting, (after: Delivery.Delivery | null) =>
    reads.pendingDeliveries(endpoint.id, after?.id ?? null, maxWaiting)
  )
  const inOrder = pending
    .map(entryFrom)
    .toSorted((a, b) => (Notice.isAfter(a.item.place, b.item.place) ? 1 : -1))
  for (const entry of inOrder) push(standing, replayed(entry, endpoint))
  return standing
})

const progress = Effect.fnUntraced(function* (
  { standing, journal, fence }: Run,
  failingSinceMillis: number | null
) {
  const cursor = cursorOf(reached(standing))
  const { endpoint } = standing
  if (cursor === endpoint.cursor && failingSinceMillis === endpoint.failingSinceMillis) return
  const nowMillis = yield* Clock.currentTimeMillis
  // Set this first, so that progress made during the commit does not undo it. If the commit fails, all is read again.
  standing.endpoint = { ...endpoint, cursor, failingSinceMillis }
  yield* journal.commit(Endpoint.progressed(endpoint, { cursor, failingSinceMillis }, fence, nowMillis))
  standing.progressedAtMillis = nowMillis
})

const disable = Effect.fnUntraced(function* (
  { standing: { endpoint }, journal, fence }: Run,
  reason: "gone" | "failing"
) {
  yield* Effect.logWarning("webhook: endpoint disabled", { endpointId: endpoint.id, reason })
  yield* Metric.update(disabledCount, 1)
  // An endpoint that was changed or enabled in the meantime stays enabled.
  yield* Effect.catchTag(
    journal.commit(Endpoint.disabled(endpoint, reason, yield* Clock.currentTimeMillis, fence)),
    "EndpointNotEnabled",
    () => Effect.void
  )
})

/** Updates the endpoint after an attempt. */
const judge = Effect.fnUntraced(function* (run: Run, { status, attempts: made, answered }: Delivery.Attempt) {
  const nowMillis = yield* Clock.currentTimeMillis
  const isDelivered = status === "delivered"
  yield* Metric.update(attempts({ outcome: isDelivered ? "delivered" : "failed" }), 1)
  const { failingSinceMillis } = run.standing.endpoint
  if (isDelivered) return failingSinceMillis === null ? undefined : yield* progress(run, null)
  if (answered === 410) return yield* disable(run, "gone")
  if (failingSinceMillis === null) return yield* progress(run, nowMillis)
  if (nowMillis - failingSinceMillis >= Schedule.maxFailingMillis && made >= Schedule.minFailedAttempts)
    yield* disable(run, "failing")
})

/** Makes one attempt and applies its result. */
const attempt = Effect.fnUntraced(function* (run: Run, entry: Entry) {
  const { standing, sending, fence } = run
  const { line } = entry
  const { outcome, entry: after } = yield* sending.attempt(standing.endpoint, entry, fence)
  standing.unrecorded.delete(entry.item.place)
  const queue = standing.queues.get(line) ?? []
  if (outcome.status === "pending") {
    if (queue[0] === entry) queue[0] = after
    else queue.unshift(after)
    standing.queues.set(line, queue)
    // Later events of the line may have to wait for the whole schedule, so record them too.
    for (const [i, other] of queue.entries()) {
      if (other.recorded !== undefined) continue
      queue[i] = yield* sending.defer(standing.endpoint, other, fence)
      standing.unrecorded.delete(other.item.place)
    }
  } else if (queue[0] === entry) queue.shift()
  if (queue.length === 0) standing.queues.delete(line)
  yield* judge(run, outcome)
})

type Broken = Deferred.Deferred<void, Effect.Error<ReturnType<typeof attempt>>>

/**
 * Starts an attempt. Once its request has started, the attempt always completes, even if the process is stopping.
 * This takes no longer than an attempt's timeout. Otherwise the next process makes it.
 */
const start = (run: Run, broken: Broken, entry: Entry) => {
  const { standing, inbox } = run
  standing.busy.add(entry.line)
  return Effect.forkScoped(
    Effect.uninterruptible(attempt(run, entry)).pipe(
      Effect.onExit((exit) =>
        Effect.sync(() => {
          // The attempt could not be recorded, so send no event of this line until all its events are read
          // again.
          if (exit._tag === "Success") standing.busy.delete(entry.line)
          else if (!Cause.hasInterruptsOnly(exit.cause)) Deferred.doneUnsafe(broken, exit)
          inbox.offer("ended")
        })
      )
    )
  )
}

/**
 * Reads the next events, or only the next tests if `isFull`. Up to `sentBefore`, another process may already have
 * sent and recorded them.
 */
const read = Effect.fnUntraced(function* (
  { standing, feed, reads, renderer, inbox }: Run,
  sentBefore: Notice.Place,
  isFull: boolean
) {
  const { endpoint, testedTo, tested } = standing
  const position = isFull && Notice.isAfter(testedTo, standing.position) ? testedTo : standing.position
  const companyId = endpoint.companyId === CompanyId.operator ? null : endpoint.companyId
  const asked =
    endpoint.types.length === 0
      ? undefined
      : new Set([...endpoint.types.flatMap((type) => Notice.matching<string>(type, feed.types)), testType])
  const types = isFull ? new Set([testType]) : asked
  inbox.take("events")
  const page: Page = yield* feed
    .page({ companyId, after: position, limit: pageSize, ...(types && { types }) }, renderer.render)
    // The events were deleted while the endpoint was disabled for months. Continue with the oldest event that
    // is left.
    .pipe(
      Effect.catchTag("CursorTooOld", () =>
        Effect.map(feed.oldest(companyId), (next) => ({ items: [], next }))
      )
    )
  const { items, next, againAtMillis = Infinity, isEnd = false } = page
  standing.againAtMillis = againAtMillis
  const places = items.map(({ place }) => cursorOf(place))
  const isOld = !Notice.isAfter(position, sentBefore)
  const known = new Set(isOld ? yield* reads.knownDeliveries(endpoint.id, endpoint.epoch, places) : [])
  if (!isEnd && (items.length > 0 || next !== position)) inbox.offer("events")
  standing.isBehind = isFull
  if (isFull) standing.testedTo = next
  else standing.position = next
  for (const item of items) {
    const isTheirs = item.type !== testType || item.subject === endpoint.id
    const at = cursorOf(item.place)
    if (!isTheirs || known.has(at) || tested.delete(at)) continue
    // The stored position must stay before the events that were not read, so it ignores these tests.
    if (isFull) tested.add(at)
    else standing.unrecorded.set(item.place, item.atMillis)
    standing.backlog.push(entryOf(item))
  }
})

const placesOf = ({ endpoint }: Standing) => (endpoint.failingSinceMillis === null ? attemptsAtOnce : 1)

/** Starts all attempts that can start. */
const fill = Effect.fnUntraced(function* (run: Run, broken: Broken, sentBefore: Notice.Place) {
  const { standing, sending, fence, inbox } = run
  const nowMillis = yield* Clock.currentTimeMillis
  for (const [line, [head]] of standing.queues) {
    if (standing.busy.size >= placesOf(standing)) return
    if (head !== undefined && head.dueAtMillis <= nowMillis && !standing.busy.has(line))
      yield* start(run, broken, head)
  }
  while (standing.busy.size < placesOf(standing)) {
    const entry = standing.backlog.shift()
    if (entry === undefined) {
      const isFull = waitingIn(standing) >= maxWaiting
      if (!inbox.has("events") && (isFull || !standing.isBehind)) return
      yield* run.reading(read(run, sentBefore, isFull))
      continue
    }
    const [head] = standing.queues.get(entry.line) ?? []
    if (head === undefined && !standing.busy.has(entry.line)) {
      yield* start(run, broken, entry)
      continue
    }
    // An event behind a failed one waits as a recorded delivery. An event behind one being sent waits in
    // memory.
    const isFailing = head?.recorded !== undefined
    push(standing, isFailing ? yield* sending.defer(standing.endpoint, entry, fence) : waiting(entry))
    if (isFailing) standing.unrecorded.delete(entry.item.place)
  }
})

const follow = Effect.fnUntraced(function* (run: Run, sentBefore: Notice.Place) {
  const { standing, inbox } = run
  const broken: Broken = Deferred.makeUnsafe()
  const hasPlace = () => standing.busy.size < placesOf(standing)
  while (!inbox.has("changed")) {
    inbox.take("ended")
    if (standing.againAtMillis <= (yield* Clock.currentTimeMillis)) {
      standing.againAtMillis = Infinity
      inbox.offer("events")
    }
    yield* fill(run, broken, sentBefore)
    const nowMillis = yield* Clock.currentTimeMillis
    const isBehind = cursorOf(reached(standing)) !== standing.endpoint.cursor
    const progressAtMillis = isBehind ? standing.progressedAtMillis + progressMillis : Infinity
    if (progressAtMillis <= nowMillis) yield* progress(run, standing.endpoint.failingSinceMillis)
    const dueMillis = hasPlace() ? nextDueMillis(standing) : Infinity
    const wakeAtMillis = Math.min(
      dueMillis,
      standing.againAtMillis,
      progressAtMillis <= nowMillis ? Infinity : progressAtMillis
    )
    const sleep =
      wakeAtMillis === Infinity ? Effect.never : Effect.sleep(Math.max(1, wakeAtMillis - nowMillis))
    // While all places are taken, new events wait until an attempt ends.
    const message = inbox.await(hasPlace() ? ["changed", "ended", "events"] : ["changed", "ended"])
    yield* Effect.raceFirst(Effect.raceFirst(message, sleep), Deferred.await(broken))
  }
  // Finish and record started attempts before another process can start.
  while (standing.busy.size > 0) {
    inbox.take("ended")
    yield* Effect.raceFirst(inbox.await(["ended"]), Deferred.await(broken))
  }
  yield* progress(run, standing.endpoint.failingSinceMillis)
})

/** Sends events to one endpoint: events of the same record in order, all others concurrently. */
export const make = Effect.map(parts, (parts) => {
  const served = new Set<Standing>()
  return {
    /** Waits until the store may be read for another endpoint. */
    reading: parts.reading,
    /** Returns, for each endpoint that has not received all events, the commit time of the oldest of these. */
    waitingSinceMillis: (): ReadonlyArray<number> =>
      Array.from(served, waitingSinceMillis).filter((one) => one !== undefined),
    /**
     * Runs until the endpoint changes. Fails if the store is unavailable, if another process has the role, or if
     * the recorded deliveries have to be read again.
     */
    once: (endpoint: Endpoint.Endpoint, fence: Change.Fence, inbox: Inbox) =>
      Effect.scoped(
        Effect.gen(function* () {
          inbox.offer("events")
          const [standing, sentBefore] = yield* parts.reading(
            Effect.all([load(parts, endpoint), parts.feed.now])
          )
          yield* Effect.acquireRelease(
            Effect.sync(() => served.add(standing)),
            () => Effect.sync(() => served.delete(standing))
          )
          yield* follow({ ...parts, standing, fence, inbox }, sentBefore)
        })
      )
  }
})
