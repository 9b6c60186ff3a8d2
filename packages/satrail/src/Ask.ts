import * as Msat from "@satrail/bitcoin/Msat"
import type { CallOptions, CompanyRef } from "@satrail/client/Calls"
import type { AmountInvalid } from "@satrail/core/base/Amount"
import type { CompanyId } from "@satrail/core/base/CompanyId"
import { Invalid } from "@satrail/core/base/Invalid"
import * as Limits from "@satrail/core/accounts/Limits"
import type { Plan } from "@satrail/core/accounts/Plan"
import type { Decimal } from "@satrail/core/base/Decimal"
import type { Request } from "@satrail/core/ledger/Answer"
import * as Destination from "@satrail/core/sending/Destination"
import * as Page from "@satrail/http/wire/Page"
import { Redacted, Result } from "effect"
import * as Money from "./Money.ts"
import { idOf } from "./Sharing.ts"
import type { Bare, Instant, Named, Primitive } from "./Reply.ts"

/** The fields of a company's record that the core reads when a request takes a company. */
type Sender = { readonly plan: Plan; readonly name?: never }

/** Maps a list option's name in the core to its public name, which is the same as in the HTTP API. */
interface Filters {
  readonly before: "cursor"
  readonly after: "cursor"
  readonly createdAfterMillis: "from"
  readonly createdBeforeMillis: "until"
  readonly label: "metadataKey" | "metadataValue"
}

/** The public name of a field in a request. */
type Asked<T, K extends keyof T> = K extends keyof Filters
  ? Filters[K]
  : K extends "request"
    ? "idempotencyKey"
    : K extends "text"
      ? T extends { readonly plan?: Plan }
        ? "search"
        : K
      : K extends "companyId"
        ? "company"
        : K extends "asked"
          ? "amount"
          : K extends "standing"
            ? "status"
            : K extends "currency"
              ? T extends { readonly amount: Decimal }
                ? never
                : K
              : Named<K>

type Timed<V> = V extends number ? Date : V

type Member<K, V, M> = K extends "before" | "after" | "label"
  ? string
  : K extends "request"
    ? string
    : K extends "companyId"
      ? CompanyRef
      : K extends "company"
        ? CompanyRef
        : K extends "asked"
          ? Money.Amount | Extract<V, null | undefined>
          : K extends "metadata"
            ? M
            : K extends `${string}Sats`
              ? V extends number
                ? Money.Sats
                : V
              : K extends "limits"
                ? Omissible<Ask<V, M>>
                : K extends Instant
                  ? Timed<V>
                  : Ask<V, M>

/** A core method's argument, in plain values. `M` is the type of the metadata. */
export type Ask<T, M> =
  T extends Request<never>
    ? { readonly idempotencyKey: string }
    : T extends Sender
      ? CompanyRef
      : T extends CompanyId
        ? CompanyRef
        : T extends Msat.Msat
          ? Money.Sats
          : T extends Decimal
            ? Money.Amount
            : T extends Redacted.Redacted<infer A>
              ? Ask<A, M>
              : T extends Primitive
                ? Bare<T>
                : T extends (...given: never) => unknown
                  ? never
                  : T extends ReadonlyArray<unknown>
                    ? { readonly [K in keyof T]: Ask<T[K], M> }
                    : T extends object
                      ? { readonly [K in keyof T as Asked<T, K>]: Member<K, T[K], M> }
                      : T

type Public<K> = K extends "asked" ? "amount" : K extends "standing" ? "status" : Named<K>
type Loose<A, Defaulted> = A extends object
  ? Omit<A, Defaulted & keyof A> & Partial<Pick<A, Defaulted & keyof A>>
  : A

/** Fields that may be left out may also be undefined or null, as in `@satrail/client`. */
type Omissible<A> = A extends object
  ? { readonly [K in keyof A]: object extends Pick<A, K> ? A[K] | null | undefined : A[K] }
  : A

/** `Ask`, except that fields with a default are optional. */
type AskWith<T, D, M> = D extends object ? Omissible<Loose<Ask<T, M>, Public<keyof D>>> : Ask<T, M>

