import * as Nostr from "@satrail/bitcoin/Nostr"
import { Clock, Context, Effect, Layer } from "effect"
import * as Worker from "../../base/Worker.ts"
import { Journal, type StoreUnavailable } from "../../ledger/Journal.ts"
import { fence, type Task, Tasks } from "../../ledger/Tasks.ts"
import * as Wakes from "../../ledger/Wakes.ts"
import type { Invoice } from "../../receiving/Invoice.ts"
import { ReceivingReads } from "../../receiving/ReceivingReads.ts"
import * as Zap from "./Zap.ts"
import { ZapOptions } from "./ZapOptions.ts"

const tasksAtOnce = 20
// Longer than the time needed to offer a receipt to every relay, even if all relays are slow.
const leaseMillis = 60_000
const relayMillis = 10_000
const laterMillis = { minimum: 1_000, maximum: 60_000 } as const

/** Publishes receipts of paid zaps (NIP-57). */
export class Zaps extends Context.Service<
  Zaps,
  {
    /**
     * Offers every receipt that is due, and returns the number of jobs that were due. Offering a receipt again
     * to a relay that already has it changes nothing.
     */
    readonly step: Effect.Effect<number, StoreUnavailable>
  }
>()("@satrail/core/features/zaps/Zaps") {}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const records = yield* ReceivingReads
  const tasks = yield* Tasks
  const relays = yield* Nostr.Relays
  const secretKey = yield* Nostr.SecretKey
  const options = yield* ZapOptions

  const offer = (relay: string, event: Nostr.Event) =>
    relays.publish(relay, event).pipe(
      Effect.timeoutOrElse({
        duration: relayMillis,
        orElse: () => Effect.fail(new Nostr.RelayUnreachable({ relay, cause: new Error(`no response within ${relayMillis} ms`) }))
      }),
      Effect.catchTag("RelayUnreachable", (unreachable) =>
        Effect.as(Effect.logInfo("zap receipt: not accepted by a relay", unreachable), "unknown" as const)
      )
    )

  const later = (task: Task, nowMillis: number) =>
    tasks.postpone(task, nowMillis + Math.min(laterMillis.maximum, laterMillis.minimum * 2 ** Math.min(task.attempts - 1, 10)))

  const end = (invoice: Invoice, task: Task, taken: number, nowMillis: number) =>
    // If the fence is stale, another process has the job and publishes the receipt.
    Effect.catchTag(journal.commit(Zap.receipted(invoice, fence(task), taken, nowMillis)), "StaleFence", () => Effect.void)

  const work = Effect.fnUntraced(function* (task: Task) {
    const found = yield* records.invoice(task.companyId, task.id)
    const nowMillis = yield* Clock.currentTimeMillis
    if (found._tag === "None") return yield* Effect.die(`invoice of a zap not found: ${task.id}`)
    const invoice = found.value
    if (invoice.status === "expired") return yield* end(invoice, task, 0, nowMillis)
    // A claimed invoice is not paid yet. The internal payment may still fail.
    if (invoice.status !== "settled" || secretKey === undefined) return yield* later(task, nowMillis)
    const receipt = Zap.receiptOf(invoice, secretKey, options.relays)
    if (receipt === undefined) return yield* end(invoice, task, 0, nowMillis)
    const answers = yield* Effect.forEach(receipt.relays, (relay) => offer(relay, receipt.event), { concurrency: "unbounded" })
    const taken = answers.filter((answer) => answer === "taken").length
    const isLate = nowMillis > (invoice.settledAtMillis ?? 0) + options.publishForMillis
    if (answers.includes("unknown") && !isLate) return yield* later(task, nowMillis)
    if (taken === 0) yield* Effect.logWarning("zap receipt: accepted by no relay", { invoiceId: invoice.id })
    return yield* end(invoice, task, taken, nowMillis)
  })

  return Zaps.of({
    step: Effect.gen(function* () {
      const nowMillis = yield* Clock.currentTimeMillis
      const claimed = yield* tasks.claim({ kind: Zap.taskKind, nowMillis, leaseMillis, limit: tasksAtOnce })
      yield* Effect.forEach(
        claimed,
        (task) =>
          work(task).pipe(
            Effect.catchCause((cause) =>
              Effect.andThen(Effect.logError("zap receipt: creation failed; will retry", cause), Effect.ignore(later(task, nowMillis)))
            ),
            Effect.annotateLogs({ invoiceId: task.id })
          ),
        { concurrency: tasksAtOnce, discard: true }
      )
      return claimed.length
    })
  })
})

export const layer = Layer.effect(Zaps, make)

/** Offers receipts while the scope is open. Requires `Nostr.SecretKey`. */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const zaps = yield* Zaps
    yield* Worker.run(
      "zaps",
      Effect.repeat(zaps.step, { while: (claimed) => claimed === tasksAtOnce }),
      yield* (yield* Wakes.Wakes).listen(Zap.taskKind)
    )
  })
).pipe(Layer.provide(layer), Layer.provide(Wakes.layerTasks))
