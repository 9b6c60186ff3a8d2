import { assert, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Metric, Scope } from "effect"
import * as GroupCommit from "../src/statements/GroupCommit.ts"

/**
 * A store of words that records its flushes. "poison" fails any flush that contains it, and "unprintable" throws
 * before the flush. "down" causes an outage.
 */
const words = Effect.fnUntraced(function* (
  options: {
    readonly gate?: Deferred.Deferred<void>
    readonly maxWaiting?: number
    readonly maxLoad?: number
    readonly operation?: string
  } = {}
) {
  const flushes: Array<ReadonlyArray<string>> = []
  const flushing = yield* Deferred.make<void>()
  const commit = yield* GroupCommit.make({
    operation: options.operation ?? "test",
    laneOf: () => "one",
    identitiesOf: (word: string) => word.split(" ").slice(0, -1),
    flush: (items: ReadonlyArray<string>) => {
      flushes.push(items)
      if (items.includes("unprintable")) throw new Error("unprintable")
      return Effect.gen(function* () {
        yield* Deferred.succeed(flushing, undefined)
        if (options.gate !== undefined) yield* Deferred.await(options.gate)
        if (items.includes("poison")) return yield* Effect.die("poison")
        if (items.includes("down")) return yield* Effect.fail("outage" as const)
        return items.map((word) =>
          word === "no" ? Exit.fail("refused" as const) : Exit.succeed(word.toUpperCase())
        )
      })
    },
    maxItemsPerFlush: 4,
    // Only words of several letters are a load.
    loadOf: (word) => word.length - 1,
    maxLoad: options.maxLoad ?? 100,
    maxWaiting: options.maxWaiting ?? 100,
    onTurnedAway: (why) => why
  })
  return { commit, flushes, flushing }
})

const outage = Exit.fail("outage" as const)

const all = { concurrency: "unbounded" } as const

it.live(
  "group commit: Changes that arrive together are flushed together, in order, at most four per flush",
  () =>
    Effect.gen(function* () {
      const { commit, flushes } = yield* words()
      assert.deepStrictEqual(yield* Effect.forEach(["a", "b", "c", "d", "e"], commit, all), [
        "A",
        "B",
        "C",
        "D",
        "E"
      ])
      assert.deepStrictEqual(flushes, [["a", "b", "c", "d"], ["e"]])
    })
)

it.live("group commit: each Change gets its own result", () =>
  Effect.gen(function* () {
    const { commit } = yield* words()
    const answers = yield* Effect.forEach(["a", "no", "b"], (word) => Effect.exit(commit(word)), all)
    assert.deepStrictEqual(answers, [Exit.succeed("A"), Exit.fail("refused" as const), Exit.succeed("B")])
  })
)

it.live(
  "group commit: a Change goes into the next flush if this flush already contains one with the same identity",
  () =>
    Effect.gen(function* () {
      const { commit, flushes } = yield* words()
      yield* Effect.forEach(["a k 1", "b k 2", "b 3", "c 4"], commit, all)
      // 3 shares nothing with 1, but 3 arrived after 2 and must not overtake 2.
      assert.deepStrictEqual(flushes, [["a k 1", "c 4"], ["b k 2"], ["b 3"]])
    })
)

it.live(
  "group commit: the Changes of a failed flush are retried one by one, and only the faulty one fails",
  () =>
    Effect.gen(function* () {
      const { commit, flushes } = yield* words()
      const answers = yield* Effect.forEach(["a", "poison", "b"], (word) => Effect.exit(commit(word)), all)
      assert.deepStrictEqual(answers, [Exit.succeed("A"), Exit.die("poison"), Exit.succeed("B")])
      assert.deepStrictEqual(flushes, [["a", "poison", "b"], ["a"], ["poison"], ["b"]])
    })
)

it.live("group commit: a Change that throws fails alone, and the lane goes on", () =>
  Effect.gen(function* () {
    const { commit } = yield* words()
    const answers = yield* Effect.forEach(["a", "unprintable", "b"], (word) => Effect.exit(commit(word)), all)
    assert.deepStrictEqual(answers.map(Exit.isSuccess), [true, false, true])
    assert.strictEqual(yield* commit("c"), "C")
  })
)

it.live("group commit: in an outage every Change fails, and nothing is retried", () =>
  Effect.gen(function* () {
    const { commit, flushes } = yield* words()
    const answers = yield* Effect.forEach(["a", "down"], (word) => Effect.exit(commit(word)), all)
    assert.deepStrictEqual(answers, [outage, outage])
    assert.strictEqual(flushes.length, 1)
  })
)

