import { Clock, Effect, Layer } from "effect"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import * as Worker from "../base/Worker.ts"
import * as Answer from "./Answer.ts"
import * as Duties from "./Duties.ts"
import { Journal } from "./Journal.ts"

/** Deletes stored responses whose idempotency keys have expired. */
export const step = Effect.gen(function* () {
  const journal = yield* Journal
  const entropy = yield* Entropy
  const nowMillis = yield* Clock.currentTimeMillis
  yield* journal.commit(Answer.forgotten(Id.fromMillis(nowMillis, entropy), nowMillis))
})

/** Runs hourly in one process at a time until the scope closes. */
export const layerWorker = Layer.effectDiscard(Duties.run("expiry", () => Worker.run("idempotency cleanup", step, Effect.sleep("1 hour"))))
