import { Schema } from "effect"
import * as Scalars from "./Scalars.ts"
import type * as View from "./View.ts"

// Fields of views: a schema with the conversion that it needs, and a description if the name does not say
// enough.

type Annotated<S> = { readonly annotate: (about: { readonly description: string }) => S }

const member =
  <S extends Schema.Constraint & Annotated<S>, A>(schema: S, convert: (value: A) => S["Type"]) =>
  <Row>(of: (row: Row) => A, description?: string): View.Member<Row, S> => [
    description === undefined ? schema : schema.annotate({ description }),
    (row) => convert(of(row))
  ]

/** Same as `member`, for values that need no conversion. */
const plain =
  <S extends Schema.Constraint & Annotated<S>>(schema: S) =>
  <Row>(of: (row: Row) => S["Type"], description?: string): View.Member<Row, S> => [
    description === undefined ? schema : schema.annotate({ description }),
    of
  ]

export const text = plain(Schema.String)
export const textOrNull = plain(Schema.NullOr(Schema.String))
export const uuid = plain(Scalars.Uuid)
export const uuidOrNull = plain(Schema.NullOr(Scalars.Uuid))
/** A time in milliseconds. */
export const instant = member(Scalars.Instant, Scalars.instant)
export const instantOrNull = member(Schema.NullOr(Scalars.Instant), Scalars.instantOrNull)
/** An amount in msat, rounded down to satoshis. */
export const sats = member(Scalars.Sats, Scalars.sats)
export const satsOrNull = member(Schema.NullOr(Scalars.Sats), Scalars.satsOrNull)
/** An amount in msat, in satoshis with up to three decimals. */
export const exactSats = member(Scalars.ExactSats, Scalars.exactSats)
export const exactSatsOrNull = member(Schema.NullOr(Scalars.ExactSats), Scalars.exactSatsOrNull)
