import * as Metadata from "@satrail/core/base/Metadata"
import { columnOf } from "@satrail/core/ledger/Noun"
import * as Purpose from "@satrail/core/receiving/Purpose"
import * as Cause from "@satrail/core/sending/Cause"
import * as Booking from "@satrail/core/reports/Booking"
import { Bookings, type Line } from "@satrail/core/reports/Bookings"
import { Clock, Effect, Schema, Struct } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { companyId, Scopes } from "../api/Authentication.ts"
import * as Errors from "../wire/Errors.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Section from "../api/Section.ts"
import * as Sheet from "../wire/Sheet.ts"

const path = "/v1/transactions/export"

type Booked = Extract<Line, { readonly _tag: "Booked" }>

/** Returns a column's value function. Its value is null for the opening and closing lines. */
const booked =
  (of: (line: Booked) => Sheet.Cell) =>
  (line: Line): Sheet.Cell =>
    line._tag === "Booked" ? of(line) : null

const fiat = ({ booking, subject }: Booked): Sheet.Cell => {
  const digits = subject === undefined ? null : Booking.valueAt(booking.amount, subject)
  return digits === null ? null : { digits }
}

/** Ids of the features' records that a payment belongs to. */
const references = Struct.keys({ ...Purpose.references, ...Cause.members }).map((member) => ({
  name: columnOf(member),
  of: booked(({ subject }) => subject?.[member] ?? null)
}))

/** Columns in order. New ones are added at the end, except ids of features' records, which precede `metadata`. */
const columns: ReadonlyArray<Sheet.Column<Line>> = [
  { name: "company_id", of: (line) => line.companyId },
  {
    name: "booked_at",
    of: (line) => Scalars.instant(line._tag === "Booked" ? line.booking.atMillis : line.atMillis)
  },
  { name: "type", of: (line) => (line._tag === "Booked" ? line.booking.kind : line._tag.toLowerCase()) },
  { name: "id", of: booked(({ subject }) => subject?.id ?? null) },
  { name: "ledger_tx_id", of: booked(({ booking }) => booking.transferId) },
  { name: "rail_type", of: booked(({ subject }) => subject?.rail ?? null) },
  { name: "amount_sats", of: booked(({ booking }) => Sheet.sats(booking.amount)) },
  { name: "service_fee_sats", of: booked(({ booking }) => Sheet.sats(booking.serviceFee)) },
  { name: "network_fee_sats", of: booked(({ booking }) => Sheet.sats(booking.networkFee)) },
  { name: "total_sats", of: booked(({ booking }) => Sheet.sats(Booking.total(booking))) },
  { name: "balance_sats", of: (line) => Sheet.sats(line.balance) },
  { name: "fiat_currency", of: booked(({ subject }) => subject?.fiatCurrency?.toUpperCase() ?? null) },
  {
    name: "fiat_rate",
    of: booked(({ subject }) =>
      subject?.rate === null || subject === undefined ? null : { digits: subject.rate }
    )
  },
  { name: "fiat_rate_at", of: booked(({ subject }) => Scalars.instantOrNull(subject?.rateAtMillis ?? null)) },
  { name: "fiat_amount", of: booked(fiat) },
  { name: "recipient", of: booked(({ subject }) => subject?.recipient ?? null) },
  { name: "payment_hash", of: booked(({ subject }) => subject?.paymentHash ?? null) },
  { name: "chain_tx_id", of: booked(({ subject }) => subject?.chainTxId ?? null) },
  { name: "lightning_invoice_id", of: booked(({ subject }) => subject?.invoiceId ?? null) },
  ...references,
  {
    name: "metadata",
    of: booked(({ subject }) => (subject === undefined ? null : { json: subject.metadata }))
  },
  { name: "fiat_rate_source", of: booked(({ subject }) => subject?.rateSource ?? null) }
]

/** Adds a column for each metadata key. It is empty in lines without that key. */
const columnsOf = (keys: ReadonlyArray<string>): ReadonlyArray<Sheet.Column<Line>> => [
  ...columns,
  ...keys.map((key) => ({
    name: `metadata.${key}`,
    of: booked(({ subject }) =>
      subject !== undefined && Object.hasOwn(subject.metadata, key) ? (subject.metadata[key] ?? null) : null
    )
  }))
]

const keysOf = (text: string): ReadonlyArray<string> => [...new Set(text.split(","))]

