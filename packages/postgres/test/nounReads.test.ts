import { assert, it } from "@effect/vitest"
import { AccountReads } from "@satrail/core/accounts/AccountReads"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Person from "@satrail/features/people/core/Person"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { NounReads } from "@satrail/core/ledger/NounReads"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { longestMillis } from "@satrail/testing/Waiting"
import { Effect, Layer, Option, Scheduler } from "effect"
import * as Storage from "@satrail/service/postgres/Storage"
import * as Embedded from "./Embedded.ts"
import { shared } from "./Shared.ts"

const client = await shared(Embedded.layer)
const storage = await shared(Layer.provide(Storage.layerClient(), client))

/** A scheduler that runs nothing after it is stopped. */
const stoppable = () => {
  const inner = new Scheduler.MixedScheduler()
  let isStopped = false
  const scheduler: Scheduler.Scheduler = {
    executionMode: inner.executionMode,
    shouldYield: (fiber) => inner.shouldYield(fiber),
    makeDispatcher: () => {
      const dispatcher = inner.makeDispatcher()
      return {
        scheduleTask: (task, priority) => (isStopped ? undefined : dispatcher.scheduleTask(task, priority)),
        flush: () => dispatcher.flush()
      }
    }
  }
  return {
    scheduler,
    stop: () => {
      isStopped = true
    }
  }
}

it.layer(storage, { excludeTestServices: true })("noun reads", (it) => {
  it.effect(
    "noun reads: a record type can still be read after its first caller and that caller's scheduler have stopped",
    () =>
      Effect.gen(function* () {
        const [nouns, ledger] = [yield* NounReads, yield* LedgerReads]
        const [companyId, id] = [CompanyId.make(yield* Id.make), yield* Id.make]
        const { scheduler, stop } = stoppable()
        const get = nouns.get(Withdrawal.noun, companyId, id)
        yield* Effect.provideService(get, Scheduler.Scheduler, scheduler)
        stop()
        // All statements share one connection, so each waits until the previous user releases it.
        const often = <A, E>(read: Effect.Effect<A, E>) => Effect.repeat(read, { times: 20 })
        const all = Effect.all([often(get), often(ledger.lastEvent), often(ledger.lastEvent)], {
          concurrency: "unbounded"
        })
        assert.isTrue(Option.isSome(yield* Effect.timeoutOption(all, longestMillis)))
      })
  )

  it.effect("noun reads: text that is not an id finds no record", () =>
    Effect.gen(function* () {
      const [nouns, receiving, sending, accounts] = [
        yield* NounReads,
        yield* ReceivingReads,
        yield* SendingReads,
        yield* AccountReads
      ]
      const companyId = CompanyId.make(yield* Id.make)
      for (const id of ["", "1", "x'\0", `${yield* Id.make} `, "g".repeat(36)]) {
        const found = yield* Effect.all([
          nouns.get(Withdrawal.noun, companyId, id),
          nouns.get(Withdrawal.noun, CompanyId.make(id), yield* Id.make),
          nouns.named(Person.noun, { id }),
          accounts.company(CompanyId.make(id)),
          receiving.invoiceWithDeposit(companyId, id),
          receiving.depositOfInvoice(companyId, id),
          receiving.depositById(id),
          receiving.unmatchedById(id),
          sending.withdrawalById(id)
        ])
        assert.isTrue(
          found.every(({ _tag }) => _tag === "None"),
          JSON.stringify(id)
        )
      }
    })
  )
})
