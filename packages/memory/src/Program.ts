import * as Journal from "@satrail/core/ledger/Journal"
import type * as Noun from "@satrail/core/ledger/Noun"
import type { Program, Refusal, Storable } from "@satrail/core/service/Changes"
import { HashMap, Option } from "effect"
import * as State from "./State.ts"
import * as Writes from "./Writes.ts"

/** What this store does for a kind of Change that writes cannot express. */
export interface Kind<C extends Program> {
  /** First: was it applied before, or is something else under its id? */
  readonly before: (state: State.State, change: C) => Refusal | "again" | undefined
  /** Then: the rules of its kind, and what it does to the records that it is about. */
  readonly move: (state: State.State, change: C) => State.State | Refusal
}

/** The record this Change is about. A Change of what was never made is its maker's bug, not a refusal. */
export const own = <A extends Noun.Row>(state: State.State, noun: Noun.Noun<A>, change: Storable): A => {
  const row = Option.getOrUndefined(State.get(state, noun, change.companyId, change.id))
  if (row === undefined) throw new Error(`${change._tag}: company ${change.companyId} has no ${change.id}`)
  return row
}

export const conflict = (change: Storable) => new Journal.Conflict({ change: change._tag, id: change.id })

/** A creation: nothing is there yet, or it is there as asked for, or otherwise. */
export const creation = <A extends object>(
  change: Storable,
  of: Noun.Members<A>,
  map: HashMap.HashMap<string, A>,
  asked: A
): Journal.Conflict | "again" | undefined => {
  const row = Option.getOrUndefined(HashMap.get(map, change.id))
  return row === undefined ? undefined : Writes.isAsAsked(of, row, asked) ? "again" : conflict(change)
}
