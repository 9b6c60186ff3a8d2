import type { Registry } from "@satrail/core/accounts/Cells"
import { remembering } from "@satrail/core/base/Known"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import { Effect, Option, type Redacted, Schema, type Scope } from "effect"
import { translate } from "./Outage.ts"
import * as PgClient from "./PgClient.ts"
import type { DatabaseUnreachable } from "./PgError.ts"

// One small table, which all cells of a service share. What is in it stays: a handle that was given out is never given out again.

// Two that create the same at the same moment would get in each other's way, in one of several ways: the second waits.
const create = `
do $$
begin
  perform pg_advisory_xact_lock(hashtext('satrail_cells'));
  create schema if not exists satrail_cells;
  create table if not exists satrail_cells.handles (handle text collate "C" primary key, letter text not null);
end $$`

// Whoever is first inserts, and everybody is told what is there. An update of what is there already waits for who inserts it in this moment.
const claim = `
insert into satrail_cells.handles as h (handle, letter) values ($1, $2)
on conflict (handle) do update set letter = h.letter returning letter`

const holder = "select letter from satrail_cells.handles where handle = $1"

const decode = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ letter: Schema.String })))

/** How many connections a process has to it: new handles are seldom. */
const maxConnections = 2

/**
 * The registry in a PostgreSQL of its own. Nothing is asked of it before it is needed: while it is away, there are no new handles, and those of other cells are
 * not found.
 */
export const make = Effect.fnUntraced(function* (url: Redacted.Redacted): Effect.fn.Return<Registry, DatabaseUnreachable, Scope.Scope> {
  const { sql } = yield* PgClient.lazily({ url, maxConnections })
  let isCreated = false
  const creating = Effect.andThen(
    sql.unsafe(create).unprepared,
    Effect.sync(() => {
      isCreated = true
    })
  )
  const created = Effect.suspend(() => (isCreated ? Effect.void : creating))
  const ask = (operation: string, text: string, values: ReadonlyArray<string>): Effect.Effect<Option.Option<string>, StoreUnavailable> =>
    Effect.andThen(created, sql.unsafe<object>(text, values)).pipe(
      Effect.catchTag("SqlError", translate(operation)),
      Effect.flatMap((rows) => Effect.orDie(decode(rows))),
      Effect.map(([row]) => Option.map(Option.fromUndefinedOr(row), ({ letter }) => letter))
    )
  return {
    claim: (handle, letter) => Effect.map(ask("claim", claim, [handle, letter]), Option.getOrThrow),
    // Whose a handle is never changes. That it is nobody's does.
    holder: remembering((handle: string) => ask("holder", holder, [handle]), Option.isSome)
  }
})
