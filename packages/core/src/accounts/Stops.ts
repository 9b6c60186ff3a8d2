import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import * as Id from "../base/Id.ts"
import { everywhere, remembering } from "../base/Known.ts"
import * as Cursor from "../ledger/Cursor.ts"
import { Journal, type StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import { AccountReads } from "./AccountReads.ts"

/** What can be paused, for everybody. */
export const What = Schema.Literals(["sending", "receiving"])
export type What = typeof What.Type

/** The operator has paused it: nothing new begins. What was confirmed before waits, and nothing is lost. */
export class Paused extends Schema.TaggedError<Paused>()("Paused", { what: What }) {}

/** Since when each is paused, null where it is not. */
export type Standing = { readonly [what in What]: number | null }

/** How long what waits for the operator is left alone before it is looked at again. */
export const waitMillis = 2000

/** How the operator stops what goes on: sending or receiving for everybody, or what one company has confirmed. */
export class Stops extends Context.Service<
  Stops,
  {
    readonly standing: Effect.Effect<Standing, StoreUnavailable>
    /** Fails where it is paused, by what was read from the store at most `knownMillis` ago. */
    readonly check: (what: What) => Effect.Effect<void, Paused | StoreUnavailable>
    /** Whether payments of this company that have not begun have to wait: sending is paused, or the company is frozen with all that is pending. */
    readonly waits: (companyId: CompanyId.CompanyId) => Effect.Effect<boolean, StoreUnavailable>
    /** When these answer, every process goes by it. Pausing what is paused, and resuming what is not, changes nothing. */
    readonly pause: (what: What) => Effect.Effect<Standing, StoreUnavailable>
    readonly resume: (what: What) => Effect.Effect<Standing, StoreUnavailable>
  }
>()("@satrail/core/accounts/Stops") {}

/** The one text that says it, kept as cursors are: since when, or nothing. */
const sourceOf = (what: What): string => `paused ${what}`

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const accounts = yield* AccountReads

  const read = (source: string) => Effect.map(ledger.cursor(source), (found) => Number(Option.getOrElse(found, () => "")) || null)
  const since = remembering(read)
  const isFrozenWhole = remembering((id: CompanyId.CompanyId) =>
    Effect.map(accounts.company(id), (found) => Option.isSome(found) && found.value.frozen?.pending === "wait")
  )

  const standing = Effect.all({ sending: read(sourceOf("sending")), receiving: read(sourceOf("receiving")) })

  const set = Effect.fnUntraced(function* (what: What, isPaused: boolean) {
    const before = yield* standing
    if ((before[what] !== null) !== isPaused) {
      const nowMillis = yield* Clock.currentTimeMillis
      const cursor = { source: sourceOf(what), value: isPaused ? String(nowMillis) : "" }
      // It is the work of no task, so no claim of it can be stale.
      yield* Effect.catchTag(journal.commit(Cursor.moved(cursor, yield* Id.make, nowMillis)), "StaleFence", Effect.die)
    }
    yield* everywhere
    return yield* standing
  })

  return Stops.of({
    standing,
    check: (what) => Effect.flatMap(since(sourceOf(what)), (found) => (found === null ? Effect.void : Effect.fail(new Paused({ what })))),
    waits: Effect.fnUntraced(function* (companyId) {
      return (yield* since(sourceOf("sending"))) !== null || (yield* isFrozenWhole(companyId))
    }),
    pause: (what) => set(what, true),
    resume: (what) => set(what, false)
  })
})

export const layer = Layer.effect(Stops, make)
