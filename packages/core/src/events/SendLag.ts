import { Effect, Option, Schema } from "effect"
import { LedgerReads } from "../ledger/LedgerReads.ts"

/** Cursor in which the sending process stores its delay. */
export const source = "webhook lag"
export const Since = Schema.fromJsonString(Schema.NullOr(Schema.Int))

/**
 * Returns since when the oldest event not yet received by an enabled endpoint has been waiting, as last
 * stored by the sending process; null if none waits.
 */
export const waitingSinceMillis = Effect.gen(function* () {
  const text = yield* (yield* LedgerReads).cursor(source)
  return Option.getOrNull(Option.flatMap(text, Schema.decodeUnknownOption(Since)))
})
