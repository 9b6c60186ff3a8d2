import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Clock, Effect, Option } from "effect"
import * as Id from "../../base/Id.ts"
import type { StoreUnavailable } from "../../ledger/Journal.ts"
import { LedgerReads } from "../../ledger/LedgerReads.ts"
import { LightningReceiver, type NodeUnavailable } from "../../nodes/LightningReceiver.ts"
import { ReceivingReads } from "../../receiving/ReceivingReads.ts"
import { PaymentOptions } from "../../sending/PaymentOptions.ts"
import { SendingReads } from "../../sending/SendingReads.ts"
import * as Ways from "../../sending/Ways.ts"
import * as Withdrawal from "../../sending/Withdrawal.ts"
import * as Difference from "./Difference.ts"
import * as Look from "./Look.ts"
import type { Statement } from "./Statements.ts"

type Lines = ReadonlyArray<Look.Watched>

/** How many lines are compared at once, and looked up at once. */
export const atOnce = 8

/** A payment that failed may be made again, as another line of the books: what counts is the last one. */
const newestOf = (lines: ReadonlyArray<Look.Theirs>): ReadonlyArray<Look.Theirs> =>
  Array.from(new Map(lines.map((line) => [`${line._tag} ${Look.keyOf(line)}`, line])).values())

/**
 * A payment that the node has made and that is not booked is no discrepancy while a worker holds it. One that is only watched is due again within
 * `trackMillis.maximum`, so a later due time is a claim, or the wait for a call that may still be under way.
 */
const heldBack = Effect.gen(function* () {
  const ledger = yield* LedgerReads
  const { trackMillis } = yield* PaymentOptions
  return Effect.fnUntraced(function* (judgement: Difference.Judgement): Effect.fn.Return<Difference.Judgement, StoreUnavailable> {
    if (typeof judgement === "string" || judgement.cause !== "payment_not_booked") return judgement
    const { companyId, recordId } = judgement
    if (companyId === null || recordId === null) return judgement
    const job = yield* ledger.job(companyId, recordId)
    const nowMillis = yield* Clock.currentTimeMillis
    return Option.exists(job, ({ dueAtMillis }) => dueAtMillis - nowMillis > trackMillis.maximum) ? "under_way" : judgement
  })
})

/** Compares single payments: the node's lines with our records, and our records with what the node says when it is asked. */
export const make = Effect.gen(function* () {
  const receiving = yield* ReceivingReads
  const sending = yield* SendingReads
  const unlessHeld = yield* heldBack
  const receiver = yield* LightningReceiver
  const ways = yield* Ways.make

  const receiptOf = Effect.fnUntraced(function* (
    paymentHash: PaymentHash.PaymentHash
  ): Effect.fn.Return<Difference.Receipt, StoreUnavailable> {
    const invoice = Option.getOrUndefined(yield* receiving.invoiceByHash(paymentHash))
    if (invoice === undefined) return { invoice, deposit: undefined, isFromInside: false, unmatched: undefined }
    const [deposit, payer, unmatched] = yield* Effect.all(
      [
        receiving.depositOfInvoice(invoice.companyId, invoice.id),
        sending.withdrawalByHash(paymentHash),
        receiving.unmatched(invoice.companyId, Id.fromHash(paymentHash))
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

  /** The withdrawal that a payment of the node is for: by its hash, or where it pays an offer by its attempt, whatever hash its issuer chose. */
  const paidBy = ({ paymentHash, attempt }: Pick<Extract<Look.Theirs, { readonly _tag: "Sent" }>, "paymentHash" | "attempt">) => {
    if (attempt === undefined) return sending.withdrawalByHash(paymentHash)
    return Id.is(attempt)
      ? Effect.map(sending.withdrawalById(attempt), Option.filter(Withdrawal.isByOffer))
      : Effect.succeed(Option.none<Withdrawal.Withdrawal>())
  }

  /** A line of before, as the node has it now. What it does not say of it stays as it was. */
  const refreshed = Effect.fnUntraced(function* (line: Look.Theirs): Effect.fn.Return<Look.Theirs> {
    if (line._tag !== "Sent") return line
    const payment = yield* ways.lookupSent(line)
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

  /** `told` are the payments that the node itself has reported in this run: they need no look-up. */
  const judge = Effect.fnUntraced(function* (
    line: Look.Watched,
    told: ReadonlySet<string>
  ): Effect.fn.Return<Difference.Judgement, NodeUnavailable | StoreUnavailable> {
    switch (line._tag) {
      case "Sent":
        return yield* unlessHeld(Difference.ofSent(line, Option.getOrUndefined(yield* paidBy(line))))
      case "Taken":
        return Difference.ofTaken(line, yield* receiptOf(line.paymentHash))
      case "Withdrawal": {
        const withdrawal = Option.getOrUndefined(yield* sending.withdrawal(line.companyId, line.id))
        if (withdrawal?.status !== "settled" || withdrawal.rail !== "lightning" || withdrawal.dispatchedAtMillis === null) return "same"
        const unproven = Difference.unproven(withdrawal)
        if (unproven !== undefined || told.has(withdrawal.paymentHash ?? withdrawal.id)) return unproven ?? "same"
        return Difference.ofSettled(withdrawal, yield* ways.lookup(withdrawal))
      }
      case "Invoice": {
        const invoice = Option.getOrUndefined(yield* receiving.invoice(line.companyId, line.id))
        if (invoice === undefined || told.has(invoice.paymentHash)) return "same"
        const deposit = Option.getOrUndefined(yield* receiving.depositOfInvoice(line.companyId, line.id))
        return Difference.ofCredited(invoice, deposit, yield* receiver.lookupInvoice(invoice.paymentHash))
      }
    }
  })

  const judged = (lines: Lines, told: ReadonlySet<string>) =>
    Effect.forEach(
      lines,
      (line): Effect.Effect<Look.Judged, NodeUnavailable | StoreUnavailable> =>
        Effect.map(judge(line, told), (judgement) => ({ line, judgement })),
      { concurrency: atOnce }
    )

  return {
    /** What of the lines that are still open from before, and of the new ones, differs or has not ended. */
    compare: Effect.fnUntraced(function* (open: Lines, { theirs, ours }: Pick<Statement, "theirs" | "ours">) {
      const known = yield* Effect.forEach(open.filter(Look.isTheirs), refreshed, { concurrency: atOnce })
      const theirLines = newestOf([...known, ...theirs])
      const told = new Set(theirLines.map(Look.keyOf))
      const found = [
        ...(yield* judged(theirLines, new Set())),
        ...(yield* judged([...open.filter((line) => !Look.isTheirs(line)), ...ours], told))
      ]
      return found.filter(({ judgement }) => judgement !== "same")
    })
  }
})
