import { Conflict } from "@satrail/core/ledger/Journal"
import * as Noun from "@satrail/core/ledger/Noun"
import type * as Written from "@satrail/core/ledger/Written"
import type { Refusal } from "@satrail/core/service/Changes"
import { Equal, HashMap, Option } from "effect"
import * as State from "./State.ts"

// Applies a Change's writes to the state. This code defines what each write means.

// oxlint-disable-next-line typescript/consistent-type-assertions -- a store sees nouns with erased types; a Change's own type lists its refusals
const declared = (refusal: unknown) => refusal as Refusal

const conflict = ({ _tag, id }: Written.Any) => new Conflict({ change: _tag, id })

const other = (change: Written.Any, { noun, record }: Noun.Insert): Refusal =>
  noun.other === undefined ? conflict(change) : declared(noun.other(record))

const taken = (change: Written.Any, { noun, record }: Noun.Insert): Refusal =>
  noun.taken === undefined ? conflict(change) : declared(noun.taken(record))

const statusOf = (row: Noun.Row): string => String(Reflect.get(row, "status"))

const refused = (change: Written.Any, row: Noun.Row, { move, found }: Noun.Transition): Refusal => {
  if (move.refused === undefined) throw new Error(`${change._tag} of ${change.id} cannot be refused`)
  return declared(move.refused(found.id, statusOf(row)))
}

/** Returns whether two records have equal values in these fields. */
const alike = (a: object, b: object, members: ReadonlyArray<string>): boolean =>
  members.every((member) => Equal.equals(Reflect.get(a, member), Reflect.get(b, member)))

/**
 * Returns whether a record was created by this request, which is the case if all fields match except those that
 * can change later.
 */
export const isAsAsked = <A extends object>(
  { members, moving }: Noun.Members<A>,
  row: A,
  asked: A
): boolean =>
  members.every(
    ([member]) => moving.has(member) || Equal.equals(Reflect.get(row, member), Reflect.get(asked, member))
  )

const isIn = (row: Noun.Row, statuses: ReadonlyArray<string>): boolean =>
  statuses.length === 0 || statuses.includes(statusOf(row))

const areEmpty = (row: Noun.Row, members: ReadonlyArray<string>): boolean =>
  members.every((member) => Reflect.get(row, member) === null)

const applies = (row: Noun.Row, { move: { from, empty, expects }, found }: Noun.Transition): boolean =>
  isIn(row, from) && areEmpty(row, empty) && alike(row, found, expects)

const wasApplied = (row: Noun.Row, write: Noun.Transition, atMillis: number): boolean => {
  const { again, empty } = write.move
  if (again === "otherwise") return !applies(row, write)
  return (
    isIn(row, again.in) && areEmpty(row, empty) && alike(row, Noun.after(row, write, atMillis), again.same)
  )
}

/** Returns the record to which a move applies, if the record exists. */
const current = (
  state: State.State,
  change: Written.Any,
  { move, found }: Noun.Transition
): Noun.Row | undefined => {
  const { companyId, id } = found
  if (id !== change.id || companyId !== change.companyId)
    throw new Error(`${change._tag}: the first write is to another record`)
  return Option.getOrUndefined(State.get(state, move.noun, companyId, id))
}

/** Step 1 (see Verdict.ts): has the Change already been applied, or does its id belong to something else? */
export const before = (state: State.State, change: Written.Any): Refusal | "again" | undefined => {
  const [first] = change.writes
  if (first === undefined) return undefined
  if (first._tag === "Insert") {
    const { noun, record } = first
    const row = Option.getOrUndefined(State.get(state, noun, record.companyId, record.id))
    return row === undefined ? undefined : isAsAsked(noun, row, record) ? "again" : other(change, first)
  }
  const row = current(state, change, first)
  if (row === undefined) {
    if (first.move.isDoneWhenGone) return "again"
    // A Change to a missing record is a bug in the caller, not a refusal.
    throw new Error(`${change._tag}: company ${change.companyId} has no ${change.id}`)
  }
  if (wasApplied(row, first, change.atMillis)) return "again"
  return applies(row, first) ? undefined : refused(change, row, first)
}

const added = (state: State.State, { noun, member, companyId, id, amount }: Noun.Add): State.State => {
  const row = Option.getOrUndefined(State.get(state, noun, companyId, id))
  if (row === undefined) throw new Error(`company ${companyId} has no ${noun.name} ${id}`)
  return State.put(state, noun, { ...row, [member]: BigInt(Reflect.get(row, member)) + amount })
}

/** Applies a write that follows from the first one. */
export const follow = (
  state: State.State,
  change: Pick<Written.Any, "atMillis">,
  write: Noun.Follow
): State.State => {
  if (write._tag === "Add") return added(state, write)
  if (write._tag === "Insert") {
    const { noun, record } = write
    if (HashMap.has(State.of(state, noun), record.id))
      throw new Error(`${noun.name} ${record.id} already exists`)
    return State.put(state, noun, record)
  }
  const { noun, stamps, companyId, id } = write
  const row = id === null ? undefined : Option.getOrUndefined(State.get(state, noun, companyId, id))
  return row === undefined
    ? state
    : State.put(state, noun, {
        ...row,
        ...Object.fromEntries(stamps.map((member) => [member, change.atMillis]))
      })
}

/** Inserts the records that a hook added to a Change. */
export const inserted = (
  state: State.State,
  { atMillis, inserts = [] }: Pick<Written.Any, "atMillis" | "inserts">
): State.State =>
  inserts.reduce((next, insert) => {
    if (State.isTaken(next, insert.noun, insert.record)) throw new Error(`${insert.noun.name} exists already`)
    return follow(next, { atMillis }, insert)
  }, state)

/** Step 5 (see Verdict.ts): applies the effects of the writes. */
export const write = (state: State.State, change: Written.Any): State.State | Refusal => {
  const [first, ...later] = change.writes
  if (first === undefined) return state
  if (first._tag === "Insert" && State.isTaken(state, first.noun, first.record)) return taken(change, first)
  const judged =
    first._tag === "Insert"
      ? State.put(state, first.noun, first.record)
      : State.put(
          state,
          first.move.noun,
          Noun.after(
            HashMap.getUnsafe(State.of(state, first.move.noun), first.found.id),
            first,
            change.atMillis
          )
        )
  return later.reduce((next, one) => follow(next, change, one), judged)
}
