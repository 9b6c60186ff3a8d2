import type { Refusal } from "@satrail/core/service/Changes"
import * as Balance from "@satrail/core/ledger/Balance"
import { FeesMoved } from "@satrail/core/ledger/FeesMoved"
import { CompanyFrozen } from "@satrail/core/ledger/Freeze"
import { Conflict } from "@satrail/core/ledger/Journal"
import * as Noun from "@satrail/core/ledger/Noun"
import type * as Written from "@satrail/core/ledger/Written"
import * as Limit from "@satrail/core/ledger/Limit"
import * as Counts from "./Counts.ts"
import * as Labels from "./Labels.ts"
import {
  type Carried,
  granted,
  insufficient,
  joinTarget,
  type Kind,
  sameAsAsked,
  type Shape,
  statement,
  stale,
  target
} from "./Statements.ts"
import * as Table from "./Table.ts"

// A Change that declares its writes needs no special statement, because one is derived from the shape of the
// writes (verbs, record types, fields). Its text contains only constants of declarations, never a value of a
// Change.

const tables = new WeakMap<Noun.Noun, Table.Table<Noun.Row>>()

/** Returns the table of a record type, built once. */
const tableOf = (noun: Noun.Noun): Table.Table<Noun.Row> => {
  const known = tables.get(noun)
  if (known !== undefined) return known
  const made = Table.of(noun)
  tables.set(noun, made)
  return made
}

/** Columns of the second and later writes have a prefix. */
const prefixOf = (place: number) => (place === 0 ? "" : `w${place}_`)

const kindsOf = (noun: Noun.Noun): ReadonlyMap<string, Noun.Kind> => new Map(noun.members)

const typed = (kinds: ReadonlyMap<string, Noun.Kind>, member: string, prefix: string): string =>
  `${prefix}${Table.columnOf(member)} ${Table.typeOf(kinds.get(member) ?? "text")}`

/** The values of Changes in their rows, as `column type`. */
const columnsOf = (write: Noun.Write, place: number, absent: ReadonlySet<string>): ReadonlyArray<string> => {
  const prefix = prefixOf(place)
  switch (write._tag) {
    case "Insert": {
      const kinds = kindsOf(write.noun)
      const ofChange = place === 0 ? ["id", "companyId"] : []
      return write.noun.members.flatMap(([member]) =>
        ofChange.includes(member) || absent.has(prefix + Table.columnOf(member))
          ? []
          : [typed(kinds, member, prefix)]
      )
    }
    case "Transition": {
      const kinds = kindsOf(write.move.noun)
      return [
        ...write.move.sets.map((member) => typed(kinds, member, "")),
        ...write.move.expects.map((member) => typed(kinds, member, "expected_"))
      ]
    }
    case "Touch":
      return [`${prefix}id uuid`, `${prefix}company_id uuid`]
    case "Add":
      return [`${prefix}id uuid`, `${prefix}company_id uuid`, `${prefix}amount bigint`]
  }
}

/** The columns of a record that are present. */
const given = (noun: Noun.Noun, prefix: string, absent: ReadonlySet<string>): ReadonlyArray<string> =>
  noun.members.map(([member]) => Table.columnOf(member)).filter((column) => !absent.has(prefix + column))

/** The unique names that a record has when it is created. */
const namesOf = ({ unique, moving }: Noun.Noun): ReadonlyArray<ReadonlyArray<string>> =>
  unique
    .filter((members) => !members.some((member) => moving.has(member)))
    .map((members) => members.map(Table.columnOf))

