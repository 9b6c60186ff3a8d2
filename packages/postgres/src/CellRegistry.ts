import type { Registry } from "@satrail/core/accounts/Cells"
import { remembering } from "@satrail/core/base/Known"
import { Effect, Option, type Redacted, Schema, type Scope } from "effect"
import { translate, turnedAway } from "./Outage.ts"
import * as PgClient from "./PgClient.ts"
import type { DatabaseUnreachable } from "./PgError.ts"

// One small table, which all cells of a service share. What is in it stays: a handle that was given out is never given out again, but by its cell to the
// same owner's company in another one. `company` is who may have it there, `is_open` whether it does not yet, `had_by` the letters of the cells before.

// Two that create the same at the same moment would get in each other's way, in one of several ways: the second waits.
const create = `
do $$
begin
  perform pg_advisory_xact_lock(hashtext('satrail_cells'));
  create schema if not exists satrail_cells;
  create table if not exists satrail_cells.handles (
    handle text collate "C" primary key,
    letter text not null,
    company text,
    is_open boolean not null default false,
    had_by text not null default ''
  );
end $$`

// Whoever is first inserts, and everybody is told what is there. An update of what is there already waits for who inserts it in this moment.
// What a cell had and handed over is not taken from it: its row says that it is gone.
const claim = `
with claimed as (
  insert into satrail_cells.handles as h (handle, letter) select handle, $2 from json_array_elements_text($1::json) handle order by handle
  on conflict (handle) do update set is_open = h.is_open and (h.letter <> $2 or h.company is distinct from $3)
  returning *
)
select handle, letter from claimed
where case when letter = $2 then $3 <> company else position($2 in had_by) = 0 end`

const handOver = `
with moved as (
  update satrail_cells.handles set letter = $3, company = $4, is_open = true, had_by = case when letter = $2 then had_by || $2 else had_by end
  where handle = $1 and position($3 in had_by) = 0 and (letter = $2 or is_open and right(had_by, 1) = $2)
  returning handle, letter
)
select * from moved
union select handle, letter from satrail_cells.handles where handle = $1 and letter = $3 and company = $4`

const holder = "select handle, letter from satrail_cells.handles where handle = $1"

const decode = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ handle: Schema.String, letter: Schema.String })))

/** Whoever asks about handles that nobody has keeps no new handle waiting: those have a connection of their own. */
const maxConnections = 1

/** So many who ask about a handle may wait, and no more: anybody may ask about any. */
const maxWaiting = 100

/**
 * The registry in a PostgreSQL of its own. Nothing is asked of it before it is needed: while it is away, there are no new handles, and those of other cells are
 * not found.
 */
export const make = Effect.fnUntraced(function* (url: Redacted.Redacted): Effect.fn.Return<Registry, DatabaseUnreachable, Scope.Scope> {
  const [claiming, looking] = [yield* PgClient.lazily({ url, maxConnections }), yield* PgClient.lazily({ url, maxConnections })]
  let isCreated = false
  const creating = Effect.andThen(
    claiming.sql.unsafe(create).unprepared,
    Effect.sync(() => {
      isCreated = true
    })
  )
  const created = Effect.suspend(() => (isCreated ? Effect.void : creating))
  const ask = (operation: string, { sql }: typeof looking, text: string, values: ReadonlyArray<string | null>) =>
    Effect.andThen(created, sql.unsafe<object>(text, values)).pipe(
      Effect.catchTag("SqlError", translate(operation)),
      Effect.flatMap((rows) => Effect.orDie(decode(rows)))
    )
  let waiting = 0
  const look = (handle: string) =>
    Effect.suspend(() => {
      if (waiting >= maxWaiting) return Effect.fail(turnedAway("holder")("overloaded"))
      waiting++
      return Effect.ensuring(
        ask("holder", looking, holder, [handle]),
        Effect.sync(() => {
          waiting--
        })
      )
    })
  return {
    claim: (handles, letter, companyId) =>
      Effect.map(ask("claim", claiming, claim, [JSON.stringify(handles), letter, companyId]), (rows) => rows.map(({ handle }) => handle)),
    handOver: (handle, letter, to) =>
      Effect.map(ask("handOver", claiming, handOver, [handle, letter, to.letter, to.companyId]), (rows) => rows.length > 0),
    // Who asks the cell that had it a moment ago is led on by it. That a handle is nobody's is asked each time.
    holder: remembering(
      (handle: string) => Effect.map(look(handle), ([row]) => Option.map(Option.fromUndefinedOr(row), ({ letter }) => letter)),
      Option.isSome
    )
  }
})
