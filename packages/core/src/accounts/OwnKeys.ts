import { Effect, Schema } from "effect"
import { Invalid } from "../base/Invalid.ts"
import type { AllowedFrom } from "./AllowedFrom.ts"
import { type ApiKey, harmless, type Scope } from "./ApiKey.ts"

// What a company's key may hand on. Limits, approvals and addresses are the operator's say in what is sent: a key that a company makes sends nothing, so that none of them is got around.

/** The scopes of keys that a company makes itself. */
export const scopes = harmless

/** How many keys may be open when a company makes another one. */
export const maxOpen = 100

/** The company has as many keys as it may make itself. */
export class TooManyKeys extends Schema.TaggedError<TooManyKeys>()("TooManyKeys", { maximum: Schema.Int }) {}

interface Asked {
  readonly scopes: ReadonlyArray<Scope>
  readonly expiresAtMillis: number | null
  readonly allowedFrom: AllowedFrom | null
}

const refuse = (path: string, message: string) => Effect.fail(new Invalid({ path, message }))

/** What a key that `by` makes has of what was asked for: nothing that `by` has not, and nothing that moves money. It ends no later, and is used from nowhere else. */
export const handedOn = (by: ApiKey, asked: Asked): Effect.Effect<Asked, Invalid> => {
  const own: ReadonlyArray<Scope> = scopes
  const foreign = asked.scopes.findIndex((scope) => !own.includes(scope))
  if (foreign >= 0) return refuse(`scopes.${foreign}`, `A company makes keys with ${scopes.join(", ")}; the operator issues others`)
  const isLater = by.expiresAtMillis !== null && asked.expiresAtMillis !== null && asked.expiresAtMillis > by.expiresAtMillis
  if (isLater) return refuse("expires_at", "No later than the key that makes it")
  const bound = by.allowedFrom?.for === "everything" ? by.allowedFrom : null
  if (bound !== null && asked.allowedFrom !== null)
    return refuse("allowed_from", "It has the addresses of the key that makes it: leave this out")
  return Effect.succeed({
    scopes: asked.scopes,
    expiresAtMillis: asked.expiresAtMillis ?? by.expiresAtMillis,
    allowedFrom: bound ?? asked.allowedFrom
  })
}
