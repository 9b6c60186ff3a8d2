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

// The largest instant that a Date can be: a cursor beyond it was not made here.
const maxMillis = 8_640_000_000_000_000

const write = ({ createdAtMillis, id }: Position): string => Buffer.from(`${createdAtMillis} ${id}`).toString("base64url")

const read = (text: string, isId: (id: string) => boolean): Position | undefined => {
  const [millis = "", id = "", ...more] = Buffer.from(text, "base64url").toString("latin1").split(" ")
  const createdAtMillis = Number(millis)
  return /^\d{1,16}$/.test(millis) && createdAtMillis <= maxMillis && isId(id) && more.length === 0 ? { createdAtMillis, id } : undefined
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
          const position = read(text, isId)
          return position === undefined
            ? Effect.fail(new SchemaIssue.InvalidValue({ message: "A cursor as it was in a Link header" }))
            : Effect.succeed(position)
        }),
        encode: SchemaGetter.transform(write)
      })
    )

/** Where a page starts, opaque to clients. */
export const Cursor = cursorOf(Id.is, "019c13ec-9e7b-749b-878a-a3249e0ba9ce")

/** The same, of a list of API keys. */
export const KeyCursor = cursorOf(isKeyId, "7Kq2mVx9TbZc")

/** How many rows a page has. */
export interface Limit {
  readonly default: number
  readonly maximum: number
}

/** Which page of a list. */
export const place = (limit: Limit = Pages.limit, cursor = Cursor) => ({
  limit: Schema.optionalKey(
    Scalars.intFromText({
      minimum: 1,
      maximum: limit.maximum,
      description: `Rows on a page, 1 to ${limit.maximum}; ${limit.default} by default`
    })
  ),
  cursor: Schema.optionalKey(cursor)
})

/** Which page that is, of a list in the order of its ids. */
export const asked = (query: { readonly limit?: number; readonly cursor?: Position }, limit: Limit = Pages.limit) => ({
  limit: query.limit ?? limit.default,
  before: query.cursor?.id ?? null
})

/** A page of any rows, with its `Link` header (RFC 8288) to the next one. */
export const success = <S extends Schema.Top>(data: S) =>
  HttpApiSchema.WithHeaders(Envelope.success(200, data), {
    link: Schema.optionalKey(
      Schema.String.annotate({
        description: '`<path>; rel="next"`: the next page, with the same filters. Absent on the last page'
      })
    )
  })

/** The header's value: the page at `cursor`, asked for with the same `parameters`. */
export const linkTo = (path: string, parameters: Readonly<Record<string, string>>, cursor: string): string =>
  `<${path}?${new URLSearchParams({ ...parameters, cursor })}>; rel="next"`

/** Pages of a view, at `path`: their schema, and the answer with its `Link` header to the next page. */
export const of = <Row, Fields extends Schema.Struct.Fields>(view: View.View<Row, Fields>, message: string, path: string) => ({
  success: success(Schema.Array(view.schema)),
  answer: (rows: ReadonlyArray<Row>, parameters: Readonly<Record<string, string>>, next: Position | undefined) => {
    const page = View.answer(message, rows.map(view.of))
    if (next === undefined) return page
    return HttpServerResponse.setHeader(page, "link", linkTo(path, parameters, write(next)))
  }
})

/** The cursor in a `Link` header, undefined on the last page. Of events it is the id of one. */
export const next = (link: string | undefined): Position | string | undefined => {
  const [, target = ""] = /<([^>]*)>; *rel="?next"?/.exec(link ?? "") ?? []
  const cursor = URL.parse(target, "http://localhost")?.searchParams.get("cursor")
  if (cursor === null || cursor === undefined) return undefined
  return cursor.startsWith("evt_") ? cursor : read(cursor, (id) => Id.is(id) || isKeyId(id))
}
