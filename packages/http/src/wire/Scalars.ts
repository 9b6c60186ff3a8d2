import { maxDescriptionBytes } from "@satrail/bitcoin/Bolt11"
import { normaliseDomain } from "@satrail/bitcoin/LightningAddressText"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Ids from "@satrail/core/base/Id"
import * as Rfc3339 from "@satrail/core/base/Rfc3339"
import * as MetadataRules from "@satrail/core/base/Metadata"
import { descriptionIssue } from "@satrail/core/receiving/Invoices"
import { Effect, Result, Schema, SchemaGetter, SchemaIssue } from "effect"

// Schemas for response fields, followed by those for request fields.

/** A UUID in a response. */
export const Uuid = Schema.String.annotate({
  format: "uuid",
  examples: ["018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"]
})
export const text = (...examples: readonly [string, ...Array<string>]) => Schema.String.annotate({ examples })

/** An instant in ISO 8601 format, in UTC with three decimals. */
export const Instant = Schema.String.annotate({ format: "date-time", examples: ["2026-01-31T12:00:00.123Z"] })

const dayMillis = 86_400_000
const padded = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, "0"))
/**
 * Most instants in a response fall on the same day, so the last date and its text are cached. Computing the
 * date is the slow part.
 */
let lastDay = Number.NaN
let writtenDay = ""

/**
 * Returns the same text as `toISOString` in a fifth of the time. An invoice has three instants, and a page of
 * transactions has hundreds.
 */
export const instant = (millis: number): string => {
  const day = Math.floor(millis / dayMillis)
  if (day !== lastDay) {
    writtenDay = new Date(millis).toISOString().slice(0, -"00:00:00.000Z".length)
    lastDay = day
  }
  const within = millis - day * dayMillis
  const seconds = Math.floor(within / 1000)
  const minutes = Math.floor(seconds / 60)
  const rest = Math.floor(within - seconds * 1000)
  return `${writtenDay}${padded[Math.floor(minutes / 60)]}:${padded[minutes % 60]}:${padded[seconds % 60]}.${rest < 100 ? "0" : ""}${rest < 10 ? "0" : ""}${rest}Z`
}
export const instantOrNull = (millis: number | null): string | null =>
  millis === null ? null : instant(millis)

/**
 * JSON Schema formats of amounts in satoshis. Every amount in a schema has one of them, and the clients use it
 * to find the fields that are amounts. `due` is for amounts that are required or due. Whole satoshis are
 * rounded up for `due` and down for `amount`.
 */
export const format = { amount: "sats", due: "sats-due" } as const

export const Sats = Schema.Int.annotate({
  description: "Amount in whole satoshis, rounded down",
  format: format.amount,
  examples: [21_000]
})
export const DueSats = Sats.annotate({ format: format.due })
/** Satoshis with three decimals. */
export const ExactSats = Schema.Finite.annotate({ format: format.amount })
/**
 * Rounds down: 1 999 msat are 1 sat. The number is exact, because the total supply of bitcoin in sats is below
 * 2^53.
 */
export const sats = (amount: Msat.Msat): number => Number(Msat.toSats(amount))
export const satsOrNull = (amount: Msat.Msat | null): number | null => (amount === null ? null : sats(amount))

/**
 * The total fee, under each of its names: `fee_sats`, `service_fee_sats` of an estimate, and `fee_microsats`
 * of a list (in msat).
 */
export const Fee = Schema.Finite.annotate({
  description: "Total fee on top of the amount, in satoshis with up to three decimals",
  format: format.due,
  examples: [6.5]
})
/** Returns satoshis with three exact decimals: 6 500 msat are 6.5 sats. */
export const exactSats = (amount: Msat.Msat): number => Number(amount) / 1000
export const exactSatsOrNull = (amount: Msat.Msat | null): number | null =>
  amount === null ? null : exactSats(amount)

/** Keys and values set by the caller; `{}` if none. */
export const Metadata = Schema.Record(Schema.String, Schema.String).annotate({
  identifier: "Metadata",
  examples: [{ order: "1042" }]
})

/** Checks a value with `issue` and adds the keywords in `says` to its JSON Schema. */
export const stated = <T>(issue: (value: T) => Schema.FilterOutput, says: object) =>
  Schema.makeFilter(issue, { toJsonSchema: () => ({ ...says }) })

/** JSON Schema keywords for text of 1 to `most` characters that are not all blank. */
export const wordsUpTo = (most: number) => ({ minLength: 1, maxLength: most, pattern: "\\S" })

/** An optional field. Null means the same as omitting it. */
export const given = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** Returns null for undefined, null and empty text, and other text unchanged. */
export const orNull = (text: string | null | undefined): string | null =>
  text === undefined || text === "" ? null : text

/** Case-insensitive text, decoded to lower case. */
export const inLowerCase = <S extends Schema.Codec<string>>(given: S) =>
  given.pipe(
    Schema.decodeTo(Schema.String, {
      decode: SchemaGetter.transform((text: string) => text.toLowerCase()),
      encode: SchemaGetter.passthrough()
    })
  )

/** A record's id in a path. Text that is not a UUID identifies no record. */
export const Id = inLowerCase(Uuid)

/** A company's id in a query. */
export const GivenUuid = Id.check(Schema.makeFilter((text) => (Ids.is(text) ? undefined : "must be a UUID")))

/** Whole satoshis in a request body. */
export const GivenSats = Schema.Int.check(
  Schema.isBetween({ minimum: 1, maximum: Number(Msat.toSats(Msat.max)) })
).annotate({
  format: format.amount,
  examples: [1000]
})

