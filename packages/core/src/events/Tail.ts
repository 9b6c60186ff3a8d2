import { Context, Effect, Latch, Layer, type Scope } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import * as Worker from "../base/Worker.ts"
import { EventStore } from "../ledger/EventStore.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads, type Published } from "../ledger/LedgerReads.ts"
import { PollMillis, topics, Wakes } from "../ledger/Wakes.ts"

// A commit is read immediately, and the next read waits for a moment, so one read covers many commits. An event is visible only when every transaction that may
// precede it has ended, so a second read follows soon, and later ones less and less often.
const gapMillis = 20
const againMillis = 250
const pageSize = 1000

/** Says when there are events to be read. */
export class Tail extends Context.Service<
  Tail,
  {
    /**
     * Waits until there may be events of the company (null: of any) that were not there when it was waited for last. The first time it does not wait.
     * For as long as the scope is open.
     */
    readonly listen: (companyId: CompanyId.CompanyId | null) => Effect.Effect<Effect.Effect<void>, never, Scope.Scope>
    /**
     * Events of all companies after `after`, as the store has them (`EventStore.eventsOf`), for whoever listens to all. What was just looked at here is not
     * asked for again. May end before the last one that there is; then whoever listens is told of the rest.
     */
    readonly after: (after: bigint) => Effect.Effect<ReadonlyArray<Published>, StoreUnavailable>
  }
>()("@satrail/core/events/Tail") {}

const anybody = "*"

export const make = Effect.gen(function* () {
  const store = yield* EventStore
  const ledger = yield* LedgerReads
  const longestMillis = yield* PollMillis
  const committed = yield* (yield* Wakes).listen(topics.event)
  const waiting = new Map<string, Set<Latch.Latch>>()
  const listened = yield* Latch.make(false)
  let pauseMillis: number = againMillis
  let position: bigint | undefined
  /** The last page that was looked at, and what it comes after. */
  let looked: { readonly after: bigint; readonly page: ReadonlyArray<Published> } | undefined

  const release = (name: string) => {
    for (const latch of waiting.get(name) ?? []) latch.openUnsafe()
  }

  const look = Effect.gen(function* () {
    yield* listened.await
    const known = position
    if (known === undefined) {
      const last = yield* ledger.lastEvent
      position = last
      // What was committed since somebody has begun to listen, and before this: who it is of is not known.
      for (const name of waiting.keys()) release(name)
      return
    }
    const page = yield* store.eventsOf(null, known, pageSize)
    if (position !== known) return // nobody listened meanwhile
    for (const name of new Set<string>(page.map(({ companyId }) => companyId))) release(name)
    if (page.length > 0) release(anybody)
    if (page.length > 0) looked = { after: known, page }
    position = page.at(-1)?.id ?? known
    pauseMillis = page.length > 0 ? againMillis : Math.min(2 * pauseMillis, longestMillis)
  })
  const woken = Effect.map(committed, () => {
    pauseMillis = gapMillis
  })
  const moment = Effect.suspend(() => Effect.raceFirst(woken, Effect.sleep(pauseMillis - gapMillis)))

  yield* Worker.runOpen("events", look, Effect.andThen(Effect.sleep(gapMillis), moment))

  return Tail.of({
    listen: (companyId) =>
      Effect.map(
        Effect.acquireRelease(
          Effect.sync(() => {
            const name = companyId ?? anybody
            const latch = Latch.makeUnsafe(true)
            const others = waiting.get(name)
            if (others === undefined) waiting.set(name, new Set([latch]))
            else others.add(latch)
            listened.openUnsafe()
            return { name, latch }
          }),
          ({ name, latch }) =>
            Effect.sync(() => {
              const others = waiting.get(name)
              others?.delete(latch)
              if (others?.size === 0) waiting.delete(name)
              if (waiting.size > 0) return
              listened.closeUnsafe()
              position = undefined
              looked = undefined
            })
        ),
        ({ latch }) => Effect.andThen(latch.await, latch.close)
      ),
    after: (after) =>
      Effect.suspend(() =>
        looked !== undefined && looked.after <= after
          ? Effect.succeed(looked.page.filter(({ id }) => id > after))
          : store.eventsOf(null, after, pageSize)
      )
  })
})

export const layer = Layer.effect(Tail, make)