const inserting = (noun: Noun.Noun, absent: ReadonlySet<string>, { takes, counts }: Carried): Shape => {
  const table = tableOf(noun)
  const columns = given(noun, "", absent).join(", ")
  const names = namesOf(noun)
  const same = (row: string, of: string, columns: ReadonlyArray<string>) =>
    columns.map((column) => `${row}.${column} = ${of}.${column}`).join(" and ")
  const taken = names.map(
    (columns) => `(select 'Taken' from ${table.name} t where ${same("t", "a", columns)})`
  )
  const before = sameAsAsked(table, "Other")
  if (!takes)
    return {
      parts: () => [
        `
applied as (
  insert into ${table.name} (${columns}) select ${columns} from fresh order by company_id, id
  on conflict do nothing returning company_id, id
)`
      ],
      before,
      guards: taken.length === 0 ? "null" : `coalesce(${taken.join(", ")})`
    }
  const probes = [["company_id", "id"], ...names].map(
    (columns, i) => `
    left join lateral (select true as known_${i} from ${table.name} w where ${same("w", "f", columns)} limit 1) w${i} on true`
  )
  return {
    parts: () => [
      (counts ? Counts.granted : granted)(`
    select f.* from fresh f${probes.join("")}
    where ${probes.map((_, i) => `known_${i} is null`).join(" and ")}
  `),
      `
applied as (
  insert into ${table.name} (${columns}) select ${columns} from granted order by n
)`
    ],
    // Everything granted is written, or the whole statement fails.
    done: "granted",
    before,
    ...(counts && { joins: Counts.joined }),
    guards: `coalesce(${[...taken, ...(counts ? [Counts.exceeded(stale)] : []), insufficient].join(", ")})`
  }
}

const list = (texts: ReadonlyArray<string>): string => texts.map((text) => `'${text}'`).join(", ")

/** Further effects of a moved record: `now` is its state afterwards. */
const projections: { readonly [noun: string]: string } = {
  // A credited output is one of our coins; after a reversal it is not. A coin spent by a payout stays spent,
  // unless the payout is released.
  deposits: `
credited as (
  insert into satrail.unspent (outpoint, wallet, script_pub_key, amount, type, branch, index, is_confirmed)
  select f.chain_tx_id || ':' || f.vout, w.node_id, w.script_pub_key, f.amount, w.type, 0, w.index, 1
  from now f cross join lateral (select * from satrail.on_chain_addresses r where r.address = f.recipient limit 1) w
  where f.status = 'settled' and f.chain_tx_id is not null
    and not exists (select from satrail.coins c where c.outpoint = f.chain_tx_id || ':' || f.vout)
  order by 1 on conflict do nothing
), uncredited as (
  delete from satrail.unspent t
  where t.outpoint = any(array(select f.chain_tx_id || ':' || f.vout from now f where f.status <> 'settled' and f.chain_tx_id is not null))
)`
}

/** The value that a move gives a field of the row `of`; undefined if the move leaves the field unchanged. */
const becomes = ({ sets, stamps, clears, to }: Noun.Move, member: string, of: string): string | undefined => {
  if (sets.includes(member)) return `${of}.${Table.columnOf(member)}`
  if (stamps.includes(member)) return `${of}.at_millis`
  if (clears.includes(member)) return "null"
  return member === "status" && to !== null ? `'${to}'` : undefined
}

/** Conditions under which the move of the Change `of` applies to the current row `g`. */
const applies = ({ noun, from, empty, expects }: Noun.Move, of: string): ReadonlyArray<string> => {
  const kinds = kindsOf(noun)
  // A value that was read and written again can be different JSON text.
  const comparable = (member: string, column: string) =>
    kinds.get(member) === "json" ? `${column}::jsonb` : column
  return [
    ...(from.length === 0 ? [] : [`g.status in (${list(from)})`]),
    ...empty.map((member) => `g.${Table.columnOf(member)} is null`),
    ...expects.map((member) => {
      const column = Table.columnOf(member)
      return `${comparable(member, `g.${column}`)} is not distinct from ${comparable(member, `${of}.expected_${column}`)}`
    })
  ]
}

