import * as Amount from "@satrail/core/base/Amount"
import * as Decimal from "@satrail/core/base/Decimal"
import type { Asked } from "@satrail/core/nodes/Prices"
import * as Max from "@satrail/core/sending/Max"
import { Effect, Fiber, Predicate, Result, Schema, SchemaGetter } from "effect"
import type { Issue } from "./Envelope.ts"
import * as Errors from "./Errors.ts"
import { BodyText } from "./Received.ts"
import * as Scalars from "./Scalars.ts"

/** An amount as a JSON number. The schema decodes the number to a float; `exact` keeps the decimal. */
export const AmountNumber = Schema.Finite.annotate({
  description:
    "Amount in units of `currency`, as an exact decimal: 0.00000021 btc is 21 sats, and 21.5 sats is rejected",
  examples: [21_000]
})
  .check(Scalars.stated(() => undefined, { exclusiveMinimum: 0 }))
  .annotate({ identifier: "GivenAmount" })

/** A number from a program, or the source text of a number in a body. */
export type Written = number | { readonly source: string }

// Only values made by `exact` arrive here, so the cheapest check suffices.
const Written = Schema.declare(
  (value): value is Written | null => typeof value === "number" || typeof value === "object"
)

// Reads the text without an effect, because an effect in one field makes the schema library decode the whole
// body with effects.
const sourceOf = (amount: number): Written => {
  const body = Fiber.getCurrent()?.getRef(BodyText)
  if (body === undefined) throw new Error("an exact amount is decoded outside a request")
  const source = Decimal.sourceOfJsonMember(body, "amount")
  return source === undefined ? amount : { source }
}

/** Decodes the field `amount` of a body to its exact decimal. */
export const exact = <S extends Schema.Codec<number | null, number | null>>(amount: S) =>
  amount.pipe(
    Schema.decodeTo(Written, {
      decode: SchemaGetter.transform((found: number | null) => (found === null ? null : sourceOf(found))),
      encode: SchemaGetter.transform((amount: Written | null) =>
        typeof amount === "object" && amount !== null ? Number(amount.source) : amount
      )
    })
  )

/** An exact amount, or `max`. */
export const AmountOrMax = Schema.Union([AmountNumber, Schema.Literal("max")]).annotate({
  description: "`max`: the largest whole number of satoshis that the balance covers with its fee"
})

const WrittenOrMax = Schema.declare(
  (value): value is Written | "max" | null =>
    typeof value === "number" || typeof value === "object" || value === "max"
)

/** Like `exact`, for a field that can be `max`. */
export const exactOrMax = AmountOrMax.pipe(
  Schema.decodeTo(WrittenOrMax, {
    decode: SchemaGetter.transform((found: number | "max") => (found === "max" ? found : sourceOf(found))),
    encode: SchemaGetter.transform((amount: Written | "max" | null) =>
      typeof amount === "object" && amount !== null ? Number(amount.source) : (amount ?? 0)
    )
  })
)

/** Returns JSON Schema of these currencies, from which generators make a type. Capitals are accepted too. */
export const currencies = (codes: ReadonlyArray<string>) => ({ enum: [...codes] })

/** JSON Schema rule that requires a currency with an amount, for bodies whose amount is optional or nullable. */
export const withCurrency = { dependentRequired: { amount: ["currency"] } }

export const Currency = Schema.String.annotate({
  description: `One of ${Amount.Currency.literals.join(", ")}, case-insensitive. Fiat is converted to whole satoshis at the current rate`,
  examples: ["sats"]
})
  .check(
    Scalars.stated(
      (text: string) =>
        Result.isSuccess(Amount.parseCurrency(text)) ||
        `must be one of ${Amount.Currency.literals.join(", ")}`,
      currencies(Amount.Currency.literals)
    )
  )
  .annotate({ identifier: "Currency" })

const noCurrency: Issue = { path: "currency", message: "is required when amount is set" }

const issueAt =
  (path: string) =>
  ({ message }: { readonly message: string }): Issue => ({ path, message })

const failures = (...read: ReadonlyArray<Result.Result<unknown, Issue>>): ReadonlyArray<Issue> =>
  read.flatMap((one) => (Result.isFailure(one) ? [one.failure] : []))

type Read = Result.Result<Decimal.Decimal | undefined, Decimal.DecimalInvalid>

