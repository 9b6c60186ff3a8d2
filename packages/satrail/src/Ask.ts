import * as Msat from "@satrail/bitcoin/Msat"
import type { AmountInvalid } from "@satrail/core/base/Amount"
import type { Plan } from "@satrail/core/accounts/Plan"
import type { Decimal } from "@satrail/core/base/Decimal"
import type { Request } from "@satrail/core/ledger/Answer"
import { Redacted, Result } from "effect"
import * as Money from "./Money.ts"
import type { Bare, Instant, Named, Primitive } from "./Reply.ts"

/** The members of a company's record that the core reads, for requests that take a company. */
type Sender = { readonly plan: Plan; readonly name?: never }

/** A company, or its id. */
export type CompanyRef = string | { readonly id: string }

/** The public name of a request's member. */
type Asked<T, K extends keyof T> = K extends "request"
  ? "idempotencyKey"
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

type Member<K, V, M> = K extends "request"
  ? string
  : K extends "companyId"
    ? CompanyRef
    : K extends "company"
      ? CompanyRef
      : K extends "asked"
        ? Money.Amount | Extract<V, null | undefined>
        : K extends "metadata"
          ? M
          : K extends Instant
            ? Timed<V>
            : Ask<V, M>

/** The core's argument of a method, in plain values. `M` is the type of metadata. */
export type Ask<T, M> =
  T extends Request<never>
    ? { readonly idempotencyKey: string }
    : T extends Sender
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
type Loose<A, Defaulted> = A extends object ? Omit<A, Defaulted & keyof A> & Partial<Pick<A, Defaulted & keyof A>> : A
type Shown<A> = A extends object ? { readonly [K in keyof A]: A[K] } : A

/** `Ask`, with members optional if they have a default. */
type AskWith<T, D, M> = D extends object ? Shown<Loose<Ask<T, M>, Public<keyof D>>> : Ask<T, M>

type Last<A extends ReadonlyArray<unknown>> = A extends readonly [...infer Before, infer Query]
  ? object extends Query
    ? [...Before, query?: Query]
    : A
  : A

/** A method's arguments, with optional ones. */
export type Given<A extends ReadonlyArray<unknown>, D, M> =
  D extends ReadonlyArray<unknown>
    ? Last<{ [K in keyof A]: K extends keyof D ? AskWith<A[K], D[K], M> : Ask<A[K], M> }>
    : { [K in keyof A]: Ask<A[K], M> }

/** Members of requests in msat, except `amount`. A type test fails if the core has another. */
export const inMsat = [
  "minAmount",
  "maxAmount",
  "maxFee",
  "otherwise",
  "minSendable",
  "maxSendable",
  "node",
  "chain",
  "received",
  "pending",
  "min",
  "max"
] as const
const isInMsat: ReadonlySet<string> = new Set(inMsat)

/** Makes a request repeatable. */
export type MakeRequest = (idempotencyKey: string) => Request<unknown>

/** How a method converts its arguments. */
export interface Reading {
  /** Its `amount` is in msat. */
  readonly isMsat: boolean
  readonly request: MakeRequest
}

const idOf = (company: unknown): unknown =>
  typeof company === "object" && company !== null && "id" in company && typeof company.id === "string" ? company.id : company

const amountOf = (given: unknown, { isMsat }: Reading): Result.Result<object, AmountInvalid> => {
  if (given === undefined || given === null) return Result.succeed({ amount: given, ...(given === undefined && { asked: given }) })
  return isMsat ? Result.map(Money.msat(given), (amount) => ({ amount })) : Result.map(Money.asked(given), (asked) => ({ ...asked, asked }))
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !(value instanceof Uint8Array) && !Redacted.isRedacted(value)

const members = (name: string, value: unknown, reading: Reading): Result.Result<object, AmountInvalid> => {
  if (name === "metadata") return Result.succeed({ metadata: value })
  if (name === "company") return Result.succeed({ company: value, companyId: idOf(value) })
  if (name === "idempotencyKey") return Result.succeed(typeof value === "string" ? { request: reading.request(value) } : {})
  if (name === "status") return Result.succeed({ status: value, standing: value })
  if (name === "amount") return amountOf(value, reading)
  if (value instanceof Date) return Result.succeed({ [`${name}Millis`]: value.getTime() })
  if (isInMsat.has(name) && value !== null && value !== undefined && typeof value !== "string")
    return Result.map(Money.msat(value), (msat) => ({ [name]: msat }))
  return Result.map(read(value, reading), (read) => ({ [name]: read }))
}

/** Converts plain values to the core's: amounts, times, and the key of a repeatable request. */
export const read = (given: unknown, reading: Reading): Result.Result<unknown, AmountInvalid> => {
  if (Money.isMoney(given)) return Result.succeed(Msat.make(given.msat))
  if (Array.isArray(given)) return Result.all(given.map((one) => read(one, reading)))
  if (given instanceof Date) return Result.succeed(given.getTime())
  if (!isPlain(given)) return Result.succeed(given)
  const { idempotencyKey, ...others } = given
  if (typeof idempotencyKey === "string" && Object.keys(others).length === 0) return Result.succeed(reading.request(idempotencyKey))
  return Result.map(Result.all(Object.entries(given).map(([name, value]) => members(name, value, reading))), (all) =>
    Object.assign({}, ...all)
  )
}
