import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as FairSlots from "@satrail/core/base/FairSlots"
import * as Id from "@satrail/core/base/Id"
import { isText } from "@satrail/core/base/Metadata"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import type * as Noun from "@satrail/core/ledger/Noun"
import { Array as Arr, Effect, Exit, Option, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as GroupCommit from "./GroupCommit.ts"
import { translate, turnedAway } from "../client/Outage.ts"
import { Patience, writes } from "../client/PgConnection.ts"
import type { Kind } from "./Table.ts"
import * as Table from "./Table.ts"

/** A read that runs once it is given a database. */
export type Read<In extends ReadonlyArray<unknown>, Out> = Effect.Effect<
  (...ask: In) => Effect.Effect<Out, StoreUnavailable>,
  never,
  SqlClient.SqlClient | Scope.Scope
>

/** A read without a response for this long counts as an outage. The wait for a server's connection has its own limit. */
const patienceMillis = 10_000

const inTime = Effect.provideService(Patience, patienceMillis)

/** Disables timeouts for one transaction. */
export const unhurried = "set local statement_timeout = 0; set local lock_timeout = 0"

/** The largest value of an integer column. */
export const maxInteger = 2 ** 31 - 1

/**
 * Returns whether any row can have this key. PostgreSQL would fail on an invalid id, or on text that it
 * cannot store.
 */
const possible = (kind: Kind | "bigint", value: unknown): boolean => {
  switch (kind) {
    case "bigint":
      return typeof value === "bigint"
    case "uuid":
      return typeof value === "string" && Id.is(value)
    case "integer":
      return Number.isInteger(value) && Math.abs(Number(value)) <= maxInteger
    default:
      return typeof value === "string" && isText(value)
  }
}

const isOf = (kind: "uuid" | "text") => (kind === "uuid" ? Id.is : isText)

/**
 * Reads single rows by key. Concurrent reads are combined into one query. The query starts after the last of
 * them was requested, so it sees all preceding commits.
 */
export const one = <Ask extends ReadonlyArray<unknown>, A>(
  operation: string,
  options: {
    readonly key: { readonly [column: string]: "uuid" | "text" | "integer" | "bigint" }
    /** Selects one row, with the key's columns in `a`. */
    readonly select: string
    readonly read: (row: unknown) => A
    readonly keyOf: (...ask: Ask) => ReadonlyArray<unknown>
  }
): Read<Ask, Option.Option<A>> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const key = Object.entries(options.key)
    const definition = key.map(([column, kind]) => `${column} ${kind}`).join(", ")
    const text = `
select a.n::text, t.* from json_to_recordset($1) as a(n int, ${definition}) cross join lateral (${options.select} limit 1) t`
    const get = yield* GroupCommit.make({
      operation,
      laneOf: () => operation,
      flush: (keys: ReadonlyArray<ReadonlyArray<unknown>>) => {
        // Concurrent requests of one company read the same rows, so each row is found and decoded once. No text
        // in a key contains \0.
        const places = new Map<unknown, number>()
        const distinct: Array<ReadonlyArray<unknown>> = []
        const placeOf = keys.map((values) => {
          const identity = values.length === 1 ? values[0] : values.join("\0")
          const place = places.get(identity) ?? distinct.push(values) - 1
          places.set(identity, place)
          return place
        })
        const asked = JSON.stringify(
          distinct.map((values, n) =>
            Object.fromEntries([["n", n], ...key.map(([column], i) => [column, Table.put(values[i])])])
          )
        )
        return inTime(sql.unsafe<{ readonly n: string }>(text, [asked])).pipe(
          Effect.map((rows) => new Map(rows.map((row) => [Number(row.n), options.read(row)]))),
          Effect.map((found) =>
            placeOf.map((place) => Exit.succeed(Option.fromUndefinedOr(found.get(place))))
          ),
          Effect.catchTag("SqlError", translate(operation))
        )
      },
      maxItemsPerFlush: 256,
      maxWaiting: 4096,
      onTurnedAway: turnedAway(operation)
    })
    return (...ask) => {
      const values = options.keyOf(...ask)
      for (const [i, [, kind]] of key.entries()) if (!possible(kind, values[i])) return Effect.succeedNone
      return get(values)
    }
  })

/** The columns with the companies that may read a record. */
const readers = ({ sharedWith }: Noun.Noun): ReadonlyArray<string> => [
  "company_id",
  ...(sharedWith === undefined ? [] : [Table.columnOf(sharedWith)])
]

/** Reads a record of the given kind that a company may read. */
export const get = <A extends Noun.Row>(
  operation: string,
  noun: Noun.Noun<A>
): Read<[companyId: CompanyId.CompanyId, id: string], Option.Option<A>> => {
  const table = Table.of(noun)
  return one(operation, {
    key: { company_id: "uuid", id: Table.keyOf(noun, "id") },
    select: readers(noun)
      .map(
        (of) => `select ${table.selected} from ${table.name} t where t.${of} = a.company_id and t.id = a.id`
      )
      .join(" union all "),
    read: table.ofRow,
    keyOf: (companyId, id) => [companyId, id]
  })
}

/** Reads a record of the given kind by its id as bytes, whichever company owns it (see migrations/Baseline.ts). */
export const anywhere = <A extends Noun.Row>(
  operation: string,
  noun: Noun.Noun<A>
): Read<[id: string], Option.Option<A>> => {
  const table = Table.of(noun)
  return one(operation, {
    key: { id: "uuid" },
    select: `select ${table.selected} from ${table.name} t where uuid_send(t.id) = uuid_send(a.id)`,
    read: table.ofRow,
    keyOf: (id) => [id]
  })
}

