import { Array as Arr, Clock, Context, Effect, Layer, Option, Schedule, Stream } from "effect"
import * as Id from "../base/Id.ts"
import * as Pages from "../base/Pages.ts"
import * as Worker from "../base/Worker.ts"
import type * as Change from "../ledger/Change.ts"
import * as Duties from "../ledger/Duties.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import { LightningReceiver, type NodeUnavailable, type Settled } from "../nodes/LightningReceiver.ts"
import * as Credits from "./Credits.ts"
import * as Forgetting from "./Forgetting.ts"
import type * as Invoice from "./Invoice.ts"
import { forgetAfterMillis } from "./LnurlOptions.ts"
import * as InvoiceLookup from "./InvoiceLookup.ts"
import * as LookupSchedule from "./LookupSchedule.ts"
import { ReceivingReads } from "./ReceivingReads.ts"

const pageSize = 200
const lookupsAtOnce = 8

/** Maximum number of reported payments credited concurrently. The store commits them in groups. */
const creditsAtOnce = 128

/**
 * Credits payments received by the node. Finds them through notifications and by looking up open invoices. Both
 * commit the same idempotent Change.
 */
export class Settlements extends Context.Service<
  Settlements,
  {
    /**
     * Follows the node's notifications, starting after the last credited payment. Ends only when the node
     * closes the stream or another process holds the lease.
     */
    readonly listen: (fence?: Change.Fence) => Effect.Effect<void, NodeUnavailable | StoreUnavailable>
    /**
     * Looks up open invoices at their scheduled ages, which finds payments early if a notification was lost.
     */
    readonly look: Effect.Effect<void, NodeUnavailable | StoreUnavailable>
    /**
     * Polls every open invoice, and long-expired ones less often. Finds payments that notifications missed,
     * expires invoices that will no longer be paid, and closes invoices at the node that were canceled during
     * an outage.
     */
    readonly poll: Effect.Effect<void, NodeUnavailable | StoreUnavailable>
    /**
     * Closes wallets' unpaid, expired invoices at the node and deletes them. If the node does not confirm that
     * an invoice is closed, the invoice stays, so that a late payment is credited.
     */
    readonly forget: Effect.Effect<void, NodeUnavailable | StoreUnavailable>
  }
>()("@satrail/core/receiving/Settlements") {}

/** Processes invoices page by page, several of each page concurrently. */
const eachInvoice = <E>(
  page: Pages.Read<Invoice.Invoice, StoreUnavailable>,
  work: (invoice: Invoice.Invoice) => Effect.Effect<unknown, E>
) =>
  Pages.each(pageSize, page, (rows) =>
    Effect.forEach(rows, work, { concurrency: lookupsAtOnce, discard: true })
  )

