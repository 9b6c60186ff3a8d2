import { Effect, Schema } from "effect"
import { Invalid } from "../base/Invalid.ts"
import type { AllowedFrom } from "./AllowedFrom.ts"
import { type ApiKey, harmless, type Scope } from "./ApiKey.ts"

// Permissions that a company's key can grant. The operator controls sending with limits, approvals and address
// ranges. Keys created by a company cannot send, so they cannot bypass these controls.

/** Scopes of keys that a company can create itself. */
export const scopes = harmless

/** A company with this many valid keys cannot create another one itself. */
export const maxOpen = 100

/** The company has the maximum number of keys that it can create itself. */
export class TooManyKeys extends Schema.TaggedError<TooManyKeys>()("TooManyKeys", { maximum: Schema.Int }) {}

interface Asked {
  readonly scopes: ReadonlyArray<Scope>
  readonly expiresAtMillis: number | null
  readonly allowedFrom: AllowedFrom | null
}

const refuse = (path: string, message: string) => Effect.fail(new Invalid({ path, message }))

/**
 * Checks the permissions requested for a key that `by` creates. The scopes must be held by `by` and move no
 * money. The new key expires no later than `by`, and is limited to the same addresses.
 */
export const handedOn = (by: ApiKey, asked: Asked): Effect.Effect<Asked, Invalid> => {
  const own: ReadonlyArray<Scope> = scopes
  const foreign = asked.scopes.findIndex((scope) => !own.includes(scope))
  if (foreign >= 0)
    return refuse(
      `scopes.${foreign}`,
      `must be one of ${scopes.join(", ")}; only the operator issues keys with other scopes`
    )
  const isLater =
    by.expiresAtMillis !== null &&
    asked.expiresAtMillis !== null &&
    asked.expiresAtMillis > by.expiresAtMillis
  if (isLater) return refuse("expires_at", "must not be later than the expiry of the key that creates it")
  const bound = by.allowedFrom?.for === "everything" ? by.allowedFrom : null
  if (bound !== null && asked.allowedFrom !== null)
    return refuse(
      "allowed_from",
      "must be omitted: the new key inherits the addresses of the key that creates it"
    )
  return Effect.succeed({
    scopes: asked.scopes,
    expiresAtMillis: asked.expiresAtMillis ?? by.expiresAtMillis,
    allowedFrom: bound ?? asked.allowedFrom
  })
}
