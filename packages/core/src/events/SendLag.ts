import { Effect, Option, Schema } from "effect"
import { LedgerReads } from "../ledger/LedgerReads.ts"

/** Cursor in which the sending process stores its delay. */
export const source = "webhook lag"
export const Since = Schema.fromJsonString(Schema.NullOr(Schema.Int))

/**
 * Returns the time at which the oldest undelivered event of any enabled endpoint started waiting, or null if no
 * event is waiting. The sending process stores this value.
 */
export const waitingSinceMillis = Effect.gen(function* () {
  const text = yield* (yield* LedgerReads).cursor(source)
  return Option.getOrNull(Option.flatMap(text, Schema.decodeUnknownOption(Since)))
})
