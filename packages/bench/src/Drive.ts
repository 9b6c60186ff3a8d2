import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import * as Audit from "@satrail/core/ledger/Audit"
import type { Refusal } from "@satrail/core/service/Changes"
import { type Applied, Journal, type StoreUnavailable } from "@satrail/core/ledger/Journal"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect, Schema } from "effect"
import * as Fill from "./Fill.ts"
import { percentile } from "./Load.ts"

/** What callers in the same process commit, each its next Change as soon as the last one is applied. */
export const Drive = Schema.Struct({
  operation: Schema.Literals(["confirm", "settle"]),
  /** 1, or as many as share the load. */
  companies: Schema.Int,
  clients: Schema.Int,
  warmupMillis: Schema.Int,
  millis: Schema.Int,
  /** Settling: the kind of the invoices, and the first to settle. */
  kind: Schema.Int,
  first: Schema.Int,
  /** The number at which it ends whatever time is left: settling, of the invoice that is open no more. */
  end: Schema.Int,
  /** Whether the audit log says who had it confirmed. */
  audited: Schema.optionalKey(Schema.Boolean)
})
export interface Drive extends Schema.Schema.Type<typeof Drive> {}

/** The end of what ends with its time. */
export const endless = Number.MAX_SAFE_INTEGER

/** What came of it, and the next invoice to settle. A drive that runs out of invoices ends early: its rate is of the time it took. */
export const Outcome = Schema.Struct({
  committed: Schema.Int,
  perSecond: Schema.Finite,
  p50Millis: Schema.Finite,
  p99Millis: Schema.Finite,
  next: Schema.Int
})
export interface Outcome extends Schema.Schema.Type<typeof Outcome> {}

const amount = Msat.fromSats(1)

const withdrawalOf = (company: number, atMillis: number, entropy: (size: number) => Uint8Array): Withdrawal.Withdrawal =>
  Withdrawal.pending({
    id: Id.fromMillis(atMillis, entropy),
    companyId: CompanyId.make(Fill.id(Fill.kinds.company, company)),
    ledgerTxId: Id.fromMillis(atMillis, entropy),
    amount,
    serviceFee: Msat.zero,
    networkAllowance: Msat.zero,
    recipient: `${Fill.destination.handle}@${Fill.destination.domain}`,
    recipientType: "lightning_address",
    rail: "lightning",
    network: "regtest",
    metadata: {},
    rate: null,
    rateAtMillis: null,
    createdAtMillis: atMillis
  })

/** Who has it confirmed, as over HTTP. */
const acting: Audit.Acting = {
  actor: "key",
  actor_id: "7Kq2mVx9TbZc",
  actor_name: "bench",
  verb: "send.confirm",
  address: "127.0.0.1",
  request_id: "5f0c7d0e-3b1f-4a53-9d0e-0a2b6f1f7c11"
}

const preimage = Preimage.make("ab".repeat(32))
const paymentRequest = `lnbcrt${"q".repeat(290)}`

const settlementOf = (kind: number, number: number, company: number, atMillis: number, entropy: (size: number) => Uint8Array) =>
  Invoice.settled(
    { id: Fill.id(kind, number), lightningAddressId: null },
    {
      id: Id.fromMillis(atMillis, entropy),
      companyId: CompanyId.make(Fill.id(Fill.kinds.company, company)),
      ledgerTxId: Id.fromMillis(atMillis, entropy),
      recipient: paymentRequest,
      amount,
      network: "regtest",
      rail: "lightning",
      status: "settled",
      chainTxId: null,
      vout: null,
      height: null,
      lightningInvoiceId: Fill.id(kind, number),
      checkoutId: null,
      metadata: {},
      absorbed: Msat.zero,
      ...Deposit.unrefunded,
      revision: 0,
      createdAtMillis: atMillis,
      updatedAtMillis: atMillis
    },
    preimage
  )

/** Runs a drive to its end. */
export const run = Effect.fnUntraced(function* ({ operation, companies, clients, warmupMillis, millis, kind, first, end, audited }: Drive) {
  const journal = yield* Journal
  const entropy = yield* Entropy
  const latencies: Array<number> = []
  const startedAt = performance.now()
  const countFrom = startedAt + warmupMillis
  const countTo = countFrom + millis
  let next = first

  const commit = (number: number): Effect.Effect<Applied, Refusal | StoreUnavailable> => {
    const atMillis = Date.now()
    if (operation === "settle") {
      const company = companies === 1 ? Fill.busy : 1 + (number % companies)
      return journal.commit(settlementOf(kind, number, company, atMillis, entropy))
    }
    const company = companies === 1 ? Fill.busy : 1 + Math.floor(Math.random() * companies)
    const change = Withdrawal.requested(withdrawalOf(company, atMillis, entropy))
    const audit = audited === true && Audit.bodyOf(acting, { subject: change.id, outcome: "done", count: 1 })
    return journal.commit(audit === false ? change : { ...change, audit })
  }
  const hasMore = () => performance.now() < countTo && next < end
  const caller = Effect.whileLoop({
    while: hasMore,
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
  const countedMillis = Math.min(performance.now(), countTo) - countFrom
  const sorted = Float64Array.from(latencies).toSorted()
  return {
    committed: next - first,
    perSecond: (sorted.length * 1000) / countedMillis,
    p50Millis: percentile(sorted, 0.5),
    p99Millis: percentile(sorted, 0.99),
    next
  } satisfies Outcome
})
