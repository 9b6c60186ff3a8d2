import { Clock, Effect, Layer } from "effect"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import * as Worker from "../base/Worker.ts"
import * as Answer from "./Answer.ts"
import * as Duties from "./Duties.ts"
import { Journal } from "./Journal.ts"

/** Forgets the answers to requests whose keys were kept long enough. */
export const step = Effect.gen(function* () {
  const journal = yield* Journal
  const entropy = yield* Entropy
  const nowMillis = yield* Clock.currentTimeMillis
  yield* journal.commit(Answer.forgotten(Id.fromMillis(nowMillis, entropy), nowMillis))
})

/** Once an hour for as long as the scope is open, in one process at a time. */
export const layerWorker = Layer.effectDiscard(Duties.run("expiry", () => Worker.run("idempotency cleanup", step, Effect.sleep("1 hour"))))
