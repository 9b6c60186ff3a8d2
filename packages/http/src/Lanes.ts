import { Clock, Context, Effect } from "effect"

/** How many requests of one company are worked on at once while other companies ask too. The next ones wait, in the order in which they came. */
export const width = 8

/** How long a request waits at most: those before it may be waiting for a recipient's server, which must not keep a company from all else. */
export const maxWaitMillis = 1000

/** For how long after another company has asked a company is not alone. Alone it has the whole service. */
export const sharedMillis = 60_000

/** Has a company's request worked on, once it is its turn. */
export type InLane = (companyId: string) => <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Lane {
  inWork: number
  readonly waiting: Set<() => void>
}

/** Keeps companies out of each other's way, by this process's own count: whoever asks for much at once waits for himself, and hardly anybody waits for him. */
export const make = (): InLane => {
  const lanes = new Map<string, Lane>()
  let last: string | undefined
  let sharedUntilMillis = -Infinity

  const leave = (name: string, lane: Lane): void => {
    lane.inWork--
    const [next] = lane.waiting
    if (next !== undefined && lane.inWork < width) next()
    if (next === undefined && lane.inWork === 0 && lanes.get(name) === lane) lanes.delete(name)
  }

  /** Until there is a place, or for as long as one waits for it. */
  const turn = ({ waiting }: Lane) =>
    Effect.timeoutOption(
      Effect.callback<void>((resume) => {
        const go = () => {
          waiting.delete(go)
          resume(Effect.void)
        }
        waiting.add(go)
        return Effect.sync(() => waiting.delete(go))
      }),
      maxWaitMillis
    )

  return (name) => (work) =>
    Effect.withFiber((fiber) => {
      const nowMillis = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
      if (last !== name) {
        if (last !== undefined) sharedUntilMillis = nowMillis + sharedMillis
        last = name
      }
      if (nowMillis >= sharedUntilMillis) return work
      const lane = lanes.get(name) ?? { inWork: 0, waiting: new Set() }
      lanes.set(name, lane)
      const isFree = lane.inWork < width && lane.waiting.size === 0
      return Effect.uninterruptibleMask((restore) => {
        const working = Effect.suspend(() => {
          lane.inWork++
          return Effect.onExit(restore(work), () => Effect.sync(() => leave(name, lane)))
        })
        return isFree ? working : Effect.andThen(restore(turn(lane)), working)
      })
    })
}

/** Which request is worked on when. Each at once unless given. */
export const Lanes = Context.Reference<InLane>("@satrail/http/Lanes", { defaultValue: () => () => (work) => work })
