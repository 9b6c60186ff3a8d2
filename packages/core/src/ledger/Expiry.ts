import { Clock, Effect, Layer } from "effect"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import * as Worker from "../base/Worker.ts"
import * as Answer from "./Answer.ts"
import * as Duties from "./Duties.ts"
import { Journal } from "./Journal.ts"
import { LedgerReads } from "./LedgerReads.ts"

/**
 * Number of responses deleted per commit. Until a commit ends, no later event is visible, and a commit that deleted all
 * responses of an hour could exceed the timeout of a statement.
 */
export const batchSize = 5000

/** Deletes stored responses whose idempotency keys have expired, in batches. */
export const step = Effect.gen(function* () {
  const [journal, ledger, entropy] = [yield* Journal, yield* LedgerReads, yield* Entropy]
  const nowMillis = yield* Clock.currentTimeMillis
  do yield* journal.commit(Answer.forgotten(Id.fromMillis(nowMillis, entropy), nowMillis, batchSize))
  while (yield* ledger.expiredAnswers(nowMillis))
})

/** Runs hourly in one process at a time until the scope closes. */
export const layerWorker = Layer.effectDiscard(
  Duties.run("expiry", () => Worker.run("idempotency cleanup", step, Effect.sleep("1 hour")))
)
