import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Clock, Effect, Option } from "effect"
import * as Id from "../../base/Id.ts"
import type { StoreUnavailable } from "../../ledger/Journal.ts"
import { LedgerReads } from "../../ledger/LedgerReads.ts"
import { NounReads } from "../../ledger/NounReads.ts"
import { LightningReceiver, type NodeUnavailable } from "../../nodes/LightningReceiver.ts"
import { unmatchedNoun } from "../../receiving/Invoice.ts"
import { ReceivingReads } from "../../receiving/ReceivingReads.ts"
import { PaymentOptions } from "../../sending/PaymentOptions.ts"
import { SendingReads } from "../../sending/SendingReads.ts"
import * as LostResult from "../../sending/LostResult.ts"
import * as NodePayments from "../../sending/NodePayments.ts"
import * as Withdrawal from "../../sending/Withdrawal.ts"
import * as Difference from "./Difference.ts"
import * as Run from "./Run.ts"
import type { Statement } from "./Statements.ts"

type Lines = ReadonlyArray<Run.Watched>

/** Maximum number of entries compared and looked up concurrently. */
export const atOnce = 8

/**
 * Returns the last entry of each payment, because a failed payment may be retried as another entry. A payment sent and
 * a payment received may have the same hash.
 */
const newestOf = (lines: ReadonlyArray<Run.Theirs>): ReadonlyMap<string, Run.Theirs> =>
  new Map(lines.map((line) => [`${line._tag} ${Run.keyOf(line)}`, line]))

/**
 * If a payment reported by the node is not booked yet, that is not a discrepancy while a worker has claimed its
 * job. A job that only tracks its payment is due again within `trackMillis.maximum`. A later due time therefore
 * means that the job is claimed, or waits for a call that may still be in flight.
 */
const heldBack = Effect.gen(function* () {
  const ledger = yield* LedgerReads
  const { trackMillis } = yield* PaymentOptions
  return Effect.fnUntraced(function* (
    judgement: Difference.Judgement
  ): Effect.fn.Return<Difference.Judgement, StoreUnavailable> {
    if (typeof judgement === "string" || judgement.cause !== "payment_not_booked") return judgement
    const { companyId, recordId } = judgement
    if (companyId === null || recordId === null) return judgement
    const job = yield* ledger.job(companyId, recordId)
    const nowMillis = yield* Clock.currentTimeMillis
    return Option.exists(job, ({ dueAtMillis }) => dueAtMillis - nowMillis > trackMillis.maximum)
      ? "under_way"
      : judgement
  })
})

