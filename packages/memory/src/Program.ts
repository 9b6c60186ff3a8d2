import * as Journal from "@satrail/core/ledger/Journal"
import type * as Noun from "@satrail/core/ledger/Noun"
import type { Program, Refusal, Storable } from "@satrail/core/service/Changes"
import { HashMap, Option } from "effect"
import * as State from "./State.ts"
import * as Writes from "./Writes.ts"

/** Implements a kind of Change that cannot be expressed as writes. */
export interface Kind<C extends Program> {
  /** Runs first. Returns "again" if the Change was already applied, or a refusal if its id is taken. */
  readonly before: (state: State.State, change: C) => Refusal | "again" | undefined
  /** Runs after `before`. Checks the rules for this kind of Change and applies its effect on records. */
  readonly move: (state: State.State, change: C) => State.State | Refusal
}

/** Returns the record of this Change. A Change to a missing record is a bug in the caller, not a refusal. */
export const own = <A extends Noun.Row>(state: State.State, noun: Noun.Noun<A>, change: Storable): A => {
  const row = Option.getOrUndefined(State.get(state, noun, change.companyId, change.id))
  if (row === undefined) throw new Error(`${change._tag}: company ${change.companyId} has no ${change.id}`)
  return row
}

export const conflict = (change: Storable) => new Journal.Conflict({ change: change._tag, id: change.id })

/** Returns undefined if the id is free, "again" if the same record exists, and a Conflict otherwise. */
export const creation = <A extends object>(
  change: Storable,
  of: Noun.Members<A>,
  map: HashMap.HashMap<string, A>,
  asked: A
): Journal.Conflict | "again" | undefined => {
  const row = Option.getOrUndefined(HashMap.get(map, change.id))
  return row === undefined ? undefined : Writes.isAsAsked(of, row, asked) ? "again" : conflict(change)
}
