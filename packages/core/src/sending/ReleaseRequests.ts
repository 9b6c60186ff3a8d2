import { Clock, Effect, Option, Schema } from "effect"
import { isSame, type Operator, SameOperator } from "../accounts/SecondOperator.ts"
import * as Cursor from "../ledger/Cursor.ts"
import { Journal, type StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"

// A payment whose result is lost may settle after all, and a release then loses the operator's money. So a release
// takes two operators: the first request is stored, and the funds are released when another operator repeats it.

/** Time for which a request stays open for the second operator. */
export const waitMillis = 24 * 3_600_000

const Request = Schema.fromJsonString(Schema.Struct({ requestedById: Schema.String, requestedBy: Schema.String, untilMillis: Schema.Int }))

/** Returns the name of the cursor that stores the request to release a withdrawal. */
const sourceOf = (withdrawalId: string): string => `release of ${withdrawalId}`

/**
 * Creates a check that succeeds if another operator requested the release of this withdrawal within a day, or if the
 * host program makes it (`by` is undefined). Otherwise, stores the operator's request and fails.
 */
export const make = Effect.gen(function* () {
  const [ledger, journal] = [yield* LedgerReads, yield* Journal]

  return Effect.fnUntraced(function* (id: string, by: Operator | undefined): Effect.fn.Return<void, SameOperator | StoreUnavailable> {
    if (by === undefined) return
    const nowMillis = yield* Clock.currentTimeMillis
    const source = sourceOf(id)
    const stored = Option.flatMap(yield* ledger.cursor(source), Schema.decodeUnknownOption(Request))
    const pending = Option.getOrUndefined(Option.filter(stored, ({ untilMillis }) => untilMillis > nowMillis))
    if (pending === undefined) {
      const value = Schema.encodeSync(Request)({ requestedById: by.id, requestedBy: by.name, untilMillis: nowMillis + waitMillis })
      yield* Cursor.store(journal, { source, value })
      return yield* new SameOperator({ id, name: by.name })
    }
    if (isSame(by, { id: pending.requestedById, name: pending.requestedBy }))
      return yield* new SameOperator({ id, name: pending.requestedBy })
  })
})