/** Compares individual payments: the node's entries with our records, and our records with lookups at the node. */
export const make = Effect.gen(function* () {
  const receiving = yield* ReceivingReads
  const nouns = yield* NounReads
  const sending = yield* SendingReads
  const unlessHeld = yield* heldBack
  const receiver = yield* LightningReceiver
  const nodePayments = yield* NodePayments.make

  const inFlight = yield* LostResult.inFlight

  /** Returns whether the node has lost a payment's result. An operator may have released its withdrawal. */
  const isResultLost = Effect.fnUntraced(function* (line: Extract<Run.Theirs, { readonly _tag: "Sent" }>) {
    if (inFlight === undefined) return false
    return (
      LostResult.judge(yield* nodePayments.lookupSent(line), line.paymentHash, yield* inFlight) === "lost"
    )
  })

  const receiptOf = Effect.fnUntraced(function* (
    paymentHash: PaymentHash.PaymentHash
  ): Effect.fn.Return<Difference.Receipt, StoreUnavailable> {
    const invoice = Option.getOrUndefined(yield* receiving.invoiceByHash(paymentHash))
    if (invoice === undefined)
      return { invoice, deposit: undefined, isFromInside: false, unmatched: undefined }
    const [deposit, payer, unmatched] = yield* Effect.all(
      [
        receiving.depositOfInvoice(invoice.companyId, invoice.id),
        sending.withdrawalByHash(paymentHash),
        nouns.get(unmatchedNoun, invoice.companyId, Id.fromHash(paymentHash))
      ],
      { concurrency: "unbounded" }
    )
    return {
      invoice,
      deposit: Option.getOrUndefined(deposit),
      isFromInside: Option.exists(payer, ({ dispatchedAtMillis }) => dispatchedAtMillis === null),
      unmatched: Option.getOrUndefined(unmatched)
    }
  })

  /**
   * Finds the withdrawal that a payment at the node belongs to. Searches by hash, or by attempt if an offer was
   * paid, because the offer's issuer chooses the hash.
   */
  const paidBy = ({
    paymentHash,
    attempt
  }: Pick<Extract<Run.Theirs, { readonly _tag: "Sent" }>, "paymentHash" | "attempt">) => {
    if (attempt === undefined) return sending.withdrawalByHash(paymentHash)
    return Effect.map(sending.withdrawalById(attempt), Option.filter(Withdrawal.isByOffer))
  }

  /**
   * Updates an earlier entry with the node's current state. If the node does not report the payment, or has listed
   * it as settled, the entry stays as it is.
   */
  const refreshed = Effect.fnUntraced(function* (line: Run.Theirs): Effect.fn.Return<Run.Theirs> {
    if (line._tag !== "Sent" || line.state === "settled") return line
    const payment = yield* nodePayments.lookupSent(line)
    switch (payment._tag) {
      case "settled":
        return { ...line, state: "settled", fee: payment.fee }
      case "failed":
      case "pending":
        return { ...line, state: payment._tag }
      case "unknown":
      case "notFound":
        return line
    }
  })

  /** `told` has the payments that the node reported in this run, which need no lookup. */
  const judge = Effect.fnUntraced(function* (
    line: Run.Watched,
    told: ReturnType<typeof newestOf>
  ): Effect.fn.Return<Difference.Judgement, NodeUnavailable | StoreUnavailable> {
    switch (line._tag) {
      case "Sent": {
        const found = yield* unlessHeld(Difference.ofSent(line, Option.getOrUndefined(yield* paidBy(line))))
        const isReleased =
          typeof found !== "string" && found.cause === "payment_of_failed" && line.state === "pending"
        return isReleased && (yield* isResultLost(line)) ? "under_way" : found
      }
      case "Taken":
        return Difference.ofTaken(line, yield* receiptOf(line.paymentHash))
      case "Withdrawal": {
        const withdrawal = Option.getOrUndefined(yield* sending.withdrawal(line.companyId, line.id))
        if (
          withdrawal?.status !== "settled" ||
          withdrawal.rail !== "lightning" ||
          withdrawal.dispatchedAtMillis === null
        )
          return "same"
        const unproven = Difference.unproven(withdrawal)
        if (unproven !== undefined || told.has(`Sent ${withdrawal.paymentHash ?? withdrawal.id}`))
          return unproven ?? "same"
        return Difference.ofSettled(withdrawal, yield* nodePayments.lookup(withdrawal))
      }
      case "Invoice": {
        const invoice = Option.getOrUndefined(yield* receiving.invoice(line.companyId, line.id))
        if (invoice === undefined || told.has(`Taken ${invoice.paymentHash}`)) return "same"
        const deposit = Option.getOrUndefined(yield* receiving.depositOfInvoice(line.companyId, line.id))
        return Difference.ofCredited(invoice, deposit, yield* receiver.lookupInvoice(invoice.paymentHash))
      }
    }
  })

  const judged = (lines: Lines, told: ReturnType<typeof newestOf>) =>
    Effect.forEach(
      lines,
      (line): Effect.Effect<Run.Judged, NodeUnavailable | StoreUnavailable> =>
        Effect.map(judge(line, told), (judgement) => ({ line, judgement })),
      { concurrency: atOnce }
    )

  return {
    /** Returns the open and new entries that differ or are not final. */
    compare: Effect.fnUntraced(function* (open: Lines, { theirs, ours }: Pick<Statement, "theirs" | "ours">) {
      const known = yield* Effect.forEach(open.filter(Run.isTheirs), refreshed, { concurrency: atOnce })
      const told = newestOf([...known, ...theirs])
      const found = [
        ...(yield* judged([...told.values()], told)),
        ...(yield* judged([...open.filter((line) => !Run.isTheirs(line)), ...ours], told))
      ]
      return found.filter(({ judgement }) => judgement !== "same")
    })
  }
})
