import * as Msat from "@satrail/bitcoin/Msat"
import { Context, Effect, Layer, Option, Schema, Stream } from "effect"
import { AccountReads } from "../accounts/AccountReads.ts"
import type { Company } from "../accounts/Company.ts"
import type * as CompanyId from "../base/CompanyId.ts"
import { Invalid } from "../base/Invalid.ts"
import * as Balance from "../ledger/Balance.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import * as Page from "../ledger/Page.ts"
import * as Booking from "./Booking.ts"
import { ReportReads } from "./ReportReads.ts"

/** Maximum number of entries in memory per export. It is small because their payments' metadata may be large. */
const pageSize = 100

const companiesAtOnce = 100

/**
 * Lines of an export, in order: the opening balance, each booking with the balance after it, and the closing
 * balance. An export without the last line is incomplete.
 */
export type Line =
  | {
      readonly _tag: "Opening"
      readonly companyId: CompanyId.CompanyId
      readonly atMillis: number
      readonly balance: Msat.Msat
    }
  | {
      readonly _tag: "Booked"
      readonly companyId: CompanyId.CompanyId
      readonly booking: Booking.Booking
      /** Undefined if the booking belongs to no deposit, withdrawal or transfer. */
      readonly subject: Booking.Subject | undefined
      readonly balance: Msat.Msat
    }
  | {
      readonly _tag: "Closing"
      readonly companyId: CompanyId.CompanyId
      readonly atMillis: number
      readonly balance: Msat.Msat
      readonly count: number
    }

/** Text of an amount or of an entry's id. PostgreSQL has no larger whole numbers. */
const Whole = Schema.BigIntFromString.check(
  Schema.isBetweenBigInt({ minimum: -(2n ** 62n), maximum: 2n ** 62n })
)
const Amount = Whole.pipe(Schema.decodeTo(Msat.Msat))

/**
 * Where an export continues: after the entry `after`, up to the entry `last`. `open` is a booking that the next
 * entries may continue, `balance` the balance before it, and `closing` the balance at the end.
 */
const Place = Schema.Struct({
  fromMillis: Schema.Int,
  untilMillis: Schema.Int,
  after: Whole,
  last: Whole,
  open: Schema.NullOr(
    Schema.Struct({
      kind: Booking.Kind,
      transferId: Schema.String,
      atMillis: Schema.Int,
      amount: Amount,
      serviceFee: Amount,
      networkFee: Amount
    })
  ),
  balance: Amount,
  closing: Amount,
  count: Schema.Int
})
type Place = typeof Place.Type
const PlaceText = Schema.fromJsonString(Place)
const placeOf = Schema.decodeUnknownOption(PlaceText)

/** Returns whether a text is the position of a page. */
export const isPlace = (text: string): boolean => Option.isSome(placeOf(text))

/** Selects a page of a company's bookings. `after` is the position of the page; null for the first page. */
export interface Asked extends Booking.Period {
  readonly limit: number
  readonly after: Page.Position | null
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
    readonly lines: (
      companyId: CompanyId.CompanyId,
      period: Booking.Period
    ) => Effect.Effect<Lines, StoreUnavailable>
    /**
     * Returns a page of `lines`, from `limit` entries, or fewer if their payments have large metadata. A withdrawal
     * has up to three entries. The position contains the period.
     */
    readonly page: (
      companyId: CompanyId.CompanyId,
      asked: Asked
    ) => Effect.Effect<Page.Page<Line>, Invalid | StoreUnavailable>
    /** Like `lines`, but covers all companies, one after another. */
    readonly linesOfAll: (period: Booking.Period) => Lines
  }
>()("@satrail/core/reports/Bookings") {}

/** Returns a booking's subject. Equal shares of a deposit have one key, and each booking gets the next of them. */
const subjectOf = (
  subjects: ReadonlyMap<string, Array<Booking.Subject>>,
  booking: Booking.Booking
): Booking.Subject | undefined => {
  const key = Booking.keyOf(booking)
  const found = (key !== undefined && subjects.get(key)) || []
  return found.length > 1 ? found.shift() : found[0]
}

