import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import { type Task, Tasks } from "@satrail/core/ledger/Tasks"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { translate } from "./Outage.ts"

const taskOf = Schema.decodeUnknownSync(
  Schema.Struct({
    kind: Schema.String,
    id: Schema.String,
    companyId: CompanyId.CompanyId,
    lane: Schema.String,
    token: Schema.FiniteFromString,
    attempts: Schema.FiniteFromString
  })
)

// A lease is a task that is due again when it ends. Who claims in another process passes over what we lock, and waits for nothing.
const claimed = (due: string, order: string) => `
with recursive ${due}, claimed as (
  update satrail.tasks set due_at_millis = $1::bigint + $2::bigint, token = token + 1, attempts = attempts + 1
  where id = any(array(select id from due)) returning kind, id, company_id, lane, token, attempts
)
select c.kind, c.id::text, c.company_id::text as "companyId", c.lane, c.token::text, c.attempts::text
from claimed c join due d using (id) order by ${order}d.due_at_millis, c.id`

const claim = claimed(
  `
due as materialized (
  select id, due_at_millis from satrail.tasks where kind = $4 and due_at_millis <= $1::bigint
  order by due_at_millis, id limit $3::bigint for update skip locked
)`,
  ""
)

// From one turn to the next by the index, however many tasks are in each; a company that is full is left in one stride. Nobody asks for the next turn
// once there are tasks enough. What is due in one turn is asked for as a range, in an order that no other index has: by what is due at all, the planner would read
// through everybody's. A lane sorts before "~": it is a host.
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
  "c.company_id, c.lane, "
)

const postpone = `
update satrail.tasks set due_at_millis = $3::bigint, kind = coalesce($4::text, kind), lane = coalesce($5::text, lane)
where id = $1::uuid and token = $2::int returning id::text`

const list = (values: ReadonlyArray<string>) => `{${values.map((value) => JSON.stringify(value)).join(",")}}`

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return Tasks.of({
    claim: ({ kind, nowMillis, leaseMillis, limit }) =>
      sql.unsafe<object>(claim, [String(nowMillis), String(leaseMillis), String(limit), kind]).pipe(
        Effect.map((rows): ReadonlyArray<Task> => rows.map((row) => taskOf(row))),
        Effect.catch(translate("Tasks.claim"))
      ),
    claimInTurn: ({ kind, nowMillis, leaseMillis, limit, perLane, after, full }) => {
      const numbers = [nowMillis, leaseMillis, limit].map(String)
      const turn = [after?.companyId ?? Id.nil, after?.lane ?? ""]
      return sql.unsafe<object>(claimInTurn, [...numbers, kind, String(perLane), ...turn, list(full.companies), list(full.lanes)]).pipe(
        Effect.map((rows): ReadonlyArray<Task> => rows.map((row) => taskOf(row))),
        Effect.catch(translate("Tasks.claimInTurn"))
      )
    },
    postpone: ({ id, token }, untilMillis, as) =>
      sql.unsafe<object>(postpone, [id, String(token), String(untilMillis), as?.kind ?? null, as?.lane ?? null]).pipe(
        Effect.map((rows) => rows.length === 1),
        Effect.catch(translate("Tasks.postpone"))
      )
  })
})

export const layer = Layer.effect(Tasks, make)
