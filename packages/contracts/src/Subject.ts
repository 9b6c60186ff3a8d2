import { assert } from "@effect/vitest"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Journal } from "@satrail/core/ledger/Journal"
import type * as Noun from "@satrail/core/ledger/Noun"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import type * as Written from "@satrail/core/ledger/Written"
import type { Records } from "@satrail/core/service/Records"
import { Effect } from "effect"

export type Made<A> = Effect.Effect<A, unknown, Journal | Records | Tasks>

/** Builds a transition of a record. */
type Make<A> = (record: A) => Made<Written.Any>

/** A transition, and the one that must come immediately before it, or null if it starts at a newly created record. */
export interface Step {
  readonly after: string | null
  readonly make: Make<Noun.Row>
}

/** The creation and transitions of one record type. Every call builds a new Change. */
export interface Subject {
  /** Builds the Change that creates a record for a company that has 100 sats. */
  readonly create: (companyId: CompanyId.CompanyId) => Made<Written.Any>
  /** Each transition, by name. */
  readonly moves: { readonly [move: string]: Step }
}

type Moves<A> = { readonly [move: string]: Make<A> | readonly [after: string, make: Make<A>] }

/**
 * Declares transitions of a record type. A transition that doesn't start at a new record names the one before
 * it, as in `subjectOf`.
 */
export const movesOf = <A extends Noun.Row>(_: Noun.Noun<A>, moves: Moves<A>): Subject["moves"] =>
  Object.fromEntries(
    Object.entries(moves).map(([name, step]): [string, Step] => {
      const [after, make] = typeof step === "function" ? [null, step] : step
      // oxlint-disable-next-line typescript/consistent-type-assertions -- the created and read record belongs to this noun
      return [name, { after, make: (record) => make(record as A) }]
    })
  )

/**
 * Declares how records of one type are created, and their transitions. A transition that doesn't start at a new
 * record names the one before it: `restored: ["archived", (record) => …]` is built from an archived record.
 */
export const subjectOf = <A extends Noun.Row>(
  noun: Noun.Noun<A>,
  create: Subject["create"],
  moves: Moves<A> = {}
): Subject => ({
  create: (companyId) =>
    Effect.tap(create(companyId), (change) =>
      Effect.sync(() => assert.strictEqual(insertOf(change).noun.name, noun.name))
    ),
  moves: movesOf(noun, moves)
})

/** Returns the insert of a Change. */
export const insertOf = ({ writes: [first] }: Written.Any): Noun.Insert =>
  first?._tag === "Insert" ? first : assert.fail("no insert")
