import { assert, it } from "@effect/vitest"
import * as CompanyId from "../src/base/CompanyId.ts"
import * as Id from "../src/base/Id.ts"
import { cursorOf, CursorTooOld, Events, type Heard, placeOf } from "../src/events/Events.ts"
import * as Cursor from "../src/ledger/Cursor.ts"
import * as Duties from "../src/ledger/Duties.ts"
import { Journal } from "../src/ledger/Journal.ts"
import { LedgerReads } from "../src/ledger/LedgerReads.ts"
import * as Wakes from "../src/ledger/Wakes.ts"
import * as Memory from "@satrail/service/memory/Memory"
import { Effect, Layer, Logger, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Consumers from "../src/events/Consumers.ts"

const eventOf = (event: bigint, subject = String(event)): Heard => {
  const place = { event, part: 1 }
  const companyId = CompanyId.operator
  const record = {
    domain: subject,
    companyId,
    shownBy: "dns",
    verifiedAtMillis: 0,
    checkedAtMillis: 0,
    lostAtMillis: null
  } as const
  return {
    kind: "domain",
    type: "domain.verified",
    record,
    companyId,
    atMillis: 0,
    subject,
    place,
    cursor: cursorOf(place)
  }
}
const all = [2n, 3n, 4n].map((event) => eventOf(event))

const services = Layer.provideMerge(
  Duties.layer,
  Layer.mergeAll(
    Layer.provideMerge(Wakes.layer, Memory.layer),
    Layer.succeed(Duties.Options, Duties.defaults)
  )
)

const minute = Effect.gen(function* () {
  for (let second = 0; second < 60; second++) yield* TestClock.adjust("1 second")
})
const asked = (handle: (subject: string) => unknown): Consumers.Ask => ({
  name: "books",
  after: undefined,
  isAsked: () => true,
  handle: async ({ subject }) => void handle(subject),
  describe: ({ type, cursor }) => ({ event: cursor, type })
})

/** Dies on its first calls, as on an answer of the database that is not an outage. */
const dying = <A, E>(times: number, effect: Effect.Effect<A, E>) => {
  let calls = 0
  return Effect.suspend((): Effect.Effect<A, E> => (++calls <= times ? Effect.die("XX000") : effect))
}

it.effect(
  "events: a handler gets every event once, and its position is stored, although reading and storing died",
  () =>
    Effect.gen(function* () {
      const [journal, ledger] = [yield* Journal, yield* LedgerReads]
      let tails = 0
      const events = Events.of({
        tail: ({ after } = {}) => {
          const rest = Stream.fromIterable(all.filter(({ cursor }) => after === undefined || cursor > after))
          return Stream.concat(
            ++tails === 1 ? Stream.take(rest, 1) : rest,
            tails === 1 ? Stream.die("XX000") : Stream.never
          )
        }
      })
      let commits = 0
      const flaky = Journal.of({
        // The first commits store the role and where the handler begins.
        commit: (change) =>
          Effect.suspend(() => (++commits === 3 ? Effect.die("XX000") : journal.commit(change)))
      })
      const handled: Array<string> = []
      yield* Consumers.run({ ...asked((subject) => handled.push(subject)), after: "now" }).pipe(
        Effect.provideService(Events, events),
        Effect.provideService(Journal, flaky),
        Effect.provideService(
          LedgerReads,
          LedgerReads.of({ ...ledger, lastEvent: dying(1, ledger.lastEvent) })
        ),
        Effect.forkScoped
      )
      yield* minute
      assert.deepStrictEqual(handled, ["2", "3", "4"])
      const stored = Option.getOrUndefined(yield* ledger.cursor("consumer books"))
      assert.deepStrictEqual(stored, JSON.stringify({ after: all[2]?.cursor, open: [] }))
    }).pipe(Effect.provide(services))
)

/** Consumes these events for a minute. Returns the number of events read. */
const consumed = Effect.fnUntraced(function* (
  all: ReadonlyArray<Heard>,
  handle: (subject: string) => unknown
) {
  let read = 0
  const each = Stream.tap(Stream.fromIterable(all), () => Effect.sync(() => void read++))
  const events = Events.of({ tail: () => Stream.concat(Stream.rechunk(each, 1), Stream.never) })
  yield* Effect.forkScoped(Effect.provideService(Consumers.run(asked(handle)), Events, events))
  yield* minute
  return read
})
const refuse = () => {
  throw new Error("the shop does not know this order")
}

it.effect(
  "events: failing records with further events do not keep a consumer from handling other records",
  () =>
    Effect.gen(function* () {
      const failing = 2 * Consumers.atOnce
      const handled: Array<string> = []
      const two = Array.from({ length: 2 * failing }, (_, n) => eventOf(BigInt(n + 1), `bad ${n >> 1}`))
      yield* consumed([...two, eventOf(BigInt(2 * failing + 1), "good")], (subject) =>
        subject === "good" ? handled.push(subject) : refuse()
      )
      assert.deepStrictEqual(handled, ["good"])
    }).pipe(Effect.provide(services))
)

it.effect(
  "events: an open event that was deleted is dropped after a restart, and no handled event is repeated",
  () =>
    Effect.gen(function* () {
      const [journal, ledger] = [yield* Journal, yield* LedgerReads]
      const retained = [3n, 4n, 5n].map((event) => eventOf(event))
      const value = JSON.stringify({
        after: eventOf(4n).cursor,
        open: [eventOf(2n).cursor, eventOf(3n).cursor]
      })
      yield* journal.commit(Cursor.moved({ source: "consumer books", value }, yield* Id.make, 0))
      const events = Events.of({
        tail: ({ after = "" } = {}) =>
          (placeOf(after)?.event ?? 3n) < 3n
            ? Stream.fail(new CursorTooOld({ cursor: after }))
            : Stream.concat(
                Stream.fromIterable(retained.filter(({ cursor }) => cursor > after)),
                Stream.never
              )
      })
      const handled: Array<string> = []
      yield* Effect.forkScoped(
        Effect.provideService(Consumers.run(asked((subject) => handled.push(subject))), Events, events)
      )
      yield* minute
      assert.deepStrictEqual(handled, ["3", "5"])
      const stored = Option.getOrUndefined(yield* ledger.cursor("consumer books"))
      assert.deepStrictEqual(stored, JSON.stringify({ after: eventOf(5n).cursor, open: [] }))
    }).pipe(Effect.provide(services))
)

it.effect(
  "events: after a restart with fewer types or another company, an open event that the handler no longer requests is dropped",
  () =>
    Effect.gen(function* () {
      const [journal, ledger] = [yield* Journal, yield* LedgerReads]
      const value = JSON.stringify({ after: all[1]?.cursor, open: [all[0]?.cursor, all[1]?.cursor] })
      yield* journal.commit(Cursor.moved({ source: "consumer books", value }, yield* Id.make, 0))
      const events = Events.of({
        tail: ({ after = "" } = {}) =>
          Stream.concat(Stream.fromIterable(all.filter(({ cursor }) => cursor > after)), Stream.never)
      })
      const handled: Array<string> = []
      const ask = {
        ...asked((subject) => handled.push(subject)),
        isAsked: ({ subject }: Heard) => subject !== "2"
      }
      const logged: Array<unknown> = []
      const logger = Logger.layer([Logger.make(({ message }) => void logged.push(message))])
      yield* Effect.forkScoped(
        Consumers.run(ask).pipe(Effect.provideService(Events, events), Effect.provide(logger))
      )
      yield* minute
      assert.deepStrictEqual(logged, [
        [
          "consumer: dropped an open event, because books no longer requests it",
          { event: all[0]?.cursor, type: "domain.verified" }
        ]
      ])
      assert.deepStrictEqual(handled, ["3", "4"])
      const stored = Option.getOrUndefined(yield* ledger.cursor("consumer books"))
      assert.deepStrictEqual(stored, JSON.stringify({ after: all[2]?.cursor, open: [] }))
    }).pipe(Effect.provide(services))
)

it.effect(
  "events: a consumer reads no further while as many events as its position may contain are not handled",
  () =>
    Effect.gen(function* () {
      const events = Array.from({ length: Consumers.maxOpen + 200 }, (_, n) =>
        eventOf(BigInt(n + 1), String(n % 10))
      )
      assert.strictEqual(yield* consumed(events, refuse), Consumers.maxOpen + 1)
    }).pipe(Effect.provide(services))
)
