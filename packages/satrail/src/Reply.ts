import type * as Msat from "@satrail/bitcoin/Msat"
import type { Overview } from "@satrail/core/accounts/Companies"
import type { Fee } from "@satrail/core/accounts/Fee"
import * as Decimal from "@satrail/core/base/Decimal"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { failureOf } from "@satrail/http/resources/Withdrawals"
import { Option, Redacted, Schema, Stream } from "effect"
import type { Failure } from "./Failure.ts"
import * as Features from "./features/index.ts"
import { type Money, money } from "./Money.ts"

/** The names of times, in milliseconds since 1970. The name of a duration stays unchanged. */
export type Instant =
  | `${string}${"At" | "Since" | "Until" | "After" | "Before"}Millis`
  | "atMillis"
  | "sinceMillis"
  | "fromMillis"
  | "untilMillis"

/**
 * Fields that are omitted: those that a response has in another form, such as a parsed text, or the status as
 * the company sees it, and hashes and sealed secrets.
 */
export const leftOut = ["instructed", "standing", "secretHash", "sealedLink"] as const
type LeftOut = (typeof leftOut)[number]

/** Converts `createdAtMillis` to `createdAt`. */
export type Named<K> = K extends LeftOut
  ? never
  : K extends `${infer Name}Millis`
    ? K extends Instant
      ? Name
      : K
    : K extends `${infer Name}Sats`
      ? Name
      : K

type Timed<V> = V extends number ? Date : V

/** A type without its brand, as host programs use it. */
export type Bare<T> = T extends { readonly "~effect/Brand": unknown }
  ? T extends string
    ? string
    : T extends number
      ? number
      : T
  : T

/** Values that have no fields. */
export type Primitive = string | number | bigint | boolean | symbol | null | undefined | Date | Uint8Array

interface ShownInvoice extends Pick<Invoice.Invoice, "status" | "expiresAtMillis" | "paymentRequest"> {}
type ShownWithdrawal = Parameters<typeof Withdrawal.standing>[0] &
  Pick<Withdrawal.Withdrawal, "dispatchedAtMillis">

/** The status in the HTTP API, which differs from the stored one for invoices and withdrawals. */
type Status<T, V> = T extends ShownInvoice
  ? Invoice.Standing
  : T extends ShownWithdrawal
    ? ReturnType<typeof Withdrawal.standing>
    : Bare<V>

type Member<K, V, M> = K extends "metadata"
  ? M | Extract<V, null | undefined>
  : K extends "failure"
    ? Failure | Extract<V, null>
    : K extends `${string}Sats`
      ? V extends number
        ? Money
        : V
      : K extends Instant
        ? Timed<V>
        : Reply<V, M>

/** A company's overview, as in `@satrail/client`. */
type Overviewed = Overview["company"] &
  Overview["balance"] & { readonly apiKeys: number; readonly lastSeenAtMillis: number | null }

/**
 * A core value converted to plain values: money in `msat` and `sats`, times as `Date`, and secrets as text. `M`
 * is the type of the metadata.
 */
export type Reply<T, M> =
  T extends Redacted.Redacted<infer A>
    ? Reply<A, M>
    : T extends Option.Option<infer A>
      ? Reply<A, M> | null
      : T extends Stream.Stream<infer A, unknown, unknown>
        ? AsyncIterable<Reply<A, M>>
        : T extends Msat.Msat
          ? Money
          : T extends Decimal.Decimal
            ? string
            : T extends Primitive
              ? Bare<T>
              : T extends ReadonlyArray<unknown>
                ? { readonly [K in keyof T]: Reply<T[K], M> }
                : T extends Overview
                  ? Reply<Overviewed, M>
                  : T extends object
                    ? {
                        readonly [K in keyof T as Named<K>]: K extends "status"
                          ? Status<T, T[K]>
                          : Member<K, T[K], M>
                      } & Derived<T>
                    : T

/**
 * Fields that are added to a response: a balance's available amount (`posted` minus `held`), a fee's total, a
 * Lightning address as text, and the features' fields.
 */
type Derived<T> = T extends { readonly posted: Msat.Msat; readonly held: Msat.Msat }
  ? { readonly available: Money }
  : T extends Fee
    ? { readonly total: Money }
    : T extends Pick<LightningAddress.LightningAddress, "handle" | "domain">
      ? { readonly address: string }
      : Features.Derived<T>