const keysIssue = (text: string): string | undefined => {
  const keys = keysOf(text)
  if (keys.length > Metadata.limits.keys) return `At most ${Metadata.limits.keys} keys`
  return Metadata.issues(Object.fromEntries(keys.map((key) => [key, ""])))[0]?.message
}

const query = {
  format: Schema.optionalKey(Sheet.Format),
  from: Schema.optionalKey(
    Scalars.GivenBound.annotate({ description: "Start time, inclusive. Default: the first entry" })
  ),
  until: Schema.optionalKey(
    Scalars.GivenBound.annotate({
      description: "End time, exclusive; must be later than `from`. Default, and latest: now"
    })
  ),
  metadata_keys: Schema.optionalKey(
    Schema.String.annotate({
      description: `Metadata keys, separated by commas, at most ${Metadata.limits.keys}. Each becomes a column \`metadata.<key>\``,
      examples: ["order,customer"]
    }).check(
      Scalars.stated(keysIssue, {
        pattern: `^[^,]{1,${Metadata.limits.keyCharacters}}(?:,[^,]{1,${Metadata.limits.keyCharacters}}){0,${Metadata.limits.keys - 1}}$`
      })
    )
  )
}

interface Asked {
  readonly format?: Sheet.Format
  readonly from?: number
  readonly until?: number
  readonly metadata_keys?: string
}

const periodOf = Effect.fnUntraced(function* ({ from = 0, until }: Asked) {
  if (from < 0)
    return yield* Effect.fail(Errors.malformedRequest([{ path: "from", message: "must not be before 1970" }]))
  if (until !== undefined && until <= from)
    return yield* Effect.fail(
      Errors.malformedRequest([{ path: "until", message: "must be later than from" }])
    )
  // The closing line states the balance at its time, which is unknown if that is in the future.
  const untilMillis = Math.max(from, Math.min(until ?? Infinity, yield* Clock.currentTimeMillis))
  return { fromMillis: from, untilMillis }
})

const fileOf = ({ format = "csv", metadata_keys: keys }: Asked, name: string) => ({
  columns: columnsOf(keys === undefined ? [] : keysOf(keys)),
  format,
  name
})

const about = `Streams all posted entries in ledger order: deposits, withdrawals with their fees, reversals by chain reorganizations, transfers between companies, and adjustments. The first line (\`opening\`) has the opening balance, each line has the balance after it, and the last line (\`closing\`) has the closing balance. A file without a closing line is incomplete. Amounts and fees are signed, in satoshis with up to three decimals; \`total_sats\` is their sum, and all totals add up to the change in balance. \`fiat_…\` is set if an amount was given in fiat, because the rate is stored only then. \`fiat_rate_source\` names the sources of the rate. The currency and the sources are empty for payments requested before they were stored. In CSV, an apostrophe precedes text that a spreadsheet would run as a formula, also after a semicolon, tab or line break within a value. A process runs at most ${Sheet.maxTables.each} exports at a time for a company.`

const errors = Errors.of("malformed", "overloaded", "store_unavailable")

export const transactions = Section.company(
  HttpApiEndpoint.get("exportTransactions", path, { query, success: Sheet.success, error: errors })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "Export posted entries")
    .annotate(OpenApi.Description, `${about} Requires the \`read\` scope.`),
  Effect.all([Bookings, Sheet.Places]),
  ([bookings, places]) =>
    Effect.fnUntraced(function* ({ query }) {
      const [id, period] = [yield* companyId, yield* periodOf(query)]
      yield* places(id)
      return Sheet.answer(
        yield* Errors.answered(bookings.lines(id, period)),
        fileOf(query, `transactions-${id}`)
      )
    })
)

const ofAll = Section.operator(
  HttpApiEndpoint.get("exportAllTransactions", "/operator/transactions/export", {
    query,
    success: Sheet.success,
    error: errors
  })
    .annotate(OpenApi.Summary, "Export posted entries of all companies")
    .annotate(
      OpenApi.Description,
      `Exports one company after the other, ordered by id, each with its own opening and closing lines. ${about}`
    ),
  Effect.all([Bookings, Sheet.Places]),
  ([bookings, places]) =>
    Effect.fnUntraced(function* ({ query }) {
      const period = yield* periodOf(query)
      yield* places("operator")
      return Sheet.answer(bookings.linesOfAll(period), fileOf(query, "transactions"))
    })
)

export const operatorSection = Section.make(
  "operatorExports",
  { title: "Exports of all companies", description: "Posted entries of all companies, as files" },
  [ofAll]
)
