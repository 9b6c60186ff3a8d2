import { Clock, Context, Effect } from "effect"

/** How many requests of one company are worked on at once while other companies ask too. The next ones wait, in the order in which they came. */
export const width = 8

/** How many they are where other companies ask now and then: as many as make good groups for the database. */
export const wideWidth = 32

/** How long a request waits at most: those before it may be waiting for a recipient's server, which must not keep a company from all else. */
export const maxWaitMillis = 1000

/** For how long after another company has asked both have `width`, and for how long they have `wideWidth`. Then who asks is alone, and has the whole service. */
export const crowdedMillis = 1000
export const sharedMillis = 60_000

/** Has a company's request worked on, once it is its turn. */
export type InLane = (companyId: string) => <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Lane {
  inWork: number
  /** What gives each that waits its place, in the order in which they came. */
  readonly waiting: Set<() => void>
}

/** Keeps companies out of each other's way, by this process's own count: whoever asks for much at once waits for himself, and hardly anybody waits for him. */
export const make = (): InLane => {
  const lanes = new Map<string, Lane>()
  let last: string | undefined
  let otherAskedAtMillis = -Infinity

  const widthAt = (nowMillis: number): number => {
    if (nowMillis >= otherAskedAtMillis + sharedMillis) return Infinity
    return nowMillis >= otherAskedAtMillis + crowdedMillis ? wideWidth : width
  }

  const leave = (name: string, lane: Lane, nowMillis: number): void => {
    lane.inWork--
    for (const give of lane.waiting) {
      if (lane.inWork >= widthAt(nowMillis)) break
      give()
    }
    if (lane.inWork === 0 && lane.waiting.size === 0 && lanes.get(name) === lane) lanes.delete(name)
  }

  /** Until there is a place, or for as long as one waits for it. */
  const turn = ({ waiting }: Lane, take: () => void) =>
    Effect.timeoutOption(
      Effect.callback<void>((resume) => {
        const give = () => {
          waiting.delete(give)
          take()
          resume(Effect.void)
        }
        waiting.add(give)
        return Effect.sync(() => waiting.delete(give))
      }),
      maxWaitMillis
    )

  return (name) => (work) =>
    Effect.withFiber((fiber) => {
      const clock = fiber.getRef(Clock.Clock)
      const nowMillis = clock.currentTimeMillisUnsafe()
      if (last !== name) {
        if (last !== undefined) otherAskedAtMillis = nowMillis
        last = name
      }
      const places = widthAt(nowMillis)
      if (places === Infinity) return work
      const lane = lanes.get(name) ?? { inWork: 0, waiting: new Set() }
      lanes.set(name, lane)
      let hasPlace = false
      // Whose time to wait is over takes one that is not there.
      const take = () => {
        if (hasPlace) return
        hasPlace = true
        lane.inWork++
      }
      if (lane.inWork < places && lane.waiting.size === 0) take()
      const working = Effect.suspend(() => {
        take()
        return work
      })
      return Effect.onExit(hasPlace ? work : Effect.andThen(turn(lane, take), working), () =>
        Effect.sync(() => {
          if (hasPlace) leave(name, lane, clock.currentTimeMillisUnsafe())
        })
      )
    })
}

/** Which request is worked on when. Each at once unless given. */
export const Lanes = Context.Reference<InLane>("@satrail/http/Lanes", { defaultValue: () => () => (work) => work })
