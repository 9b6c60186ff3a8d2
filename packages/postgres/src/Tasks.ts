import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Task, Tasks } from "@satrail/core/Tasks"
import { translate } from "./Outage.ts"

const taskOf = Schema.decodeUnknownSync(
  Schema.Struct({
    kind: Schema.String,
    id: Schema.String,
    companyId: Schema.String,
    token: Schema.FiniteFromString,
    attempts: Schema.FiniteFromString
  })
)

// A lease is a task that is due again when it ends. Who claims in another process passes over what we lock, and waits for nothing.
const claim = `
with due as materialized (
  select id, due_at_millis from satrail.tasks where kind = $4 and due_at_millis <= $1::bigint
  order by due_at_millis, id limit $3::bigint for update skip locked
), claimed as (
  update satrail.tasks set due_at_millis = $1::bigint + $2::bigint, token = token + 1, attempts = attempts + 1
  where id = any(array(select id from due)) returning kind, id, company_id, token, attempts
)
select c.kind, c.id::text, c.company_id::text as "companyId", c.token::text, c.attempts::text
from claimed c join due d using (id) order by d.due_at_millis, c.id`

const postpone = "update satrail.tasks set due_at_millis = $3::bigint where id = $1::uuid and token = $2::int returning id::text"

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return Tasks.of({
    claim: ({ kind, nowMillis, leaseMillis, limit }) =>
      sql.unsafe<object>(claim, [String(nowMillis), String(leaseMillis), String(limit), kind]).pipe(
        Effect.map((rows): ReadonlyArray<Task> => rows.map((row) => taskOf(row))),
        Effect.catch(translate("Tasks.claim"))
      ),
    postpone: ({ id, token }, untilMillis) =>
      sql.unsafe<object>(postpone, [id, String(token), String(untilMillis)]).pipe(
        Effect.map((rows) => rows.length === 1),
        Effect.catch(translate("Tasks.postpone"))
      )
  })
})

export const layer = Layer.effect(Tasks, make)
