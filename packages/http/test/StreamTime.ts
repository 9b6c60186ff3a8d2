import { Clock, Deferred, Duration, Effect, Layer } from "effect"
import * as Extension from "../src/edge/Extension.ts"
import { showing } from "./Service.ts"

/** A clock with which a stream reaches its time limit when `limit` is done, and the time after it passes immediately. */
export const streamTime = (limit: Deferred.Deferred<void>) =>
  Layer.effect(
    Clock.Clock,
    Effect.map(Clock.Clock, (clock): Clock.Clock => ({
      ...showing(clock, () => clock.currentTimeMillisUnsafe()),
      sleep: (duration) => {
        const millis = Duration.toMillis(duration)
        if (millis === Extension.maxStreamMillis) return Deferred.await(limit)
        return millis === Extension.partingMillis ? Effect.yieldNow : clock.sleep(duration)
      }
    }))
  )