type Last<A extends ReadonlyArray<unknown>> = A extends readonly [...infer Before, infer Query]
  ? object extends Query
    ? [...Before, query?: Query]
    : A
  : A

/** Optional fields may be undefined, as in `@satrail/client`. */
type Undefinable<A> = { readonly [K in keyof A]: object extends Pick<A, K> ? A[K] | undefined : A[K] }

/** The options of a list. */
export type Query<T, M> = Undefinable<Omit<Ask<T, M>, "cursor" | "limit">> & {
  /** Records per page, 1 to 1000. Default: 100. */
  readonly limit?: number | undefined
  /** The `next` of the previous page. */
  readonly cursor?: string | undefined
} & (T extends { readonly paymentHash?: unknown }
    ? { readonly paymentRequest?: string | undefined }
    : unknown)

/** A method's arguments, some of which are optional. */
export type Given<A extends ReadonlyArray<unknown>, D, M> = Abortable<
  D extends ReadonlyArray<unknown>
    ? Last<{ [K in keyof A]: K extends keyof D ? AskWith<A[K], D[K], M> : Ask<A[K], M> }>
    : { [K in keyof A]: Ask<A[K], M> }
>

type Signal = Pick<CallOptions, "signal">
type WithSignal<A> = A extends object ? (A extends { readonly id: string } ? A : A & Signal) : A

type WithSignals<G extends ReadonlyArray<unknown>> = { [K in keyof G]: WithSignal<G[K]> }

/** Every method takes a signal, as in `@satrail/client`: with its options, or after the ids. */
type Abortable<G extends ReadonlyArray<unknown>> = [Extract<WithSignal<G[number]>, Signal>] extends [never]
  ? [...G, options?: Signal]
  : [...WithSignals<G>]

/**
 * Fields of requests that the core takes in msat, except `amount`. A type test fails if the core has another
 * such field.
 */
export const inMsat = [
  "minAmount",
  "maxAmount",
  "maxFee",
  "networkFee",
  "otherwise",
  "minSendable",
  "maxSendable",
  "node",
  "chain",
  "received",
  "deducted",
  "pending",
  "min",
  "max"
] as const
/** The fields of limits. The core takes the amounts as numbers of satoshis. */
const limits = Object.keys(Limits.Limits.fields)
const sats = "Sats"
const isLimit: ReadonlySet<string> = new Set(limits.map((name) => name.replace(sats, "")))
const isOfLimits: ReadonlySet<string> = new Set(
  limits.flatMap((name) => (name.endsWith(sats) ? [name.replace(sats, "")] : []))
)

const isInMsat: ReadonlySet<string> = new Set(inMsat)

/** Makes a request repeatable. Undefined leaves out the key. */
export type MakeRequest = (idempotencyKey: string) => Request<unknown> | undefined

/** How a method converts its arguments. */
export interface Reading {
  /** Whether the core takes the method's `amount` in msat. */
  readonly isMsat: boolean
  /** Whether the method's options are those of a list. */
  readonly isList: boolean
  /** Whether a text is the id in a list's cursor. */
  readonly isId: ((id: string) => boolean) | undefined
  readonly request: MakeRequest
}

const amountOf = (given: unknown, { isMsat }: Reading): Result.Result<object, AmountInvalid> => {
  if (given === undefined || given === null)
    return Result.succeed({ amount: given, ...(given === undefined && { asked: given }) })
  return isMsat
    ? Result.map(Money.msat(given), (amount) => ({ amount }))
    : Result.map(Money.asked(given), (asked) => ({ ...asked, asked }))
}

type Members = Result.Result<object, AmountInvalid | Invalid>

const invalid = (path: string, message: string) => Result.fail(new Invalid({ path, message }))

const pageAt = (cursor: string, { isId }: Reading): Members => {
  const position = Page.positionOf(cursor, isId)
  return position === undefined
    ? invalid("cursor", "must be the `next` of a page")
    : Result.succeed({ before: position.id, after: position })
}

