import { Effect, Latch } from "effect"

/**
 * A message to the runner of an endpoint: the endpoint was `changed`, it may have new `events`, or an attempt has
 * `ended`.
 */
export type Message = "changed" | "events" | "ended"

/** The queue of messages to one runner. A message that is already queued is not queued again. */
export interface Inbox {
  readonly offer: (message: Message) => void
  readonly has: (message: Message) => boolean
  readonly take: (message: Message) => void
  /** Waits until one of these messages is queued. Takes none. */
  readonly await: (messages: ReadonlyArray<Message>) => Effect.Effect<void>
}

export const make = (): Inbox => {
  const queued = new Set<Message>()
  const latch = Latch.makeUnsafe()
  const wait = (messages: ReadonlyArray<Message>): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (messages.some((message) => queued.has(message))) return Effect.void
      latch.closeUnsafe()
      return Effect.andThen(latch.await, wait(messages))
    })
  return {
    offer: (message) => {
      queued.add(message)
      latch.openUnsafe()
    },
    has: (message) => queued.has(message),
    take: (message) => void queued.delete(message),
    await: wait
  }
}
