import * as Pages from "@satrail/core/base/Pages"
import { placeOf } from "@satrail/core/events/Events"
import * as Endpoint from "@satrail/features/webhooks/core/records/Endpoint"
import * as Notice from "@satrail/core/events/Notice"
import * as Delivery from "@satrail/features/webhooks/core/records/Delivery"
import { maxAttempts } from "@satrail/features/webhooks/core/Schedule"
import type { Change } from "@satrail/core/service/Changes"
import * as EventBody from "@satrail/service/http/events/EventBody"
import * as EventIds from "@satrail/http/wire/EventIds"
import * as Webhooks from "@satrail/service/http/events/Webhooks"
import { Context, Effect, Option, Schema } from "effect"
import type { Customers } from "../../story/Customers.ts"
import { subjectOf, text } from "../../story/Json.ts"
import type { Made } from "../../story/Made.ts"
import type { Stage } from "../../story/Stage.ts"
import type { Arrival } from "../../world/Receivers.ts"
import type { Seen } from "../../checks/Seen.ts"
import { claim, same } from "../../checks/Violation.ts"
import type { Watching } from "../Feature.ts"
import { path } from "./Plot.ts"

type Known = Made["endpoints"][number]

const pageSize = 1000
const testType = "webhook_endpoint.test"

const ids = Context.get(Context.empty(), EventIds.Ids)

const isFor = ({ id, types }: Known, event: unknown): boolean => {
  const type = text(event, "type")
  if (type === testType) return subjectOf(event) === id
  return (
    types.length === 0 ||
    types.some((filter) => (filter.endsWith("*") ? type.startsWith(filter.slice(0, -1)) : type === filter))
  )
}

/** Collects the committed Changes about deliveries. */
const listen = (seen: Seen) => {
  const rotations = new Map<string, number>()
  /** Deliveries that were given up, by endpoint and event. */
  const givenUp = new Set<string>()
  /**
   * For each endpoint, the ranges of events (from, to) that its owner skipped by moving the endpoint's position
   * forward.
   */
  const leftOut = new Map<string, Array<readonly [Notice.Place, Notice.Place]>>()
  let delivered: Array<{ readonly endpointId: string; readonly eventId: string }> = []

  const recorded = (
    { endpointId, place, eventCompanyId }: Delivery.Delivery,
    { status, attempts, answered, response }: Delivery.Attempt
  ) => {
    const eventId = ids.write(placeOf(place) ?? Notice.first, eventCompanyId)
    if (status === "delivered") delivered.push({ endpointId, eventId })
    if (status !== "failed") return
    const isAllowed =
      attempts >= maxAttempts || answered === 410 || /older than events are kept/.test(response ?? "")
    claim(
      isAllowed,
      `a delivery is given up only after its last attempt: ${eventId} to ${endpointId} after ${attempts}`
    )
    givenUp.add(`${endpointId} ${eventId}`)
  }
  seen.hear((change: Change) => {
    if (change._tag === "EndpointRotated") rotations.set(change.id, (rotations.get(change.id) ?? 0) + 1)
    if (change._tag === "EndpointEnabled") {
      const [{ found, set }] = change.writes
      const [from, to] = [placeOf(text(found, "cursor")), placeOf(text(set, "cursor"))]
      if (from && to && Notice.isAfter(to, from))
        leftOut.set(change.id, [...(leftOut.get(change.id) ?? []), [from, to]])
    }
    if (change._tag === "DeliveryMade") recorded(change.writes[0].record, change.writes[0].record)
    if (change._tag !== "DeliveryTried") return
    const [{ found, set }] = change.writes
    if (Schema.is(Delivery.Attempt)(set)) recorded(found, set)
  })
  return {
    rotations,
    givenUp,
    isLeftOut: (endpointId: string, place: Notice.Place) =>
      leftOut
        .get(endpointId)
        ?.some(([from, to]) => Notice.isAfter(place, from) && !Notice.isAfter(place, to)) === true,
    taken: () => {
      const taken = delivered
      delivered = []
      return taken
    }
  }
}

/**
 * Returns whether the request is signed with one of these secrets. Any age is accepted, because a request may
 * have been delayed.
 */
const isSigned = ({ headers, body }: Arrival, secrets: ReadonlyArray<string>): boolean =>
  secrets.some((secret) => {
    try {
      const event = Webhooks.verify(headers, body, secret, Number(headers["webhook-timestamp"]) * 1000)
      return Schema.is(EventBody.Event)(event) && event.id === headers["webhook-id"]
    } catch {
      return false
    }
  })

