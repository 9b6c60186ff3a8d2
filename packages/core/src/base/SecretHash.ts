import { sha256 } from "@satrail/bitcoin/Sha256"
import { Brand, Schema } from "effect"

/**
 * SHA-256 of a secret in lowercase hex, stored in place of the secret. Branded, so that storing the secret
 * itself does not compile.
 */
export const SecretHash = Schema.String.pipe(Schema.brand("SecretHash"))
export type SecretHash = typeof SecretHash.Type

/** Brands a string as the hash of a secret without checking it. */
export const make = Brand.nominal<SecretHash>()

/** Returns the hash of a secret, which may be any text. */
export const of = (secret: string): SecretHash => make(sha256.hex(secret))
