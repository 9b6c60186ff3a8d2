import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"

/** What every good answer looks like. `status` is the HTTP status again. */
export const success = <const Status extends number, S extends Schema.Top>(status: Status, data: S) =>
  Schema.Struct({
    status: Schema.Literal(status),
    message: Schema.String.annotate({ description: "Human-readable result" }),
    data
  }).pipe(HttpApiSchema.status(status))

export const ok = <A>(message: string, data: A) => ({ status: 200 as const, message, data })

export const created = <A>(message: string, data: A) => ({ status: 201 as const, message, data })

/** Where a body stops being JSON. */
export const Place = Schema.Struct({
  line: Schema.Int.annotate({ description: "From 1" }),
  column: Schema.Int.annotate({ description: "From 1, in characters" }),
  offset: Schema.Int.annotate({ description: "From 0, in characters" })
}).annotate({ identifier: "Place", description: "Where the body stops being JSON" })

/** What is wrong, and where: `path` names the member, header or query parameter, and is empty for the body as a whole. */
export const Issue = Schema.Struct({ path: Schema.String, message: Schema.String, place: Schema.optionalKey(Place) }).annotate({
  identifier: "Issue"
})
export interface Issue extends Schema.Schema.Type<typeof Issue> {}
