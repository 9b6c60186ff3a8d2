import { Invalid } from "@satrail/core/base/Invalid"
import { Effect, Schema } from "effect"

/**
 * Converts the body of a `PATCH` to the body of a `PUT`. A given field gets the given value, null clears it,
 * and an omitted field keeps its value in `shown`, the current record. A field is one value, so metadata or a
 * list is replaced as a whole. For a field with separate parts, such as a fee rate, the caller merges the parts
 * itself.
 */
export const filled = <Fields extends Schema.Struct.Fields>(
  body: Schema.Struct<Fields> & { readonly DecodingServices: never },
  given: Schema.Struct<Fields>["Type"],
  shown: object
): Effect.Effect<Schema.Struct<Fields>["Type"], Invalid> => {
  const kept = Object.entries(shown).filter(
    ([name]) => Object.hasOwn(body.fields, name) && !Object.hasOwn(given, name)
  )
  return Schema.decodeUnknownEffect(body)(Object.fromEntries(kept)).pipe(
    Effect.map((decoded) => ({ ...decoded, ...given })),
    // A stored value may predate a stricter rule. The client then has to send a new one.
    Effect.mapError(
      () => new Invalid({ path: "", message: "A stored value is no longer valid. Send every field with PUT" })
    )
  )
}
