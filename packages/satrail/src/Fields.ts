import { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import type { CompanyRef } from "@satrail/client/Calls"
import { AllowedFrom } from "@satrail/core/accounts/AllowedFrom"
import * as Limits from "@satrail/core/accounts/Limits"
import { Plan } from "@satrail/core/accounts/Plan"
import { RecipientType } from "@satrail/core/ledger/Rail"
import { Result, Schema, Struct } from "effect"
import { idOf } from "./Sharing.ts"
import * as Money from "./Money.ts"

// Schemas of method arguments. In plain JavaScript, no compiler checks them.

/** The schema of an argument. */
export type Parameter = Schema.Codec<unknown>

type Fields = Schema.Struct.Fields

/** An object without other fields. `checking` rejects them. */
export const fields = Schema.Struct

/** A record from a response, which may have other fields. */
export const record = <F extends Fields>(of: F) =>
  Schema.StructWithRest(Schema.Struct(of), [Schema.Record(Schema.String, Schema.Unknown)])

/** Required fields that may be null. */
export const orNull = <F extends Fields>(of: F) => Struct.map(of, Schema.NullOr)

/** Fields that may be left out. Null means the same. */
export const maybe = <F extends Fields>(of: F) => Struct.map(orNull(of), Schema.optional)

/** Restrictions that may be left out or null. Undefined is refused, because a missing setting must not lift a restriction. */
export const restrictions = <F extends Fields>(of: F) => Struct.map(orNull(of), Schema.optionalKey)

/** Gives an argument that is not an object its name in messages. */
export const named = <S extends Schema.Top>(name: string, schema: S) => schema.annotate({ title: name })

const isCompany = (value: unknown): value is CompanyRef => {
  return typeof idOf(value) === "string"
}

/** As over HTTP. */
const isKey = (text: string) => /^[!-~]{1,255}$/.test(text) || "must have 1 to 255 visible ASCII characters"

/** The last millisecond of the year 9999. Databases and ISO 8601 have no later instants. */
const last = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
const isInstant = (value: unknown): value is Date =>
  value instanceof Date && value.getTime() >= 0 && value.getTime() <= last

const issueOf = (read: Result.Result<unknown, { readonly message: string }>) =>
  Result.isSuccess(read) || read.failure.message.replace(/^(?:this )?amount:? /, "")

export const text = Schema.String
export const flag = Schema.Boolean
export const number = Schema.Finite
export const texts = Schema.Array(text)
export const company = Schema.declare(isCompany, { expected: "a company or its id", title: "company" })
export const instant = Schema.declare(isInstant, { expected: "a Date from 1970 to 9999" })
/** Validated by `Schemas.checking`, after the host program's schema. */
export const metadata = Schema.declare((_value): _value is Readonly<Record<string, string>> => true)
const key = text.check(Schema.makeFilter(isKey))
/** A key that may be left out. Undefined and null are refused, because a missing header must not allow a second payment. */
export const idempotencyKey = Schema.optionalKey(key)
/** An amount in any currency. */
export const amount = Schema.declare((value): value is Money.Amount => value !== undefined && value !== null)
/**
 * An amount that may be left out, so that the payer decides. Undefined is refused, because an order whose total
 * is missing must not become payable with any amount.
 */
export const anyAmount = Schema.optionalKey(Schema.NullOr(amount))
/** An amount of bitcoin. */
export const sats = Schema.declare((_value): _value is Money.Sats => true).check(
  Schema.makeFilter((value) => issueOf(Money.msat(value)))
)
export const id = named("id", text)
export const operator = record({ id: text, name: text })
export const by = Schema.optional(operator)
export const request = Schema.optional(fields({ idempotencyKey: key }))
const limit = {
  perWithdrawal: sats,
  hour: sats,
  day: sats,
  month: sats,
  approvalAbove: sats,
  dayCount: Limits.Limits.fields.dayCount.schema,
  recipientTypes: Schema.Array(RecipientType),
  recipients: texts
}
export const limits = fields(restrictions(limit))
/** The key that pays, and whose limits apply. */
export const apiKey = record({
  id: text,
  limits: Schema.NullOr(fields(maybe(limit))),
  spendsAs: Schema.NullOr(text)
})
export const plan = Plan
export const allowedFrom = AllowedFrom
export const addressType = AddressType

/** A company's record by id. */
export const ids = [company, id] as const

export const paged = maybe({ cursor: text, limit: number })
/** The options of a list. */
export const listOf = <F extends Fields>(filters: F) =>
  Schema.optional(fields({ ...paged, ...maybe(filters) }))
export const listed = listOf({})
export const period = { from: instant, until: instant } as const
export const labels = { metadataKey: text, metadataValue: text } as const
