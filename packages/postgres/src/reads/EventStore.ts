import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Event from "@satrail/core/ledger/Event"
import { EventStore, type PublicEvents } from "@satrail/core/ledger/EventStore"
import type { Published } from "@satrail/core/ledger/LedgerReads"
import { Effect, Option, Schema } from "effect"
import * as Reads from "../statements/Reads.ts"

const columns = `t.id::text, t.company_id::text as "companyId", t.type, t.subject, t.at_millis::text as "atMillis"`

const decode = Schema.decodeUnknownSync(
  Schema.Struct({
    id: Schema.BigIntFromString,
    companyId: CompanyId.CompanyId,
    ...Event.Event.fields,
    atMillis: Schema.FiniteFromString
  })
)
const read = (row: unknown): Published => decode(row)

/**
 * The lowest id that can still appear. An event's id begins with its transaction's number, so every commit
 * later than the oldest running transaction has a higher id. A reader that continues from below this id
 * misses nothing.
 */
export const horizon =
  "(pg_snapshot_xmin(pg_current_snapshot())::text::bigint - (select transactions from satrail.epoch where id = 1)) * 4096"

const ofAll = Reads.many("EventStore.eventsOf", {
  text: `select ${columns} from satrail.events t where t.id > $1::bigint and t.id < ${horizon} order by t.id limit $2::bigint`,
  values: (after: bigint, limit: number) => [String(after), String(limit)],
  read
})

// Only the intended index has this sort order. With an order by id alone, the planner would scan the events of
// all companies.
const ofCompany = Reads.many("EventStore.eventsOf", {
  text: `
select ${columns} from satrail.events t
where (t.company_id, t.id) > ($1::uuid, $2::bigint) and (t.company_id, t.id) < ($1::uuid, ${horizon})
order by t.company_id, t.id limit $3::bigint`,
  values: (companyId: CompanyId.CompanyId, after: bigint, limit: number) => [
    companyId,
    String(after),
    String(limit)
  ],
  read
})

const before = Reads.many("EventStore.eventsBefore", {
  text: `
select ${columns} from satrail.events t
where (t.company_id, t.id) >= ($1::uuid, 0) and (t.company_id, t.id) < ($1::uuid, least($2::bigint, ${horizon}))
order by t.company_id desc, t.id desc limit $3::bigint`,
  values: (companyId: CompanyId.CompanyId, id: bigint, limit: number) => [
    companyId,
    String(id),
    String(limit)
  ],
  read
})

const byId = Reads.many("EventStore.event", {
  text: `select ${columns} from satrail.events t where t.id = $1::bigint`,
  values: (id: bigint) => [String(id)],
  read
})

const Events = Schema.Array(
  Schema.Struct({ type: Schema.String, subject: Schema.String, body: Schema.String })
)
const decodePublicEvents = Schema.decodeUnknownSync(
  Schema.Struct({
    id: Schema.BigIntFromString,
    companyId: CompanyId.CompanyId,
    events: Schema.fromJsonString(Events)
  })
)
const readPublicEvents = (row: unknown): PublicEvents => decodePublicEvents(row)

const publicColumns = `t.id::text, t.company_id::text as "companyId", t.tellings::text as events`

const publicEvents = Reads.many("EventStore.publicEvents", {
  text: `
select ${publicColumns} from satrail.told_events t
where t.id = any(array(select value::bigint from json_array_elements_text($1))) order by t.id`,
  values: (ids: ReadonlyArray<bigint>) => [JSON.stringify(ids.map(String))],
  read: readPublicEvents
})

// The existing row wins: updating it to its own value returns it.
const storePublicEvents = Reads.many("EventStore.storePublicEvents", {
  text: `
insert into satrail.told_events as t (id, company_id, tellings)
select id, company_id, tellings from json_to_recordset($1) as a(id bigint, company_id uuid, tellings text) order by id
on conflict (id) do update set id = excluded.id
returning ${publicColumns}`,
  values: (rows: ReadonlyArray<PublicEvents>) => [
    JSON.stringify(
      rows.map(({ id, companyId, events }) => ({
        id: String(id),
        company_id: companyId,
        tellings: JSON.stringify(events)
      }))
    )
  ],
  read: readPublicEvents
})

// The row of the nil company covers all events, including those of the nil company itself.
const forgetEvents = Reads.many("EventStore.forgetEvents", {
  text: `
with old as materialized (
  select id, company_id from (select id, company_id, at_millis from satrail.events order by id limit $2::bigint) o
  where at_millis < $1::bigint
), untold as (
  delete from satrail.told_events where id = any(array(select id from old))
), gone as (
  delete from satrail.events where id = any(array(select id from old))
), noted as (
  insert into satrail.forgotten_events as t (company_id, until)
  select company_id, max(id) from old where company_id <> '${Id.nil}' group by 1 union all select '${Id.nil}', max(id) from old having count(*) > 0 order by 1
  on conflict (company_id) do update set until = greatest(t.until, excluded.until)
)
select count(*)::text as count from old`,
  values: (beforeMillis: number, limit: number) => [String(beforeMillis), String(limit)],
  read: Schema.decodeUnknownSync(Schema.Struct({ count: Schema.FiniteFromString }))
})

const forgottenUntil = Reads.many("EventStore.forgottenUntil", {
  text: `select until::text from satrail.forgotten_events t where t.company_id = $1::uuid`,
  values: (companyId: CompanyId.CompanyId | null) => [companyId ?? Id.nil],
  read: Schema.decodeUnknownSync(Schema.Struct({ until: Schema.BigIntFromString }))
})

const unreadable = Reads.many("EventStore.unreadableSinceMillis", {
  text: `select at_millis::text as millis from satrail.events where id >= ${horizon} order by id limit 1`,
  values: () => [],
  read: Schema.decodeUnknownSync(Schema.Struct({ millis: Schema.FiniteFromString }))
})

export const make = Effect.gen(function* () {
  const [all, company, newest, event] = [yield* ofAll, yield* ofCompany, yield* before, yield* byId]
  const [kept, keep, forget] = [yield* publicEvents, yield* storePublicEvents, yield* forgetEvents]
  const [until, since] = [yield* forgottenUntil, yield* unreadable]
  return EventStore.of({
    eventsOf: (companyId, after, limit) =>
      companyId === null ? all(after, limit) : company(companyId, after, limit),
    eventsBefore: newest,
    event: (id) => Effect.map(event(id), ([found]) => Option.fromUndefinedOr(found)),
    publicEvents: (ids) => (ids.length === 0 ? Effect.succeed([]) : kept(ids)),
    storePublicEvents: (rows) => (rows.length === 0 ? Effect.succeed([]) : keep(rows)),
    forgetEvents: (beforeMillis, limit) =>
      Effect.map(forget(beforeMillis, limit), ([row]) => row?.count ?? 0),
    forgottenUntil: (companyId) => Effect.map(until(companyId), ([row]) => row?.until ?? 0n),
    unreadableSinceMillis: Effect.map(since(), ([row]) => row?.millis ?? null)
  })
})
