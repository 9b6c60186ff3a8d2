import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Memory from "@satrail/service/memory/Memory"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import * as Time from "@satrail/sandbox/Time"
import { Clock, Context, Deferred, Effect, Exit, Fiber, Layer, Logger, Option, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as Id from "../src/base/Id.ts"
import type { Fence } from "../src/ledger/Change.ts"
import * as Cursor from "../src/ledger/Cursor.ts"
import * as Duties from "../src/ledger/Duties.ts"
import { Journal, StoreUnavailable } from "../src/ledger/Journal.ts"
import { Tasks } from "../src/ledger/Tasks.ts"
import * as Wakes from "../src/ledger/Wakes.ts"
import * as Policy from "../src/service/Policy.ts"
import { Records } from "../src/service/Records.ts"
import * as Satrail from "@satrail/service/core/Satrail"
import { settings } from "./Rows.ts"
import { company, has, invoice, onChainAddress, type Ports, scenario, start } from "./World.ts"

const lease = settings.dutyLeaseMillis
const role = "settlements of a node"

/**
 * Records which process acted, when it acted, and its fencing token. A process acts every 100 ms while it has
 * the role.
 */
interface Diary {
  readonly notes: Array<{ readonly who: string; readonly atMillis: number; readonly fence: Fence }>
}

const whoBetween = ({ notes }: Diary, fromMillis: number, toMillis: number) =>
  Array.from(
    new Set(
      notes.filter(({ atMillis }) => atMillis >= fromMillis && atMillis < toMillis).map(({ who }) => who)
    )
  )

/** A process that takes the role when it can. Its calls to `Tasks` go through `road`. */
const enter = Effect.fnUntraced(function* (
  who: string,
  diary: Diary,
  road: (tasks: Tasks["Service"]) => Tasks["Service"] = (same) => same
) {
  const scope = yield* Scope.make()
  const work = (fence: Fence) =>
    Effect.asVoid(
      Effect.forkScoped(
        Effect.forever(
          Effect.andThen(
            Effect.map(Clock.currentTimeMillis, (atMillis) => diary.notes.push({ who, atMillis, fence })),
            Effect.sleep("100 millis")
          )
        )
      )
    )
  const own = Layer.provide(
    Layer.provideMerge(Duties.layer, Wakes.layer),
    Layer.effect(Tasks, Effect.map(Tasks, road))
  )
  const services = yield* Layer.buildWithScope(Layer.fresh(own), scope)
  yield* Scope.provide(
    Effect.provide(Effect.updateService(Duties.run(role, work), Tasks, road), services),
    scope
  )
  return { leave: Scope.close(scope, Exit.void), scope }
})

const inStore = <A, E>(story: Effect.Effect<A, E, Journal | Records | Tasks | Duties.Options>) =>
  Effect.provide(story, Layer.merge(Memory.layer, Policy.layer(settings)))

const now = Clock.currentTimeMillis

describe("A role", () => {
  it.effect(
    "lease: only one process at a time holds the lease, and that process must renew the lease to keep it",
    () =>
      inStore(
        Effect.gen(function* () {
          const diary: Diary = { notes: [] }
          for (const who of ["a", "b", "c"]) yield* enter(who, diary)
          yield* TestClock.adjust("1 hour")
          assert.deepStrictEqual(whoBetween(diary, 0, Infinity), ["a"])
          assert.strictEqual(diary.notes.length, 36_001)
        })
      )
  )

  it.effect(
    "lease: a process that shuts down finishes its step and releases the lease; another one takes the lease at its next check",
    () =>
      inStore(
        Effect.gen(function* () {
          const diary: Diary = { notes: [] }
          const finished = yield* Deferred.make<void>()
          const scope = yield* Scope.make()
          const slow = () =>
            Effect.asVoid(Effect.forkScoped(Effect.uninterruptible(Deferred.await(finished))))
          const services = yield* Layer.buildWithScope(Layer.provideMerge(Duties.layer, Wakes.layer), scope)
          yield* Scope.provide(Effect.provide(Duties.run(role, slow), services), scope)
          yield* enter("b", diary)
          yield* TestClock.adjust(lease / 2)
          const leaving = yield* Effect.forkChild(Scope.close(scope, Exit.void))
          yield* TestClock.adjust(lease / 3)
          assert.deepStrictEqual(diary.notes, [])
          yield* Deferred.succeed(finished, undefined)
          yield* Fiber.join(leaving)
          yield* TestClock.adjust(yield* Wakes.PollMillis)
          assert.deepStrictEqual(whoBetween(diary, 0, Infinity), ["b"])
        })
      )
  )

  it.effect(
    "lease: after a process dies, another takes the lease when it expires, and the dead process's writes are rejected",
    () =>
      inStore(
        Effect.gen(function* () {
          const diary: Diary = { notes: [] }
          let dead = false
          const mortal = (tasks: Tasks["Service"]) =>
            Tasks.of({
              ...tasks,
              claim: (ask) => Effect.suspend(() => (dead ? Effect.never : tasks.claim(ask))),
              postpone: (task, until) =>
                Effect.suspend(() => (dead ? Effect.never : tasks.postpone(task, until))),
              renew: (all, until) => Effect.suspend(() => (dead ? Effect.never : tasks.renew(all, until)))
            })
          yield* enter("a", diary, mortal)
          yield* enter("b", diary)
          yield* TestClock.adjust(10 * lease + 1)
          const first = diary.notes[0]?.fence ?? assert.fail("no process held the role")
          dead = true
          const diedMillis = yield* now
          const journal = yield* Journal
          const read = (value: string, fence: Fence) =>
            Effect.match(journal.commit(Cursor.moved({ source: "kettle", value }, Id.nil, 0, fence)), {
              onSuccess: ({ _tag }) => _tag,
              onFailure: ({ _tag }) => _tag
            })
          assert.strictEqual(yield* read("1", first), "Applied")
          yield* TestClock.adjust(2 * lease)
          // A process whose calls no longer reach the store may act until its own lease ends, but no longer.
          assert.deepStrictEqual(whoBetween(diary, diedMillis, diedMillis + lease / 2), ["a"])
          assert.deepStrictEqual(whoBetween(diary, diedMillis + lease + lease / 6, Infinity), ["b"])
          const second = diary.notes.at(-1)?.fence ?? assert.fail()
          assert.deepStrictEqual(
            [yield* read("2", second), yield* read("1", first)],
            ["Applied", "StaleFence"]
          )
          assert.deepStrictEqual(yield* (yield* Records).cursor("kettle"), Option.some("2"))
        })
      )
  )

  it.effect(
    "lease: when the store stops responding, a process gives up its lease before another process can take the lease, and takes the lease again when the store recovers",
    () =>
      inStore(
        Effect.gen(function* () {
          const diary: Diary = { notes: [] }
          let away = false
          const outage = Effect.fail(new StoreUnavailable({ operation: "test", cause: "away" }))
          yield* enter("a", diary, (tasks) =>
            Tasks.of({
              ...tasks,
              claim: (ask) => Effect.suspend(() => (away ? outage : tasks.claim(ask))),
              postpone: (task, until) => Effect.suspend(() => (away ? outage : tasks.postpone(task, until))),
              renew: (all, until) => Effect.suspend(() => (away ? outage : tasks.renew(all, until)))
            })
          )
          yield* TestClock.adjust(lease + 1)
          const awayMillis = yield* now
          away = true
          yield* TestClock.adjust("1 minute")
          // When the outage began, the lease had been renewed within the last third of its duration.
          assert.deepStrictEqual(whoBetween(diary, awayMillis + lease + 1, Infinity), [])
          // A single call without a response does not end the lease.
          assert.deepStrictEqual(whoBetween(diary, awayMillis + lease / 2, awayMillis + lease * 0.9), ["a"])
          away = false
          yield* TestClock.adjust("1 minute")
          assert.isAbove(diary.notes.at(-1)?.atMillis ?? 0, (yield* now) - 100)
        })
      )
  )

  it.effect(
    "lease: a renewal that dies does not end the lease, and renewals continue afterwards, however often they died",
    () =>
      inStore(
        Effect.gen(function* () {
          const diary: Diary = { notes: [] }
          let dies = false
          yield* enter("a", diary, (tasks) =>
            Tasks.of({
              ...tasks,
              renew: (all, until) =>
                Effect.suspend(() => (dies ? Effect.die("XX000") : tasks.renew(all, until)))
            })
          )
          yield* TestClock.adjust(lease / 2)
          dies = true
          yield* TestClock.adjust(lease / 2)
          dies = false
          yield* TestClock.adjust("1 minute")
          assert.strictEqual(new Set(diary.notes.map(({ fence }) => fence.token)).size, 1)
          dies = true
          yield* TestClock.adjust("10 minutes")
          dies = false
          yield* TestClock.adjust("1 minute")
          const soon = diary.notes.filter(({ atMillis }) => atMillis > 12 * 60_000 - 30_000)
          assert.strictEqual(new Set(soon.map(({ fence }) => fence.token)).size, 1)
        })
      )
  )

  it.effect("lease: a process that was suspended while another took the lease stops at its next check", () =>
    inStore(
      Effect.gen(function* () {
        const diary: Diary = { notes: [] }
        yield* enter("a", diary)
        yield* TestClock.adjust(1)
        const nowMillis = yield* now
        // The other process's clock is ahead.
        const [taken] = yield* (yield* Tasks).claim({
          kind: role,
          nowMillis: nowMillis + lease,
          leaseMillis: lease,
          limit: 1
        })
        assert.isDefined(taken)
        yield* TestClock.adjust(lease)
        assert.deepStrictEqual(whoBetween(diary, nowMillis + lease / 3 + 1, Infinity), [])
      })
    )
  )

  it.effect(
    "lease: a clock that jumps past the end of a lease causes no warning, unlike a lost lease, whose reason is logged",
    () => {
      const warnings: Array<string> = []
      const logger = Logger.make(
        ({ logLevel, message }) => void (logLevel === "Warn" && warnings.push(JSON.stringify(message)))
      )
      const noting = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.provide(effect, Logger.layer([logger]))
      return Effect.gen(function* () {
        const time = yield* Time.make()
        const diary: Diary = { notes: [] }
        let isAway = false
        const silent = (tasks: Tasks["Service"]) =>
          Tasks.of({
            ...tasks,
            renew: (all, until) => Effect.suspend(() => (isAway ? Effect.never : tasks.renew(all, until)))
          })
        yield* Effect.provideService(enter("a", diary, silent), Clock.Clock, time.waking)
        const holds = () => diary.notes.at(-1)?.atMillis === time.clock.currentTimeMillisUnsafe()
        yield* TestClock.adjust(lease)
        yield* time.advance(10 * lease)
        yield* TestClock.adjust(lease)
        assert.deepStrictEqual([warnings, holds()], [[], true])
        const lost = (reason: string) => JSON.stringify(["lease: lost", { role, reason }])
        isAway = true
        yield* TestClock.adjust(lease)
        assert.deepStrictEqual(warnings.splice(0), [lost("the store did not confirm it")])
        isAway = false
        yield* TestClock.adjust(lease)
        assert.isTrue(holds())
        const nowMillis = time.clock.currentTimeMillisUnsafe() + 2 * lease
        assert.lengthOf(
          yield* (yield* Tasks).claim({ kind: role, nowMillis, leaseMillis: lease, limit: 1 }),
          1
        )
        yield* TestClock.adjust(lease)
        assert.deepStrictEqual(warnings, [lost("another process holds it")])
      }).pipe(noting, inStore)
    }
  )
})

describe("Two processes with all their workers", () => {
  const process = Effect.fnUntraced(function* (
    change: (ports: Context.Context<Ports>) => Context.Context<Ports> = (same) => same
  ) {
    const scope = yield* Scope.make()
    const ports = change(yield* Effect.context<Ports>())
    const services = yield* Scope.provide(start(ports), scope)
    yield* Layer.buildWithScope(Layer.fresh(Satrail.layerWorkers), scope).pipe(
      Effect.provideContext(Context.merge(ports, services))
    )
    return { services, leave: Scope.close(scope, Exit.void) }
  })

  scenario(
    "lease: when the process that watches deposits stops, another process continues to watch them, even at addresses that the first process issued",
    function* () {
      const { pay, send, mine } = yield* Sandbox
      const payee = yield* company()
      const [first] = [yield* process(), yield* process()]
      const receive = Effect.fnUntraced(function* () {
        const { paymentRequest } = yield* invoice(payee, 1000)
        yield* pay({ paymentRequest })
        const { address } = yield* onChainAddress(payee)
        yield* send({ address, amount: Msat.fromSats(3000) })
        yield* mine(2)
        yield* TestClock.adjust("10 seconds")
      })
      yield* receive()
      assert.deepStrictEqual(yield* has(payee), { posted: 4000, held: 0 })
      yield* first.leave
      yield* receive()
      assert.deepStrictEqual(yield* has(payee), { posted: 8000, held: 0 })
    }
  )
})
