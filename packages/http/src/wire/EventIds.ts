import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Place } from "@satrail/core/events/Notice"
import { Context, Redacted } from "effect"
import { createCipheriv, createDecipheriv, createHash, hkdfSync } from "node:crypto"

/** Opaque event ids. Each is valid for one company. */
export interface EventIds {
  readonly write: (place: Place, companyId: CompanyId.CompanyId) => string
  /**
   * Returns undefined unless the id was made with this key for this company. If `companyId` is null, accepts an
   * id for any company.
   */
  readonly read: (id: string, companyId: CompanyId.CompanyId | null) => Place | undefined
}

const prefix = "evt_"
const [partAt, checkAt, blockBytes] = [8, 9, 16]

const checkOf = (companyId: CompanyId.CompanyId) =>
  createHash("sha256")
    .update(companyId)
    .digest()
    .subarray(0, blockBytes - checkAt)

/**
 * Sequence numbers would reveal the server's volume to everyone. An id is therefore one AES-256 block that
 * encrypts the number, the part and seven bytes of a digest of the company's id, in base64url. Ids need no
 * table, and only 1 of 2^56 random ids is accepted.
 */
export const make = (secret: Redacted.Redacted): EventIds => {
  const key = new Uint8Array(hkdfSync("sha256", Redacted.value(secret), "", "satrail: ids of events", 32))
  // In ECB mode, blocks are independent, so one cipher and one decipher serve all ids.
  const cipher = createCipheriv("aes-256-ecb", key, null).setAutoPadding(false)
  const decipher = createDecipheriv("aes-256-ecb", key, null).setAutoPadding(false)
  const checks = new Map<CompanyId.CompanyId, Buffer>()
  const known = (companyId: CompanyId.CompanyId): Buffer => {
    const found = checks.get(companyId)
    if (found !== undefined) return found
    if (checks.size >= 1000) checks.clear()
    const check = checkOf(companyId)
    checks.set(companyId, check)
    return check
  }
  return {
    write: ({ event, part }, companyId) => {
      const block = Buffer.alloc(blockBytes)
      block.writeBigUInt64BE(event)
      block.writeUInt8(part, partAt)
      known(companyId).copy(block, checkAt)
      return prefix + cipher.update(block).toString("base64url")
    },
    read: (id, companyId) => {
      const sealed = /^evt_[\w-]{22}$/.test(id)
        ? Buffer.from(id.slice(prefix.length), "base64url")
        : Buffer.alloc(0)
      if (sealed.length !== blockBytes || prefix + sealed.toString("base64url") !== id) return undefined
      const block = decipher.update(sealed)
      if (companyId !== null && !known(companyId).equals(block.subarray(checkAt))) return undefined
      return { event: block.readBigUInt64BE(), part: block.readUInt8(partAt) }
    }
  }
}

/**
 * A program that embeds the service without a key gets valid ids that anyone with this source can decode.
 */
export const Ids = Context.Reference<EventIds>("@satrail/http/wire/EventIds", {
  defaultValue: () => make(Redacted.make("no secret"))
})