const paymentOf = (paymentRequest: string): Members =>
  Result.mapBoth(Destination.invoiceIn(paymentRequest), {
    onSuccess: ({ paymentHash }) => ({ paymentHash }),
    onFailure: ({ message }) => new Invalid({ path: "paymentRequest", message })
  })

/** Converts list options that the core names differently. */
const filters: ReadonlyMap<string, (value: string, reading: Reading) => Members> = new Map([
  ["cursor", pageAt],
  ["paymentRequest", paymentOf],
  ["search", (text) => Result.succeed({ text })]
])

/** The start of a period is inclusive, and its end exclusive, as over HTTP. Times are whole milliseconds. */
const ofPeriod = (name: string, value: Date): object => {
  const millis = value.getTime()
  return name === "from"
    ? { fromMillis: millis, createdAfterMillis: millis - 1 }
    : { untilMillis: millis, createdBeforeMillis: millis }
}

const labelOf = ({ metadataKey: key, metadataValue: value }: Readonly<Record<string, unknown>>): Members => {
  if (key === undefined && value === undefined) return Result.succeed({})
  if (value === undefined) return invalid("metadataValue", "is required when metadataKey is set")
  return key === undefined
    ? invalid("metadataKey", "is required when metadataValue is set")
    : Result.succeed({ label: { key, value } })
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !(value instanceof Uint8Array) && !Redacted.isRedacted(value)

const members = (name: string, value: unknown, reading: Reading): Members => {
  const filter = reading.isList ? filters.get(name) : undefined
  if (filter !== undefined)
    return typeof value === "string" ? filter(value, reading) : invalid(name, "must be text")
  if (name === "metadata") return Result.succeed({ metadata: value })
  if (name === "company") return Result.succeed({ company: value, companyId: idOf(value) })
  if (name === "idempotencyKey")
    return Result.succeed(typeof value === "string" ? { request: reading.request(value) } : {})
  if (name === "status") return Result.succeed({ status: value, standing: value })
  if (name === "amount") return amountOf(value, reading)
  if (value instanceof Date)
    return Result.succeed(
      name === "from" || name === "until" ? ofPeriod(name, value) : { [`${name}Millis`]: value.getTime() }
    )
  if (isLimit.has(name) && (value === null || value === undefined)) return Result.succeed({})
  if (isOfLimits.has(name))
    return Result.flatMap(Money.msat(value), (msat): Members =>
      msat % 1000n === 0n
        ? Result.succeed({ [`${name}Sats`]: Number(msat / 1000n) })
        : invalid(name, "must be whole satoshis")
    )
  if (isInMsat.has(name) && value !== null && value !== undefined) {
    const amount = Money.msat(value)
    // Some methods have a field of the same name that is a word, such as `pending: "wait"`.
    if (Result.isSuccess(amount) || typeof value !== "string")
      return Result.map(amount, (msat) => ({ [name]: msat }))
  }
  return Result.map(read(value, reading), (read) => ({ [name]: read }))
}

/** Converts plain values to the core's types: amounts, times, and the key of a repeatable request. */
export const read = (given: unknown, reading: Reading): Result.Result<unknown, AmountInvalid | Invalid> => {
  if (Money.isMoney(given)) return Result.succeed(Msat.make(given.msat))
  if (Array.isArray(given)) return Result.all(given.map((one) => read(one, reading)))
  if (given instanceof Date) return Result.succeed(given.getTime())
  if (!isPlain(given)) return Result.succeed(given)
  const { idempotencyKey, metadataKey, metadataValue, ...others } = given
  if (typeof idempotencyKey === "string" && Object.keys(others).length === 0)
    return Result.succeed(reading.request(idempotencyKey))
  const named = Object.entries({ ...others, ...(idempotencyKey !== undefined && { idempotencyKey }) })
  const all = [
    ...named.map(([name, value]) => members(name, value, reading)),
    labelOf({ metadataKey, metadataValue })
  ]
  return Result.map(Result.all(all), (all) => Object.assign({}, ...all))
}
