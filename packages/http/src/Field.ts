import { maxDescriptionBytes } from "@satrail/bitcoin/Bolt11"
import { normaliseDomain } from "@satrail/bitcoin/LightningAddressText"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Network from "@satrail/bitcoin/Network"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import { expiryIssue, scopesIssue } from "@satrail/core/accounts/ApiKeys"
import { maxNameCharacters, nameIssue } from "@satrail/core/accounts/Companies"
import * as Amount from "@satrail/core/base/Amount"
import * as Decimal from "@satrail/core/base/Decimal"
import * as MetadataRules from "@satrail/core/base/Metadata"
import type { Asked } from "@satrail/core/nodes/Prices"
import * as Invoice from "@satrail/core/receiving/Invoice"
import { descriptionIssue } from "@satrail/core/receiving/Invoices"
import { maxSuccessMessageCharacters } from "@satrail/core/receiving/LightningAddress"
import { handleIssue, successMessageIssue } from "@satrail/core/receiving/LightningAddresses"
import * as Destinations from "@satrail/core/sending/Destination"
import { Clock, Effect, Predicate, Result, Schema, SchemaGetter, SchemaIssue } from "effect"
import type { Issue } from "./Envelope.ts"
import * as Errors from "./Errors.ts"

/** A member that may be left out, or null: both mean that it was not given. */
export const given = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** Nothing, null and the empty text are all "not given". */
export const orNull = (text: string | null | undefined): string | null => (text === undefined || text === "" ? null : text)

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
}).check(Schema.makeFilter(descriptionIssue))

/** Whole satoshis. */
export const Sats = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number(Msat.toSats(Msat.max)) })).annotate({
  examples: [1000]
})

/** What a payer's wallet shows; the empty text is none. */
export const SuccessMessage = Schema.String.annotate({
  description: `What a payer's wallet shows after a payment, at most ${maxSuccessMessageCharacters} characters; empty for none`,
  examples: ["Thank you!"]
}).check(Schema.makeFilter((text) => (text === "" ? undefined : successMessageIssue(text))))

/** Of a company or a key. */
export const Name = Schema.String.annotate({
  description: `1 to ${maxNameCharacters} characters, not all of them blank`,
  examples: ["Example Ltd"]
}).check(Schema.makeFilter(nameIssue))

/** A handle of one's own; the empty text is none. */
export const Handle = Schema.String.annotate({ description: "Paid plans only; empty for a random one", examples: ["satoshi"] }).check(
  Schema.makeFilter((text) => (text === "" ? undefined : handleIssue(text)))
)

const domainIssue = (text: string) => {
  const domain = normaliseDomain(text)
  return Result.isFailure(domain) ? domain.failure.message : undefined
}

export const Domain = Schema.String.annotate({ examples: ["example.com"] }).check(Schema.makeFilter(domainIssue))

/** A domain of one's own; the empty text is the service's. */
export const OwnDomain = Schema.String.annotate({
  description: "Paid plans only, a verified domain; empty for the service's own",
  examples: ["example.com"]
}).check(Schema.makeFilter((text) => (text === "" ? undefined : domainIssue(text))))

export const KeyScopes = Schema.Array(ApiKey.Scope).check(Schema.makeFilter(scopesIssue))

export const expirySeconds = (bounds: { readonly minimum: number; readonly default: number; readonly maximum: number }) =>
  Schema.Int.check(Schema.isBetween(bounds)).annotate({
    description: `Lifetime in seconds, ${bounds.default} unless given`,
    examples: [bounds.default]
  })

export const ExpirySeconds = expirySeconds(Invoice.expirySeconds)

const { keys, keyCharacters, valueCharacters } = MetadataRules.limits
export const Metadata = Schema.Record(Schema.String, Schema.String)
  .annotate({
    description: `Given back with the record: at most ${keys} keys of ${keyCharacters} characters, values of at most ${valueCharacters}`,
    examples: [{ order: "1042" }]
  })
  .check(Schema.makeFilter((metadata) => MetadataRules.issues(metadata).map(({ path, message }) => ({ path, issue: message }))))

/** `2026-01-31T12:00:00.123Z`, any offset, at most three decimals: what is finer could not be kept. */
const instantPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?(?:Z|[+-]\d\d:\d\d)$/
const instantWords = "A timestamp like 2026-01-31T12:00:00.123Z (a + in a query is written %2B)"

/** Date.parse takes 30 February for the first days of March. */
const isDay = (day: string): boolean => {
  const millis = Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(millis) && new Date(millis).toISOString().startsWith(day)
}

