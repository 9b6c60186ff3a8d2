import { hmac } from "@noble/hashes/hmac.js"
import { sha256 } from "@noble/hashes/sha2.js"
import { utf8ToBytes } from "@noble/hashes/utils.js"
import { base64 } from "@scure/base"
import { toHex } from "../../base/Id.ts"

// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md

const prefix = "whsec_"

/** A secret of 32 random bytes, as its owner gets to see it once. */
export const secretOf = (bytes: Uint8Array): string => prefix + base64.encode(bytes)

/** What is signed: whoever replays a body under another id or at another time has no signature for that. */
export const contentOf = (id: string, timestampSeconds: number, body: string): string => `${id}.${timestampSeconds}.${body}`

/** `v1,<base64>`: an HMAC-SHA256 of the content with the secret's bytes. */
export const symmetric = (secret: string, content: string): string =>
  `v1,${base64.encode(hmac(sha256, base64.decode(secret.slice(prefix.length)), utf8ToBytes(content)))}`

/** The plain signature: lower-case hex of an HMAC-SHA256 of the body alone, with the secret as it is written. */
export const plain = (secret: string, body: string): string => toHex(hmac(sha256, utf8ToBytes(secret), utf8ToBytes(body)))
