import { Effect, Latch } from "effect"

/** Maximum number of tasks that run at the same time: in total, and of each holder, such as a company. */
export interface Limits {
  readonly most: number
  readonly each: number
}

interface Holder {
  taken: number
  readonly waiting: Set<Latch.Latch>
}

/**
 * Slots for tasks whose duration strangers determine. A task waits until its holder and the whole have a slot
 * left. A free slot goes to the waiting holder with the fewest slots, so slow tasks mostly delay their own holder.
 */
export const make = ({ most, each }: Limits) => {
  const holders = new Map<string, Holder>()
  let taken = 0

  /** Returns the holder that gets the next slot. Of equal holders, the one that left a slot longest ago is next. */
  const next = () => {
    let found: Holder | undefined
    for (const one of holders.values())
      if (one.waiting.size > 0 && one.taken < (found?.taken ?? each)) found = one
    return found
  }

  const fill = () => {
    while (taken < most) {
      const holder = next()
      const [turn] = holder?.waiting ?? []
      if (holder === undefined || turn === undefined) return
      holder.taken++
      taken++
      holder.waiting.delete(turn)
      turn.openUnsafe()
    }
  }

  const join = (name: string) => {
    const holder = holders.get(name) ?? { taken: 0, waiting: new Set() }
    const turn = Latch.makeUnsafe(false)
    holders.set(name, holder)
    holder.waiting.add(turn)
    fill()
    return { holder, turn }
  }

  const leave = (name: string, { holder, turn }: ReturnType<typeof join>) => {
    if (!holder.waiting.delete(turn)) {
      holder.taken--
      taken--
    }
    holders.delete(name)
    if (holder.taken > 0 || holder.waiting.size > 0) holders.set(name, holder)
    fill()
  }

  return {
    /**
     * Runs the task in one of the holder's slots. Can be interrupted until the task starts, even in an
     * uninterruptible region.
     */
    run: <A, E, R>(holder: string, task: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.acquireUseRelease(
        Effect.sync(() => join(holder)),
        ({ turn }) => Effect.andThen(Effect.interruptible(turn.await), task),
        (place) => Effect.sync(() => leave(holder, place))
      ),
    /** Returns whether no task is running or waiting. */
    isIdle: () => holders.size === 0
  }
}