const instant = /(?:At|Since|Until|After|Before)Millis$|^(?:at|since|from|until)Millis$/
const unit = "Millis".length
/** The unit in the names of a limit's amounts, which the core has as numbers of satoshis. */
const sats = "Sats"

const isLeftOut: ReadonlySet<string> = new Set(leftOut)

const isInvoice = (value: object): value is ShownInvoice => "paymentRequest" in value && "hold" in value
const isWithdrawal = (value: object): value is ShownWithdrawal => "dispatchedAtMillis" in value

const statusOf = (value: object): { readonly status?: unknown } => {
  if ("standing" in value) return { status: value.standing }
  // A response about a new invoice, or an event, shows the invoice as it was then, before its expiry.
  if (isInvoice(value)) return { status: Invoice.standing(value, 0) }
  return isWithdrawal(value) ? { status: Withdrawal.standing(value) } : {}
}

/** Whole numbers in responses that are not money. A type test fails if the core has another such field. */
export const counts = ["entryId", "partsPerMillion"] as const
const isCount: ReadonlySet<string> = new Set(counts)

/** Runs a stream with the runtime's services and clock. */
export type Iterate = <A>(stream: Stream.Stream<A, unknown>) => AsyncIterable<A>

async function* plainly(items: AsyncIterable<unknown>, iterate: Iterate) {
  for await (const item of items) yield plain(item, iterate)
}

const isFailure = Schema.is(Withdrawal.Failure)

const member = (name: string, value: unknown, iterate: Iterate): readonly [string, unknown] => {
  if (name === "metadata") return [name, value]
  if (name === "failure" && isFailure(value)) return [name, failureOf(value)]
  if (typeof value === "number" && name.endsWith(sats))
    return [name.slice(0, -sats.length), money(BigInt(value) * 1000n)]
  if (!instant.test(name)) return [name, plain(value, iterate, name)]
  return [name.slice(0, -unit), typeof value === "number" ? new Date(value) : value]
}

interface Parts {
  readonly posted?: unknown
  readonly held?: unknown
  readonly service?: unknown
  readonly network?: unknown
  readonly handle?: unknown
  readonly domain?: unknown
}

const derived = (value: Parts): object => {
  const { posted, held, service, network, handle, domain } = value
  if (typeof posted === "bigint" && typeof held === "bigint") return { available: money(posted - held) }
  if (typeof service === "bigint" && typeof network === "bigint")
    return { total: money(service + network, "total") }
  return typeof handle === "string" && typeof domain === "string"
    ? { address: LightningAddress.text({ handle, domain }) }
    : Features.derived(value)
}

const isOverview = (value: object): value is Overview =>
  "company" in value && "balance" in value && "keys" in value

const overviewed = ({ company, balance, keys: apiKeys, lastSeenAtMillis }: Overview): Overviewed => ({
  ...company,
  ...balance,
  apiKeys,
  lastSeenAtMillis
})

const isDecimal = (value: object): value is Decimal.Decimal =>
  "digits" in value && typeof value.digits === "bigint" && "scale" in value

/** Converts a core value to plain values. `name` is the field that contains the value. */
export const plain = (value: unknown, iterate: Iterate, name = ""): unknown => {
  if (typeof value === "bigint") return isCount.has(name) ? value : money(value, name)
  if (typeof value !== "object" || value === null || value instanceof Date || value instanceof Uint8Array)
    return value
  if (Redacted.isRedacted(value)) return plain(Redacted.value(value), iterate, name)
  if (Option.isOption(value)) return Option.isNone(value) ? null : plain(value.value, iterate, name)
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the core's streams need no services
  if (Stream.isStream(value)) return plainly(iterate(value as Stream.Stream<unknown, unknown>), iterate)
  if (Array.isArray(value)) return value.map((item) => plain(item, iterate, name))
  if (isOverview(value)) return plain(overviewed(value), iterate)
  const members = Object.entries(value).filter(([key]) => !isLeftOut.has(key))
  if (isDecimal(value)) return Decimal.format(value)
  return {
    ...Object.fromEntries(members.map(([key, of]) => member(key, of, iterate))),
    ...statusOf(value),
    ...derived(value)
  }
}
