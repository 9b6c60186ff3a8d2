import * as Amount from "@satrail/core/base/Amount"
import * as Decimal from "@satrail/core/base/Decimal"
import type { Asked } from "@satrail/core/nodes/Prices"
import { Effect, Predicate, Result, Schema } from "effect"
import type { Issue } from "./Envelope.ts"
import * as Errors from "./Errors.ts"
import * as Scalars from "./Scalars.ts"

/** An amount as JSON writes numbers. The schema sees a float, which is good for its type only: the value is read from the text, by `asked`. */
export const AmountNumber = Schema.Finite.annotate({
  description: "In units of `currency`, decimals allowed. Read exactly: 21.5 sats is refused, 0.00000021 btc is 21 sats",
  examples: [21_000]
}).check(Scalars.stated(() => undefined, { exclusiveMinimum: 0 }))

const inAnyCase = (letters: string) => letters.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)
/** What the document says of a currency. */
export const currencies = (codes: ReadonlyArray<string>) => ({ pattern: `^(?:${codes.map(inAnyCase).join("|")})$` })

/** What the document says of a body in which no amount, or null, is none: an amount has its currency. */
export const withCurrency = { dependentRequired: { amount: ["currency"] } }

/** In any letter case. */
export const Currency = Schema.String.annotate({
  description: `One of ${Amount.Currency.literals.join(", ")}, in any letter case. Fiat is converted at the current rate to whole sats`,
  examples: ["sats"]
})
  .check(
    Scalars.stated(
      (text: string) => Result.isSuccess(Amount.parseCurrency(text)) || `One of ${Amount.Currency.literals.join(", ")}`,
      currencies(Amount.Currency.literals)
    )
  )
  .annotate({ identifier: "Currency" })

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

/** The same of a body that has to name one. */
export const wanted = (text: string, body: { readonly currency?: string | null }) =>
  Effect.flatMap(asked(text, body), (found) =>
    found === undefined ? Effect.fail(Errors.malformedRequest([{ path: "amount", message: "Missing" }])) : Effect.succeed(found)
  )

/** What is wrong with the amount of a body, of which the rest may be wrong as well. */
export const issues = (text: string, body: object): ReadonlyArray<Issue> => {
  const currency = Predicate.hasProperty(body, "currency") && typeof body.currency === "string" ? body.currency : undefined
  const read = readAmount(text, currency)
  return Result.isFailure(read) ? read.failure : []
}

export const isGiven = (body: object, member: string): boolean => Predicate.hasProperty(body, member) && body[member] !== null

/** The same of a body in which null leaves the amount to the payer. NaN is null in JSON: without an amount nothing is right but what an amount would not have. */
export const issuesOrAny = (text: string, body: object): ReadonlyArray<Issue> => {
  if (Predicate.hasProperty(body, "amount") && body.amount === null) {
    const message = "A number; where the payer is to decide, null, and no currency"
    return isGiven(body, "currency") ? [{ path: "amount", message }] : []
  }
  const ofAmount = issues(text, body)
  if (isGiven(body, "currency")) return ofAmount
  return [...ofAmount.filter(({ path }) => path !== "currency"), { path: "currency", message: "Missing" }]
}

/** The amount that such a body asks for; undefined where the payer decides. */
export const askedOrAny = Effect.fnUntraced(function* (text: string, body: { readonly currency?: string | null }) {
  const wrong = issuesOrAny(text, body)
  return wrong.length > 0 ? yield* Effect.fail(Errors.malformedRequest(wrong)) : yield* asked(text, body)
})
