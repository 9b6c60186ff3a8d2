import type * as CompanyId from "@satrail/core/base/CompanyId"
import type * as Noun from "@satrail/core/ledger/Noun"
import type { Position } from "@satrail/core/ledger/Page"
import type { Effect, Option } from "effect"
import * as State from "./State.ts"

/** Selects from the current state. */
export type Read = <A>(select: (now: State.State) => A) => Effect.Effect<A>

export const compare = <A>(a: A, b: A): number => (a < b ? -1 : a > b ? 1 : 0)

/** Returns the page of `rows` after `after`, ordered by id. */
export const page = <A extends { readonly id: string }>(
  rows: Iterable<A>,
  after: string | null,
  limit: number
): ReadonlyArray<A> =>
  Array.from(rows)
    .filter(({ id }) => after === null || id > after)
    .toSorted((a, b) => compare(a.id, b.id))
    .slice(0, limit)

/** Returns the page of `rows` before `before`, newest first by id. */
export const newestFirst = <A extends { readonly id: string }>(
  rows: ReadonlyArray<A>,
  before: string | null,
  limit: number
): ReadonlyArray<A> =>
  rows
    .filter(({ id }) => before === null || id < before)
    .toSorted((a, b) => compare(b.id, a.id))
    .slice(0, limit)

/** Compares two records for a list sorted newest first. */
export const newest = (a: Position, b: Position): number =>
  compare(b.createdAtMillis, a.createdAtMillis) || compare(b.id, a.id)

/** Returns the page of `rows` after `after`, newest first by time, then by id. */
export const newestByTime = <A extends Position>(
  rows: ReadonlyArray<A>,
  after: Position | null,
  limit: number
): ReadonlyArray<A> =>
  rows
    .filter((row) => after === null || newest(after, row) < 0)
    .toSorted(newest)
    .slice(0, limit)

/** Reads a company's record of the given kind. */
export const recordOf =
  <A extends Noun.Row>(read: Read, noun: Noun.Noun<A>) =>
  (companyId: CompanyId.CompanyId, id: string): Effect.Effect<Option.Option<A>> =>
    read((now) => State.get(now, noun, companyId, id))
