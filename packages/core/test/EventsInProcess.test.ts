import { assert, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Logger, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Events } from "../src/events/Events.ts"
import { EventStore } from "../src/ledger/EventStore.ts"
import { StoreUnavailable } from "../src/ledger/Journal.ts"
import { company, inWorld, invoice, type Ports, replace, start } from "./World.ts"

it.effect(
  "events: a store outage pauses a subscriber, logs one line, and neither loses nor repeats events",
  () => {
    let isAway = true
    const logged: Array<unknown> = []
    const away = replace(EventStore, (store) => ({
      eventsOf: (...ask) =>
        Effect.suspend(() =>
          isAway
            ? Effect.fail(new StoreUnavailable({ operation: "eventsOf", cause: new Error("gone") }))
            : store.eventsOf(...ask)
        )
    }))
    return inWorld(
      Effect.gen(function* () {
        const events = yield* Events
        const heard: Array<string> = []
        yield* Effect.forkChild(
          Stream.runForEach(events.tail(), ({ subject }) => Effect.sync(() => heard.push(subject)))
        )
        const shop = yield* company()
        const first = yield* invoice(shop, 1)
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual(heard, [])
        isAway = false
        yield* TestClock.adjust("31 seconds")
        assert.deepStrictEqual(heard, [first.id])
        isAway = true
        const second = yield* invoice(shop, 2)
        yield* TestClock.adjust("1 hour")
        isAway = false
        yield* TestClock.adjust("31 seconds")
        assert.deepStrictEqual(heard, [first.id, second.id])
        assert.lengthOf(
          logged.filter((line) => JSON.stringify(line).includes("a subscriber is waiting")),
          1
        )
      }),
      { change: away }
    ).pipe(Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(message))])))
  }
)

it.effect(
  "events: when the services close, a subscription ends as soon as the current event is handled",
  () =>
    inWorld(
      Effect.gen(function* () {
        const shop = yield* company()
        const first = yield* invoice(shop, 1)
        yield* invoice(shop, 2)
        const scope = yield* Scope.make()
        const ports = Context.add(yield* Effect.context<Ports>(), Scope.Scope, scope)
        const process = yield* Scope.provide(start(ports), scope)
        const events = Context.get(process, Events)
        const [begun, handled] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const heard: Array<string> = []
        const busy = yield* Effect.forkChild(
          Stream.runForEach(events.tail(), ({ subject }) =>
            Effect.gen(function* () {
              yield* Deferred.succeed(begun, undefined)
              yield* Deferred.await(handled)
              heard.push(subject)
            })
          )
        )
        const idle = yield* Effect.forkChild(Stream.runDrain(events.tail({ after: "now" })))
        yield* Deferred.await(begun)
        yield* TestClock.adjust("1 second")
        yield* Scope.close(scope, Exit.void)
        assert.isTrue(Exit.isSuccess(yield* Fiber.await(idle)), "a waiting subscription ends immediately")
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(heard, [])
        yield* Deferred.succeed(handled, undefined)
        assert.isTrue(Exit.isSuccess(yield* Fiber.await(busy)), "the subscription ends without a failure")
        assert.deepStrictEqual(heard, [first.id])
      })
    )
)

it.effect(
  "events: a slow subscriber delays only itself, because each page is read only after the previous one is handled",
  () => {
    let reads = 0
    const counted = replace(EventStore, (store) => ({
      eventsOf: (companyId, ...ask) => {
        if (companyId !== null) reads++ // don't count reads of all companies' events, because they only wake the subscribers
        return store.eventsOf(companyId, ...ask)
      }
    }))
    return inWorld(
      Effect.gen(function* () {
        const shop = yield* company()
        const [first, second] = [yield* invoice(shop, 1), yield* invoice(shop, 2)]
        const events = yield* Events
        const handled = yield* Deferred.make<void>()
        const heard: Array<string> = []
        const slow = Stream.runForEach(events.tail({ companyId: shop.id }), ({ subject }) =>
          Effect.andThen(
            Effect.sync(() => heard.push(subject)),
            Deferred.await(handled)
          )
        )
        yield* Effect.forkChild(slow)
        yield* TestClock.adjust("1 second")
        yield* invoice(shop, 3)
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual([reads, heard], [1, [first.id]])
        yield* Deferred.succeed(handled, undefined)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(heard.slice(0, 2), [first.id, second.id])
        assert.lengthOf(heard, 3)
      }),
      { change: counted }
    )
  }
)
