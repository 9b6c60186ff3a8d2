import { Clock, Effect, Option, Schema } from "effect"
import { isYoung } from "../base/ReadCache.ts"
import * as Cursor from "../ledger/Cursor.ts"
import { Journal } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"

/**
 * Time after which a missing coin that was not missed again counts as newly missed. Waiting payouts ask more
 * often.
 */
export const forgetMillis = 3_600_000

const Counted = Schema.fromJsonString(
  Schema.Struct({ missedAtMillis: Schema.Int, since: Schema.Record(Schema.String, Schema.Int) })
)

/** The cursor that stores since when coins are missing. It survives restarts, and so does the wait. */
const source = "missing coins"

/** Returns the name of the cursor that exists once the operator knows that a coin is missing. */
const sourceOf = (outpoint: string): string => `missing coin ${outpoint}`

/**
 * Coins that the store lists as unspent and the chain does not: since when each is missing, and which of them the
 * operator knows. Resuming sending acknowledges them.
 */
export const make = Effect.gen(function* () {
  const [ledger, journal] = [yield* LedgerReads, yield* Journal]

  /** Returns when each counted coin was first missed. */
  const counted = Effect.gen(function* () {
    const found = Option.flatMap(yield* ledger.cursor(source), Schema.decodeUnknownOption(Counted))
    if (Option.isNone(found)) return new Map<string, number>()
    const { missedAtMillis, since } = found.value
    return new Map(
      isYoung(missedAtMillis, yield* Clock.currentTimeMillis, forgetMillis) ? Object.entries(since) : []
    )
  })

  /** Stores when each counted coin was first missed. */
  const count = Effect.fnUntraced(function* (since: ReadonlyMap<string, number>) {
    const missedAtMillis = yield* Clock.currentTimeMillis
    const value =
      since.size === 0 ? "" : Schema.encodeSync(Counted)({ missedAtMillis, since: Object.fromEntries(since) })
    yield* Cursor.store(journal, { source, value })
  })

  const isAcknowledged = (outpoint: string) => Effect.map(ledger.cursor(sourceOf(outpoint)), Option.isSome)

  const acknowledge = Effect.fnUntraced(function* (outpoints: Iterable<string>) {
    for (const outpoint of new Set(outpoints)) {
      if (yield* isAcknowledged(outpoint)) continue
      yield* Cursor.store(journal, {
        source: sourceOf(outpoint),
        value: String(yield* Clock.currentTimeMillis)
      })
    }
  })

  return { counted, count, isAcknowledged, acknowledge }
})
