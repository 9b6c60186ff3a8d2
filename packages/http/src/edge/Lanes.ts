import { Clock, Context, Effect } from "effect"

/**
 * Maximum concurrent requests per company while other companies are active. Further requests wait in order of
 * arrival.
 */
export const width = 16

/**
 * The same maximum while other companies are active only occasionally. It is large enough for good database
 * batches.
 */
export const wideWidth = 32

/**
 * Maximum time a request waits. Requests ahead of it may be waiting for a payee's server, which must not block
 * the company's other requests.
 */
export const maxWaitMillis = 1000

/**
 * After a request from another company, each company's maximum is `width` for `crowdedMillis`, and then
 * `wideWidth` until `sharedMillis` have passed. After that, a single active company is not limited.
 */
export const crowdedMillis = 1000
export const sharedMillis = 60_000

/** Runs a company's request when its turn comes. */
export type InLane = (companyId: string) => <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Waiting {
  readonly give: () => void
  readonly untilMillis: number
}

interface Lane {
  readonly name: string
  inWork: number
  /** Waiting requests, in order of arrival. */
  readonly waiting: Set<Waiting>
  isWatched: boolean
}

/**
 * Isolates companies from each other within this process: a company with many concurrent requests delays
 * mostly itself.
 */
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
    // If several slots become free together, hand them out together, so that the requests form one database
    // batch.
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

  /**
   * Lets requests run after their maximum wait even without a free slot. One timer serves a whole lane, because
   * a timer per request took a third of the request's cost.
   */
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

/** Schedules requests. Default: each runs immediately. */
export const Lanes = Context.Reference<InLane>("@satrail/http/edge/Lanes", {
  defaultValue: () => () => (work) => work
})
