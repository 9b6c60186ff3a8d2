import * as Nostr from "@satrail/bitcoin/Nostr"
import { Clock, Context, Effect, Layer, type Scope } from "effect"
import * as Worker from "@satrail/core/base/Worker"
import * as WorkSlots from "@satrail/core/base/WorkSlots"
import { Journal, type StoreUnavailable } from "@satrail/core/ledger/Journal"
import { fence, type Task, Tasks } from "@satrail/core/ledger/Tasks"
import * as TurnQueue from "@satrail/core/ledger/TurnQueue"
import * as Wakes from "@satrail/core/ledger/Wakes"
import type { Invoice } from "@satrail/core/receiving/Invoice"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import * as RelayOffers from "./RelayOffers.ts"
import * as Zap from "./Zap.ts"
import { ZapOptions } from "./ZapOptions.ts"

const sortedAtOnce = 20
// Longer than the time needed to offer a receipt to every relay, even if all relays are slow.
const leaseMillis = 60_000
const laterMillis = { minimum: 1_000, maximum: 300_000 } as const

/** Publishes receipts of paid zaps (NIP-57). */
export class Zaps extends Context.Service<
  Zaps,
  {
    /**
     * Offers receipts that are due, within the free slots, and returns their number. Offering a receipt again to a
     * relay that already has it changes nothing.
     */
    readonly step: Effect.Effect<number, StoreUnavailable>
    /** Repeats `step` while the scope is open. A slot is refilled as soon as it is free. */
    readonly run: Effect.Effect<void, never, Scope.Scope | Wakes.Wakes>
  }
>()("@satrail/features/zaps/core/Zaps") {}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const records = yield* ReceivingReads
  const tasks = yield* Tasks
  const offer = yield* RelayOffers.make
  const secretKey = yield* Nostr.SecretKey
  const options = yield* ZapOptions

  const later = (task: Task, nowMillis: number, notBeforeMillis = 0) => {
    const millis = Math.min(laterMillis.maximum, laterMillis.minimum * 2 ** Math.min(task.attempts - 1, 10))
    return tasks.postpone(task, Math.max(nowMillis + millis, notBeforeMillis))
  }

  const end = (invoice: Invoice, task: Task, taken: number, nowMillis: number) =>
    // If the fence is stale, another process has the job and publishes the receipt.
    Effect.catchTag(
      journal.commit(Zap.receipted(invoice, fence(task), taken, nowMillis)),
      "StaleFence",
      () => Effect.void
    )

  /** Returns a job's invoice if it is settled. Otherwise completes or postpones the job. */
  const settled = Effect.fnUntraced(function* (task: Task) {
    const found = yield* records.invoice(task.companyId, task.id)
    if (found._tag === "None") return yield* Effect.die(`invoice of a zap not found: ${task.id}`)
    const invoice = found.value
    if (invoice.status === "settled") return invoice
    const nowMillis = yield* Clock.currentTimeMillis
    // A claimed invoice is not paid yet. The internal payment may still fail.
    return invoice.status === "expired"
      ? void (yield* end(invoice, task, 0, nowMillis))
      : void (yield* later(task, nowMillis))
  })

  /** Passes a job to the queue of its Lightning address. */
  const sort = Effect.fnUntraced(function* (task: Task) {
    const invoice = yield* settled(task)
    if (invoice === undefined) return
    const as = { kind: Zap.receiptTaskKind, lane: invoice.lightningAddressId ?? "" }
    yield* tasks.postpone(task, yield* Clock.currentTimeMillis, as)
  })

  const publish = Effect.fnUntraced(function* (task: Task) {
    const startMillis = yield* Clock.currentTimeMillis
    const invoice = yield* settled(task)
    if (invoice === undefined) return
    if (secretKey === undefined) return void (yield* later(task, startMillis))
    const receipt = Zap.receiptOf(invoice, secretKey, options.relays)
    if (receipt === undefined) return void (yield* end(invoice, task, 0, startMillis))
    const verdicts = yield* Effect.forEach(
      receipt.relays,
      (relay) => offer(task.lane, relay, receipt.event),
      { concurrency: "unbounded" }
    )
    const nowMillis = yield* Clock.currentTimeMillis
    const isLate = startMillis > (invoice.settledAtMillis ?? 0) + options.publishForMillis
    const waits = verdicts.flatMap((one) => (one._tag === "unknown" ? [one.notBeforeMillis] : []))
    if (waits.length > 0 && !isLate) return void (yield* later(task, nowMillis, Math.min(...waits)))
    const taken = verdicts.filter(({ _tag }) => _tag === "taken").length
    if (taken === 0) yield* Effect.logWarning("zap receipt: accepted by no relay", { invoiceId: invoice.id })
    yield* end(invoice, task, taken, nowMillis)
  })

  const handled = (task: Task, work: (task: Task) => Effect.Effect<void, StoreUnavailable>) =>
    work(task).pipe(
      Effect.catchCause((cause) =>
        Effect.andThen(
          Effect.logError("zap receipt: creation failed; will retry", cause),
          Effect.flatMap(Clock.currentTimeMillis, (nowMillis) => Effect.ignore(later(task, nowMillis)))
        )
      ),
      Effect.annotateLogs({ invoiceId: task.id })
    )

  const sortAll = Effect.gen(function* () {
    const nowMillis = yield* Clock.currentTimeMillis
    const claimed = yield* tasks.claim({ kind: Zap.taskKind, nowMillis, leaseMillis, limit: sortedAtOnce })
    yield* Effect.forEach(claimed, (task) => handled(task, sort), {
      concurrency: sortedAtOnce,
      discard: true
    })
    return claimed.length
  }).pipe(Effect.repeat({ while: (count) => count === sortedAtOnce }))

  const next = TurnQueue.turns(tasks)
  const inTurn = Effect.fnUntraced(function* (share: TurnQueue.Share) {
    const atMillis = yield* Clock.currentTimeMillis
    return (yield* next({ ...share, nowMillis: atMillis, leaseMillis })).map((task) => ({
      ...task,
      atMillis
    }))
  })
  const receipts = yield* TurnQueue.make(
    { name: "zap receipts", kind: Zap.receiptTaskKind, ...options.slots },
    inTurn,
    (task) => handled(task, publish)
  )

  return Zaps.of({
    step: Effect.andThen(sortAll, WorkSlots.fillOnce(receipts)),
    run: Effect.gen(function* () {
      const { listen } = yield* Wakes.Wakes
      let isStopping = false
      yield* WorkSlots.keepFilled(receipts, yield* listen(Zap.receiptTaskKind), () => isStopping)
      yield* Worker.run("zaps", sortAll, yield* listen(Zap.taskKind))
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          isStopping = true
        })
      )
    })
  })
})

export const layer = Layer.effect(Zaps, make)

/** Offers receipts while the scope is open. Requires `Nostr.SecretKey`. */
export const layerWorker = Layer.effectDiscard(Effect.flatMap(Zaps, ({ run }) => run)).pipe(
  Layer.provide(layer),
  Layer.provide(Wakes.layerTasks)
)
