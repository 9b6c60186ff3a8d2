import * as Id from "@satrail/core/base/Id"
import { isYoung } from "@satrail/core/base/ReadCache"
import * as Cursor from "@satrail/core/ledger/Cursor"
import type { Journal, StoreUnavailable } from "@satrail/core/ledger/Journal"
import { Clock, Context, Effect } from "effect"
import { randomBytes } from "node:crypto"
import { isWhole } from "../client/Outage.ts"

/** Time for which a refused commit counts as the current state. After that, a test commit is attempted. */
export const refusedMillis = 5000

/**
 * Size of the test commit. On a full disk, a small row still fits into an existing page. This commit needs new
 * pages, as real commits soon will.
 */
const probeBytes = 131_072

/**
 * Tracks whether commits succeed. A database that is a replica, or whose disk is full, still serves every
 * read.
 */
export class Commits extends Context.Service<
  Commits,
  {
    /**
     * Fails while commits are refused. The result of the last commit is known without a query. If that commit
     * was refused and no other has been attempted since, a test commit checks whether the problem is over.
     */
    readonly check: Effect.Effect<void, StoreUnavailable>
  }
>()("@satrail/postgres/journal/Commits") {}

export const make = () => {
  let refused: { readonly error: StoreUnavailable; readonly atMillis: number } | undefined

  /** Records the result of a flush. A conflict between Changes says nothing about the store. */
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
        if (isYoung(refused.atMillis, nowMillis, refusedMillis)) return yield* refused.error
        const value = randomBytes(probeBytes / 2).toString("hex")
        yield* journal.commit(Cursor.moved({ source: "readiness", value }, yield* Id.make, nowMillis))
      }).pipe(Effect.catchTag("StaleFence", Effect.die))
    })

  return { watched, over }
}
