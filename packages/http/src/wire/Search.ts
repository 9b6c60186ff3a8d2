import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as TxId from "@satrail/bitcoin/TxId"
import * as Metadata from "@satrail/core/base/Metadata"
import * as Destination from "@satrail/core/sending/Destination"
import { Effect, Result, Schema, SchemaGetter, SchemaIssue } from "effect"
import * as Errors from "./Errors.ts"
import * as Scalars from "./Scalars.ts"

// Filters for lists. A row must match all filters of a request.

export const hex32 = (description: string) =>
  Scalars.inLowerCase(
    Schema.String.annotate({ examples: ["e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"] })
      .check(Schema.isPattern(/^[0-9a-fA-F]{64}$/u, { message: "must be 32 bytes in hex" }))
      .annotate({ description })
  )

/** The start is inclusive and the end exclusive, so that adjacent periods contain each row once. */
export const times = {
  from: Schema.optionalKey(Scalars.GivenBound.annotate({ description: "Start of creation time, inclusive" })),
  until: Schema.optionalKey(Scalars.GivenBound.annotate({ description: "End of creation time, exclusive" }))
}

/** A record's id, case-insensitive. */
export const id = (description: string) =>
  Scalars.inLowerCase(
    Schema.String.check(
      Schema.isPattern(/^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/u, {
        message: "must be a UUID"
      })
    ).annotate({
      format: "uuid",
      description
    })
  )

/** Selects rows by a metadata key and its value. */
export const label = {
  metadata_key: Schema.optionalKey(
    Schema.String.annotate({
      description: "Filters by metadata. Use with `metadata_value`",
      examples: ["order"]
    }).check(Scalars.stated(() => undefined, { minLength: 1, maxLength: Metadata.limits.keyCharacters }))
  ),
  metadata_value: Schema.optionalKey(
    Schema.String.annotate({ description: "Exact value of `metadata_key`", examples: ["1042"] }).check(
      Scalars.stated(() => undefined, { maxLength: Metadata.limits.valueCharacters })
    )
  )
}

/** Selects rows by their Lightning invoice, paid or not. */
export const payment = {
  payment_hash: Schema.optionalKey(hex32("Payment hash of the invoice, in hex")),
  payment_request: Schema.optionalKey(
    Schema.String.annotate({
      description: "Lightning invoice (BOLT 11), instead of its `payment_hash`"
    }).pipe(
      Schema.decodeTo(Schema.String, {
        decode: SchemaGetter.transformEffect((text) => {
          const read = Destination.invoiceIn(text)
          return Result.isSuccess(read)
            ? Effect.succeed<string>(read.success.paymentHash)
            : Effect.fail(new SchemaIssue.InvalidValue({ message: read.failure.message }))
        }),
        encode: SchemaGetter.passthrough()
      })
    )
  )
}

/** Selects rows by their on-chain transaction. */
export const transaction = {
  chain_tx_id: Schema.optionalKey(hex32("Transaction id of an on-chain row, in hex"))
}

interface Query {
  readonly from?: number
  readonly until?: number
  readonly metadata_key?: string
  readonly metadata_value?: string
  readonly payment_hash?: string
  readonly payment_request?: string
  readonly chain_tx_id?: string
}

/** Returns issues of parameters that depend on each other. */
const issues = ({ metadata_key: key, metadata_value: value, payment_hash, payment_request }: Query) => [
  ...(key !== undefined && value === undefined
    ? [{ path: "metadata_value", message: "is required when metadata_key is set" }]
    : []),
  ...(key === undefined && value !== undefined
    ? [{ path: "metadata_key", message: "is required when metadata_value is set" }]
    : []),
  ...(payment_hash !== undefined && payment_request !== undefined
    ? [{ path: "payment_request", message: "cannot be combined with payment_hash" }]
    : [])
]

/** Converts the filters to the core's query. */
export const askedBy = (query: Query) => {
  const wrong = issues(query)
  if (wrong.length > 0) return Effect.fail(Errors.malformedRequest(wrong))
  const { from, until, metadata_key: key, metadata_value: value, chain_tx_id } = query
  const paymentHash = query.payment_hash ?? query.payment_request
  return Effect.succeed({
    // `from` is inclusive, and times are whole milliseconds.
    ...(from !== undefined && { createdAfterMillis: from - 1 }),
    ...(until !== undefined && { createdBeforeMillis: until }),
    ...(key !== undefined && value !== undefined && { label: { key, value } }),
    ...(paymentHash !== undefined && { paymentHash: PaymentHash.make(paymentHash) }),
    ...(chain_tx_id !== undefined && { chainTxId: TxId.make(chain_tx_id) })
  })
}

/** Converts the filters to the parameters of the link to the next page. */
export const written = ({
  limit,
  cursor: _,
  from,
  until,
  payment_hash,
  payment_request,
  ...filters
}: Query & { readonly limit?: number; readonly cursor?: unknown } & Readonly<
    Record<string, unknown>
  >): Readonly<Record<string, string>> => {
  const paymentHash = payment_hash ?? payment_request
  return {
    ...(limit !== undefined && { limit: String(limit) }),
    ...Object.fromEntries(
      Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
    ),
    ...(from !== undefined && { from: new Date(from).toISOString() }),
    ...(until !== undefined && { until: new Date(until).toISOString() }),
    ...(paymentHash !== undefined && { payment_hash: paymentHash })
  }
}
