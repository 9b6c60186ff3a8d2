import { assert } from "@effect/vitest"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Journal } from "@satrail/core/ledger/Journal"
import type * as Noun from "@satrail/core/ledger/Noun"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import type * as Written from "@satrail/core/ledger/Written"
import type { Records } from "@satrail/core/service/Records"
import { Effect } from "effect"

export type Made<A> = Effect.Effect<A, unknown, Journal | Records | Tasks>

/** What makes a move of a record. */
type Make<A> = (record: A) => Made<Written.Any>

/** A move, and the one that a record takes right before it: null where it is taken by a record as it was created. */
export interface Step {
  readonly after: string | null
  readonly make: Make<Noun.Row>
}

/** A record of a noun: what creates it, and what takes it further, each made anew whenever it is asked for. */
export interface Subject {
  /** Of a company that has 100 sats. */
  readonly create: (companyId: CompanyId.CompanyId) => Made<Written.Any>
  /** Each move of its life, by the Changes that make it. */
  readonly moves: { readonly [move: string]: Step }
}

type Moves<A> = { readonly [move: string]: Make<A> | readonly [after: string, make: Make<A>] }

/** Moves of a noun's records. One that does not begin where a record is created has the one before it, as in `subjectOf`. */
export const movesOf = <A extends Noun.Row>(_: Noun.Noun<A>, moves: Moves<A>): Subject["moves"] =>
  Object.fromEntries(
    Object.entries(moves).map(([name, step]): [string, Step] => {
      const [after, make] = typeof step === "function" ? [null, step] : step
      // oxlint-disable-next-line typescript/consistent-type-assertions -- what is created and read is of this noun
      return [name, { after, make: (record) => make(record as A) }]
    })
  )

/**
 * How a noun's records are created and moved. A move that does not begin where a record is created has the one before it:
 * `restored: ["archived", (record) => …]` is made of a record that was archived.
 */
export const subjectOf = <A extends Noun.Row>(noun: Noun.Noun<A>, create: Subject["create"], moves: Moves<A> = {}): Subject => ({
  create: (companyId) =>
    Effect.tap(create(companyId), (change) => Effect.sync(() => assert.strictEqual(insertOf(change).noun.name, noun.name))),
  moves: movesOf(noun, moves)
})

/** What a Change creates. */
export const insertOf = ({ writes: [first] }: Written.Any): Noun.Insert => (first?._tag === "Insert" ? first : assert.fail("no insert"))
