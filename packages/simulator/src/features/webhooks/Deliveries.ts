import * as Pages from "@satrail/core/base/Pages"
import { placeOf } from "@satrail/core/events/Events"
import * as Endpoint from "@satrail/core/features/webhooks/records/Endpoint"
import * as Notice from "@satrail/core/events/Notice"
import * as Delivery from "@satrail/core/features/webhooks/records/Delivery"
import { maxAttempts } from "@satrail/core/features/webhooks/Schedule"
import type { Change } from "@satrail/core/service/Changes"
import * as EventIds from "@satrail/http/wire/EventIds"
import * as Webhooks from "@satrail/http/features/webhooks/Webhooks"
import { Context, Effect, Option, Schema } from "effect"
import { subjectOf } from "../../story/Feed.ts"
import { text } from "../../story/Json.ts"
import type { Made } from "../../story/Made.ts"
import type { Arrival } from "../../world/Receivers.ts"
import type { Seen } from "../../checks/Seen.ts"
import { claim, same } from "../../checks/Violation.ts"
import type { Watch } from "../Watch.ts"
import { path } from "./Plot.ts"

type Known = Made["endpoints"][number]

const pageSize = 1000
const testType = "webhook_endpoint.test"

const ids = Context.get(Context.empty(), EventIds.Ids)

const isFor = ({ id, types }: Known, event: unknown): boolean => {
  const type = text(event, "type")
  if (type === testType) return subjectOf(event) === id
  return types.length === 0 || types.some((filter) => (filter.endsWith("*") ? type.startsWith(filter.slice(0, -1)) : type === filter))
}

/** Collects the committed Changes about deliveries. */
const listen = (seen: Seen) => {
  const rotations = new Map<string, number>()
  /** Keyed by endpoint and event. */
  const givenUp = new Set<string>()
  /**
   * Ranges of events, from and to, that an owner skipped by moving the endpoint's position forward; by
   * endpoint.
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
    const isAllowed = attempts >= maxAttempts || answered === 410 || /older than events are kept/.test(response ?? "")
    claim(isAllowed, `a delivery is given up after its last attempt: ${eventId} to ${endpointId} after ${attempts}`)
    givenUp.add(`${endpointId} ${eventId}`)
  }
  seen.hear((change: Change) => {
    if (change._tag === "EndpointRotated") rotations.set(change.id, (rotations.get(change.id) ?? 0) + 1)
    if (change._tag === "EndpointEnabled") {
      const [{ found, set }] = change.writes
      const [from, to] = [placeOf(text(found, "cursor")), placeOf(text(set, "cursor"))]
      if (from && to && Notice.isAfter(to, from)) leftOut.set(change.id, [...(leftOut.get(change.id) ?? []), [from, to]])
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
      leftOut.get(endpointId)?.some(([from, to]) => Notice.isAfter(place, from) && !Notice.isAfter(place, to)) === true,
    taken: () => {
      const taken = delivered
      delivered = []
      return taken
    }
  }
}

/**
 * Returns whether the request is signed with one of these secrets. Its age doesn't matter, because it may
 * have been delayed.
 */
const isSigned = ({ headers, body }: Arrival, secrets: ReadonlyArray<string>): boolean =>
  secrets.some((secret) => {
    try {
      return Webhooks.verify(headers, body, secret, Number(headers["webhook-timestamp"]) * 1000).id === headers["webhook-id"]
    } catch {
      return false
    }
  })

/** Compares the webhooks sent to companies with the committed Changes and the readable records. */
export const watch: Watch = ({ world, coverage }, customers, seen, { endpoints, received }) => {
  const { receivers, records, read } = world
  const bodies = new Map<string, string>()
  const acknowledged = new Set<string>()
  /** Position of the latest event of a record that first arrived at a URL. */
  const last = new Map<string, Notice.Place>()
  const { rotations, givenUp, isLeftOut, taken } = listen(seen)

  /** Checks that the events of a record first arrive in order, whatever is repeated later. */
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
    same(text(event, "id"), id, `a webhook has the id of its event`)
    same(body, bodies.get(id) ?? body, `an event has the same bytes everywhere: ${id}`)
    bodies.set(id, body)
    const all = received.get(url) ?? new Set()
    received.set(url, all)
    const isFirst = !all.has(id)
    coverage.count("transition", `webhook: ${isFirst ? "arrives" : acknowledged.has(`${url} ${id}`) ? "arrives again" : "is tried again"}`)
    if (isFirst) {
      all.add(id)
      isInOrder(url, id, event)
    }
    if (behaviour === "ok" || behaviour === "slow") acknowledged.add(`${url} ${id}`)
    const endpoint = endpoints.find((one) => one.url === url)
    if (endpoint === undefined) return
    same(text(event, "company_id"), endpoint.companyId, `a company is sent its own events: ${id}`)
    claim(isFor(endpoint, event), `an endpoint receives only the types it subscribed to: ${id} at ${url}`)
    // If the response to a rotation was lost, nobody knows that secret.
    if (endpoint.secrets.length < 1 + (rotations.get(endpoint.id) ?? 0)) return
    claim(isSigned(arrival, endpoint.secrets), `a webhook is signed with a secret of its endpoint: ${id} at ${url}`)
  }

  const look = () => {
    seen.absorb()
    for (const arrival of receivers.take()) arrived(arrival)
    for (const { endpointId, eventId } of taken()) {
      const url = endpoints.find(({ id }) => id === endpointId)?.url
      if (url !== undefined) claim(acknowledged.has(`${url} ${eventId}`), `a recorded delivery arrived: ${eventId} at ${url}`)
    }
  }

  /** Checks that every event since the endpoint was created arrived, unless delivery was rightly given up. */
  const hasArrived = Effect.fnUntraced(function* (endpoint: Known, feed: ReadonlyArray<unknown>) {
    const { id, companyId, url } = endpoint
    const found = Option.getOrThrow(yield* records.get(Endpoint.noun, companyId, id))
    if (found.status === "deleted") return
    same(found.status, "enabled", `an endpoint that its owner enabled, and that works, stays so: ${url}`)
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
      claim(givenUp.has(`${id} ${eventId}`), `every event arrives: ${text(event, "type")} ${eventId} at ${url}`)
    }
  })

  /** Whether the endpoint is enabled, as its owner set it, or was deleted. */
  const isOpen = ({ companyId, id }: Known) =>
    read(Effect.map(records.get(Endpoint.noun, companyId, id), (found) => Option.isSome(found) && found.value.status !== "disabled"))

  return {
    look,
    // The servers respond correctly again, and every event that was not delivered is replayed.
    recover: async () => {
      receivers.recover()
      const closed: Array<Known> = []
      for (const endpoint of endpoints) if (!(await isOpen(endpoint))) closed.push(endpoint)
      // Read all endpoints first, because a busy store must not be queried.
      for (const { id, bearer } of closed)
        customers.ask({ slot: 0, method: "POST", path: `${path}/${id}/enable`, bearer, body: JSON.stringify({}) })
    },
    close: async (companyId, feed) => {
      look()
      for (const event of feed) {
        const body = bodies.get(text(event, "id"))
        if (body !== undefined) same(JSON.stringify(event), body, `an event has the same bytes everywhere: ${text(event, "id")}`)
      }
      for (const endpoint of endpoints) if (endpoint.companyId === companyId) await read(hasArrived(endpoint, feed))
    }
  }
}