it.live(
  "group commit: a Change above the queue limit fails immediately; a Change interrupted before its flush is not committed",
  () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { commit, flushes, flushing } = yield* words({ gate, maxWaiting: 2 })
      const first = yield* Effect.forkChild(commit("a"), { startImmediately: true })
      yield* Deferred.await(flushing) // a is being flushed; b and c wait for the next flush
      const b = yield* Effect.forkChild(commit("b"), { startImmediately: true })
      const c = yield* Effect.forkChild(commit("c"), { startImmediately: true })
      assert.deepStrictEqual(yield* Effect.exit(commit("d")), Exit.fail("overloaded" as const))
      yield* Fiber.interrupt(b)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.joinAll([first, c])
      assert.deepStrictEqual(flushes, [["a"], ["c"]])
    })
)

it.live("group commit: closing waits until every Change has a result", () =>
  Effect.gen(function* () {
    const fiber = yield* Effect.scoped(
      Effect.gen(function* () {
        const { commit } = yield* words()
        return yield* Effect.forkDetach(commit("a"), { startImmediately: true })
      })
    )
    assert.strictEqual(yield* Fiber.join(fiber), "A")
  })
)

it.live("group commit: a Change submitted after closing fails immediately", () =>
  Effect.gen(function* () {
    const { commit, flushes } = yield* Effect.scoped(words())
    assert.deepStrictEqual(yield* Effect.exit(commit("a")), Exit.fail("closed" as const))
    assert.deepStrictEqual(flushes, [])
  })
)

it.live("group commit: a Change submitted during closing fails, and earlier Changes get their results", () =>
  Effect.gen(function* () {
    const gate = yield* Deferred.make<void>()
    const scope = yield* Scope.make()
    const { commit, flushing } = yield* Scope.provide(words({ gate }), scope)
    const first = yield* Effect.forkChild(commit("a"), { startImmediately: true })
    yield* Deferred.await(flushing)
    const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
    assert.deepStrictEqual(yield* Effect.exit(commit("b")), Exit.fail("closed" as const))
    yield* Deferred.succeed(gate, undefined)
    assert.strictEqual(yield* Fiber.join(first), "A")
    yield* Fiber.join(closing)
  })
)

it.live(
  "group commit: a flush ends before its load exceeds the maximum, and an item above it is flushed alone",
  () =>
    Effect.gen(function* () {
      const { commit, flushes } = yield* words({ maxLoad: 3 })
      yield* Effect.forEach(["four4", "abc", "a", "ab", "no", "b"], (word) => Effect.exit(commit(word)), all)
      assert.deepStrictEqual(flushes, [["four4"], ["abc", "a", "ab"], ["no", "b"]])
    })
)

it.live("group commit: a flush that omits a result is a defect", () =>
  Effect.gen(function* () {
    const commit = yield* GroupCommit.make({
      operation: "test",
      laneOf: () => "one",
      flush: (_: ReadonlyArray<string>) => Effect.succeed([]),
      maxItemsPerFlush: 4,
      maxWaiting: 4,
      onTurnedAway: (why) => why
    })
    assert.isTrue(Cause.hasDies(yield* Effect.flip(Effect.sandbox(commit("a")))))
  })
)

it.live(
  "group commit: metrics cover waiting and flush size, and count outages, refusals and defects separately",
  () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const scope = yield* Scope.make()
      const { commit, flushing } = yield* Scope.provide(
        words({ gate, maxWaiting: 2, operation: "measured" }),
        scope
      )
      const begin = (word: string) => Effect.forkChild(Effect.exit(commit(word)), { startImmediately: true })
      const first = yield* begin("a")
      yield* Deferred.await(flushing)
      const others = [yield* begin("b"), yield* begin("down"), yield* begin("one too many")]
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.joinAll([first, ...others])
      yield* Effect.exit(commit("poison"))
      yield* Scope.close(scope, Exit.void)
      yield* Effect.exit(commit("late"))
      const measured = (yield* Metric.snapshot).filter(
        ({ attributes }) => attributes?.["operation"] === "measured"
      )
      const state = (id: string, why?: string) =>
        measured.find((one) => one.id === id && one.attributes?.["why"] === why)?.state
      assert.deepInclude(state("satrail_store_flush_items"), { count: 3, sum: 4, max: 2 })
      assert.deepInclude(state("satrail_store_flush_seconds"), { count: 3 })
      assert.deepInclude(state("satrail_store_waiting"), { value: 0 })
      assert.deepInclude(state("satrail_store_outages_total"), { count: 1 })
      assert.deepInclude(state("satrail_store_turned_away_total", "overloaded"), { count: 1 })
      assert.deepInclude(state("satrail_store_turned_away_total", "closed"), { count: 1 })
    })
)
