import { Effect, Schema } from "effect"
import * as Errors from "./Errors.ts"

/**
 * The body of a `PUT` that does what a `PATCH` asks for: a member that is given has its value, null clears it, and a member that is left out keeps the one
 * in `shown`, the record as it is answered. A member is one value: metadata, or a list, is replaced as a whole. Where a member has parts of its own, such
 * as a rate of fees, its caller fills those too.
 */
export const filled = <Fields extends Schema.Struct.Fields>(
  body: Schema.Struct<Fields> & { readonly DecodingServices: never },
  given: Schema.Struct<Fields>["Type"],
  shown: object
): Effect.Effect<Schema.Struct<Fields>["Type"], Errors.Failure<"malformed">> => {
  const kept = Object.entries(shown).filter(([name]) => Object.hasOwn(body.fields, name) && !Object.hasOwn(given, name))
  return Schema.decodeUnknownEffect(body)(Object.fromEntries(kept)).pipe(
    Effect.map((decoded) => ({ ...decoded, ...given })),
    // The stored value may predate a stricter rule, so the caller has to give a new one.
    Effect.mapError(() =>
      Errors.malformedRequest([{ path: "", message: "A stored value is no longer valid: give every member, with PUT" }])
    )
  )
}