/** Returns the requested amount or its issues. A currency without an amount is ignored. */
const readAmount = (
  decimal: Read,
  currencyText: string | null | undefined
): Result.Result<Asked | undefined, ReadonlyArray<Issue>> => {
  const currency: Result.Result<Amount.Currency, Issue> =
    currencyText === undefined || currencyText === null
      ? Result.fail(noCurrency)
      : Result.mapError(Amount.parseCurrency(currencyText), issueAt("currency"))
  const amount = decimal.pipe(
    Result.flatMap((found) =>
      found === undefined ? Result.succeed(found) : Amount.check(found, Result.getOrUndefined(currency))
    ),
    Result.mapError(issueAt("amount"))
  )
  if (Result.isSuccess(amount) && amount.success === undefined) return Result.succeed(undefined)
  if (Result.isFailure(amount) || Result.isFailure(currency)) return Result.fail(failures(amount, currency))
  return Result.succeed(amount.success && { amount: amount.success, currency: currency.success })
}

interface Body {
  readonly amount?: Written | null
  readonly currency?: string | null
}

const decimalOf = (amount: Written | null | undefined) =>
  amount === undefined || amount === null
    ? Result.succeed(undefined)
    : Decimal.parse(typeof amount === "number" ? String(amount) : amount.source)

/** Returns the amount of a decoded body, or undefined if it has none. */
export const asked = ({ amount, currency }: Body) => {
  return Effect.mapError(Effect.fromResult(readAmount(decimalOf(amount), currency)), Errors.malformedRequest)
}

/** Returns the amount of a decoded body in which it can be `max`, which needs no currency. */
export const askedOrMax = ({
  amount,
  currency
}: Pick<Body, "currency"> & { readonly amount?: Written | "max" | null | undefined }): Effect.Effect<
  Asked | Max.Max | undefined,
  ReturnType<typeof Errors.malformedRequest>
> =>
  amount === "max"
    ? Effect.succeed(Max.everything)
    : asked({ amount: amount ?? null, currency: currency ?? null })

/** Returns the amount of a decoded body that requires one. */
export const wanted = (body: Body) =>
  Effect.flatMap(asked(body), (found) =>
    found === undefined
      ? Effect.fail(Errors.malformedRequest([{ path: "amount", message: "is required" }]))
      : Effect.succeed(found)
  )

const issuesWith = (decimal: Read, body: object): ReadonlyArray<Issue> => {
  const currency =
    Predicate.hasProperty(body, "currency") && typeof body.currency === "string" ? body.currency : undefined
  const read = readAmount(decimal, currency)
  return Result.isFailure(read) ? read.failure : []
}

/** Returns the issues of the amount and currency in a body that is not decoded yet, and whose other fields may be invalid too. */
export const issues = (text: string, body: object): ReadonlyArray<Issue> =>
  issuesWith(Decimal.ofJsonMember(text, "amount"), body)

/** Same as `issues`, for a body in which the amount can be `max`. */
export const issuesOrMax = (text: string, body: object): ReadonlyArray<Issue> =>
  Predicate.hasProperty(body, "amount") && body.amount === "max" ? [] : issues(text, body)

export const isGiven = (body: object, member: string): boolean =>
  Predicate.hasProperty(body, member) && body[member] !== null

const orAny = (decimal: Read, body: object): ReadonlyArray<Issue> => {
  if (Predicate.hasProperty(body, "amount") && body.amount === null) {
    const message = "must be a number, or null without a currency (the payer decides)"
    return isGiven(body, "currency") ? [{ path: "amount", message }] : []
  }
  const ofAmount = issuesWith(decimal, body)
  if (isGiven(body, "currency")) return ofAmount
  return [...ofAmount.filter(({ path }) => path !== "currency"), { path: "currency", message: "is required" }]
}

/**
 * Same as `issues`, for a body in which a null amount lets the payer choose. `JSON.stringify` turns NaN into
 * null, so a null amount with a currency is rejected.
 */
export const issuesOrAny = (text: string, body: object): ReadonlyArray<Issue> =>
  orAny(Decimal.ofJsonMember(text, "amount"), body)

/** Same as `issuesOrAny`, for a decoded body. */
export const decodedIssuesOrAny = (body: Body): ReadonlyArray<Issue> => orAny(decimalOf(body.amount), body)

/** Returns the amount of a decoded body, or undefined if the payer chooses it. */
export const askedOrAny = Effect.fnUntraced(function* (body: Body) {
  const wrong = decodedIssuesOrAny(body)
  return wrong.length > 0 ? yield* Effect.fail(Errors.malformedRequest(wrong)) : yield* asked(body)
})
