import { assert, describe, it } from "@effect/vitest"
import * as Memory from "@satrail/service/memory/Memory"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as CompanyId from "../src/base/CompanyId.ts"
import * as Id from "../src/base/Id.ts"
import * as Answer from "../src/ledger/Answer.ts"
import * as Duties from "../src/ledger/Duties.ts"
import { Journal, StoreUnavailable } from "../src/ledger/Journal.ts"
import * as RunOnce from "../src/ledger/RunOnce.ts"
import { Tasks } from "../src/ledger/Tasks.ts"
import * as Wakes from "../src/ledger/Wakes.ts"
import * as Policy from "../src/service/Policy.ts"
import { settings } from "./Rows.ts"

const lease = settings.dutyLeaseMillis

/** What each process has of its own. */
const processOf = Layer.fresh(Layer.provideMerge(Duties.layer, Wakes.layer))

const company = Effect.map(Id.make, CompanyId.make)

const inStore = <A, E>(story: Effect.Effect<A, E, Layer.Success<typeof Memory.layer> | Duties.Options>) =>
  Effect.provide(story, Layer.merge(Memory.layer, Policy.layer(settings)))

describe("work with a key", () => {
  it.effect(
    "once: concurrent callers of two processes run the work once, and each gets its result, as does a later call",
    () =>
      inStore(
        Effect.gen(function* () {
          const id = yield* company
          let runs = 0
          const work = Effect.delay(
            Effect.sync(() => `"${++runs}"`),
            "1 minute"
          )
          const calls = yield* Effect.forkChild(
            Effect.forEach(
              Array.from({ length: 8 }),
              (_, at) =>
                Effect.forEach(Array.from({ length: 2 }), () => RunOnce.run(id, `key-${at % 2}`, work), {
                  concurrency: "unbounded"
                }).pipe(Effect.provide(processOf)),
              { concurrency: "unbounded" }
            )
          )
          yield* TestClock.adjust("1 hour")
          const results = (yield* Fiber.join(calls)).map((pair) => new Set(pair).size)
          assert.deepStrictEqual([runs, results], [2, Array.from({ length: 8 }, () => 1)])
          const again = RunOnce.run(id, "key-0", Effect.die("ran again")).pipe(Effect.provide(processOf))
          assert.include(['"1"', '"2"'], yield* again)
          assert.strictEqual(runs, 2)
        })
      )
  )

  it.effect(
    "once: if the work fails, the next caller runs it; a result that is too large is refused and not stored",
    () =>
      inStore(
        Effect.gen(function* () {
          const id = yield* company
          const run = <E>(work: Effect.Effect<string, E>) => RunOnce.run(id, "k", work)
          assert.strictEqual(yield* Effect.flip(run(Effect.fail("no"))), "no")
          const large = `"${"x".repeat(RunOnce.maxResultBytes)}"`
          const refused = yield* Effect.flip(run(Effect.succeed(large)))
          assert.strictEqual(refused._tag, "ResultTooLarge")
          const largest = large.slice(2)
          assert.strictEqual(yield* run(Effect.succeed(largest)), largest)
          const other = yield* company
          assert.strictEqual(yield* RunOnce.run(other, "k", Effect.succeed("1")), "1")
        }).pipe(Effect.provide(processOf))
      )
  )

  it.effect(
    "once: if the caller's process dies in the work, another caller runs it when the lease expires, and the first result is everyone's",
    () =>
      inStore(
        Effect.gen(function* () {
          const id = yield* company
          const gone = Effect.fail(new StoreUnavailable({ operation: "test", cause: "away" }))
          let dead = false
          const mortal = Effect.gen(function* () {
            const [tasks, journal] = [yield* Tasks, yield* Journal]
            const commit: typeof journal.commit = (change) =>
              Effect.suspend(() => (dead ? gone : journal.commit(change)))
            return Layer.mergeAll(
              Layer.succeed(Journal, { commit }),
              Layer.succeed(Tasks, {
                ...tasks,
                renew: (all, until) => Effect.suspend(() => (dead ? gone : tasks.renew(all, until)))
              })
            )
          })
          const slow = Effect.delay(Effect.succeed('"late"'), 20 * lease)
          const dying = yield* RunOnce.run(id, "k", slow).pipe(
            Effect.provide(processOf),
            Effect.provide(yield* mortal),
            Effect.forkChild
          )
          yield* TestClock.adjust(3 * lease)
          const began: Array<number> = []
          const other = yield* RunOnce.run(
            id,
            "k",
            Effect.clockWith((clock) => {
              began.push(clock.currentTimeMillisUnsafe())
              return Effect.succeed('"second"')
            })
          ).pipe(Effect.provide(processOf), Effect.forkChild)
          yield* TestClock.adjust(3 * lease)
          assert.deepStrictEqual(began, [])
          dead = true
          yield* TestClock.adjust(2 * lease)
          assert.isAtMost(began[0] ?? Infinity, 6 * lease + lease + Wakes.PollMillis.defaultValue())
          assert.strictEqual(yield* Fiber.join(other), '"second"')
          dead = false
          yield* TestClock.adjust(20 * lease)
          assert.strictEqual(yield* Fiber.join(dying), '"second"')
        })
      )
  )

  it.effect("once: a result is stored for as long as the response of an idempotency key", () =>
    inStore(
      Effect.gen(function* () {
        const id = yield* company
        const run = (result: string) => RunOnce.run(id, "k", Effect.succeed(result))
        yield* run("1")
        yield* TestClock.adjust(Answer.keptMillis - 1)
        const forget = Effect.clockWith((clock) =>
          Effect.flatMap(Journal, (journal) =>
            journal.commit(Answer.forgotten(id, clock.currentTimeMillisUnsafe(), 10))
          )
        )
        yield* forget
        assert.strictEqual(yield* run("2"), "1")
        yield* TestClock.adjust(1)
        yield* forget
        assert.strictEqual(yield* run("2"), "2")
      }).pipe(Effect.provide(processOf))
    )
  )
})
