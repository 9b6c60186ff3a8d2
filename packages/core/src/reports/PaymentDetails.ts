import * as Msat from "@satrail/bitcoin/Msat"
import { Context, Effect, Layer, Option } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import * as Id from "../base/Id.ts"
import * as Metadata from "../base/Metadata.ts"
import type { NotFound, StoreUnavailable } from "../ledger/Journal.ts"
import { NounReads } from "../ledger/NounReads.ts"
import type { Rail, Standing } from "../ledger/Rail.ts"
import * as Deposit from "../receiving/Deposit.ts"
import { DepositsOf } from "../receiving/DepositsOf.ts"
import * as Invoice from "../receiving/Invoice.ts"
import { ReceivingReads } from "../receiving/ReceivingReads.ts"
import * as Withdrawal from "../sending/Withdrawal.ts"
import * as Balance from "../ledger/Balance.ts"
import type * as Booking from "./Booking.ts"
import * as Descriptions from "./Descriptions.ts"
import { ReportReads } from "./ReportReads.ts"
import type * as Search from "./Search.ts"
import * as Searches from "./Searches.ts"
import * as Purpose from "../receiving/Purpose.ts"
import * as Suspense from "../receiving/Suspense.ts"
import * as Cause from "../sending/Cause.ts"
import * as Rated from "../base/Rated.ts"

/** A deposit or withdrawal with the records that it belongs to. */
export interface Payment extends Purpose.References, Cause.Cause, Rated.Rated {
  readonly type: "deposit" | "withdrawal"
  readonly id: string
  readonly ledgerTxId: string
  readonly amount: Msat.Msat
  readonly fee: Msat.Msat
  readonly rail: Rail
  readonly status: Standing
  readonly createdAtMillis: number
  readonly recipient: string
  /** The description of the payment's checkout, invoice or refund, or of the payment refunded; empty if there is none. */
  readonly description: string
  readonly orderId: string | null
  readonly invoiceId: string | null
  readonly metadata: Metadata.Metadata
}

export type Asked = Pick<Payment, "type" | "id">

/** The amounts booked in an interval, and the balance at the end of the interval. */
export interface Step {
  readonly fromMillis: number
  readonly in: Msat.Msat
  readonly out: Msat.Msat
  readonly balance: Msat.Msat
}

/** Maximum number of payments shown for a record. */
const mostOfRecord = 50

/** Number of payments read at a time. It is small because their metadata may be large. */
const atOnce = 100

type Recorded =
  | { readonly type: "deposit"; readonly record: Deposit.Deposit }
  | { readonly type: "withdrawal"; readonly record: Withdrawal.Withdrawal }

type Read<A> = Effect.Effect<A, StoreUnavailable>

/** Payments with their checkout, order, description, and fiat value at the time of booking. */
export class PaymentDetails extends Context.Service<
  PaymentDetails,
  {
    /** Returns the requested payments of a company, in the same order. Payments that do not exist are left out. */
    readonly payments: (
      companyId: CompanyId.CompanyId,
      asked: ReadonlyArray<Asked>
    ) => Read<ReadonlyArray<Payment>>
    /** Returns the payments of an invoice, or of a record that collects several (see `DepositsOf`), newest first. */
    readonly paymentsOf: (
      companyId: CompanyId.CompanyId,
      record: Pick<Search.Hit, "kind" | "id">
    ) => Read<ReadonlyArray<Payment>>
    /** Returns the postings of a payment's transfer. */
    readonly postings: (
      companyId: CompanyId.CompanyId,
      transferId: string
    ) => Read<ReadonlyArray<Booking.Posted>>
    /** Returns the amounts received and sent in each interval between `boundaries`, the last of which is now. */
    readonly steps: (
      companyId: CompanyId.CompanyId,
      boundaries: ReadonlyArray<number>
    ) => Read<ReadonlyArray<Step>>
    /** Returns a payment of any company that was put in suspense. */
    readonly suspended: (id: string) => Effect.Effect<Suspense.Suspended, NotFound | StoreUnavailable>
    /** Returns a company's records that match a string. The record that an invoice or address belongs to replaces it. */
    readonly search: (companyId: CompanyId.CompanyId, text: string) => Read<Search.Found>
    /**
     * Returns the records of all companies that match a string, with the payments of those that were paid. Amounts and
     * descriptions are not compared.
     */
    readonly searchAll: (text: string) => Read<Search.Found>
  }
>()("@satrail/core/reports/PaymentDetails") {}

