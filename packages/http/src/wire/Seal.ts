import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Context, Redacted } from "effect"
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"

/** Encrypts what the store keeps and no reader of the store may learn. */
export interface Sealer {
  /** `owner` is whose text it is: opened for another owner, the text is not given away. */
  readonly seal: (text: string, owner: CompanyId.CompanyId) => string
  /** Undefined where it was not sealed with this secret for this owner, or was changed since. */
  readonly open: (sealed: string, owner: CompanyId.CompanyId) => string | undefined
}

/** Without one, an answer that has a secret in it is not kept: its endpoint refuses an `Idempotency-Key`. */
export const Seal = Context.Reference<Sealer | undefined>("@satrail/http/wire/Seal", { defaultValue: () => undefined })

const version = "sealed-1:"
const [nonceBytes, tagBytes] = [12, 16]

/**
 * AES-256-GCM with a key derived from `secret` (HKDF with SHA-256, RFC 5869), which needs 32 random bytes or more, and has to be the same in all
 * processes over one database. It must not be in that database.
 */
export const make = (secret: Redacted.Redacted): Sealer => {
  const key = new Uint8Array(hkdfSync("sha256", Redacted.value(secret), "", "satrail: answers with a secret in them", 32))
  return {
    seal: (text, owner) => {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(owner))
      const sealed = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()])
      return version + sealed.toString("base64url")
    },
    open: (sealed, owner) => {
      const bytes = sealed.startsWith(version) ? Buffer.from(sealed.slice(version.length), "base64url") : Buffer.alloc(0)
      if (bytes.length < nonceBytes + tagBytes) return undefined
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
        .setAAD(Buffer.from(owner))
        .setAuthTag(bytes.subarray(-tagBytes))
      try {
        return decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, "utf8") + decipher.final("utf8")
      } catch {
        return undefined // the tag does not fit: another secret, another owner, or other bytes
      }
    }
  }
}
