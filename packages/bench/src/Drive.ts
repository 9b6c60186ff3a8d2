import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import { type Applied, Journal, type StoreUnavailable } from "@satrail/core/ledger/Journal"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as Purpose from "@satrail/core/receiving/Purpose"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import type { Refusal } from "@satrail/core/service/Changes"
import { Effect, Schema } from "effect"
import * as Fill from "./Fill.ts"
import { summary } from "./Load.ts"

/**
 * A load from callers in the Journal's process. Each caller commits its next Change when its previous one has
 * been applied.
 */
export const Drive = Schema.Struct({
  operation: Schema.Literals(["confirm", "settle"]),
  clients: Schema.Int,
  warmupMillis: Schema.Int,
  millis: Schema.Int,
  /**
   * The number of the first invoice to settle, and the number after the last one. The run stops early if it
   * reaches `end`.
   */
  first: Schema.Int,
  end: Schema.Int
})
export interface Drive extends Schema.Schema.Type<typeof Drive> {}

/** The results of a drive. `sent` counts all commits, and `next` is the number of the next invoice to settle. */
export const Outcome = Schema.Struct({
  sent: Schema.Int,
  perSecond: Schema.Finite,
  p50Millis: Schema.Finite,
  p99Millis: Schema.Finite,
  next: Schema.Int
})
export interface Outcome extends Schema.Schema.Type<typeof Outcome> {}

const identified = (company: number, entropy: (size: number) => Uint8Array) => {
  const createdAtMillis = Date.now()
  return {
    id: Id.fromMillis(createdAtMillis, entropy),
    companyId: CompanyId.make(Fill.id(Fill.kinds.company, company)),
    ledgerTxId: Id.fromMillis(createdAtMillis, entropy),
    amount: Msat.fromSats(1),
    network: "regtest" as const,
    rail: "lightning" as const,
    metadata: {},
    createdAtMillis
  }
}
type Identified = ReturnType<typeof identified>

const confirm = (row: Identified) =>
  Withdrawal.requested(
    Withdrawal.pending({
      ...row,
      serviceFee: Msat.zero,
      networkAllowance: Msat.zero,
      recipient: `${Fill.destination.handle}@${Fill.destination.domain}`,
      recipientType: "lightning_address",
      rate: null,
      rateAtMillis: null,
      fiatCurrency: null,
      rateSource: null
    })
  )

const preimage = Preimage.make("ab".repeat(32))
const paymentRequest = `lnbcrt${"q".repeat(290)}`

const settle = (number: number, row: Identified) => {
  const id = Fill.id(Fill.kinds.settledInProcess, number)
  const deposit: Deposit.Deposit = {
    ...row,
    recipient: paymentRequest,
    status: "settled",
    chainTxId: null,
    vout: null,
    height: null,
    lightningInvoiceId: id,
    ...Purpose.none,
    absorbed: Msat.zero,
    ...Deposit.unrefunded,
    paidAtMillis: null,
    revision: 0,
    updatedAtMillis: row.createdAtMillis
  }
  return Invoice.settled({ id, lightningAddressId: null }, deposit, preimage)
}

/** Runs a drive to its end. */
export const run = Effect.fnUntraced(function* ({
  operation,
  clients,
  warmupMillis,
  millis,
  first,
  end
}: Drive) {
  const journal = yield* Journal
  const entropy = yield* Entropy
  const latencies: Array<number> = []
  const countFrom = performance.now() + warmupMillis
  const countTo = countFrom + millis
  let next = first
  const commit = (number: number): Effect.Effect<Applied, Refusal | StoreUnavailable> => {
    const row = identified(operation === "settle" ? 1 + (number % Fill.spread) : Fill.busy, entropy)
    return journal.commit(operation === "settle" ? settle(number, row) : confirm(row))
  }
  const caller = Effect.whileLoop({
    while: () => performance.now() < countTo && next < end,
    body: () => {
      const began = performance.now()
      return Effect.map(commit(next++), () => ({ began, ended: performance.now() }))
    },
    step: ({ began, ended }) => {
      if (ended >= countFrom && ended < countTo) latencies.push(ended - began)
    }
  })
  yield* Effect.all(
    Array.from({ length: clients }, () => caller),
    { concurrency: "unbounded", discard: true }
  )
  const { answered: _, ...rate } = summary(latencies, Math.min(performance.now(), countTo) - countFrom)
  return { sent: next - first, next, ...rate } satisfies Outcome
})
