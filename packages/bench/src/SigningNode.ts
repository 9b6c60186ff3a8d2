import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import * as Receiver from "@satrail/sandbox/Receiver"
import * as World from "@satrail/sandbox/World"
import { Clock, Effect, Layer } from "effect"

/** A world in which everything is decided as ever, and nothing happens. */
const forgetful = (world: World.World): World.World => ({
  ...world,
  commit: (decide) =>
    Effect.flatMap(Clock.currentTimeMillis, (nowMillis) =>
      Effect.map(Effect.fromResult(decide(world.state(), nowMillis)), ({ answer }) => answer(world.state()))
    )
})

/**
 * The sandbox's node, except that it keeps no invoice. It would keep each for ever, in the process that is measured: half a kilobyte each, a hundred
 * thousand in a run. A real node keeps them in a process of its own. They are never paid; what is reported as paid are the `settlements`, if any are given.
 */
export const layer = (
  options: Parameters<typeof World.make>[0],
  settlements: Partial<Pick<LightningReceiver["Service"], "settlements">> = {}
) =>
  Layer.effect(
    LightningReceiver,
    Effect.map(World.make(options), (world) => ({ ...Receiver.make(forgetful(world)), ...settlements }))
  )
