import { isId as isKeyId } from "@satrail/core/accounts/ApiKey"
import * as Id from "@satrail/core/base/Id"
import * as Pages from "@satrail/core/ledger/Page"
import type { Position } from "@satrail/core/ledger/Page"
import { Effect, Schema, SchemaGetter, SchemaIssue } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiSchema } from "effect/http-api"
import * as Envelope from "./Envelope.ts"
import * as Scalars from "./Scalars.ts"
import * as View from "./View.ts"

// The latest time that a Date can represent. This service issues no cursor with a later time.
const maxMillis = 8_640_000_000_000_000

/** Returns the cursor of the page that starts after a position. */
export const write = ({ createdAtMillis, id }: Position): string =>
  Buffer.from(`${createdAtMillis} ${id}`).toString("base64url")

const isAnyId = (id: string): boolean => Id.is(id) || isKeyId(id)

/** Returns the position that a cursor encodes, or undefined if the cursor is invalid. */
export const positionOf = (text: string, isId = isAnyId): Position | undefined => {
  const [millis = "", id = "", ...more] = Buffer.from(text, "base64url").toString("latin1").split(" ")
  const createdAtMillis = Number(millis)
  return /^\d{1,16}$/.test(millis) && createdAtMillis <= maxMillis && isId(id) && more.length === 0
    ? { createdAtMillis, id }
    : undefined
}

const cursorOf = (isId: (id: string) => boolean, example: string) =>
  Schema.String.annotate({
    description: "Start of the page, from a `Link` header",
    examples: [write({ createdAtMillis: 1_769_860_800_123, id: example })]
  })
    .check(Scalars.stated(() => undefined, { pattern: "^[A-Za-z0-9_-]+$" }))
    .pipe(
      Schema.decodeTo(Schema.Struct({ createdAtMillis: Schema.Int, id: Schema.String }), {
        decode: SchemaGetter.transformEffect((text) => {
          const position = positionOf(text, isId)
          return position === undefined
            ? Effect.fail(new SchemaIssue.InvalidValue({ message: "must be a cursor from a Link header" }))
            : Effect.succeed(position)
        }),
        encode: SchemaGetter.transform(write)
      })
    )

/** Start of a page, opaque to clients. */
export const Cursor = cursorOf(Id.is, "019c13ec-9e7b-749b-878a-a3249e0ba9ce")

/** Start of a page of API keys. */
export const KeyCursor = cursorOf(isKeyId, "7Kq2mVx9TbZc")

export interface Limit {
  readonly default: number
  readonly maximum: number
}

/** Query parameters that select a page. */
export const place = (limit: Limit = Pages.limit, cursor = Cursor) => ({
  limit: Schema.optionalKey(
    Scalars.intFromText({
      minimum: 1,
      maximum: limit.maximum,
      description: `Maximum rows per page, 1 to ${limit.maximum}. Default: ${limit.default}. Pages of large records are shorter`
    })
  ),
  cursor: Schema.optionalKey(cursor)
})

/** Returns the core's parameters for the requested page of a list ordered by id. */
export const asked = (
  query: {
    readonly limit?: number
    readonly cursor?: Position
    readonly from?: number
    readonly until?: number
  },
  limit: Limit = Pages.limit
) => ({
  limit: query.limit ?? limit.default,
  before: query.cursor?.id ?? null,
  // `from` is inclusive, and times are whole milliseconds.
  ...(query.from !== undefined && { createdAfterMillis: query.from - 1 }),
  ...(query.until !== undefined && { createdBeforeMillis: query.until })
})

/** Schema of a page of rows, with the `Link` header (RFC 8288) for the next page. */
export const success = <S extends Schema.Top>(data: S) =>
  HttpApiSchema.WithHeaders(Envelope.success(200, data), {
    link: Schema.optionalKey(
      Schema.String.annotate({
        description:
          '`<path>; rel="next"`: link to the next page, with the same filters. Absent on the last page'
      })
    )
  })

/** Returns the value of a `Link` header that points to the page at `cursor`, with the same `parameters`. */
export const linkTo = (path: string, parameters: Readonly<Record<string, string>>, cursor: string): string =>
  `<${path}?${new URLSearchParams({ ...parameters, cursor })}>; rel="next"`

/** Returns the schema of a view's pages at `path`, and a function that responds with a page and its `Link` header. */
export const of = <Row, Fields extends Schema.Struct.Fields>(
  view: View.View<Row, Fields>,
  message: string,
  path: string
) => ({
  success: success(Schema.Array(view.schema)),
  answer: (
    rows: ReadonlyArray<Row>,
    parameters: Readonly<Record<string, string>>,
    next: Position | undefined
  ) => {
    const page = View.answer(message, rows.map(view.of))
    if (next === undefined) return page
    return HttpServerResponse.setHeader(page, "link", linkTo(path, parameters, write(next)))
  }
})
