import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import { type TakenOver, type Task, Tasks } from "@satrail/core/ledger/Tasks"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { translate } from "./client/Outage.ts"

const Claimed = Schema.Struct({
  kind: Schema.String,
  id: Schema.String,
  companyId: CompanyId.CompanyId,
  lane: Schema.String,
  token: Schema.FiniteFromString,
  attempts: Schema.FiniteFromString
})
const taskOf = Schema.decodeUnknownSync(Claimed)
const takenOverOf = Schema.decodeUnknownSync(
  Schema.Struct({ ...Claimed.fields, heldUntilMillis: Schema.FiniteFromString })
)

// A lease is a task that is due again when the lease ends. Claims in other processes skip the rows locked here,
// so they never wait.
const claimed = (due: string, order: string, holder: string, more = "") => `
with recursive ${due}, claimed as (
  update satrail.tasks set due_at_millis = $1::bigint + $2::bigint, token = token + 1, attempts = attempts + 1, holder = ${holder}::uuid
  where id = any(array(select id from due)) returning kind, id, company_id, lane, token, attempts
)
select c.kind, c.id::text, c.company_id::text as "companyId", c.lane, c.token::text, c.attempts::text${more}
from claimed c join due d using (id) order by ${order}d.due_at_millis, c.id`

const claim = claimed(
  `
due as materialized (
  select id, due_at_millis from satrail.tasks where kind = $4 and due_at_millis <= $1::bigint
  order by due_at_millis, id limit $3::bigint for update skip locked
)`,
  "",
  "$5"
)

// Steps from turn to turn in the index, however many tasks each turn has, and skips a company at its maximum in
// one step. Stops once there are enough tasks. The tasks due in a turn are read as a range in an order that
// only this index has. If the query sorted by due time alone, the planner would scan the tasks of all
// companies. A lane is a host name, so it sorts before "~".
const claimInTurn = claimed(
  `
turns as (
  (
    select company_id, lane from satrail.tasks where kind = $4 and (company_id, lane) > ($6::uuid, $7::text collate "C")
    order by company_id, lane limit 1
  )
  union all
  select n.company_id, n.lane from turns t cross join lateral (
    select company_id, lane from satrail.tasks
    where kind = $4 and (company_id, lane) > (t.company_id, case when t.company_id = any($8::uuid[]) then '~' else t.lane end collate "C")
    order by company_id, lane limit 1
  ) n
), due as materialized (
  select d.id, d.due_at_millis from turns t cross join lateral (
    select id, due_at_millis from satrail.tasks k
    where kind = $4 and (k.company_id, k.lane, due_at_millis) >= (t.company_id, t.lane, 0::bigint)
      and (k.company_id, k.lane, due_at_millis) <= (t.company_id, t.lane, $1::bigint)
    order by k.company_id, k.lane, due_at_millis, id limit $5::bigint for update skip locked
  ) d
  where t.company_id <> all($8::uuid[]) and t.lane <> all($9::text[]) limit $3::bigint
)`,
  "c.company_id, c.lane, ",
  "$10"
)

// The row of a dead process remains for as long as a task refers to it.
const takeOver = claimed(
  `
alive as (
  insert into satrail.processes (id, alive_until_millis) values ($4::uuid, $1::bigint + $6::bigint)
  on conflict (id) do update set alive_until_millis = excluded.alive_until_millis
), dead as materialized (
  select id from satrail.processes where alive_until_millis < $1::bigint and id <> $4::uuid
), forgotten as (
  delete from satrail.processes p where id in (select id from dead) and alive_until_millis < $1::bigint
    and not exists (select from satrail.tasks where holder = p.id)
), due as materialized (
  select id, due_at_millis from satrail.tasks
  where holder = any(array(select id from dead)) and kind = any($5::text[]) and due_at_millis > $1::bigint
  order by id limit $3::bigint for update skip locked
)`,
  "",
  "$4",
  `, d.due_at_millis::text as "heldUntilMillis"`
)