export const make = Effect.gen(function* () {
  const accounts = yield* AccountReads
  const reports = yield* ReportReads

  const subjectsOf = Effect.fnUntraced(function* (
    companyId: CompanyId.CompanyId,
    bookings: ReadonlyArray<Booking.Booking>
  ) {
    if (bookings.length === 0) return new Map<string, Array<Booking.Subject>>()
    const subjects = yield* reports.subjects(companyId, [
      ...new Set(bookings.map(({ transferId }) => transferId))
    ])
    return Map.groupBy(subjects, Booking.keyOfSubject)
  })

  /** Returns the position of the first entry, and the opening line. */
  const begin = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, period: Booking.Period) {
    const { last, before, within } = yield* reports.bookedSums(companyId, period)
    const balance = Balance.effect(before).posted
    const place: Place = {
      ...period,
      after: 0n,
      last,
      open: null,
      balance,
      closing: Msat.sum(balance, Balance.effect(within).posted),
      count: 0
    }
    return {
      place,
      line: { _tag: "Opening", companyId, atMillis: period.fromMillis, balance } satisfies Line
    }
  })

  /** Returns the lines from a position on, and where the next ones begin; null at the end. */
  const read = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, limit: number, place: Place) {
    const { fromMillis, untilMillis, after, last, open, balance, closing, count } = place
    const found = yield* reports.bookedEntries({
      fromMillis,
      untilMillis,
      companyId,
      after,
      upTo: last,
      limit
    })
    const folded = Booking.fold(open ?? undefined, found.entries)
    const isLast = found.lookedTo === null
    const closed = isLast && folded.open !== undefined ? [...folded.closed, folded.open] : folded.closed
    const subjects = yield* subjectsOf(companyId, closed)
    let now = balance
    const lines = closed.map((booking): Line => {
      now = Msat.sum(now, Booking.total(booking))
      return { _tag: "Booked", companyId, booking, subject: subjectOf(subjects, booking), balance: now }
    })
    const booked = count + lines.length
    if (found.lookedTo !== null)
      return {
        lines,
        next: { ...place, after: found.lookedTo, open: folded.open ?? null, balance: now, count: booked }
      }
    if (now !== closing)
      return yield* Effect.die(
        new Error(
          `the exported lines of ${companyId} add up to ${now} msat, but the ledger has ${closing} msat`
        )
      )
    const end: Line = { _tag: "Closing", companyId, atMillis: untilMillis, balance: now, count: booked }
    return { lines: [...lines, end], next: null }
  })

  const lines = (companyId: CompanyId.CompanyId, period: Booking.Period) =>
    Effect.map(begin(companyId, period), ({ place, line }): Lines =>
      Stream.concat(
        Stream.succeed(line),
        Stream.paginate<Place, Line, StoreUnavailable>(place, (at) =>
          Effect.map(
            read(companyId, pageSize, at),
            ({ lines, next }) => [lines, Option.fromNullOr(next)] as const
          )
        )
      )
    )

  const page = Effect.fnUntraced(function* (
    companyId: CompanyId.CompanyId,
    { limit, after, ...period }: Asked
  ) {
    if (!Number.isInteger(limit) || limit < 1 || limit > Page.limit.maximum)
      return yield* new Invalid({
        path: "limit",
        message: `must be a whole number from 1 to ${Page.limit.maximum}`
      })
    const from = after === null ? undefined : Option.getOrUndefined(placeOf(after.id))
    const { place, line } =
      from === undefined ? yield* begin(companyId, period) : { place: from, line: undefined }
    const rows: Array<Line> = line === undefined ? [] : [line]
    let next: Place | null = place
    let characters = 0
    for (let left = limit; next !== null && left > 0 && characters < Page.maxCharacters; left -= pageSize) {
      const part: Effect.Success<ReturnType<typeof read>> = yield* read(
        companyId,
        Math.min(left, pageSize),
        next
      )
      rows.push(...part.lines)
      characters += Page.charactersOf(part.lines)
      next = part.next
    }
    return {
      rows,
      next: next === null ? undefined : { createdAtMillis: 0, id: Schema.encodeSync(PlaceText)(next) }
    }
  })

  const companies = Stream.paginate<string | null, Company, StoreUnavailable>(null, (after) =>
    Effect.map(accounts.companies(after, companiesAtOnce), (page) => {
      const last = page.length < companiesAtOnce ? undefined : page.at(-1)
      return [page, Option.map(Option.fromUndefinedOr(last), ({ id }): string | null => id)] as const
    })
  )

  return Bookings.of({
    lines,
    page,
    linesOfAll: (period) => Stream.flatMap(companies, ({ id }) => Stream.unwrap(lines(id, period)))
  })
})

export const layer = Layer.effect(Bookings, make)