export const make = Effect.gen(function* () {
  const ledger = yield* LedgerReads
  const receiving = yield* ReceivingReads
  const receiver = yield* LightningReceiver
  const options = yield* LookupSchedule.Options
  const { credit } = yield* Credits.make
  const { lookUp } = yield* InvoiceLookup.make
  const { cancel, forget } = yield* Forgetting.make
  const source = `lightning:${receiver.nodeId}`

  const closes = receiver.lacks?.has("cancel") !== true

  /**
   * Deletes an invoice only if the node confirms that it cannot be paid. An invoice unknown to the node, for
   * example after a cleanup, is deleted only after its grace period. The same applies to an expired invoice
   * at a node that cannot cancel; until then it is looked up like any other.
   */
  const drop = Effect.fnUntraced(function* (invoice: Invoice.Invoice) {
    const nowMillis = yield* Clock.currentTimeMillis
    const isOver = nowMillis > invoice.expiresAtMillis + options.expiredGraceMillis
    if (!closes && !isOver) return
    const canceled = yield* cancel(invoice)
    if (Option.isSome(canceled))
      return canceled.value._tag === "canceled" ? undefined : yield* lookUp(invoice)
    const look = receiver.lookupInvoice(invoice.paymentHash)
    const first = yield* look
    // No lookup follows, so the node must report twice that it does not have the invoice.
    const state = isOver && first._tag === "unknown" ? yield* look : first
    if (state._tag === "settled") return yield* lookUp(invoice)
    if (isOver && (state._tag === "unknown" || (!closes && state._tag !== "accepted")))
      return yield* forget(invoice)
  })

  /**
   * Credits payments. The last credit also moves the cursor, after all others are committed. After a crash in
   * between, the payments are processed again, and none is credited twice.
   */
  const creditAll = Effect.fnUntraced(function* (
    paid: Arr.NonEmptyReadonlyArray<Settled>,
    fence: Change.Fence | undefined
  ) {
    const last = Arr.lastNonEmpty(paid)
    yield* Effect.forEach(Arr.initNonEmpty(paid), (one) => credit(one), {
      concurrency: "unbounded",
      discard: true
    })
    yield* credit(last, { cursor: { source, value: last.cursor }, fence })
  })

  let lookedAtMillis: number | undefined

  return Settlements.of({
    listen: Effect.fnUntraced(
      function* (fence) {
        const after = yield* ledger.cursor(source)
        const reported = Stream.buffer(receiver.settlements(Option.getOrNull(after)), {
          capacity: creditsAtOnce
        })
        yield* Stream.runForEachArray(reported, (paid) =>
          // Finish the credits that have started, and retry while the store is unavailable, so that no payment
          // is dropped.
          Effect.uninterruptible(
            Effect.retry(creditAll(paid, fence), {
              times: 5,
              while: (error) => error._tag !== "StaleFence",
              schedule: Schedule.exponential("200 millis")
            })
          )
        )
      },
      Effect.catchTag("StaleFence", () => Effect.void)
    ),
    look: Effect.gen(function* () {
      const nowMillis = yield* Clock.currentTimeMillis
      const sinceMillis = Math.min(lookedAtMillis ?? nowMillis - options.invoicePollMillis, nowMillis)
      const ranges = LookupSchedule.madeWithin(sinceMillis, nowMillis, options).map(
        (range) => [Id.floorOf(range[0]), Id.floorOf(range[1])] as const
      )
      yield* eachInvoice((after) => receiving.openInvoicesWithin(ranges, after?.id ?? null, pageSize), lookUp)
      lookedAtMillis = nowMillis
    }),
    poll: Effect.gen(function* () {
      const nowMillis = yield* Clock.currentTimeMillis
      yield* eachInvoice(
        (after) => receiving.openInvoices(after?.id ?? null, pageSize),
        (invoice) => (LookupSchedule.isSwept(invoice, nowMillis, options) ? lookUp(invoice) : Effect.void)
      )
    }),
    forget: Effect.gen(function* () {
      const untilMillis = (yield* Clock.currentTimeMillis) - forgetAfterMillis
      yield* eachInvoice((after) => receiving.endedForWallets(untilMillis, after, pageSize), drop)
    })
  })
})

export const layer = Layer.effect(Settlements, make)

/** Listens and polls while the scope is open, in one process at a time. */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const settlements = yield* Settlements
    const { nodeId } = yield* LightningReceiver
    const { invoicePollMillis, invoiceSweepMillis } = yield* LookupSchedule.Options
    yield* Duties.run(`settlements of ${nodeId}`, (fence) =>
      Effect.gen(function* () {
        yield* Worker.runOpen("invoice notifications", settlements.listen(fence), Effect.sleep("1 second"))
        yield* Worker.run("invoice polling", settlements.look, Effect.sleep(invoicePollMillis))
        yield* Worker.run("invoice sweep", settlements.poll, Effect.sleep(invoiceSweepMillis))
        yield* Worker.run("unpaid invoice cleanup", settlements.forget, Effect.sleep(forgetAfterMillis))
      })
    )
  })
)
