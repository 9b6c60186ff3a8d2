import { sha256 } from "@satrail/bitcoin/Sha256"
import { base64, hex } from "@scure/base"

// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md

const prefix = "whsec_"

/** Formats a secret of 32 random bytes in the form that its owner sees once. */
export const secretOf = (bytes: Uint8Array): string => prefix + base64.encode(bytes)

/**
 * Returns the content to sign. The content includes the id and time, so a body cannot be replayed under another
 * id or time.
 */
export const contentOf = (id: string, timestampSeconds: number, body: string): string =>
  `${id}.${timestampSeconds}.${body}`

/** Returns `v1,<base64>`: an HMAC-SHA256 of the content with the secret's bytes. */
export const symmetric = (secret: string, content: string): string =>
  `v1,${base64.encode(hex.decode(sha256.hmac(base64.decode(secret.slice(prefix.length)))(content)))}`

/**
 * Returns the plain signature: lowercase hex of an HMAC-SHA256 of the body alone, with the secret's text as
 * the key.
 */
export const plain = (secret: string, body: string): string => sha256.hmac(secret)(body)

/** Returns the headers of a signed event. `attempt` is the number of the attempt to deliver it. */
export const headers = (
  id: string,
  attempt: number,
  timestampSeconds: number,
  signatures: ReadonlyArray<string>
) => ({
  "webhook-id": id,
  "webhook-timestamp": String(timestampSeconds),
  "webhook-signature": signatures.join(" "),
  "x-satrail-attempt": String(attempt),
  // This request has an id, like every request we send.
  "x-request-id": `${id}.${attempt}`
})
