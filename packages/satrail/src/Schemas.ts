import { SatrailError } from "@satrail/client/Errors"
import type { Schemas, StandardSchema } from "@satrail/client/Schemas"
import { validate } from "@satrail/client/validate"
import { Invalid } from "@satrail/core/base/Invalid"
import { Effect } from "effect"

const isGiven = (one: unknown): one is { readonly metadata: unknown } =>
  typeof one === "object" && one !== null && "metadata" in one

const present = (metadata: object) =>
  Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined))

const checked = Effect.fnUntraced(function* (schema: StandardSchema | undefined, metadata: unknown) {
  const value = yield* Effect.tryPromise({
    try: async () => (schema === undefined ? metadata : validate(schema, metadata)),
    catch: (error) => error
  }).pipe(
    Effect.catchIf(
      (error) => error instanceof SatrailError,
      ({ issues: [issue = { path: "metadata", message: "is invalid" }] }) => Effect.fail(new Invalid(issue)),
      Effect.die
    )
  )
  if (value === undefined || value === null) return value
  if (typeof value !== "object" || Array.isArray(value))
    return yield* new Invalid({ path: "metadata", message: "must be an object of texts" })
  const texts = present(value)
  const [other] = Object.entries(texts).find(([, one]) => typeof one !== "string") ?? []
  if (other === undefined) return texts
  const message = schema === undefined ? "must be text" : "must be text, also after its schema"
  return yield* new Invalid({ path: `metadata.${other}`, message })
})

/** Validates the metadata of a resource's requests. Fails with the first issue. */
export const checking = (schemas: Schemas) => {
  const all: ReadonlyMap<string, StandardSchema | undefined> = new Map(Object.entries(schemas))
  return (noun: string, asked: ReadonlyArray<unknown>): Effect.Effect<ReadonlyArray<unknown>, Invalid> => {
    const schema = all.get(noun)
    return Effect.forEach(asked, (one) =>
      isGiven(one)
        ? Effect.map(checked(schema, one.metadata), (metadata) => ({ ...one, metadata }))
        : Effect.succeed(one)
    )
  }
}
export type { Schemas }
export type Check = ReturnType<typeof checking>
