import type * as CompanyId from "@satrail/core/base/CompanyId"
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
import { member, text } from "../../story/Json.ts"
import type { Coverage } from "../../world/Coverage.ts"
import type { Arrival } from "../../world/Receivers.ts"
import type { World } from "../../world/World.ts"
import * as CompanyChecks from "../../checks/CompanyChecks.ts"
import type { Seen } from "../../checks/Seen.ts"
import { claim, same } from "../../checks/Violation.ts"

/** A webhook endpoint, as its owner knows it. */
export interface Known {
  readonly id: string
  readonly companyId: CompanyId.CompanyId
  readonly bearer: string
  readonly url: string
  readonly types: ReadonlyArray<string>
  /** All that were given out. */
  readonly secrets: Array<string>
}

/** What companies are sent, held against what was committed and what they can read. */
export interface Deliveries {
  readonly endpoints: Array<Known>
  /** The ids of the events that arrived under a URL, the first arrival of each, in order. */
  readonly received: (url: string) => ReadonlyArray<string>
  /** What arrived, and was recorded, since the last look. */
  readonly look: () => void
  /** Whether the endpoint is as its owner wants it: enabled, if it was not deleted. */
  readonly isOpen: (endpoint: Known) => Promise<boolean>
  /** Everything there is, when nothing is on its way any more. `feed` is what a company reads of its events, oldest first. */
  readonly close: (companyId: CompanyId.CompanyId, feed: ReadonlyArray<unknown>) => Promise<void>
}

// Events are forgotten after 90 days; clocks differ.
const keptMillis = 89 * 24 * 3600 * 1000
const pageSize = 1000
const testType = "webhook_endpoint.test"

const ids = Context.get(Context.empty(), EventIds.Ids)

/** The record that an event is about. */
const subjectOf = (event: unknown): string => text(event, "data", text(event, "type").startsWith("domain.") ? "domain" : "id")

const isFor = ({ id, types }: Known, event: unknown): boolean => {
  const type = text(event, "type")
  if (type === testType) return subjectOf(event) === id
  return types.length === 0 || types.some((filter) => (filter.endsWith("*") ? type.startsWith(filter.slice(0, -1)) : type === filter))
}

/** The last thing that is told about a record that has ended, or rests. */
const lastTold: { readonly [kind in "withdrawal" | "deposit"]: { readonly [status: string]: RegExp } } = {
  withdrawal: { settled: /^withdrawal\.\w+\.completed$/, failed: /^withdrawal\.\w+\.failed$/ },
  deposit: { settled: /^deposit\.\w+\.completed$/, failed: /^deposit\.on_chain\.failed$/ }
}

/** What was committed about deliveries. */
const listen = (seen: Seen) => {
  const rotations = new Map<string, number>()
  /** By endpoint and event. */
  const givenUp = new Set<string>()
  /** What an owner had an endpoint leave out, who has it go on after a place that it had not reached: from and to, by endpoint. */
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

/** Whether it is signed with one of these secrets. When it arrived does not count: it may have been under way for long. */
const isSigned = ({ headers, body }: Arrival, secrets: ReadonlyArray<string>): boolean =>
  secrets.some((secret) => {
    try {
      return Webhooks.verify(headers, body, secret, Number(headers["webhook-timestamp"]) * 1000).id === headers["webhook-id"]
    } catch {
      return false
    }
  })

/** What became of every record is the last that is told about it. */
const tellsAll = Effect.fnUntraced(function* ({ records, time }: World, companyId: CompanyId.CompanyId, feed: ReadonlyArray<unknown>) {
  const told = new Map(feed.map((event) => [subjectOf(event), event]))
  const { withdrawals, deposits, own } = yield* CompanyChecks.read(records, companyId)
  const rows = [
    ...withdrawals.map((row) => ({ kind: "withdrawal", row, last: lastTold.withdrawal }) as const),
    ...deposits.map((row) => ({ kind: "deposit", row, last: lastTold.deposit }) as const),
    ...own.flatMap(({ of: { kind, told }, rows }) => rows.map((row) => ({ kind, row, last: told })))
  ]
  for (const { kind, row, last } of rows) {
    const type = last[row.status]
    // A refund touches a deposit long after what was told of it.
    const sinceMillis = kind === "deposit" && "createdAtMillis" in row ? row.createdAtMillis : row.updatedAtMillis
    if (type === undefined || sinceMillis < time.nowMillis() - keptMillis) continue
    const event = told.get(row.id)
    claim(
      type.test(text(event, "type")),
      `what became of a record is told: ${kind} ${row.id} is ${row.status}, told ${text(event, "type")}`
    )
  }
})

export const make = (world: World, seen: Seen, coverage: Coverage): Deliveries => {
  const { receivers, records, read } = world
  const endpoints: Array<Known> = []
  const bodies = new Map<string, string>()
  const received = new Map<string, Set<string>>()
  const acknowledged = new Set<string>()
  /** Where the last event of a record is that arrived under a URL for the first time. */
  const last = new Map<string, Notice.Place>()
  const { rotations, givenUp, isLeftOut, taken } = listen(seen)

  /** The events of a record arrive in their order, whatever arrives again. */
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
    same(body, bodies.get(id) ?? body, `an event is the same to the byte wherever it is told: ${id}`)
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
    claim(isFor(endpoint, event), `an endpoint is sent what it wants: ${id} at ${url}`)
    // Of a rotation whose answer was lost nobody knows the secret.
    if (endpoint.secrets.length < 1 + (rotations.get(endpoint.id) ?? 0)) return
    claim(isSigned(arrival, endpoint.secrets), `a webhook is signed with a secret of its endpoint: ${id} at ${url}`)
  }

  const look = () => {
    seen.absorb()
    for (const arrival of receivers.take()) arrived(arrival)
    for (const { endpointId, eventId } of taken()) {
      const url = endpoints.find(({ id }) => id === endpointId)?.url
      if (url !== undefined) claim(acknowledged.has(`${url} ${eventId}`), `what was delivered is there: ${eventId} at ${url}`)
    }
  }

  /** Every event since an endpoint is there arrived there, unless it was given up as it may be. */
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

  return {
    endpoints,
    received: (url) => [...(received.get(url) ?? [])],
    look,
    isOpen: ({ companyId, id }) =>
      read(Effect.map(records.get(Endpoint.noun, companyId, id), (found) => Option.isSome(found) && found.value.status !== "disabled")),
    close: async (companyId, feed) => {
      look()
      for (const event of feed) {
        const body = bodies.get(text(event, "id"))
        if (body !== undefined)
          same(JSON.stringify(event), body, `an event is the same to the byte wherever it is told: ${text(event, "id")}`)
        same(member(event, "company_id"), companyId, "a company reads its own events")
      }
      await read(tellsAll(world, companyId, feed))
      for (const endpoint of endpoints) if (endpoint.companyId === companyId) await read(hasArrived(endpoint, feed))
    }
  }
}
