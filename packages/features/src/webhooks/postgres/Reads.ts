import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Endpoint from "../core/records/Endpoint.ts"
import * as Delivery from "../core/records/Delivery.ts"
import { WebhookReads } from "../core/records/WebhookReads.ts"
import { Effect, Option, Schema } from "effect"
import * as Reads from "@satrail/postgres/statements/Reads"
import * as Table from "@satrail/postgres/statements/Table"

const endpoints = Table.of(Endpoint.noun)
const deliveries = Table.of(Delivery.noun)

// Each read has its own index, in which ids are stored as bytes (see migrations/Baseline.ts).
const endpointsOf = Reads.many("Records.endpointsOf", {
  text: `
select ${endpoints.selected} from ${endpoints.name} t
where uuid_send(t.company_id) = uuid_send($1::uuid) and t.status <> 'deleted' order by uuid_send(t.company_id), uuid_send(t.id)`,
  values: (companyId: CompanyId.CompanyId) => [companyId],
  read: endpoints.ofRow
})

const enabledEndpoints = Reads.many("Records.enabledEndpoints", {
  text: `
select ${endpoints.selected} from ${endpoints.name} t
where t.status = 'enabled' and uuid_send(t.id) > uuid_send($1::uuid) order by uuid_send(t.id) limit $2::bigint`,
  values: (after: string | null, limit: number) => [after ?? Id.nil, String(limit)],
  read: endpoints.ofRow
})

const pendingDeliveries = Reads.many("Records.pendingDeliveries", {
  text: `
select ${deliveries.selected} from ${deliveries.name} t
where t.status = 'pending' and uuid_send(t.endpoint_id) = uuid_send($1::uuid) and uuid_send(t.id) > uuid_send($2::uuid)
order by uuid_send(t.id) limit $3::bigint`,
  values: (endpointId: string, after: string | null, limit: number) => [
    endpointId,
    after ?? Id.nil,
    String(limit)
  ],
  read: deliveries.ofRow
})

const placeOf = Schema.decodeUnknownSync(Schema.Struct({ place: Schema.String }))

const knownDeliveries = Reads.many("Records.knownDeliveries", {
  text: `
select t.place from json_array_elements_text($3) as a(place)
join ${deliveries.name} t on t.endpoint_id = $1::uuid and t.epoch = $2::integer and t.place = a.place collate "C"`,
  values: (endpointId: string, epoch: number, places: ReadonlyArray<string>) => [
    endpointId,
    String(epoch),
    JSON.stringify(places)
  ],
  read: (row) => placeOf(row).place
})

const deliveriesTo = Reads.many("Records.deliveriesTo", {
  text: `
select ${deliveries.selected} from ${deliveries.name} t
where uuid_send(t.endpoint_id) = uuid_send($1::uuid) and uuid_send(t.id) < uuid_send($2::uuid)
order by uuid_send(t.endpoint_id) desc, uuid_send(t.id) desc limit $3::bigint`,
  values: (endpointId: string, before: string | null, limit: number) => [
    endpointId,
    before ?? Id.max,
    String(limit)
  ],
  read: deliveries.ofRow
})

const idOf = Schema.decodeUnknownSync(Schema.Struct({ id: Schema.String }))

const forgetDeliveries = Reads.mapped(
  Reads.first("Records.forgetDeliveries", {
    text: `
with old as materialized (
  select company_id, id, status, created_at_millis from (
    select company_id, id, status, created_at_millis from ${deliveries.name}
    where uuid_send(id) > uuid_send($3::uuid) order by uuid_send(id) limit $4::bigint
  ) o where created_at_millis < $1::bigint
), gone as (
  delete from ${deliveries.name} t using old
  where t.company_id = old.company_id and t.id = old.id and (old.status <> 'pending' or old.created_at_millis < $2::bigint)
)
select id::text as id from old order by uuid_send(id) desc limit 1`,
    values: ({
      beforeMillis,
      pendingBeforeMillis,
      after,
      limit
    }: Parameters<WebhookReads["Service"]["forgetDeliveries"]>[0]) => [
      String(beforeMillis),
      String(pendingBeforeMillis),
      after ?? Id.nil,
      String(limit)
    ],
    read: (row) => idOf(row).id
  }),
  Option.getOrNull
)

export const make = Effect.map(
  Effect.all({
    endpointsOf,
    enabledEndpoints,
    pendingDeliveries,
    knownDeliveries,
    deliveriesTo,
    forgetDeliveries
  }),
  WebhookReads.of
)