/** Sums each interval. Balances are computed backward from the current one, because older entries are not read. */
const stepsOf = (
  turned: ReadonlyArray<Booking.Turned>,
  boundaries: ReadonlyArray<number>,
  now: Msat.Msat
): ReadonlyArray<Step> => {
  let balance: bigint = now
  const late = turned.filter(({ step }) => step >= boundaries.length - 1)
  balance -= Balance.effect(late).posted
  const steps = boundaries.slice(0, -1).map((fromMillis, step) => {
    const effects = turned.filter((one) => one.step === step).map((one) => Balance.effect([one]).posted)
    const sum = (isIn: boolean) =>
      effects.reduce(
        (total, effect) => (effect > 0n === isIn ? total + (isIn ? effect : -effect) : total),
        0n
      )
    return { fromMillis, in: Msat.make(sum(true)), out: Msat.make(sum(false)) }
  })
  return steps
    .toReversed()
    .map((step) => {
      const end = balance
      balance -= step.in - step.out
      return { ...step, balance: Msat.make(end) }
    })
    .toReversed()
}

const make = Effect.gen(function* () {
  const [nouns, receiving, reports, depositsOf] = [
    yield* NounReads,
    yield* ReceivingReads,
    yield* ReportReads,
    yield* DepositsOf
  ]
  const described = yield* Descriptions.make
  const { get: suspended } = yield* Suspense.single

  const chunk = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, asked: ReadonlyArray<Asked>) {
    const together = { concurrency: "unbounded" } as const
    const one = ({ type, id }: Asked): Read<Option.Option<Recorded>> =>
      type === "deposit"
        ? Effect.map(nouns.get(Deposit.noun, companyId, id), (found) =>
            Option.map(found, (record) => ({ type, record }))
          )
        : Effect.map(nouns.get(Withdrawal.noun, companyId, id), (found) =>
            Option.map(found, (record) => ({ type, record }))
          )
    const found = (yield* Effect.forEach(asked, one, together)).flatMap((record) => Option.toArray(record))
    const transfers = [...new Set(found.map(({ record }) => record.ledgerTxId))]
    const subjects = transfers.length === 0 ? [] : yield* reports.subjects(companyId, transfers)
    const byTransfer = new Map(subjects.map((subject) => [`${subject.type} ${subject.transferId}`, subject]))
    return yield* Effect.forEach(
      found,
      Effect.fnUntraced(function* (one) {
        const { type, record } = one
        const subject = byTransfer.get(`${type} ${record.ledgerTxId}`)
        const texts = yield* described(type === "deposit" ? Deposit.noun : Withdrawal.noun, record)
        return {
          type,
          id: record.id,
          ledgerTxId: record.ledgerTxId,
          amount: record.amount,
          fee: one.type === "deposit" ? Msat.zero : Withdrawal.fee(one.record),
          rail: record.rail,
          status: one.type === "deposit" ? one.record.status : Withdrawal.standing(one.record),
          createdAtMillis: record.createdAtMillis,
          recipient: record.recipient,
          description: texts.description,
          orderId: texts.orderId,
          invoiceId: subject?.invoiceId ?? null,
          ...Purpose.referencesOf(subject ?? {}),
          ...Cause.of(subject ?? {}),
          ...Rated.of(subject ?? Rated.none),
          metadata: subject?.metadata ?? Metadata.empty
        } satisfies Payment
      }),
      together
    )
  })

  const payments = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, asked: ReadonlyArray<Asked>) {
    const all: Array<Payment> = []
    for (let at = 0; at < asked.length; at += atOnce)
      all.push(...(yield* chunk(companyId, asked.slice(at, at + atOnce))))
    return all
  })

  const depositsToward = Effect.fnUntraced(function* (
    companyId: CompanyId.CompanyId,
    { kind, id }: Pick<Search.Hit, "kind" | "id">
  ) {
    return kind === Invoice.noun.name
      ? Option.toArray(yield* receiving.depositOfInvoice(companyId, id))
      : yield* depositsOf(companyId, id, mostOfRecord)
  })

  const { searched, searchAll } = yield* Searches.make(depositsToward)

  return PaymentDetails.of({
    payments,
    postings: (companyId, transferId) =>
      Id.is(transferId) ? reports.postingsOf(companyId, transferId) : Effect.succeed([]),
    steps: Effect.fnUntraced(function* (companyId, boundaries) {
      const [turned, funds] = [
        yield* reports.turnedSince(companyId, boundaries),
        yield* reports.funds(companyId)
      ]
      return stepsOf(turned, boundaries, funds.posted)
    }),
    suspended,
    search: searched,
    searchAll,
    paymentsOf: Effect.fnUntraced(function* (companyId, record) {
      const deposits = yield* depositsToward(companyId, record)
      return yield* payments(
        companyId,
        deposits.map((deposit) => ({ type: "deposit", id: deposit.id }))
      )
    })
  })
})

export const layer = Layer.effect(PaymentDetails, make)