/** Returns the condition that the move was applied before; undefined if any move that does not apply counts as applied. */
const isAgain = (move: Noun.Move, of: string): string | undefined => {
  if (move.again === "otherwise") return undefined
  const kinds = kindsOf(move.noun)
  const same = move.again.same.map((member) => {
    const column = Table.columnOf(member)
    const value = becomes(move, member, of) ?? `g.${column}`
    // JSON has no equality in SQL, but the same value is the same text.
    return kinds.get(member) === "json"
      ? `g.${column}::text is not distinct from ${value}::text`
      : `g.${column} is not distinct from ${value}`
  })
  const within = move.again.in.length === 0 ? [] : [`g.status in (${list(move.again.in)})`]
  return [...within, ...move.empty.map((member) => `g.${Table.columnOf(member)} is null`), ...same].join(
    " and "
  )
}

/** Returns whether a record can match both conditions: the move applies, and it was applied before. */
const mayOverlap = ({ from, again }: Noun.Move): boolean =>
  again !== "otherwise" &&
  (from.length === 0 || again.in.length === 0 || again.in.some((status) => from.includes(status)))

const moving = (move: Noun.Move, { takes, counts }: Carried): Shape => {
  const { noun } = move
  const table = tableOf(noun)
  const values = noun.members.flatMap(([member]) => {
    const value = becomes(move, member, "f")
    return value === undefined ? [] : [`${Table.columnOf(member)} = ${value}`]
  })
  const again = (of: string) => isAgain(move, of)
  const isDue = [...applies(move, "f"), ...(mayOverlap(move) ? [`not (${again("f")})`] : [])]
  const where = isDue.length === 0 ? "true" : isDue.join(" and ")
  const projection = projections[noun.name]
  const now = noun.members.map(([member]) => {
    const column = Table.columnOf(member)
    return `${becomes(move, member, "f") ?? `g.${column}`} as ${column}`
  })
  const status = noun.members.some(([member]) => member === "status") ? " || ' ' || g.status" : ""
  const due = applies(move, "a")
  const whenApplied = again("a") ?? (due.length === 0 ? "false" : `not (${due.join(" and ")})`)
  const otherwise = due.length === 0 ? "" : ` when not (${due.join(" and ")}) then 'Refused'${status}`
  const gone = move.isDoneWhenGone ? "'Applied'" : "'missing'"
  return {
    parts: (locks) => [
      target(table, locks),
      ...(takes
        ? [
            (counts ? Counts.granted : granted)(
              `select f.* from fresh f join target g using (n) where ${where}`
            )
          ]
        : []),
      `
applied as (
  update ${table.name} t set ${values.join(", ")} from ${takes ? "granted f" : "fresh f join target g using (n)"}
  where t.company_id = f.company_id and t.id = f.id${takes ? "" : ` and ${where}`} returning t.company_id, t.id
)`
    ],
    effects:
      projection === undefined
        ? []
        : [`\nnow as (select ${now.join(", ")} from done f join target g using (n))`, projection],
    joins: counts && takes ? `${joinTarget} ${Counts.joined}` : joinTarget,
    before: `case when g.n is null then ${move.isDoneWhenGone ? "'Applied'" : "null"} when ${whenApplied} then 'Applied'${otherwise} end`,
    guards: takes
      ? `coalesce(case when g.n is null then ${gone} end, ${counts ? `${Counts.exceeded(stale)}, ` : ""}'InsufficientBalance')`
      : `case when g.n is null then ${gone} end`
  }
}

/** A Change with no effect except those that all kinds share. */
const bare: Shape = { parts: () => [], done: "fresh", before: "null" }

