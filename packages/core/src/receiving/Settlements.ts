import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { Clock, Context, Effect, Layer, Schedule, Stream } from "effect"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import * as Worker from "../base/Worker.ts"
import type * as Change from "../ledger/Change.ts"
import * as Cursor from "../ledger/Cursor.ts"
import * as Duties from "../ledger/Duties.ts"
import { Journal, type StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import { LightningReceiver, type NodeUnavailable, type Settled } from "../nodes/LightningReceiver.ts"
import { Policy, type Settings } from "../policy/Policy.ts"
import type { Deposit } from "./Deposit.ts"
import * as Invoice from "./Invoice.ts"
import { ReceivingReads } from "./ReceivingReads.ts"
import * as Zap from "./Zap.ts"

const pageSize = 200
const lookupsAtOnce = 8

/** Credits what the node received. Two ways lead here, the node's notices and looking up what is open, and both end in the same idempotent Change. */
export class Settlements extends Context.Service<
  Settlements,
  {
    /** Follows the node's notices from where the last credit left off. Ends only when the node breaks off, or another process holds what is fenced. */
    readonly listen: (fence?: Change.Fence) => Effect.Effect<void, NodeUnavailable | StoreUnavailable>
    /** Looks those open invoices up whose age says so: finds early what a notice was lost of. */
    readonly look: Effect.Effect<void, NodeUnavailable | StoreUnavailable>
    /**
     * Looks every open invoice up, of those that expired longer ago only some each time: finds what a notice was lost of, and expires what nobody will
     * pay any more.
     */
    readonly poll: Effect.Effect<void, NodeUnavailable | StoreUnavailable>
    /**
     * Closes at the node what wallets asked for and did not pay in time, and forgets it. What the node does not say it has closed stays: money that it may
     * still take is credited.
     */
    readonly forget: Effect.Effect<void, NodeUnavailable | StoreUnavailable>
  }
>()("@satrail/core/receiving/Settlements") {}

/** Whether an invoice is looked up in the sweep of this moment. One that expired is, when 1, 2, 4, 8 … sweeps have passed since, and when its grace is over. */
const isSwept = (
  { expiresAtMillis }: Invoice.Invoice,
  nowMillis: number,
  { invoiceSweepMillis, expiredGraceMillis }: Settings
): boolean => {
  const sweeps = (nowMillis - expiresAtMillis) / invoiceSweepMillis
  if (sweeps < 1 || nowMillis > expiresAtMillis + expiredGraceMillis) return true
  return sweeps - 2 ** Math.floor(Math.log2(sweeps)) < 1
}

type Range = readonly [fromMillis: number, untilMillis: number]

/** The times, in order and apart, at which an invoice was made that reached one of the ages at which it is looked up, since `sinceMillis`. */
const madeWithin = (sinceMillis: number, nowMillis: number, { invoicePollMillis, invoiceSweepMillis }: Settings): ReadonlyArray<Range> => {
  const ranges: Array<Range> = []
  for (let age = invoicePollMillis; age <= invoiceSweepMillis; age *= 2) {
    const [from, until] = [sinceMillis - age, nowMillis - age]
    const later = ranges.at(-1)
    if (later !== undefined && until >= later[0]) ranges[ranges.length - 1] = [from, later[1]]
    else ranges.push([from, until])
  }
  return ranges.toReversed()
}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const receiving = yield* ReceivingReads
  const receiver = yield* LightningReceiver
  const policy = yield* Policy
  const entropy = yield* Entropy
  const source = `lightning:${receiver.nodeId}`

  /** The node's money is there, but its invoice was settled by another payment: it is nobody's until a person has looked. */
  const suspend = Effect.fnUntraced(function* (
    invoice: Invoice.Invoice,
    received: Msat.Msat,
    nowMillis: number,
    reading: Change.Reading | undefined
  ) {
    yield* Effect.logError("invoice: paid twice; the second payment is in suspense", {
      invoiceId: invoice.id,
      receivedSats: Msat.toDecimalSats(received)
    })
    const { companyId, paymentHash } = invoice
    // From the hash, so that the same payment told twice is one.
    const unmatched = { id: Id.fromHash(paymentHash), companyId, paymentHash, received, reason: "invoice settled by another payment" }
    yield* journal
      .commit(Invoice.unmatched(unmatched, nowMillis, reading))
      .pipe(Effect.catchTag("Conflict", (conflict) => Effect.logError("invoice: paid a third time; not booked", conflict)))
  })

  const credit = Effect.fnUntraced(function* (paid: Omit<Settled, "cursor" | "settledAtMillis">, reading?: Change.Reading) {
    const nowMillis = yield* Clock.currentTimeMillis
    const found = yield* receiving.invoiceByHash(paid.paymentHash)
    if (found._tag === "None") {
      yield* Effect.logInfo("invoice: the node was paid for one that is not ours", { paymentHash: paid.paymentHash })
      if (reading !== undefined)
        yield* journal.commit(Cursor.moved(reading.cursor, Id.fromMillis(nowMillis, entropy), nowMillis, reading.fence))
      return
    }
    const invoice = found.value
    if (!Preimage.proves(paid.preimage, paid.paymentHash)) {
      return yield* Effect.logError("invoice: the node reports it settled without a valid preimage; not credited", {
        invoiceId: invoice.id
      })
    }
    const deposit: Deposit & { readonly lightningInvoiceId: string } = {
      id: Id.fromMillis(nowMillis, entropy),
      companyId: invoice.companyId,
      ledgerTxId: Id.fromMillis(nowMillis, entropy),
      recipient: invoice.paymentRequest,
      amount: paid.received,
      network: policy.network,
      rail: "lightning",
      status: "settled",
      chainTxId: null,
      vout: null,
      height: null,
      lightningInvoiceId: invoice.id,
      absorbed: Msat.zero,
      revision: 0,
      createdAtMillis: nowMillis,
      updatedAtMillis: nowMillis
    }
    yield* journal
      .commit({ ...Invoice.settled(deposit, paid.preimage, reading), ...Zap.work(invoice, nowMillis) })
      .pipe(Effect.catchTag("InvoiceNotPayable", () => suspend(invoice, paid.received, nowMillis, reading)))
  })

  /** What the node says about one open invoice decides; a node that does not know it, or still holds a payment for it, decides nothing. */
  const look = Effect.fnUntraced(function* (invoice: Invoice.Invoice) {
    // The answer is at least as new as this, and may be heard a day later: what was open then may have been paid since.
    const askedAtMillis = yield* Clock.currentTimeMillis
    const state = yield* receiver.lookupInvoice(invoice.paymentHash)
    if (state._tag === "settled")
      return yield* Effect.catchTag(
        credit({ paymentHash: invoice.paymentHash, received: state.received, preimage: state.preimage }),
        "StaleFence",
        Effect.die // nothing is fenced here: whoever looks, it is credited once
      )
    const over = askedAtMillis > invoice.expiresAtMillis + policy.expiredGraceMillis
    if (over && (state._tag === "open" || state._tag === "canceled")) yield* journal.commit(Invoice.expired(invoice, askedAtMillis))
  })

  /** Everything that `page` has, page by page. */
  const eachOf = Effect.fnUntraced(function* <E>(
    page: (after: Invoice.Invoice | null) => Effect.Effect<ReadonlyArray<Invoice.Invoice>, StoreUnavailable>,
    each: (invoice: Invoice.Invoice) => Effect.Effect<unknown, E>
  ) {
    let after: Invoice.Invoice | null = null
    do {
      const rows: ReadonlyArray<Invoice.Invoice> = yield* page(after)
      yield* Effect.forEach(rows, each, { concurrency: lookupsAtOnce, discard: true })
      after = rows.length < pageSize ? null : (rows.at(-1) ?? null)
    } while (after !== null)
  })

  /** The node has the last word. Where it does not know the invoice, which it may have cleared away, nobody can pay it; that is believed once its grace is over. */
  const drop = Effect.fnUntraced(function* (invoice: Invoice.Invoice) {
    const nowMillis = yield* Clock.currentTimeMillis
    const forgotten = Effect.catchTag(journal.commit(Invoice.forgotten(invoice, nowMillis)), "InvoiceNotPayable", () => Effect.void)
    const closed = yield* Effect.result(receiver.cancelInvoice(invoice.paymentHash))
    if (closed._tag === "Success") return yield* closed.success._tag === "canceled" ? forgotten : look(invoice)
    const isOver = nowMillis > invoice.expiresAtMillis + policy.expiredGraceMillis
    const state = yield* receiver.lookupInvoice(invoice.paymentHash)
    if (isOver && state._tag === "unknown") return yield* forgotten
  })

  let lookedAtMillis: number | undefined

  return Settlements.of({
    listen: Effect.fnUntraced(
      function* (fence) {
        const after = yield* ledger.cursor(source)
        yield* Stream.runForEach(receiver.settlements(after._tag === "Some" ? after.value : null), (paid) =>
          // What is being credited is finished, and a store that is away for a while does not make us forget it.
          Effect.uninterruptible(
            Effect.retry(credit(paid, { cursor: { source, value: paid.cursor }, fence }), {
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
      const sinceMillis = Math.min(lookedAtMillis ?? nowMillis - policy.invoicePollMillis, nowMillis)
      const ranges = madeWithin(sinceMillis, nowMillis, policy).map((range) => [Id.floorOf(range[0]), Id.floorOf(range[1])] as const)
      yield* eachOf((after) => receiving.openInvoicesWithin(ranges, after?.id ?? null, pageSize), look)
      lookedAtMillis = nowMillis
    }),
    poll: Effect.gen(function* () {
      const nowMillis = yield* Clock.currentTimeMillis
      yield* eachOf(
        (after) => receiving.openInvoices(after?.id ?? null, pageSize),
        (invoice) => (isSwept(invoice, nowMillis, policy) ? look(invoice) : Effect.void)
      )
    }),
    forget: Effect.gen(function* () {
      const untilMillis = (yield* Clock.currentTimeMillis) - policy.lnurl.forgetAfterMillis
      yield* eachOf((after) => receiving.endedForWallets(untilMillis, after, pageSize), drop)
    })
  })
})

export const layer = Layer.effect(Settlements, make)

/** Listens and polls for as long as the scope is open, in one process at a time. */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const settlements = yield* Settlements
    const { nodeId } = yield* LightningReceiver
    const { invoicePollMillis, invoiceSweepMillis, lnurl } = yield* Policy
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
