import type { About, Kind, Notice, TypeOf } from "@satrail/core/events/Notice"
import { notices as types } from "../../core/Catalogue.ts"
import { Renderer } from "@satrail/core/events/Renderer"
import { Effect, Layer, Schema, Struct } from "effect"
import { type EventIds, Ids } from "@satrail/http/wire/EventIds"
import * as ApiKeys from "@satrail/http/resources/ApiKeys"
import * as Deposits from "@satrail/http/resources/Deposits"
import * as Domains from "@satrail/http/resources/Domains"
import * as Invoices from "@satrail/http/resources/Invoices"
import * as LightningAddresses from "@satrail/http/resources/LightningAddresses"
import * as OnChainAddresses from "@satrail/http/resources/OnChainAddresses"
import { all, type features } from "../../features/http.ts"
import * as Suspense from "@satrail/http/resources/Suspense"
import * as Withdrawals from "@satrail/http/resources/Withdrawals"
import * as Scalars from "@satrail/http/wire/Scalars"
import type * as View from "@satrail/http/wire/View"

/** Maximum size of an event body in bytes. A larger record is sent without its metadata. */
export const maxBytes = 20_000

/** A record has the same form in an event as in the responses of its endpoints. */
const own = {
  deposit: Deposits.view,
  withdrawal: Withdrawals.view,
  invoice: Invoices.view,
  unmatched: Suspense.unmatched,
  apiKey: ApiKeys.requestView,
  lightningAddress: LightningAddresses.view,
  onChainAddress: OnChainAddresses.view,
  domain: Domains.own
} satisfies { readonly [K in Kind]?: View.View<never, Schema.Struct.Fields> }

type Together<F> = (F extends { readonly views: infer V } ? (of: V) => void : never) extends (
  of: infer All
) => void
  ? All
  : never

const ofFeatures: Together<(typeof features)[number]> = Object.assign({}, ...all.map(({ views }) => views))

type RecordOf<K extends Kind> = Extract<About, { readonly kind: K }>["record"]

/** The views of all record types in events. A record type without a view for its records is a compile error. */
const views = { ...own, ...ofFeatures } satisfies {
  readonly [K in Kind]: View.View<RecordOf<K>, Schema.Struct.Fields>
}

/** Records of a host's feature have no view, and are sent unchanged. */
const byKind = new Map<string, { of(record: object): object }>(Object.entries(views))

export const dataOf = ({ kind, record }: About): object => byKind.get(kind)?.of(record) ?? record

/**
 * Renders an event as compact JSON with its fields in this order. `JSON.stringify(JSON.parse(body))` returns
 * the same text.
 */
export const render =
  (ids: EventIds) =>
  (notice: Notice): string => {
    const { place, companyId, type, atMillis } = notice
    const write = (data: object) => {
      const body = JSON.stringify({
        id: ids.write(place, companyId),
        type,
        event: type,
        timestamp: new Date(atMillis).toISOString(),
        company_id: companyId,
        api_version: "v1",
        data
      })
      // `JSON.parse` puts numeric names first, and metadata can have such names, so do the same here.
      return JSON.stringify(JSON.parse(body))
    }
    const data = dataOf(notice)
    const body = write(data)
    return Buffer.byteLength(body) <= maxBytes ? body : write({ ...data, metadata: {} })
  }

const EventId = Schema.String.annotate({
  identifier: "EventId",
  description: "Event id, the same in the feed, the stream and every delivery",
  examples: ["evt_SpK3u0vTnOq1cVhpJ4ySGA"]
})

const eventOf = (types: ReadonlyArray<string>, data: Schema.Top, identifier: string) =>
  Schema.Struct({
    id: EventId,
    type: Schema.Literals(types),
    event: Schema.String.annotate({ description: "Copy of `type`" }),
    timestamp: Scalars.Instant,
    company_id: Scalars.Uuid,
    api_version: Schema.Literal("v1"),
    data
  }).annotate({ identifier })

/** Returns the schema name for events about a record type. */
export const identifierOf = (kind: Kind): string => `${kind.charAt(0).toUpperCase()}${kind.slice(1)}Event`

/** Returns the types of events about a record type. */
export const typesOf = (kind: Kind): ReadonlyArray<string> => types[kind]

export const kinds: ReadonlyArray<Kind> = Struct.keys(types)
export const schemas = new Map(
  kinds.map((kind) => [kind, eventOf(types[kind], views[kind].schema, identifierOf(kind))] as const)
)

/** An event as sent. The type of `data` depends on `type`. */
export type WebhookEvent = {
  readonly [K in Kind]: {
    readonly id: string
    readonly type: TypeOf<K>
    readonly event: TypeOf<K>
    readonly timestamp: string
    readonly company_id: string
    readonly api_version: "v1"
    readonly data: (typeof views)[K]["schema"]["Type"]
  }
}[Kind]

export const Event = Schema.Union([...schemas.values()]).annotate({ identifier: "Event" })

export const layer = Layer.effect(
  Renderer,
  Effect.map(Ids, (ids) => Renderer.of({ render: render(ids), idOf: ids.write }))
)