/** The effects of a later write. */
const followed = (write: Noun.Follow, place: number, absent: ReadonlySet<string>): string => {
  const prefix = prefixOf(place)
  if (write._tag === "Add") {
    const column = Table.columnOf(write.member)
    return `
wrote_${place} as (
  update ${tableOf(write.noun).name} t set ${column} = t.${column} + u.amount
  from (
    select ${prefix}company_id as company_id, ${prefix}id as id, sum(${prefix}amount)::bigint as amount from done group by 1, 2 order by 1, 2
  ) u
  where t.company_id = u.company_id and t.id = u.id
)`
  }
  if (write._tag === "Insert") {
    const columns = given(write.noun, prefix, absent)
    return `
wrote_${place} as (
  insert into ${tableOf(write.noun).name} (${columns.join(", ")}) select ${columns.map((column) => prefix + column).join(", ")} from done order by n
)`
  }
  return `
wrote_${place} as (
  update ${tableOf(write.noun).name} t set ${write.stamps.map((member) => `${Table.columnOf(member)} = u.at_millis`).join(", ")}
  from (
    select ${prefix}company_id as company_id, ${prefix}id as id, max(at_millis) as at_millis from done where ${prefix}id is not null group by 1, 2
  ) u
  where t.company_id = u.company_id and t.id = u.id
)`
}

/** The name that marks a flush without labels, so that none are written. */
const unlabelled = (column: string): string => `labels in ${column}`

/** Writes the labels by which a record is found. */
const labelling = (write: Noun.Write, place: number, absent: ReadonlySet<string>): ReadonlyArray<string> => {
  if (write._tag !== "Insert" || write.noun.labels === undefined) return []
  const prefix = prefixOf(place)
  const column = prefix + Table.columnOf(write.noun.labels)
  if (absent.has(unlabelled(column))) return []
  return [
    Labels.written(`labelled_${place}`, write.noun, "done", [`${prefix}company_id`, `${prefix}id`, column])
  ]
}

const shapeOf = ([first, ...later]: Noun.Writes, carried: Carried): Shape => {
  const without = new Set(carried.absent)
  const judged =
    first === undefined
      ? bare
      : first._tag === "Insert"
        ? inserting(first.noun, without, carried)
        : moving(first.move, carried)
  const writes = first === undefined ? [] : [first, ...later]
  const idKind =
    first === undefined ? "uuid" : kindsOf(first._tag === "Insert" ? first.noun : first.move.noun).get("id")
  return {
    ...judged,
    idType: idKind === "uuid" ? "uuid" : "text",
    columns: writes.flatMap((write, place) => columnsOf(write, place, without)).join(", "),
    effects: [
      ...(judged.effects ?? []),
      ...later.map((write, i) => followed(write, i + 1, without)),
      ...writes.flatMap((write: Noun.Write, place) => labelling(write, place, without))
    ]
  }
}

type Layout = ReadonlyArray<ReadonlyArray<readonly [member: string, column: string]>>

/** The column of each field, per write. */
const layoutOf = (writes: Noun.Writes): Layout =>
  writes.map((write: Noun.Write, place) => {
    const prefix = prefixOf(place)
    const members =
      write._tag === "Insert"
        ? write.noun.members.map(([member]) => member)
        : write._tag === "Transition"
          ? write.move.sets
          : ["id", "companyId", ...(write._tag === "Add" ? ["amount"] : [])]
    return members.map((member) => [member, prefix + Table.columnOf(member)] as const)
  })

const put = (row: Record<string, unknown>, from: object, columns: Layout[number]) => {
  for (const [member, column] of columns) {
    const value: unknown = Reflect.get(from, member)
    // Missing values are null.
    if (value !== null) row[column] = Table.put(value)
  }
}

const rowOf = (writes: Noun.Writes, layout: Layout): Table.Row => {
  const row: Record<string, unknown> = {}
  writes.forEach((write: Noun.Write, place) => {
    const columns = layout[place] ?? []
    if (write._tag === "Insert") put(row, write.record, columns)
    else if (write._tag === "Transition") {
      put(row, write.set, columns)
      for (const member of write.move.expects)
        put(row, write.found, [[member, `expected_${Table.columnOf(member)}`]])
    } else if (write.id !== null) put(row, write, columns)
  })
  return row
}

/**
 * Returns the columns that are null in the records of all these Changes. Most fields that change later are
 * null at first.
 */
