import { maxDescriptionBytes } from "@satrail/bitcoin/Bolt11"
import { normaliseDomain } from "@satrail/bitcoin/LightningAddressText"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Id from "@satrail/core/base/Id"
import * as MetadataRules from "@satrail/core/base/Metadata"
import { descriptionIssue } from "@satrail/core/receiving/Invoices"
import { Effect, Result, Schema, SchemaGetter, SchemaIssue } from "effect"

// What members of bodies and answers are made of. First what is answered, then what is read.

/** A UUID, as a customer sees it. */
export const Uuid = Schema.String.annotate({ format: "uuid", examples: ["018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"] })
export const text = (...examples: readonly [string, ...Array<string>]) => Schema.String.annotate({ examples })

/** An instant: ISO 8601, UTC, three decimals. */
export const Instant = Schema.String.annotate({ format: "date-time", examples: ["2026-01-31T12:00:00.123Z"] })

const dayMillis = 86_400_000
const padded = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, "0"))
/** The day that was written last, and its beginning as text. What is answered is mostly of one day, and the calendar is what takes the time. */
let lastDay = Number.NaN
let writtenDay = ""

/** As `toISOString` writes it, in a fifth of its time: an invoice has three instants, a page of transactions hundreds. */
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
export const instantOrNull = (millis: number | null): string | null => (millis === null ? null : instant(millis))

export const Sats = Schema.Int.annotate({ description: "Whole satoshis, rounded down", examples: [21_000] })
/** 1 999 msat are 1 sat. All of bitcoin in sats is below 2^53, so the number is exact. */
export const sats = (amount: Msat.Msat): number => Number(Msat.toSats(amount))
export const satsOrNull = (amount: Msat.Msat | null): number | null => (amount === null ? null : sats(amount))

/** The one fee of this service, whichever name it goes by: `fee_sats`, `service_fee_sats` of an estimate, and in thousandths `fee_microsats` of a list. */
export const Fee = Schema.Finite.annotate({
  description: "The whole fee on top of the amount, in satoshis to three decimals",
  examples: [6.5]
})
/** 6 500 msat are 6.5 sats: three decimals, exactly those. */
export const exactSats = (amount: Msat.Msat): number => Number(amount) / 1000
export const exactSatsOrNull = (amount: Msat.Msat | null): number | null => (amount === null ? null : exactSats(amount))

/** Keys and values of the caller's own; `{}` when there are none. */
export const Metadata = Schema.Record(Schema.String, Schema.String).annotate({ examples: [{ order: "1042" }] })

/** What the document says of a value whose rule is checked by `issue`, as far as JSON Schema can say it. */
export const stated = <T>(issue: (value: T) => Schema.FilterOutput, says: object) =>
  Schema.makeFilter(issue, { toJsonSchema: () => ({ ...says }) })

/** Text of 1 to `most` characters, of which one at least is not blank. */
export const wordsUpTo = (most: number) => ({ minLength: 1, maxLength: most, pattern: "\\S" })

/** A member that may be left out, or null: both mean that it was not given. */
export const given = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** Nothing, null and the empty text are all "not given". */
export const orNull = (text: string | null | undefined): string | null => (text === undefined || text === "" ? null : text)

/** A UUID in a query, in upper or lower case; read in lower case. */
export const GivenUuid = Schema.String.annotate({ format: "uuid", examples: ["018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"] }).pipe(
  Schema.decodeTo(Schema.String.check(Schema.makeFilter((text) => (Id.is(text) ? undefined : "A UUID"))), {
    decode: SchemaGetter.transform((text) => text.toLowerCase()),
    encode: SchemaGetter.passthrough()
  })
)

/** Whole satoshis, in a body. */
export const GivenSats = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number(Msat.toSats(Msat.max)) })).annotate({
  examples: [1000]
})

/** The same, in msat. */
export const msatOrNull = (sats: number | null | undefined): Msat.Msat | null =>
  sats === null || sats === undefined ? null : Msat.fromSats(sats)

// Above this a JSON number does not have three decimals any more.
const maxExactSats = Number.MAX_SAFE_INTEGER / 1000

