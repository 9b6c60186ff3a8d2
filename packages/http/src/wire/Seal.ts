import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Context, Redacted } from "effect"
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"

/** Encrypts stored values that must not be readable in the store. */
export interface Sealer {
  /** Encrypts a string for `owner`. It cannot be decrypted for another owner. */
  readonly seal: (text: string, owner: CompanyId.CompanyId) => string
  /** Decrypts a string. Returns undefined if it was sealed with another secret or for another owner, or was changed. */
  readonly open: (sealed: string, owner: CompanyId.CompanyId) => string | undefined
}

/**
 * Without a sealer, responses with secrets are not stored, and their endpoints reject an `Idempotency-Key`.
 */
export const Seal = Context.Reference<Sealer | undefined>("@satrail/http/wire/Seal", {
  defaultValue: () => undefined
})

const version = "sealed-1:"
const [nonceBytes, tagBytes] = [12, 16]

/**
 * Makes a sealer that uses AES-256-GCM with a key derived from `secret` (HKDF with SHA-256, RFC 5869). `secret`
 * needs at least 32 random bytes, must be the same in all processes that share a database, and must not be in
 * that database.
 */
export const make = (secret: Redacted.Redacted): Sealer => {
  const key = new Uint8Array(
    hkdfSync("sha256", Redacted.value(secret), "", "satrail: answers with a secret in them", 32)
  )
  return {
    seal: (text, owner) => {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes }).setAAD(
        Buffer.from(owner)
      )
      const sealed = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()])
      return version + sealed.toString("base64url")
    },
    open: (sealed, owner) => {
      const bytes = sealed.startsWith(version)
        ? Buffer.from(sealed.slice(version.length), "base64url")
        : Buffer.alloc(0)
      if (bytes.length < nonceBytes + tagBytes) return undefined
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes), {
        authTagLength: tagBytes
      })
        .setAAD(Buffer.from(owner))
        .setAuthTag(bytes.subarray(-tagBytes))
      try {
        return (
          decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, "utf8") + decipher.final("utf8")
        )
      } catch {
        return undefined // the tag does not match: another secret, another owner, or changed bytes
      }
    }
  }
}
