import * as Msat from "@satrail/bitcoin/Msat"
import { Effect, Layer, Metric } from "effect"
import * as Measure from "../base/Measure.ts"
import type { Leg, Posting } from "../ledger/Change.ts"
import { Journal } from "../ledger/Journal.ts"
import { type Change, journal } from "./Changes.ts"

/** The outcome of a payment: received, reversed by a reorganization, sent, or failed. */
type Result = "received" | "reversed" | "sent" | "failed"

interface Payment {
  readonly rail: "lightning" | "on_chain" | "internal"
  readonly result: Result
  /** The amount the payee receives, without fees. */
  readonly amount: Msat.Msat
}

const payments = Measure.counter(
  "satrail_payments_total",
  "Payments completed by this process; internal payments are between companies",
  ["rail", "result"]
)
const sats = Measure.counter("satrail_payment_sats_total", "Amounts of completed payments, without fees", [
  "rail",
  "result"
])

const total = (legs: ReadonlyArray<Leg>, isCounted: (posting: Posting) => boolean): Msat.Msat =>
  Msat.make(
    legs
      .flatMap(({ postings }) => postings)
      .reduce((sum, posting) => (isCounted(posting) ? sum + posting.amount : sum), 0n)
  )

/** Returns the payment that a Change completes; undefined for other Changes. */
const paymentOf = (change: Change): Payment | undefined => {
  switch (change._tag) {
    case "InvoiceSettled":
      return {
        rail: "lightning",
        result: "received",
        amount: total(change.legs, ({ from }) => from === "node")
      }
    case "DepositConfirmed":
      return {
        rail: "on_chain",
        result: "received",
        amount: total(change.legs, ({ from }) => from === "chain")
      }
    case "DepositReversed":
      return { rail: "on_chain", result: "reversed", amount: total(change.legs, ({ to }) => to === "chain") }
    case "WithdrawalSettled": {
      const rail = change.settlement.chainTxId === null ? "lightning" : "on_chain"
      return {
        rail,
        result: "sent",
        amount: total(change.legs, ({ from, to }) => from === "held" && (to === "node" || to === "chain"))
      }
    }
    case "WithdrawalFailed": {
      const [{ found }] = change.writes
      return { rail: found.rail, result: "failed", amount: found.amount }
    }
    case "PayoutReleased":
      return { rail: "on_chain", result: "failed", amount: change.amount }
    case "InternalTransferred":
      return { rail: "internal", result: "sent", amount: total(change.legs, ({ to }) => to === "internal") }
    default:
      return undefined
  }
}

/**
 * A Journal that counts the payments that Changes complete. A payment is counted twice if its Change is
 * committed again because the first response was lost.
 */
export const layerJournal = Layer.effect(
  Journal,
  Effect.map(Journal, ({ commit }) =>
    journal((change) => {
      const payment = paymentOf(change)
      if (payment === undefined) return commit(change)
      const { rail, result, amount } = payment
      const by = { rail, result }
      return Effect.tap(commit(change), () =>
        Effect.andThen(Metric.update(payments(by), 1), Metric.update(sats(by), Msat.toDecimalSats(amount)))
      )
    })
  )
)
