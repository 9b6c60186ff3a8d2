import * as Id from "@satrail/core/base/Id"
import type { Position } from "@satrail/core/ledger/Page"
import { Rail, Status } from "@satrail/core/ledger/Rail"
import * as Transaction from "@satrail/core/reports/Transaction"
import { Effect, Schema, SchemaGetter, SchemaIssue } from "effect"
import { HttpApiSchema } from "effect/http-api"
import * as Envelope from "./Envelope.ts"
import * as Field from "./Field.ts"

// The largest instant that a Date can be: a cursor beyond it was not made here.
const maxMillis = 8_640_000_000_000_000

const write = ({ createdAtMillis, id }: Position): string => Buffer.from(`${createdAtMillis} ${id}`).toString("base64url")

const read = (text: string): Position | undefined => {
  const [millis = "", id = "", ...more] = Buffer.from(text, "base64url").toString("latin1").split(" ")
  const createdAtMillis = Number(millis)
  return /^\d{1,16}$/.test(millis) && createdAtMillis <= maxMillis && Id.is(id) && more.length === 0 ? { createdAtMillis, id } : undefined
}

/** Where a page starts, opaque to whoever holds it. */
export const Cursor = Schema.String.annotate({
  description: "Where the page starts, from a `Link` header",
  examples: [write({ createdAtMillis: 1_769_860_800_123, id: "019c13ec-9e7b-749b-878a-a3249e0ba9ce" })]
}).pipe(
  Schema.decodeTo(Schema.Struct({ createdAtMillis: Schema.Int, id: Schema.String }), {
    decode: SchemaGetter.transformEffect((text) => {
      const position = read(text)
      return position === undefined
        ? Effect.fail(new SchemaIssue.InvalidValue({ message: "A cursor as it was in a Link header" }))
        : Effect.succeed(position)
    }),
    encode: SchemaGetter.transform(write)
  })
)

/** Which page of a list. */
export const place = (limit: { readonly default: number; readonly maximum: number }) => ({
  limit: Schema.optionalKey(
    Field.intFromText({
      minimum: 1,
      maximum: limit.maximum,
      description: `How many at most, 1 to ${limit.maximum}; ${limit.default} unless given`
    })
  ),
  cursor: Schema.optionalKey(Cursor)
})

/** A page, and in its `Link` header the way to the next one. */
export const success = <S extends Schema.Top>(row: S) =>
  HttpApiSchema.WithHeaders(Envelope.success(200, Schema.Array(row)), {
    link: Schema.optionalKey(
      Schema.String.annotate({
        description: '`<path>; rel="next"`: where the next page is, with the same filters. Absent on the last page'
      })
    )
  })

const { default: defaultLimit } = Transaction.limit

/** What the list of transactions can be asked for. */
export const query = {
  ...place(Transaction.limit),
  type: Schema.optionalKey(Transaction.Type),
  status: Schema.optionalKey(Status),
  rail_type: Schema.optionalKey(Rail),
  created_after: Schema.optionalKey(Field.Instant),
  created_before: Schema.optionalKey(Field.Instant)
}
const Query = Schema.Struct(query)
export type Query = typeof Query.Type

/** The same for the core. Both ends of the time are exclusive. */
export const asked = (query: Query): Transaction.Query => ({
  limit: query.limit ?? defaultLimit,
  ...(query.cursor && { after: query.cursor }),
  ...(query.type && { type: query.type }),
  ...(query.status && { status: query.status }),
  ...(query.rail_type && { rail: query.rail_type }),
  ...(query.created_after !== undefined && { createdAfterMillis: query.created_after }),
  ...(query.created_before !== undefined && { createdBeforeMillis: query.created_before })
})

/** The `Link` header (RFC 8288) that leads from this page to the next one, with the same filters. */
export const link = (path: string, { limit, cursor: _, created_after, created_before, ...filters }: Query, next: Position): string => {
  const parameters = new URLSearchParams({
    ...(limit !== undefined && { limit: String(limit) }),
    ...filters,
    ...(created_after !== undefined && { created_after: new Date(created_after).toISOString() }),
    ...(created_before !== undefined && { created_before: new Date(created_before).toISOString() }),
    cursor: write(next)
  })
  return `<${path}?${parameters}>; rel="next"`
}

/** The cursor in a `Link` header, undefined on the last page. */
export const next = (link: string | undefined): Position | undefined => {
  const [, target = ""] = /<([^>]*)>; *rel="?next"?/.exec(link ?? "") ?? []
  const cursor = URL.parse(target, "http://localhost")?.searchParams.get("cursor")
  return cursor === null || cursor === undefined ? undefined : read(cursor)
}