/** Compares the webhooks sent to companies with the committed Changes and the readable records. */
export const watch = (
  { world, coverage }: Stage,
  customers: Customers,
  seen: Seen,
  { endpoints, received }: Made
): Watching => {
  const { receivers, records, read } = world
  const bodies = new Map<string, string>()
  const acknowledged = new Set<string>()
  /** For each URL and record, the position of the latest event that has arrived, ignoring repetitions. */
  const last = new Map<string, Notice.Place>()
  const { rotations, givenUp, isLeftOut, taken } = listen(seen)

  /** Checks that the first arrivals of a record's events are in order. Later repetitions may be in any order. */
  const isInOrder = (url: string, id: string, event: unknown) => {
    const place = ids.read(id, null)
    const record = `${url} ${subjectOf(event)}`
    const before = last.get(record)
    claim(
      place !== undefined && (before === undefined || Notice.isAfter(place, before)),
      `events of a record arrive in order: ${id} at ${url}`
    )
    if (place !== undefined) last.set(record, place)
  }

  const arrived = (arrival: Arrival) => {
    const { url, headers, body, behaviour } = arrival
    coverage.count("fault", `receiver: ${behaviour}`)
    if (behaviour === "closes_before") return
    const id = headers["webhook-id"] ?? ""
    const event: unknown = JSON.parse(body)
    same(text(event, "id"), id, `a webhook has its event's id`)
    same(body, bodies.get(id) ?? body, `every copy of an event has the same bytes: ${id}`)
    bodies.set(id, body)
    const all = received.get(url) ?? new Set()
    received.set(url, all)
    const isFirst = !all.has(id)
    coverage.count(
      "transition",
      `webhook: ${isFirst ? "arrives" : acknowledged.has(`${url} ${id}`) ? "arrives again" : "is tried again"}`
    )
    if (isFirst) {
      all.add(id)
      // A test does not wait for an earlier one.
      if (text(event, "type") !== testType) isInOrder(url, id, event)
    }
    if (behaviour === "ok" || behaviour === "slow") acknowledged.add(`${url} ${id}`)
    const endpoint = endpoints.find((one) => one.url === url)
    if (endpoint === undefined) return
    same(text(event, "company_id"), endpoint.companyId, `a company receives only its own events: ${id}`)
    claim(isFor(endpoint, event), `an endpoint receives only the types it subscribed to: ${id} at ${url}`)
    // If the response to a rotation was lost, the endpoint's owner does not know the new secret.
    if (endpoint.secrets.length < 1 + (rotations.get(endpoint.id) ?? 0)) return
    claim(
      isSigned(arrival, endpoint.secrets),
      `a webhook is signed with one of its endpoint's secrets: ${id} at ${url}`
    )
  }

  const look = () => {
    seen.absorb()
    for (const arrival of receivers.take()) arrived(arrival)
    for (const { endpointId, eventId } of taken()) {
      const url = endpoints.find(({ id }) => id === endpointId)?.url
      if (url !== undefined)
        claim(
          acknowledged.has(`${url} ${eventId}`),
          `a delivery recorded as delivered has arrived: ${eventId} at ${url}`
        )
    }
  }

  /** Checks that every event since the endpoint's creation arrived, unless its delivery was rightly given up. */
  const hasArrived = Effect.fnUntraced(function* (endpoint: Known, feed: ReadonlyArray<unknown>) {
    const { id, companyId, url } = endpoint
    const found = Option.getOrThrow(yield* records.get(Endpoint.noun, companyId, id))
    if (found.status === "deleted") return
    same(found.status, "enabled", `an enabled endpoint whose server works stays enabled: ${url}`)
    const all = yield* Pages.all(pageSize, (after: { readonly id: bigint } | null) =>
      records.eventsOf(companyId, after?.id ?? 0n, pageSize)
    )
    const beginning = all.find(({ subject }) => subject === id)?.id ?? 0n
    for (const event of feed) {
      const eventId = text(event, "id")
      const place = ids.read(eventId, companyId)
      if (place === undefined || place.event < beginning || !isFor(endpoint, event)) continue
      if (acknowledged.has(`${url} ${eventId}`) || isLeftOut(id, place)) continue
      coverage.count("transition", "webhook: is given up")
      claim(
        givenUp.has(`${id} ${eventId}`),
        `every event arrives: ${text(event, "type")} ${eventId} at ${url}`
      )
    }
  })

  /** Returns whether the endpoint is enabled or deleted, and so needs no recovery. */
  const isOpen = ({ companyId, id }: Known) =>
    read(
      Effect.map(
        records.get(Endpoint.noun, companyId, id),
        (found) => Option.isSome(found) && found.value.status !== "disabled"
      )
    )

  return {
    look,
    // Makes the servers respond correctly again, and enables the disabled endpoints, which replays their
    // undelivered events.
    recover: async () => {
      receivers.recover()
      const closed: Array<Known> = []
      for (const endpoint of endpoints) if (!(await isOpen(endpoint))) closed.push(endpoint)
      // Read all endpoints before the first request, because a busy store must not be queried.
      for (const { id, bearer } of closed)
        customers.ask({
          slot: 0,
          method: "POST",
          path: `${path}/${id}/enable`,
          bearer,
          body: JSON.stringify({})
        })
    },
    close: async (companyId, feed) => {
      look()
      for (const event of feed) {
        const body = bodies.get(text(event, "id"))
        if (body !== undefined)
          same(JSON.stringify(event), body, `every copy of an event has the same bytes: ${text(event, "id")}`)
      }
      for (const endpoint of endpoints)
        if (endpoint.companyId === companyId) await read(hasArrived(endpoint, feed))
    }
  }
}
