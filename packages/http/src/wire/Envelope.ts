import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"

/** Schema of every successful response. `status` repeats the HTTP status, and `message` is for people. */
export const success = <const Status extends number, S extends Schema.Top>(status: Status, data: S) =>
  Schema.Struct({
    status: Schema.Literal(status),
    message: Schema.String,
    data
  }).pipe(HttpApiSchema.status(status))

export const ok = <A>(message: string, data: A) => ({ status: 200 as const, message, data })

export const created = <A>(message: string, data: A) => ({ status: 201 as const, message, data })

/** Position of the first JSON syntax error in a body. */
export const Place = Schema.Struct({
  line: Schema.Int.annotate({ description: "1-based" }),
  column: Schema.Int.annotate({ description: "1-based, in characters" }),
  offset: Schema.Int.annotate({ description: "0-based, in characters" })
}).annotate({ identifier: "Place", description: "Position of the syntax error in the body" })

/**
 * A reason why a request was rejected. `path` names the field, header or query parameter, and is empty if the
 * issue concerns the whole body.
 */
export const Issue = Schema.Struct({
  path: Schema.String,
  message: Schema.String,
  place: Schema.optionalKey(Place)
}).annotate({
  identifier: "Issue"
})
export interface Issue extends Schema.Schema.Type<typeof Issue> {}
