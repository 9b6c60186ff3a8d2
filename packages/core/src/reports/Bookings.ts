import * as Msat from "@satrail/bitcoin/Msat"
import { Context, Effect, Layer, Option, Stream } from "effect"
import { AccountReads } from "../accounts/AccountReads.ts"
import type { Company } from "../accounts/Company.ts"
import type * as CompanyId from "../base/CompanyId.ts"
import * as Metadata from "../base/Metadata.ts"
import * as Balance from "../ledger/Balance.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import * as DepositMetadata from "../receiving/DepositMetadata.ts"
import { ReceivingReads } from "../receiving/ReceivingReads.ts"
import * as Booking from "./Booking.ts"
import { ReportReads } from "./ReportReads.ts"

/** Maximum number of entries in memory per export. */
export const pageSize = 1000

const companiesAtOnce = 100

/**
 * Lines of an export, in order: the opening balance, each booking with the balance after it, and the closing
 * balance. An export without the last line is incomplete.
 */
export type Line =
  | { readonly _tag: "Opening"; readonly companyId: CompanyId.CompanyId; readonly atMillis: number; readonly balance: Msat.Msat }
  | {
      readonly _tag: "Booked"
      readonly companyId: CompanyId.CompanyId
      readonly booking: Booking.Booking
      /** Undefined if the booking belongs to neither a deposit nor a withdrawal. */
      readonly subject: Subject | undefined
      readonly balance: Msat.Msat
    }
  | {
      readonly _tag: "Closing"
      readonly companyId: CompanyId.CompanyId
      readonly atMillis: number
      readonly balance: Msat.Msat
      readonly count: number
    }

/** Details in which the metadata is always present, whichever version wrote the record. */
export interface Subject extends Booking.Subject {
  readonly metadata: Metadata.Metadata
}

export type Lines = Stream.Stream<Line, StoreUnavailable>

/** Exports bookings for accounting. */
export class Bookings extends Context.Service<
  Bookings,
  {
    /**
     * Returns all bookings of a company in a period, in ledger order, as committed when the export started.
     * Memory use does not depend on the number of bookings. If the lines do not add up to the ledger's totals,
     * the stream fails before its end.
     */
    readonly lines: (companyId: CompanyId.CompanyId, period: Booking.Period) => Effect.Effect<Lines, StoreUnavailable>
    /** Like `lines`, but covers all companies, one after another. */
    readonly linesOfAll: (period: Booking.Period) => Lines
  }
>()("@satrail/core/reports/Bookings") {}

// If a company pays itself, one transfer has both a deposit and a withdrawal.
const keyOf = (type: Booking.Subject["type"], transferId: string): string => `${type} ${transferId}`

const subjectOf = (subjects: ReadonlyMap<string, Subject>, { kind, transferId }: Booking.Booking): Subject | undefined => {
  const type = Booking.subjectTypeOf(kind)
  return type && subjects.get(keyOf(type, transferId))
}

interface Place {
  readonly after: bigint
  readonly open: Booking.Booking | undefined
  readonly balance: Msat.Msat
  readonly count: number
}

export const make = Effect.gen(function* () {
  const accounts = yield* AccountReads
  const reports = yield* ReportReads
  const receiving = yield* ReceivingReads
  const depositMetadata = yield* DepositMetadata.make

  /** Adds metadata that an earlier version did not store. */
  const complete = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, subject: Booking.Subject) {
    if (subject.metadata !== null) return { ...subject, metadata: subject.metadata }
    const deposit = yield* receiving.deposit(companyId, subject.id)
    return { ...subject, metadata: Option.isNone(deposit) ? Metadata.empty : yield* depositMetadata.ofDeposit(deposit.value) }
  })

  const subjectsOf = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, bookings: ReadonlyArray<Booking.Booking>) {
    if (bookings.length === 0) return new Map<string, Subject>()
    const found = yield* reports.subjects(companyId, [...new Set(bookings.map(({ transferId }) => transferId))])
    const subjects = yield* Effect.forEach(found, (one): Effect.Effect<Subject, StoreUnavailable> => complete(companyId, one), {
      concurrency: 16
    })
    return new Map(subjects.map((one) => [keyOf(one.type, one.transferId), one]))
  })

  const lines = (companyId: CompanyId.CompanyId, period: Booking.Period) =>
    Effect.map(reports.bookedSums(companyId, period), ({ last, before, within }): Lines => {
      const opening = Balance.effect(before).posted
      const closing = Msat.sum(opening, Balance.effect(within).posted)
      const page = Effect.fnUntraced(function* ({ after, open, balance, count }: Place) {
        const found = yield* reports.bookedEntries({ ...period, companyId, after, upTo: last, limit: pageSize })
        const folded = Booking.fold(open, found.entries)
        const isLast = found.lookedTo === null
        const closed = isLast && folded.open !== undefined ? [...folded.closed, folded.open] : folded.closed
        const subjects = yield* subjectsOf(companyId, closed)
        let now = balance
        const booked = closed.map((booking): Line => {
          now = Msat.sum(now, Booking.total(booking))
          return { _tag: "Booked", companyId, booking, subject: subjectOf(subjects, booking), balance: now }
        })
        if (found.lookedTo !== null)
          return [
            booked,
            Option.some<Place>({ after: found.lookedTo, open: folded.open, balance: now, count: count + booked.length })
          ] as const
        if (now !== closing)
          return yield* Effect.die(
            new Error(`the exported lines of ${companyId} add up to ${now} msat, but the ledger has ${closing} msat`)
          )
        const end: Line = { _tag: "Closing", companyId, atMillis: period.untilMillis, balance: now, count: count + booked.length }
        return [[...booked, end], Option.none<Place>()] as const
      })
      const begin: Line = { _tag: "Opening", companyId, atMillis: period.fromMillis, balance: opening }
      return Stream.concat(
        Stream.succeed(begin),
        Stream.paginate<Place, Line, StoreUnavailable>({ after: 0n, open: undefined, balance: opening, count: 0 }, page)
      )
    })

  const companies = Stream.paginate<string | null, Company, StoreUnavailable>(null, (after) =>
    Effect.map(accounts.companies(after, companiesAtOnce), (page) => {
      const last = page.length < companiesAtOnce ? undefined : page.at(-1)
      return [page, Option.map(Option.fromUndefinedOr(last), ({ id }): string | null => id)] as const
    })
  )

  return Bookings.of({
    lines,
    linesOfAll: (period) => Stream.flatMap(companies, ({ id }) => Stream.unwrap(lines(id, period)))
  })
})

export const layer = Layer.effect(Bookings, make)
