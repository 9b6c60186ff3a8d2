import { Effect, Result, Schema, SchemaGetter, SchemaIssue } from "effect"
import * as Amount from "@satrail/core/Amount"
import { maxDescriptionBytes } from "@satrail/core/Bolt11"
import * as Decimal from "@satrail/core/Decimal"
import * as Invoice from "@satrail/core/Invoice"
import * as MetadataRules from "@satrail/core/Metadata"
import type { Asked } from "@satrail/core/Prices"
import * as Errors from "./Errors.ts"

/** A member that may be left out, or null: both mean that it was not given. */
export const given = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** An amount as JSON writes numbers. The schema sees a float, which is good for its type only: the value is read from the text, by `asked`. */
export const AmountNumber = Schema.Finite.annotate({
  description: "In units of `currency`, decimals allowed. Read exactly: 21.5 sats is refused, 0.00000021 btc is 21 sats",
  examples: [21_000]
})

/** In any letter case. */
export const Currency = Schema.String.annotate({
  description: `One of ${Amount.Currency.literals.join(", ")}, in any letter case. Fiat is converted at the current rate to whole sats`,
  examples: ["sats"]
}).check(Schema.makeFilter((text) => Result.isSuccess(Amount.parseCurrency(text)) || `One of ${Amount.Currency.literals.join(", ")}`))

export const Destination = Schema.NonEmptyString.annotate({
  description: "A Lightning invoice, a Lightning address, an LNURL, a bitcoin address or a bitcoin: URI",
  examples: ["satoshi@wallet.example"]
})

export const Description = Schema.String.annotate({
  description: `What the payer is shown, at most ${maxDescriptionBytes} bytes`,
  examples: ["Order 1042"]
}).check(
  Schema.makeFilter(
    (text) => new TextEncoder().encode(text).length <= maxDescriptionBytes || `At most ${maxDescriptionBytes} bytes of UTF-8`
  )
)

export const ExpirySeconds = Schema.Int.check(
  Schema.isBetween({ minimum: Invoice.expirySeconds.minimum, maximum: Invoice.expirySeconds.maximum })
).annotate({ description: `Lifetime in seconds, ${Invoice.expirySeconds.default} unless given`, examples: [Invoice.expirySeconds.default] })

const { keys, keyCharacters, valueCharacters } = MetadataRules.limits
export const Metadata = Schema.Record(Schema.String, Schema.String).annotate({
  description: `Given back with the record: at most ${keys} keys of ${keyCharacters} characters, values of at most ${valueCharacters}`,
  examples: [{ order: "1042" }]
})

/** `2026-01-31T12:00:00.123Z`, any offset, at most three decimals: what is finer could not be kept. */
const instantPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?(?:Z|[+-]\d\d:\d\d)$/
const instantWords = "A timestamp like 2026-01-31T12:00:00.123Z (a + in a query is written %2B)"

/** Milliseconds, read from a timestamp with a zone. */
export const Instant = Schema.String.annotate({
  description: "ISO 8601 with a zone",
  format: "date-time",
  examples: ["2026-01-31T12:00:00.123Z"]
}).pipe(
  Schema.decodeTo(Schema.Int, {
    decode: SchemaGetter.transformEffect((text) => {
      const millis = instantPattern.test(text) ? Date.parse(text) : Number.NaN
      return Number.isNaN(millis) ? Effect.fail(new SchemaIssue.InvalidValue({ message: instantWords })) : Effect.succeed(millis)
    }),
    encode: SchemaGetter.transform((millis) => new Date(millis).toISOString())
  })
)

/** A whole number in a query or a path, in decimal digits. */
export const intFromText = (options: { readonly minimum: number; readonly maximum: number; readonly description: string }) => {
  const message = `A whole number from ${options.minimum} to ${options.maximum}`
  return Schema.String.annotate({ description: options.description }).pipe(
    Schema.decodeTo(Schema.Int.check(Schema.isBetween(options, { message })), {
      decode: SchemaGetter.transformEffect((text) =>
        /^\d{1,15}$/.test(text) ? Effect.succeed(Number(text)) : Effect.fail(new SchemaIssue.InvalidValue({ message }))
      ),
      encode: SchemaGetter.transform(String)
    })
  )
}

/** The amount that a body asks for, exactly as its text says, or undefined when it names none; what a body without `amount` says of a currency means nothing. */
export const asked = Effect.fnUntraced(function* (
  text: string,
  body: { readonly amount?: number | null; readonly currency?: string | null }
) {
  if (body.amount === undefined || body.amount === null) return undefined
  if (body.currency === undefined || body.currency === null) {
    return yield* Effect.fail(Errors.malformedRequest([{ path: "currency", message: "An amount needs its currency" }]))
  }
  const currency = yield* Errors.answered(Effect.fromResult(Amount.parseCurrency(body.currency)))
  const amount = yield* Effect.mapError(Effect.fromResult(Decimal.ofJsonMember(text, "amount")), ({ message }) =>
    Errors.malformedRequest([{ path: "amount", message }])
  )
  return amount && ({ amount, currency } satisfies Asked)
})