/** Milliseconds, read from a timestamp with a zone. */
export const Instant = Schema.String.annotate({
  description: "ISO 8601 with a zone",
  format: "date-time",
  examples: ["2026-01-31T12:00:00.123Z"]
}).pipe(
  Schema.decodeTo(Schema.Int, {
    decode: SchemaGetter.transformEffect((text) => {
      const millis = instantPattern.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN
      return Number.isNaN(millis) ? Effect.fail(new SchemaIssue.InvalidValue({ message: instantWords })) : Effect.succeed(millis)
    }),
    encode: SchemaGetter.transform((millis) => new Date(millis).toISOString())
  })
)

/** When a key ends, which is later than now. */
export const Expiry = Instant.pipe(
  Schema.decodeTo(Schema.Int, {
    decode: SchemaGetter.transformEffect((millis) =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMillis) => {
        const message = expiryIssue(millis, nowMillis)
        return message === undefined ? Effect.succeed(millis) : Effect.fail(new SchemaIssue.InvalidValue({ message }))
      })
    ),
    encode: SchemaGetter.passthrough()
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

const noCurrency: Issue = { path: "currency", message: "An amount needs its currency" }

const issueAt =
  (path: string) =>
  ({ message }: { readonly message: string }): Issue => ({ path, message })

const failures = (...read: ReadonlyArray<Result.Result<unknown, Issue>>): ReadonlyArray<Issue> =>
  read.flatMap((one) => (Result.isFailure(one) ? [one.failure] : []))

/** What a body asks for, or what is wrong with that by itself. What a body without an amount says of a currency means nothing. */
const readAmount = (text: string, currencyText: string | null | undefined): Result.Result<Asked | undefined, ReadonlyArray<Issue>> => {
  const currency: Result.Result<Amount.Currency, Issue> =
    currencyText === undefined || currencyText === null
      ? Result.fail(noCurrency)
      : Result.mapError(Amount.parseCurrency(currencyText), issueAt("currency"))
  const amount = Decimal.ofJsonMember(text, "amount").pipe(
    Result.flatMap((found) => (found === undefined ? Result.succeed(found) : Amount.check(found, Result.getOrUndefined(currency)))),
    Result.mapError(issueAt("amount"))
  )
  if (Result.isSuccess(amount) && amount.success === undefined) return Result.succeed(undefined)
  if (Result.isFailure(amount) || Result.isFailure(currency)) return Result.fail(failures(amount, currency))
  return Result.succeed(amount.success && { amount: amount.success, currency: currency.success })
}

/** The amount that a body asks for, exactly as its text says, or undefined when it names none. */
export const asked = (text: string, body: { readonly currency?: string | null }) =>
  Effect.mapError(Effect.fromResult(readAmount(text, body.currency)), Errors.malformedRequest)

/** What is wrong with the amount of a body, of which the rest may be wrong as well. */
export const amountIssues = (text: string, body: object): ReadonlyArray<Issue> => {
  const currency = Predicate.hasProperty(body, "currency") && typeof body.currency === "string" ? body.currency : undefined
  const read = readAmount(text, currency)
  return Result.isFailure(read) ? read.failure : []
}

/** The same for what is to be sent. Which network a destination is of is no question of how it is written. */
export const paymentIssues = (text: string, body: object): ReadonlyArray<Issue> => {
  const amount = amountIssues(text, body)
  if (!Predicate.hasProperty(body, "destination") || typeof body.destination !== "string") return amount
  let issues: ReadonlyArray<Issue> = []
  for (const network of Network.all) {
    const parsed = Destinations.parse(body.destination, network)
    const failure = Result.isFailure(parsed) ? Errors.failureFor(parsed.failure) : undefined
    if (failure?.error.code !== "malformed") return amount
    issues = failure.error.issues ?? []
  }
  return [...amount, ...issues]
}

// Above this a JSON number does not have three decimals any more.
const maxExactSats = Number.MAX_SAFE_INTEGER / 1000

/** Satoshis to three decimals, and less than nothing too: what somebody is short of. */
export const ExactSats = Schema.Finite.check(
  Schema.makeFilter((sats) =>
    Math.abs(sats) <= maxExactSats && Math.round(sats * 1000) / 1000 === sats ? undefined : "Satoshis, with at most three decimals"
  )
)
  .annotate({ description: "Satoshis, to three decimals", examples: [21_000.125] })
  .pipe(
    Schema.decodeTo(Msat.Msat, {
      decode: SchemaGetter.transform((sats) => BigInt(Math.round(sats * 1000))),
      encode: SchemaGetter.transform((amount) => Number(amount) / 1000)
    })
  )
