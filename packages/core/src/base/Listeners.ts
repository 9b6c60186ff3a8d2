import { Effect, Latch } from "effect"

/**
 * Listeners that wait for news about topics. If `isReady`, the first wait of a listener returns immediately. `joined`
 * and `left` are called when a listener has started or stopped listening.
 */
export const make = (options: {
  readonly isReady: boolean
  readonly joined: () => void
  readonly left?: () => void
}) => {
  const listening = new Map<string, Set<Latch.Latch>>()

  const join = (topic: string) => {
    const latch = Latch.makeUnsafe(options.isReady)
    listening.set(topic, (listening.get(topic) ?? new Set()).add(latch))
    options.joined()
    return latch
  }

  const leave = (topic: string, latch: Latch.Latch) => {
    const others = listening.get(topic)
    others?.delete(latch)
    if (others?.size === 0) listening.delete(topic)
    options.left?.()
  }

  return {
    /** The topics that have a listener. */
    topics: () => [...listening.keys()],
    has: (topic: string) => listening.has(topic),
    wake: (topic: string) => {
      for (const latch of listening.get(topic) ?? []) latch.openUnsafe()
    },
    /** Returns an effect that waits until the topic was woken since it last returned. Listens until the scope closes. */
    listen: (topic: string) =>
      Effect.map(
        Effect.acquireRelease(
          Effect.sync(() => join(topic)),
          (latch) => Effect.sync(() => leave(topic, latch))
        ),
        (latch) => Effect.andThen(latch.await, latch.close)
      )
  }
}