const absentIn =
  (layout: Layout) =>
  (changes: ReadonlyArray<Written.Any>): ReadonlyArray<string> =>
    layout.flatMap((columns, place) => {
      const records: Array<object> = []
      let moving: ReadonlySet<string> = new Set()
      let labels: string | undefined
      for (const { writes } of changes) {
        const write: Noun.Write | undefined = writes[place]
        if (write?._tag !== "Insert") return []
        records.push(write.record)
        moving = write.noun.moving
        labels = write.noun.labels
      }
      const none =
        labels === undefined || records.some((record) => Labels.isAny(record, labels))
          ? []
          : [unlabelled(prefixOf(place) + Table.columnOf(labels))]
      const absent = columns.flatMap(([member, column]) =>
        moving.has(member) && records.every((record) => Reflect.get(record, member) === null) ? [column] : []
      )
      return [...absent, ...none]
    })

/** Identities that no two Changes of a flush may share. */
const identitiesOf = (writes: Noun.Writes): ReadonlyArray<string> =>
  writes.flatMap((write: Noun.Write) => {
    if (write._tag === "Touch") return []
    if (write._tag === "Add") return [write.id]
    if (write._tag === "Transition") return [write.found.id]
    const { noun, record } = write
    const names = noun.unique.flatMap((members) => {
      const values: ReadonlyArray<unknown> = members.map((member) => Reflect.get(record, member))
      return values.includes(null) ? [] : [`${noun.name} ${values.join(" ")}`]
    })
    return [record.id, ...names]
  })

const conflict = ({ _tag, id }: Written.Any) => new Conflict({ change: _tag, id })

// oxlint-disable-next-line typescript/consistent-type-assertions -- a store sees nouns with erased types; a Change's own type lists its refusals
const declared = (refusal: unknown) => refusal as Refusal

const refusals: Kind<Written.Any>["refusals"] = {
  Other: (change) => {
    const [first] = change.writes
    return first?._tag === "Insert" && first.noun.other !== undefined
      ? declared(first.noun.other(first.record))
      : conflict(change)
  },
  Taken: (change) => {
    const [first] = change.writes
    return first?._tag === "Insert" && first.noun.taken !== undefined
      ? declared(first.noun.taken(first.record))
      : conflict(change)
  },
  Refused: (change, status) => {
    const [first] = change.writes
    if (first?._tag !== "Transition" || first.move.refused === undefined)
      throw new Error(`${change._tag} of ${change.id} cannot be refused`)
    return declared(first.move.refused(first.found.id, status))
  },
  LimitExceeded: ({ companyId }, limit, subject) => {
    const name = Limit.names.find((name) => name === limit)
    if (name === undefined) throw new Error(`no limit is called ${limit}`)
    return Limit.exceeded(name, subject, companyId)
  },
  FeesMoved: ({ companyId }) => new FeesMoved({ companyId }),
  CompanyFrozen: ({ companyId }) => new CompanyFrozen({ companyId }),
  InsufficientBalance: ({ companyId, legs }) =>
    new Balance.InsufficientBalance({
      companyId,
      needed: Balance.need(legs.flatMap((leg) => (leg.companyId === companyId ? leg.postings : [])))
    })
}

const kinds = new Map<string, Kind<Written.Any>>()

/** Returns how Changes with writes of this shape are sent. Built once per shape. */
export const kindOf = (writes: Noun.Writes): Kind<Written.Any> => {
  const shape = Noun.shapeOf(writes)
  const known = kinds.get(shape)
  if (known !== undefined) return known
  const layout = layoutOf(writes)
  const made: Kind<Written.Any> = {
    statement: statement((carried) => shapeOf(writes, carried)),
    row: (change) => rowOf(change.writes, layout),
    absent: absentIn(layout),
    identities: (change) => identitiesOf(change.writes),
    refusals
  }
  kinds.set(shape, made)
  return made
}
