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
import { LnurlOptions } from "./LnurlOptions.ts"
import * as Looking from "./Looking.ts"
import * as LookUps from "./LookUps.ts"
import { ReceivingReads } from "./ReceivingReads.ts"

const pageSize = 200
const lookupsAtOnce = 8

/** What the node has reported meanwhile is credited together, as many at most: the store commits them in groups. */
const creditsAtOnce = 128

/** Credits what the node received. Two ways lead here, the node's notices and looking up what is open, and both end in the same idempotent Change. */
export class Settlements extends Context.Service<
  Settlements,
  {
    /** Follows the node's notices from where the last credit left off. Ends only when the node breaks off, or another process holds what is fenced. */
    readonly listen: (fence?: Change.Fence) => Effect.Effect<void, NodeUnavailable | StoreUnavailable>
    /** Looks those open invoices up whose age says so: finds early what a notice was lost of. */
    readonly look: Effect.Effect<void, NodeUnavailable | StoreUnavailable>
    /**
     * Polls every open invoice, of those that expired longer ago only some each time: finds payments whose notification was lost, expires invoices that will not be
     * paid any more, and has those closed that were canceled while the node was away.
     */
    readonly poll: Effect.Effect<void, NodeUnavailable | StoreUnavailable>
    /**
     * Closes at the node what wallets asked for and did not pay in time, and forgets it. What the node does not say it has closed stays: money that it may
     * still take is credited.
     */
    readonly forget: Effect.Effect<void, NodeUnavailable | StoreUnavailable>
  }
>()("@satrail/core/receiving/Settlements") {}

/** Page by page, some of each page at once. */
const eachInvoice = <E>(
  page: Pages.Read<Invoice.Invoice, StoreUnavailable>,
  work: (invoice: Invoice.Invoice) => Effect.Effect<unknown, E>
) => Pages.each(pageSize, page, (rows) => Effect.forEach(rows, work, { concurrency: lookupsAtOnce, discard: true }))

export const make = Effect.gen(function* () {
  const ledger = yield* LedgerReads
  const receiving = yield* ReceivingReads
  const receiver = yield* LightningReceiver
  const options = yield* LookUps.Options
  const { lnurl } = yield* LnurlOptions
  const { credit } = yield* Credits.make
  const { look } = yield* Looking.make
  const { cancel, forget } = yield* Forgetting.make
  const source = `lightning:${receiver.nodeId}`

  const closes = receiver.lacks?.has("cancel") !== true

  /**
   * The node decides. An invoice that it does not know, as after a clean-up, cannot be paid; that is believed once its grace is over. So is that it takes no payment
   * after the end of one that it cannot close: until then it is looked up as any other.
   */
  const drop = Effect.fnUntraced(function* (invoice: Invoice.Invoice) {
    const nowMillis = yield* Clock.currentTimeMillis
    const isOver = nowMillis > invoice.expiresAtMillis + options.expiredGraceMillis
    if (!closes && !isOver) return
    const canceled = yield* cancel(invoice)
    if (Option.isSome(canceled)) return canceled.value._tag === "canceled" ? undefined : yield* look(invoice)
    const state = yield* receiver.lookupInvoice(invoice.paymentHash)
    if (state._tag === "settled") return yield* look(invoice)
    if (isOver && (state._tag === "unknown" || (!closes && state._tag !== "accepted"))) return yield* forget(invoice)
  })

  /** The cursor moves with the last of them, once all before it are credited: who dies in between finds them again, and credits none twice. */
  const creditAll = Effect.fnUntraced(function* (paid: Arr.NonEmptyReadonlyArray<Settled>, fence: Change.Fence | undefined) {
    const last = Arr.lastNonEmpty(paid)
    yield* Effect.forEach(Arr.initNonEmpty(paid), (one) => credit(one), { concurrency: "unbounded", discard: true })
    yield* credit(last, { cursor: { source, value: last.cursor }, fence })
  })

  let lookedAtMillis: number | undefined

  return Settlements.of({
    listen: Effect.fnUntraced(
      function* (fence) {
        const after = yield* ledger.cursor(source)
        const reported = Stream.buffer(receiver.settlements(Option.getOrNull(after)), { capacity: creditsAtOnce })
        yield* Stream.runForEachArray(reported, (paid) =>
          // What is being credited is finished, and a store that is away for a while does not make us forget it.
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
      const ranges = LookUps.madeWithin(sinceMillis, nowMillis, options).map(
        (range) => [Id.floorOf(range[0]), Id.floorOf(range[1])] as const
      )
      yield* eachInvoice((after) => receiving.openInvoicesWithin(ranges, after?.id ?? null, pageSize), look)
      lookedAtMillis = nowMillis
    }),
    poll: Effect.gen(function* () {
      const nowMillis = yield* Clock.currentTimeMillis
      yield* eachInvoice(
        (after) => receiving.openInvoices(after?.id ?? null, pageSize),
        (invoice) => (LookUps.isSwept(invoice, nowMillis, options) ? look(invoice) : Effect.void)
      )
    }),
    forget: Effect.gen(function* () {
      const untilMillis = (yield* Clock.currentTimeMillis) - lnurl.forgetAfterMillis
      yield* eachInvoice((after) => receiving.endedForWallets(untilMillis, after, pageSize), drop)
    })
  })
})

export const layer = Layer.effect(Settlements, make)

/** Listens and polls for as long as the scope is open, in one process at a time. */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const settlements = yield* Settlements
    const { nodeId } = yield* LightningReceiver
    const { invoicePollMillis, invoiceSweepMillis } = yield* LookUps.Options
    const { lnurl } = yield* LnurlOptions
    yield* Duties.run(`settlements of ${nodeId}`, (fence) =>
      Effect.gen(function* () {
        yield* Worker.runOpen("invoice notifications", settlements.listen(fence), Effect.sleep("1 second"))
        yield* Worker.run("invoice polling", settlements.look, Effect.sleep(invoicePollMillis))
        yield* Worker.run("invoice sweep", settlements.poll, Effect.sleep(invoiceSweepMillis))
        yield* Worker.run("unpaid invoice cleanup", settlements.forget, Effect.sleep(lnurl.forgetAfterMillis))
      })
    )
  })
)