/** Satoshis to three decimals, negative ones too: a shortage. */
const exactSatsWithin = (minimum: number, maximum: number) =>
  Schema.Finite.check(
    stated(
      (sats: number) =>
        Math.abs(sats) <= maxExactSats && Math.round(sats * 1000) / 1000 === sats ? undefined : "Satoshis, with at most three decimals",
      { minimum, maximum }
    )
  )
    .annotate({ description: "Satoshis, to three decimals", examples: [21_000.125] })
    .pipe(
      Schema.decodeTo(Msat.Msat, {
        decode: SchemaGetter.transform((sats) => BigInt(Math.round(sats * 1000))),
        encode: SchemaGetter.transform((amount) => Number(amount) / 1000)
      })
    )
export const GivenExactSats = exactSatsWithin(-maxExactSats, maxExactSats)

/** The same from nothing to `most`. */
export const givenSatsUpTo = (most: Msat.Msat) =>
  exactSatsWithin(0, Math.min(Number(Msat.toSats(most)), maxExactSats)).check(
    Schema.makeFilter((amount) => (amount >= 0n && amount <= most ? undefined : `From 0 to ${Msat.toSats(most)} satoshis`))
  )

const { keys, keyCharacters, valueCharacters } = MetadataRules.limits
export const GivenMetadata = Schema.Record(Schema.String, Schema.String)
  .annotate({
    description: `Returned with the record: at most ${keys} keys of ${keyCharacters} characters, values of at most ${valueCharacters}`,
    examples: [{ order: "1042" }]
  })
  .check(Schema.isMaxProperties(keys, { message: `metadata can have at most ${keys} keys` }).abort())
  .check(
    stated((metadata) => MetadataRules.issues(metadata).map(({ path, message }) => ({ path, issue: message })), {
      propertyNames: { minLength: 1, maxLength: keyCharacters },
      additionalProperties: { type: "string", maxLength: valueCharacters }
    })
  )
  .annotate({ identifier: "GivenMetadata" })

export const Description = Schema.String.annotate({
  description: `Shown to the payer, at most ${maxDescriptionBytes} bytes of UTF-8`,
  examples: ["Order 1042"]
}).check(stated(descriptionIssue, { maxLength: maxDescriptionBytes }))

export const expirySeconds = (bounds: { readonly minimum: number; readonly default: number; readonly maximum: number }) =>
  Schema.Int.check(Schema.isBetween(bounds)).annotate({
    description: `Lifetime in seconds, ${bounds.default} by default`,
    examples: [bounds.default]
  })

export const domainIssue = (text: string) => {
  const domain = normaliseDomain(text)
  return Result.isFailure(domain) ? domain.failure.message : undefined
}

/** `2026-01-31T12:00:00.123Z`, any offset, at most three decimals: what is finer could not be kept. */
const instantPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?(?:Z|[+-]\d\d:\d\d)$/
const instantWords = "A timestamp like 2026-01-31T12:00:00.123Z (a + in a query is written %2B)"

/** Date.parse takes 30 February for the first days of March. */
const isDay = (day: string): boolean => {
  const millis = Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(millis) && new Date(millis).toISOString().startsWith(day)
}

/** Milliseconds, read from a timestamp with a zone. */
export const GivenInstant = Schema.String.annotate({
  description: "ISO 8601 with a zone",
  format: "date-time",
  examples: ["2026-01-31T12:00:00.123Z"]
}).pipe(
  Schema.decodeTo(Schema.Int, {
    decode: SchemaGetter.transformEffect((text) => {
      const millis = instantPattern.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN
      return Number.isNaN(millis) ? Effect.fail(new SchemaIssue.InvalidValue({ message: instantWords })) : Effect.succeed(millis)
    }),
    encode: SchemaGetter.transform((millis) => instant(millis))
  })
)

/** A whole number in a query or a path, in decimal digits. Written as text, it is a number in the document: see `readable` in Base.ts. */
export const intFromText = (options: { readonly minimum: number; readonly maximum: number; readonly description: string }) => {
  const message = `A whole number from ${options.minimum} to ${options.maximum}`
  return Schema.String.annotate({ description: options.description, format: `integer ${options.minimum} ${options.maximum}` }).pipe(
    Schema.decodeTo(Schema.Int.check(Schema.isBetween(options, { message })), {
      decode: SchemaGetter.transformEffect((text) =>
        /^\d{1,15}$/.test(text) ? Effect.succeed(Number(text)) : Effect.fail(new SchemaIssue.InvalidValue({ message }))
      ),
      encode: SchemaGetter.transform(String)
    })
  )
}
