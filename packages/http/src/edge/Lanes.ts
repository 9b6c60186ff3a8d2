import { Clock, Context, Effect } from "effect"

/** How many requests of one company are worked on at once while other companies ask too. The next ones wait, in the order in which they came. */
export const width = 16

/** How many they are where other companies ask now and then: as many as make good groups for the database. */
export const wideWidth = 32

/** How long a request waits at most: those before it may be waiting for a recipient's server, which must not keep a company from all else. */
export const maxWaitMillis = 1000

/** For how long after another company has asked both have `width`, and for how long they have `wideWidth`. Then who asks is alone, and has the whole service. */
export const crowdedMillis = 1000
export const sharedMillis = 60_000

/** Has a company's request worked on, once it is its turn. */
export type InLane = (companyId: string) => <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Waiting {
  readonly give: () => void
  readonly untilMillis: number
}

interface Lane {
  readonly name: string
  inWork: number
  /** In the order in which they came. */
  readonly waiting: Set<Waiting>
  isWatched: boolean
}

/** Keeps companies out of each other's way, by this process's own count: whoever asks for much at once waits for himself, and hardly anybody waits for him. */
export const make = (): InLane => {
  const lanes = new Map<string, Lane>()
  const freed = new Set<Lane>()
  let last: string | undefined
  let lastAskedAtMillis = -Infinity
  let otherAskedAtMillis = -Infinity

  const widthAt = (nowMillis: number): number => {
    if (nowMillis >= otherAskedAtMillis + sharedMillis) return Infinity
    return nowMillis >= otherAskedAtMillis + crowdedMillis ? wideWidth : width
  }

  const laneOf = (name: string): Lane => {
    const known = lanes.get(name)
    if (known !== undefined) return known
    const lane: Lane = { name, inWork: 0, waiting: new Set(), isWatched: false }
    lanes.set(name, lane)
    return lane
  }

  const forget = (lane: Lane): void => {
    if (lane.inWork === 0 && lane.waiting.size === 0 && lanes.get(lane.name) === lane) lanes.delete(lane.name)
  }

  const leave = (lane: Lane, clock: Clock.Clock): void => {
    lane.inWork--
    if (lane.waiting.size === 0) return forget(lane)
    freed.add(lane)
    // Places that become free together are taken together: whoever gets one at once, and alone, is alone in his group at the database too.
    if (freed.size === 1) setImmediate(() => handOut(clock.currentTimeMillisUnsafe()))
  }

  const handOut = (nowMillis: number): void => {
    const places = widthAt(nowMillis)
    for (const lane of freed) {
      for (const { give } of lane.waiting) {
        if (lane.inWork >= places) break
        give()
      }
      forget(lane)
    }
    freed.clear()
  }

  /** Whose time to wait is over takes a place that is not there. One clock for all who wait in a lane: one for each was a third of what a request cost. */
  const watch = (lane: Lane): Effect.Effect<void> =>
    Effect.gen(function* () {
      for (;;) {
        const nowMillis = yield* Clock.currentTimeMillis
        for (const { give, untilMillis } of lane.waiting) {
          if (untilMillis > nowMillis) break
          give()
        }
        const [first] = lane.waiting
        if (first === undefined) break
        yield* Effect.sleep(first.untilMillis - nowMillis)
      }
      lane.isWatched = false
    })

  const turn = (lane: Lane, clock: Clock.Clock, taken: () => void) =>
    Effect.callback<void>((resume) => {
      const one: Waiting = {
        untilMillis: clock.currentTimeMillisUnsafe() + maxWaitMillis,
        give: () => {
          lane.waiting.delete(one)
          lane.inWork++
          taken()
          resume(Effect.void)
        }
      }
      lane.waiting.add(one)
      if (!lane.isWatched) {
        lane.isWatched = true
        Effect.runFork(Effect.provideService(watch(lane), Clock.Clock, clock))
      }
      return Effect.sync(() => lane.waiting.delete(one))
    })

  return (name) => (work) =>
    Effect.withFiber((fiber) => {
      const clock = fiber.getRef(Clock.Clock)
      const nowMillis = clock.currentTimeMillisUnsafe()
      if (last !== name) {
        otherAskedAtMillis = lastAskedAtMillis
        last = name
      }
      lastAskedAtMillis = nowMillis
      const places = widthAt(nowMillis)
      if (places === Infinity) return work
      const lane = laneOf(name)
      if (lane.inWork < places && lane.waiting.size === 0) {
        lane.inWork++
        return Effect.onExit(work, () => Effect.sync(() => leave(lane, clock)))
      }
      let hasPlace = false
      const taken = () => {
        hasPlace = true
      }
      return Effect.onExit(Effect.andThen(turn(lane, clock, taken), work), () =>
        Effect.sync(() => {
          if (hasPlace) leave(lane, clock)
        })
      )
    })
}

/** Which request is worked on when. Each at once unless given. */
export const Lanes = Context.Reference<InLane>("@satrail/http/edge/Lanes", { defaultValue: () => () => (work) => work })
