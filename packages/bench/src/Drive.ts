import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import { type Applied, Journal, type StoreUnavailable } from "@satrail/core/ledger/Journal"
import * as CreditShares from "@satrail/core/receiving/CreditShares"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as Purpose from "@satrail/core/receiving/Purpose"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import type { Refusal } from "@satrail/core/service/Changes"
import * as Share from "@satrail/features/splits/core/Share"
import * as Transfer from "@satrail/features/transfers/core/Transfer"
import { Effect, Schema } from "effect"
import * as Fill from "./Fill.ts"
import { summary } from "./Load.ts"

/**
 * A load from callers in the Journal's process. Each caller commits its next Change when its previous one has
 * been applied.
 */
export const Drive = Schema.Struct({
  /** A `transfer` goes to one company, a `transferSpread` to a thousand in turn, and `settle3` has 3 payees. */
  operation: Schema.Literals(["confirm", "transfer", "transferSpread", "settle", "settle3", "settle10"]),
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

/** The credits: the kind of their invoices, and the number of payees that share each. */
const credits = {
  settle: { kind: Fill.kinds.settledInProcess, payees: 0 },
  settle3: { kind: Fill.kinds.settledWith3, payees: 3 },
  settle10: { kind: Fill.kinds.settledWith10, payees: 10 }
} as const

const companyOf = (number: number) => CompanyId.make(Fill.id(Fill.kinds.company, number))

const transfer = (row: Identified, payee: number) =>
  Transfer.sent(Transfer.of({ ...row, recipientId: companyOf(payee), description: "" }))

const settle = (
  { kind, payees }: (typeof credits)[keyof typeof credits],
  number: number,
  row: Identified,
  entropy: (size: number) => Uint8Array
) => {
  const id = Fill.id(kind, number)
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
  const change = Invoice.settled({ id, lightningAddressId: null }, deposit, preimage)
  if (payees === 0) return change
  const at = row.createdAtMillis
  const transfers = Array.from({ length: payees }, (_, n) =>
    Share.transfer(
      deposit,
      { companyId: companyOf(1 + ((number + n + 1) % Fill.spread)), basisPoints: 500 },
      Id.fromMillis(at, entropy),
      at
    )
  )
  return CreditShares.added(change, Share.shares(deposit, transfers, []))
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
    const of = (company: number) => identified(company, entropy)
    switch (operation) {
      case "confirm":
        return journal.commit(confirm(of(Fill.busy)))
      case "transfer":
      case "transferSpread":
        return journal.commit(
          transfer(of(Fill.busy), operation === "transfer" ? 1 : 1 + (number % Fill.spread))
        )
      default:
        return journal.commit(settle(credits[operation], number, of(1 + (number % Fill.spread)), entropy))
    }
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
