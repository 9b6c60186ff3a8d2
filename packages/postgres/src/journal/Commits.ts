import * as Id from "@satrail/core/base/Id"
import * as Cursor from "@satrail/core/ledger/Cursor"
import type { Journal, StoreUnavailable } from "@satrail/core/ledger/Journal"
import { Clock, Context, Effect } from "effect"
import { randomBytes } from "node:crypto"
import { isWhole } from "../client/Outage.ts"

/** After a commit was refused, how long that is taken for how things are; then one is tried. */
export const refusedMillis = 5000

/** How large that one is. On a full disk a row still finds a place in a page that is there: this one needs new pages, as real commits soon do. */
const probeBytes = 131_072

/** Whether commits go through: a database whose disk is full, or that is a replica, answers every read. */
export class Commits extends Context.Service<
  Commits,
  {
    /**
     * Fails while commits are refused. The result of the last one is known without a query; only where that was a refusal, and no commit was tried since, a commit
     * of nothing is made to see whether it is over.
     */
    readonly check: Effect.Effect<void, StoreUnavailable>
  }
>()("@satrail/postgres/journal/Commits") {}

export const make = () => {
  let refused: { readonly error: StoreUnavailable; readonly atMillis: number } | undefined

  /** What a flush came to. That one Change was in the way of another is no word about the store. */
  const watched = <A>(flush: Effect.Effect<A, StoreUnavailable>): Effect.Effect<A, StoreUnavailable> =>
    flush.pipe(
      Effect.tap(() => Effect.sync(() => (refused = undefined))),
      Effect.tapError((error) =>
        isWhole(error)
          ? Effect.map(Clock.currentTimeMillis, (atMillis) => {
              refused = { error, atMillis }
            })
          : Effect.void
      )
    )

  const over = (journal: Journal["Service"]): Commits["Service"] =>
    Commits.of({
      check: Effect.gen(function* () {
        const nowMillis = yield* Clock.currentTimeMillis
        if (refused === undefined) return
        if (nowMillis - refused.atMillis < refusedMillis) return yield* refused.error
        const value = randomBytes(probeBytes / 2).toString("hex")
        yield* journal.commit(Cursor.moved({ source: "readiness", value }, yield* Id.make, nowMillis))
      }).pipe(Effect.catchTag("StaleFence", Effect.die))
    })

  return { watched, over }
}
