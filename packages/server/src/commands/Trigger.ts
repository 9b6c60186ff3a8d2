import { Console, Deferred, Effect, Fiber, Option, Queue } from "effect"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"
import * as EventFeed from "../client/EventFeed.ts"
import { mine } from "@satrail/http/commands/SandboxSteps"
import * as Triggers from "./Triggers.ts"

/** How long to wait for an event before reporting it as missing. */
const patienceMillis = 15_000
const mineMillis = 500

/** Waits for an event of the given type about the record. */
const awaited = Effect.fnUntraced(function* (queue: Queue.Dequeue<EventFeed.Event>, about: string) {
  for (;;) {
    const event = yield* Queue.take(queue)
    if (event.body.includes(about)) return event
  }
})

export const trigger = Effect.fnUntraced(function* ({
  type: named,
  amount,
  json
}: {
  readonly type: string
  readonly amount: Option.Option<number>
  readonly json: boolean
}) {
  const found = Triggers.named(named)
  if (found === undefined) return yield* new CommandFailed({ message: `There is no trigger for ${named}.` })
  const { type, cause } = found
  const queue = yield* Queue.unbounded<EventFeed.Event>()
  const opened = yield* Deferred.make<void>()
  const watch = { opened: Effect.asVoid(Deferred.succeed(opened, undefined)), lost: () => Effect.void }
  const following = yield* Effect.forkScoped(
    EventFeed.follow({ types: type }, (event) => Effect.asVoid(Queue.offer(queue, event)), watch)
  )
  yield* Effect.raceFirst(Deferred.await(opened), Fiber.join(following))
  const about = yield* cause(Option.getOrElse(amount, () => (type.includes("on_chain") ? 200_000 : 1000)))
  const mining = Effect.forever(Effect.andThen(mine, Effect.sleep(mineMillis)))
  const event = yield* Effect.raceFirst(
    awaited(queue, about),
    type.endsWith("on_chain.completed") ? mining : Fiber.join(following)
  ).pipe(
    Effect.timeoutOrElse({
      duration: patienceMillis,
      orElse: () =>
        new CommandFailed({
          message: `${type} of ${about} was not received within ${patienceMillis / 1000} seconds.`
        })
    })
  )
  yield* Console.log(json ? event.body : EventFeed.line(event))
}, Effect.scoped)
