import type { About, Kind, Notice, TypeOf } from "@satrail/core/events/Notice"
import { types } from "@satrail/core/events/Notice"
import { Renderer } from "@satrail/core/features/webhooks/Ports"
import { Effect, Layer, Schema, Struct } from "effect"
import { type EventIds, Ids } from "../wire/EventIds.ts"
import * as ApiKeys from "../resources/ApiKeys.ts"
import * as Deposits from "../resources/Deposits.ts"
import * as Domains from "../resources/Domains.ts"
import * as Invoices from "../resources/Invoices.ts"
import * as LightningAddresses from "../resources/LightningAddresses.ts"
import * as OnChainAddresses from "../resources/OnChainAddresses.ts"
import { all, type features } from "../features/index.ts"
import * as Suspense from "../resources/Suspense.ts"
import * as Withdrawals from "../resources/Withdrawals.ts"
import * as Scalars from "../wire/Scalars.ts"
import type * as View from "../wire/View.ts"

/** The largest body. A record that would be larger is told without its metadata. */
export const maxBytes = 20_000

/** What each kind of record is in an event: as it is where it is fetched. */
const own = {
  deposit: Deposits.view,
  withdrawal: Withdrawals.view,
  invoice: Invoices.view,
  unmatched: Suspense.unmatched,
  apiKey: ApiKeys.requestView,
  lightningAddress: LightningAddresses.own,
  onChainAddress: OnChainAddresses.view,
  domain: Domains.own
} satisfies { readonly [K in Kind]?: View.View<never, Schema.Struct.Fields> }

type Together<F> = (F extends { readonly views: infer V } ? (of: V) => void : never) extends (of: infer All) => void ? All : never

// oxlint-disable-next-line typescript/consistent-type-assertions -- one by one, as the types are
const ofFeatures = Object.assign({}, ...all.map(({ views }) => views)) as Together<(typeof features)[number]>

/** What each kind of record is in an event: as it is where it is fetched. A kind that has none does not compile. */
const views = { ...own, ...ofFeatures } satisfies { readonly [K in Kind]: View.View<never, Schema.Struct.Fields> }

const byKind = new Map<string, { readonly of: (record: never) => object }>(Object.entries(views))

const dataOf = (about: About): object => {
  switch (about.kind) {
    case "deposit":
      return views.deposit.of(about.record)
    case "withdrawal":
      return views.withdrawal.of(about.record)
    case "invoice":
      return views.invoice.of(about.record)
    case "unmatched":
      return views.unmatched.of(about.record)
    case "apiKey":
      return views.apiKey.of(about.record)
    case "lightningAddress":
      return views.lightningAddress.of(about.record)
    case "onChainAddress":
      return views.onChainAddress.of(about.record)
    case "domain":
      return views.domain.of(about.record)
    default: {
      const view = byKind.get(about.kind)
      // What a host's feature tells of is sent as it is.
      // oxlint-disable-next-line typescript/consistent-type-assertions -- a feature's own kind and its view, which one value declares
      return view === undefined ? (about.record as object) : view.of(about.record as never)
    }
  }
}

/** The event as it is sent: compact JSON in this order, the same after `JSON.stringify(JSON.parse(body))`. */
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
      // Names that are numbers, in metadata, come first wherever JSON is parsed: so they do here.
      return JSON.stringify(JSON.parse(body))
    }
    const data = dataOf(notice)
    const body = write(data)
    return Buffer.byteLength(body) <= maxBytes ? body : write({ ...data, metadata: {} })
  }

const eventOf = (types: ReadonlyArray<string>, data: Schema.Top, identifier: string) =>
  Schema.Struct({
    id: Schema.String.annotate({
      description: "The same wherever and however often the event is told",
      examples: ["evt_SpK3u0vTnOq1cVhpJ4ySGA"]
    }),
    type: Schema.Literals(types),
    event: Schema.String.annotate({ description: "`type` again" }),
    timestamp: Scalars.Instant,
    company_id: Scalars.Uuid,
    api_version: Schema.Literal("v1"),
    data
  }).annotate({ identifier })

/** The name of the schema of the events about a kind of record. */
export const identifierOf = (kind: Kind): string => `${kind.charAt(0).toUpperCase()}${kind.slice(1)}Event`

export const kinds: ReadonlyArray<Kind> = Struct.keys(types)
/** The schema of the events about each kind of record. */
export const schemas = new Map(kinds.map((kind) => [kind, eventOf(types[kind], views[kind].schema, identifierOf(kind))] as const))

/** An event as it is sent: `data` is of its type. */
export type Told = {
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

/** Any event. */
export const Event = Schema.Union([...schemas.values()]).annotate({ identifier: "Event" })

/** How events are written, for who sends them. */
export const layer = Layer.effect(
  Renderer,
  Effect.map(Ids, (ids) => Renderer.of({ render: render(ids), idOf: ids.write }))
)