/** Reads a record of the given kind by a unique name's fields, whichever company owns it. */
export const named = <A extends Noun.Row, const Members extends ReadonlyArray<keyof A & string>>(
  operation: string,
  noun: Noun.Noun<A>,
  members: Members
): Read<{ readonly [place in keyof Members]: NonNullable<A[Members[place]]> }, Option.Option<A>> =>
  by(operation, noun, members)

/** Like `named`, for fields known only at run time. */
export const by = <A extends Noun.Row>(
  operation: string,
  noun: Noun.Noun<A>,
  members: ReadonlyArray<string>
): Read<ReadonlyArray<unknown>, Option.Option<A>> => {
  const table = Table.of(noun)
  const columns = members.map((member) => Table.columnOf(member))
  return one(operation, {
    key: Object.fromEntries(members.map((member) => [Table.columnOf(member), Table.keyOf(noun, member)])),
    select: `select ${table.selected} from ${table.name} t where ${columns.map((column) => `t.${column} = a.${column}`).join(" and ")}`,
    read: table.ofRow,
    keyOf: (...values) => values
  })
}

/**
 * Maximum number of heavy reads that a process runs at the same time: in total, and of each company. Each occupies a
 * connection for seconds, and other requests need the rest. Recounts have no timeout, so they can't take all places, and
 * a company's other heavy reads don't wait for its own recount.
 */
export const heavy = { most: 3, recounts: 2, each: 1 }
const slots = FairSlots.make(heavy)
const recounts = FairSlots.make({ most: heavy.recounts, each: heavy.each })

/** Reads any number of rows. `$1`, `$2` … are the values. */
export const many = <Ask extends ReadonlyArray<unknown>, A>(
  operation: string,
  options: {
    readonly text: string
    readonly values: (...ask: Ask) => ReadonlyArray<unknown>
    readonly read: (row: unknown) => A
    /** Counts everything, without a timeout. */
    readonly recounts?: true
    /** Reads much of the data of the company that is the first argument. Few of these reads run at the same time. */
    readonly isHeavy?: true
  }
): Read<Ask, ReadonlyArray<A>> =>
  Effect.map(SqlClient.SqlClient, (sql) => {
    const recounted = (found: Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>) =>
      sql.withTransaction(Effect.andThen(sql.unsafe(unhurried).unprepared, found))
    const limited = options.recounts ? recounted : writes(options.text) ? Effect.uninterruptible : inTime
    const inTurn = ([holder]: Ask, found: ReturnType<typeof limited>) => {
      if (!options.isHeavy) return found
      return options.recounts
        ? recounts.run(`${holder}`, slots.run(`${holder} recounts`, found))
        : slots.run(`${holder}`, found)
    }
    return (...ask) =>
      inTurn(ask, limited(sql.unsafe<object>(options.text, options.values(...ask)))).pipe(
        Effect.map((rows) => rows.map(options.read)),
        Effect.catchTag("SqlError", translate(operation))
      )
  })

/** Converts the result of a read. */
export const mapped = <Ask extends ReadonlyArray<unknown>, A, B>(
  read: Read<Ask, A>,
  convert: (found: A) => B
): Read<Ask, B> =>
  Effect.map(
    read,
    (found) =>
      (...ask) =>
        Effect.map(found(...ask), convert)
  )

/** Reads the first row, if there is one. */
export const first = <Ask extends ReadonlyArray<unknown>, A>(
  operation: string,
  options: Parameters<typeof many<Ask, A>>[1]
): Read<Ask, Option.Option<A>> => mapped(many(operation, options), Arr.head)

/** Reads any number of rows as the values of their columns, because objects with many fields are slow to make. */
export const values = <Ask extends ReadonlyArray<unknown>>(
  operation: string,
  options: { readonly text: string; readonly values: (...ask: Ask) => ReadonlyArray<unknown> }
): Read<Ask, ReadonlyArray<ReadonlyArray<unknown>>> =>
  Effect.map(
    SqlClient.SqlClient,
    (sql) =>
      (...ask) =>
        Effect.catchTag(
          inTime(sql.unsafe(options.text, options.values(...ask)).values),
          "SqlError",
          translate(operation)
        )
  )

/** Reads the rows of a table that satisfy `condition`, in id order, starting after the given id. */
export const page = <A>(
  operation: string,
  table: Table.Table<A>,
  condition: string
): Read<[after: string | null, limit: number], ReadonlyArray<A>> =>
  many(operation, {
    text: `select ${table.selected} from ${table.name} t where ${condition} and t.id > $1::uuid order by t.id limit $2::bigint`,
    values: (after, limit) => [after ?? Id.nil, String(limit)],
    read: table.ofRow
  })

/** Reads the records of the given kind that a company may read and that precede the given one, newest first. */
export const newestFirst = <A extends Noun.Row>(
  operation: string,
  noun: Noun.Noun<A>
): Read<[companyId: CompanyId.CompanyId, before: string | null, limit: number], ReadonlyArray<A>> => {
  const table = Table.of(noun)
  const [own = "", ...shared] = readers(noun).map(
    (of) =>
      `from ${table.name} t where t.${of} = $1::uuid and ($2::uuid is null or t.id < $2::uuid) order by t.id desc limit $3::bigint`
  )
  const all = [own, ...shared].map((part) => `(select t.* ${part})`).join(" union all ")
  return many(operation, {
    text: `select ${table.selected} ${shared.length === 0 ? own : `from (${all}) t order by t.id desc limit $3::bigint`}`,
    values: (companyId, before, limit) => [companyId, before, String(limit)],
    read: table.ofRow
  })
}

/** Serializes the values that a column of this kind can have, as a JSON list for a parameter. */
export const list = (kind: "uuid" | "text", values: ReadonlyArray<string>): string =>
  JSON.stringify(values.filter(isOf(kind)))