const postpone = `
update satrail.tasks set due_at_millis = $3::bigint, kind = coalesce($4::text, kind), lane = coalesce($5::text, lane)
where id = $1::uuid and token = $2::int returning id::text`

// Always take locks in the same order, so that processes renewing claims and processes committing with fences
// cannot deadlock.
const renew = `
with held as (
  select t.id from satrail.tasks t join unnest($1::uuid[], $2::int[]) h (id, token) on t.id = h.id and t.token = h.token
  order by t.id for no key update of t
)
update satrail.tasks set due_at_millis = $3::bigint where id = any(array(select id from held)) returning id::text`

const dueAt = `
select k.kind, d.due_at_millis::text as due from unnest($1::text[]) k (kind)
cross join lateral (select due_at_millis from satrail.tasks where kind = k.kind order by due_at_millis, id limit 1) d`

const renewedOf = Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ id: Schema.String })))
const dueOf = Schema.decodeUnknownSync(
  Schema.Array(Schema.Struct({ kind: Schema.String, due: Schema.FiniteFromString }))
)

const list = (values: ReadonlyArray<string>) => `{${values.map((value) => JSON.stringify(value)).join(",")}}`

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return Tasks.of({
    claim: ({ kind, nowMillis, leaseMillis, limit, holder }) =>
      sql
        .unsafe<object>(claim, [String(nowMillis), String(leaseMillis), String(limit), kind, holder ?? null])
        .pipe(
          Effect.map((rows): ReadonlyArray<Task> => rows.map((row) => taskOf(row))),
          Effect.catch(translate("Tasks.claim"))
        ),
    claimInTurn: ({ kind, nowMillis, leaseMillis, limit, perLane, after, full, holder }) => {
      const numbers = [nowMillis, leaseMillis, limit].map(String)
      const turn = [after?.companyId ?? Id.nil, after?.lane ?? ""]
      const values = [
        ...numbers,
        kind,
        String(perLane),
        ...turn,
        list(full.companies),
        list(full.lanes),
        holder ?? null
      ]
      return sql.unsafe<object>(claimInTurn, values).pipe(
        Effect.map((rows): ReadonlyArray<Task> => rows.map((row) => taskOf(row))),
        Effect.catch(translate("Tasks.claimInTurn"))
      )
    },
    takeOver: ({ holder, kinds, nowMillis, aliveMillis, leaseMillis, limit }) => {
      const values = [
        String(nowMillis),
        String(leaseMillis),
        String(limit),
        holder,
        list(kinds),
        String(aliveMillis)
      ]
      return sql.unsafe<object>(takeOver, values).pipe(
        Effect.map((rows): ReadonlyArray<TakenOver> => rows.map((row) => takenOverOf(row))),
        Effect.catch(translate("Tasks.takeOver"))
      )
    },
    postpone: ({ id, token }, untilMillis, as) =>
      sql
        .unsafe<object>(postpone, [
          id,
          String(token),
          String(untilMillis),
          as?.kind ?? null,
          as?.lane ?? null
        ])
        .pipe(
          Effect.map((rows) => rows.length === 1),
          Effect.catch(translate("Tasks.postpone"))
        ),
    renew: (tasks, untilMillis) =>
      sql
        .unsafe<object>(renew, [
          list(tasks.map(({ id }) => id)),
          list(tasks.map(({ token }) => String(token))),
          String(untilMillis)
        ])
        .pipe(
          Effect.map((rows) => new Set(renewedOf(rows).map(({ id }) => id))),
          Effect.catch(translate("Tasks.renew"))
        ),
    dueAt: (kinds) =>
      sql.unsafe<object>(dueAt, [list(kinds)]).pipe(
        Effect.map((rows) => new Map(dueOf(rows).map(({ kind, due }) => [kind, due]))),
        Effect.catch(translate("Tasks.dueAt"))
      )
  })
})

export const layer = Layer.effect(Tasks, make)
