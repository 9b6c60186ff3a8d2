import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import type * as Noun from "@satrail/core/ledger/Noun"
import { NounReads } from "@satrail/core/ledger/NounReads"
import { Effect, type Option, type Scope } from "effect"
import type { SqlClient } from "effect/sql"
import * as Reads from "../statements/Reads.ts"

type Found<A> = Effect.Effect<A, StoreUnavailable>

interface Of<A> {
  readonly get: (companyId: CompanyId.CompanyId, id: string) => Found<Option.Option<A>>
  readonly newestFirst: (
    companyId: CompanyId.CompanyId,
    before: string | null,
    limit: number
  ) => Found<ReadonlyArray<A>>
  /** Reads by unique name, keyed by the name's fields. Each read takes the fields' values in order. */
  readonly named: ReadonlyMap<string, (...values: ReadonlyArray<unknown>) => Found<Option.Option<A>>>
}

const readsOf = Effect.fnUntraced(function* <A extends Noun.Row>(noun: Noun.Noun<A>) {
  const named = yield* Effect.forEach(noun.unique, (members) =>
    Effect.map(
      Reads.by(`Records.${noun.name} by ${members.join()}`, noun, members),
      (read) => [members.toSorted().join(), read] as const
    )
  )
  const reads: Of<A> = {
    get: yield* Reads.get(`Records.${noun.name}`, noun),
    newestFirst: yield* Reads.newestFirst(`Records.${noun.name}, newest first`, noun),
    named: new Map(named)
  }
  return reads
})

/** Reads are built on first use, so a record type of another package only needs a declaration. */
export const make = Effect.gen(function* () {
  const context = yield* Effect.context<SqlClient.SqlClient | Scope.Scope>()
  const known = new WeakMap<Noun.Noun, unknown>()

  const of = <A extends Noun.Row>(noun: Noun.Noun<A>): Effect.Effect<Of<A>> =>
    Effect.suspend(() => {
      // oxlint-disable-next-line typescript/consistent-type-assertions -- reads stored under a noun were built for it
      const kept = () => known.get(noun) as Of<A> | undefined
      const made = kept()
      if (made !== undefined) return Effect.succeed(made)
      return Effect.map(
        Effect.updateContext(readsOf(noun), () => context),
        (fresh) => {
          const first = kept() ?? fresh // another fiber may have been first
          known.set(noun, first)
          return first
        }
      )
    })

  return NounReads.of({
    get: (noun, companyId, id) => Effect.flatMap(of(noun), (reads) => reads.get(companyId, id)),
    newestFirst: (noun, companyId, before, limit) =>
      Effect.flatMap(of(noun), (reads) => reads.newestFirst(companyId, before, limit)),
    named: (noun, name) =>
      Effect.flatMap(of(noun), (reads) => {
        const members = Object.keys(name)
        const read = reads.named.get(members.toSorted().join())
        const own = noun.unique.find((unique) => unique.toSorted().join() === members.toSorted().join())
        if (read === undefined || own === undefined)
          return Effect.die(new Error(`${noun.name} has no unique name ${members.join()}`))
        return read(...own.map((member): unknown => Reflect.get(name, member)))
      })
  })
})