/** Converts whole satoshis to msat. */
export const msatOrNull = (sats: number | null | undefined): Msat.Msat | null =>
  sats === null || sats === undefined ? null : Msat.fromSats(sats)

// Larger JSON numbers no longer have three exact decimals.
const maxExactSats = Number.MAX_SAFE_INTEGER / 1000

/** Satoshis with three decimals. `minimum` can be negative. */
const exactSatsWithin = (minimum: number, maximum: number) =>
  Schema.Finite.check(
    stated(
      (sats: number) =>
        Math.abs(sats) <= maxExactSats && Math.round(sats * 1000) / 1000 === sats
          ? undefined
          : "must be in satoshis with at most three decimals",
      { minimum, maximum }
    )
  )
    .annotate({
      description: "Amount in satoshis, with up to three decimals",
      format: format.amount,
      examples: [21_000.125]
    })
    .pipe(
      Schema.decodeTo(Msat.Msat, {
        decode: SchemaGetter.transform((sats) => BigInt(Math.round(sats * 1000))),
        encode: SchemaGetter.transform((amount) => Number(amount) / 1000)
      })
    )
export const GivenExactSats = exactSatsWithin(-maxExactSats, maxExactSats)

/** Satoshis with three decimals, from 0 to `most`. */
export const givenSatsUpTo = (most: Msat.Msat) =>
  exactSatsWithin(0, Math.min(Number(Msat.toSats(most)), maxExactSats)).check(
    Schema.makeFilter((amount) =>
      amount >= 0n && amount <= most ? undefined : `must be between 0 and ${Msat.toSats(most)} sats`
    )
  )

const { keys, keyCharacters, valueCharacters } = MetadataRules.limits
export const GivenMetadata = Schema.Record(Schema.String, Schema.String)
  .annotate({
    description: `Your own data, returned with the record: at most ${keys} keys of up to ${keyCharacters} characters, values of up to ${valueCharacters}`,
    examples: [{ order: "1042" }]
  })
  .check(Schema.isMaxProperties(keys, { message: `must have at most ${keys} keys` }).abort())
  .check(
    stated(
      (metadata) => MetadataRules.issues(metadata).map(({ path, message }) => ({ path, issue: message })),
      {
        propertyNames: { minLength: 1, maxLength: keyCharacters },
        additionalProperties: { type: "string", maxLength: valueCharacters }
      }
    )
  )
  .annotate({ identifier: "GivenMetadata" })

export const Description = Schema.String.annotate({
  description: `Text shown to the payer, at most ${maxDescriptionBytes} bytes of UTF-8`,
  examples: ["Order 1042"]
}).check(stated(descriptionIssue, { maxLength: maxDescriptionBytes }))

export const expirySeconds = (bounds: {
  readonly minimum: number
  readonly default: number
  readonly maximum: number
}) =>
  Schema.Int.check(Schema.isBetween(bounds)).annotate({
    description: `Lifetime in seconds. Default: ${bounds.default}`,
    examples: [bounds.default]
  })

export const domainIssue = (text: string) => {
  const domain = normaliseDomain(text)
  return Result.isFailure(domain) ? domain.failure.message : undefined
}

/** Returns the domain in the form in which it is stored, or unchanged if it is invalid. */
export const domainOf = (text: string): string => Result.getOrElse(normaliseDomain(text), () => text)

const instantWords = "must be a timestamp such as 2026-01-31T12:00:00.123Z"

const instantFrom = (millisOf: (instant: Rfc3339.Instant) => number) =>
  Schema.String.annotate({
    description: "RFC 3339 timestamp with a time zone",
    format: "date-time",
    examples: ["2026-01-31T12:00:00.123Z"]
  }).pipe(
    Schema.decodeTo(Schema.Int, {
      decode: SchemaGetter.transformEffect((text) => {
        const read = Rfc3339.parse(text)
        if (Result.isSuccess(read)) return Effect.succeed(millisOf(read.success))
        const message = read.failure === "" ? instantWords : `${instantWords}: ${read.failure}`
        return Effect.fail(new SchemaIssue.InvalidValue({ message }))
      }),
      encode: SchemaGetter.transform((millis) => instant(millis))
    })
  )

/** A timestamp with a time zone, decoded to milliseconds and rounded down. */
export const GivenInstant = instantFrom(({ millis }) => millis)

/**
 * The start or end of a period, rounded up: the times of records are whole milliseconds, so exactly those at or after the
 * given instant are at or after the rounded one.
 */
export const GivenBound = instantFrom(({ millis, isRounded }) => millis + (isRounded ? 1 : 0))

/**
 * An integer in a query or path, as decimal digits. The OpenAPI document shows it as a number; see `readable`
 * in Base.ts.
 */
export const intFromText = (options: {
  readonly minimum: number
  readonly maximum: number
  readonly description: string
}) => {
  const message = `must be a whole number from ${options.minimum} to ${options.maximum}`
  return Schema.String.annotate({
    description: options.description,
    format: `integer ${options.minimum} ${options.maximum}`
  }).pipe(
    Schema.decodeTo(Schema.Int.check(Schema.isBetween(options, { message })), {
      decode: SchemaGetter.transformEffect((text) =>
        /^\d{1,15}$/.test(text)
          ? Effect.succeed(Number(text))
          : Effect.fail(new SchemaIssue.InvalidValue({ message }))
      ),
      encode: SchemaGetter.transform(String)
    })
  )
}
