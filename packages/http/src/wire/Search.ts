import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as TxId from "@satrail/bitcoin/TxId"
import * as Metadata from "@satrail/core/base/Metadata"
import { Effect, Result, Schema, SchemaGetter, SchemaIssue } from "effect"
import * as Errors from "./Errors.ts"
import * as Scalars from "./Scalars.ts"

// What lists are searched by. Everything in a query can be combined: a row has all of it.

export const hex32 = Schema.String.annotate({ examples: ["e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"] }).check(
  Schema.isPattern(/^[0-9a-fA-F]{64}$/u, { message: "32 bytes in hex" })
)

/** The beginning is included and the end is not, so that adjacent periods have each row once. */
export const times = {
  from: Schema.optionalKey(Scalars.GivenInstant.annotate({ description: "Created at this time or later" })),
  until: Schema.optionalKey(Scalars.GivenInstant.annotate({ description: "Created before this time" }))
}

/** An id of a record, in any letter case. */
export const Id = Schema.String.check(
  Schema.isPattern(/^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/u, { message: "A UUID" })
).annotate({
  format: "uuid"
})

/** A key of the caller's metadata with its value. */
export const label = {
  metadata_key: Schema.optionalKey(
    Schema.String.annotate({
      description: "With `metadata_value`: rows that have this key with this value in their metadata",
      examples: ["order"]
    }).check(Scalars.stated(() => undefined, { minLength: 1, maxLength: Metadata.limits.keyCharacters }))
  ),
  metadata_value: Schema.optionalKey(
    Schema.String.annotate({ description: "The whole value of `metadata_key`", examples: ["1042"] }).check(
      Scalars.stated(() => undefined, { maxLength: Metadata.limits.valueCharacters })
    )
  )
}

/** The invoice that was paid, or is to be. */
export const payment = {
  payment_hash: Schema.optionalKey(hex32.annotate({ description: "Of the invoice, hex" })),
  payment_request: Schema.optionalKey(
    Schema.String.annotate({ description: "The invoice itself (BOLT 11), in place of its `payment_hash`" }).pipe(
      Schema.decodeTo(Schema.String, {
        decode: SchemaGetter.transformEffect((text) => {
          const read = Bolt11.decode(text.trim())
          return Result.isSuccess(read)
            ? Effect.succeed<string>(read.success.paymentHash)
            : Effect.fail(new SchemaIssue.InvalidValue({ message: read.failure.message }))
        }),
        encode: SchemaGetter.passthrough()
      })
    )
  )
}

/** The transaction on the chain. */
export const transaction = { chain_tx_id: Schema.optionalKey(hex32.annotate({ description: "The transaction of an on-chain row, hex" })) }

interface Query {
  readonly from?: number
  readonly until?: number
  readonly metadata_key?: string
  readonly metadata_value?: string
  readonly payment_hash?: string
  readonly payment_request?: string
  readonly chain_tx_id?: string
}

/** What is wrong with what belongs together. */
const issues = ({ metadata_key: key, metadata_value: value, payment_hash, payment_request }: Query) => [
  ...(key !== undefined && value === undefined
    ? [{ path: "metadata_value", message: "Missing: a metadata_key is searched with its value" }]
    : []),
  ...(key === undefined && value !== undefined ? [{ path: "metadata_key", message: "Missing: the key that has this value" }] : []),
  ...(payment_hash !== undefined && payment_request !== undefined
    ? [{ path: "payment_request", message: "Give the payment_hash or the payment_request, not both" }]
    : [])
]

/** The same for the core. */
export const askedBy = (query: Query) => {
  const wrong = issues(query)
  if (wrong.length > 0) return Effect.fail(Errors.malformedRequest(wrong))
  const { from, until, metadata_key: key, metadata_value: value, chain_tx_id } = query
  const paymentHash = query.payment_hash ?? query.payment_request
  return Effect.succeed({
    // Times are whole milliseconds.
    ...(from !== undefined && { createdAfterMillis: from - 1 }),
    ...(until !== undefined && { createdBeforeMillis: until }),
    ...(key !== undefined && value !== undefined && { label: { key, value } }),
    ...(paymentHash !== undefined && { paymentHash: PaymentHash.make(paymentHash.toLowerCase()) }),
    ...(chain_tx_id !== undefined && { chainTxId: TxId.make(chain_tx_id.toLowerCase()) })
  })
}

/** The same for the next page's address. */
export const written = ({
  limit,
  cursor: _,
  from,
  until,
  payment_hash,
  payment_request,
  ...filters
}: Query & { readonly limit?: number; readonly cursor?: unknown } & Readonly<Record<string, unknown>>): Readonly<
  Record<string, string>
> => {
  const paymentHash = payment_hash ?? payment_request
  return {
    ...(limit !== undefined && { limit: String(limit) }),
    ...Object.fromEntries(Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))),
    ...(from !== undefined && { from: new Date(from).toISOString() }),
    ...(until !== undefined && { until: new Date(until).toISOString() }),
    ...(paymentHash !== undefined && { payment_hash: paymentHash })
  }
}
