import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import { awaitCacheExpiry, cached } from "../base/ReadCache.ts"
import * as Cursor from "../ledger/Cursor.ts"
import { Journal, type StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import { ChainBooks } from "../nodes/ChainBooks.ts"
import { AccountReads } from "./AccountReads.ts"
import * as AcknowledgedCoins from "./AcknowledgedCoins.ts"

/** Operations that can be paused for all companies. */
export const What = Schema.Literals(["sending", "receiving"])
export type What = typeof What.Type

/** The operator has paused this operation, so nothing new starts. Confirmed withdrawals wait, and nothing is lost. */
export class Paused extends Schema.TaggedError<Paused>()("Paused", { what: What }) {}

/** Time at which each operation was paused; null if it is not paused. */
export type Standing = { readonly [what in What]: number | null }

/** Delay before work that waits for the operator is checked again. */
export const waitMillis = 2000

/**
 * Lets the operator stop operations: sending or receiving for all companies, or one company's confirmed
 * withdrawals.
 */
export class Stops extends Context.Service<
  Stops,
  {
    readonly standing: Effect.Effect<Standing, StoreUnavailable>
    /** Fails if the operation is paused, using data read from the store at most `cacheMillis` ago. */
    readonly check: (what: What) => Effect.Effect<void, Paused | StoreUnavailable>
    /**
     * Returns whether this company's payments that have not started must wait: sending is paused, or the
     * company is frozen with `pending` set to wait.
     */
    readonly waits: (companyId: CompanyId.CompanyId) => Effect.Effect<boolean, StoreUnavailable>
    /**
     * Pauses or resumes an operation. By the time this returns, every process applies the change. Pausing
     * again, or resuming what is not paused, changes nothing. Resuming sending acknowledges the coins that are
     * missing on the chain now, so that they do not pause it again.
     */
    readonly pause: (what: What) => Effect.Effect<Standing, StoreUnavailable>
    readonly resume: (what: What) => Effect.Effect<Standing, StoreUnavailable>
  }
>()("@satrail/core/accounts/Stops") {}

/**
 * Returns the name of the cursor that stores when the pause began. The cursor is empty if the operation is not
 * paused.
 */
const sourceOf = (what: What): string => `paused ${what}`

/** Time limit for reading which coins are missing. */
const holdingsMillis = 10_000

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const coins = yield* AcknowledgedCoins.make
  const books = yield* Effect.serviceOption(ChainBooks)
  const ledger = yield* LedgerReads
  const accounts = yield* AccountReads

  const read = (source: string) =>
    Effect.map(ledger.cursor(source), (found) => Number(Option.getOrElse(found, () => "")) || null)
  const since = cached(read)
  const isFrozenWhole = cached((id: CompanyId.CompanyId) =>
    Effect.map(
      accounts.company(id),
      (found) => Option.isSome(found) && found.value.frozen?.pending === "wait"
    )
  )

  const standing = Effect.all({ sending: read(sourceOf("sending")), receiving: read(sourceOf("receiving")) })

  const set = Effect.fnUntraced(function* (what: What, isPaused: boolean) {
    const before = yield* standing
    if ((before[what] !== null) !== isPaused) {
      const nowMillis = yield* Clock.currentTimeMillis
      yield* Cursor.store(journal, { source: sourceOf(what), value: isPaused ? String(nowMillis) : "" })
    }
    yield* awaitCacheExpiry
    return yield* standing
  })

  const unread = (cause: unknown) =>
    Effect.as(
      Effect.logWarning("sending: the chain cannot be read, so coins that are missing may pause it again", {
        cause: String(cause)
      }),
      []
    )
  /** Returns the coins that the chain lacks now. The operator can resume although it cannot be read. */
  const gone = Option.match(books, {
    onNone: () => Effect.succeed([]),
    onSome: ({ holdings }) =>
      Effect.timeout(holdings, holdingsMillis).pipe(
        Effect.map(({ gone }) => gone.map(({ outpoint }) => outpoint)),
        Effect.catchTags({ ChainUnavailable: unread, TimeoutError: unread })
      )
  })
  const acknowledge = Effect.gen(function* () {
    yield* coins.acknowledge([...(yield* coins.counted).keys(), ...(yield* gone)])
  })

  return Stops.of({
    standing,
    check: (what) =>
      Effect.flatMap(since(sourceOf(what)), (found) =>
        found === null ? Effect.void : Effect.fail(new Paused({ what }))
      ),
    waits: Effect.fnUntraced(function* (companyId) {
      return (yield* since(sourceOf("sending"))) !== null || (yield* isFrozenWhole(companyId))
    }),
    pause: (what) => set(what, true),
    resume: (what) => Effect.andThen(what === "sending" ? acknowledge : Effect.void, set(what, false))
  })
})

export const layer = Layer.effect(Stops, make)
