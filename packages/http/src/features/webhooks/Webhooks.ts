import { Schema } from "effect"
import { createHmac, createPublicKey, timingSafeEqual, verify as verifySignature } from "node:crypto"
import { Event, type Told } from "../../events/EventBody.ts"

/** What arrived is not from the service, or is old. `message` says why; nothing of the secret is in it. */
export class WebhookRefused extends Schema.TaggedError<WebhookRefused>()("WebhookRefused", { message: Schema.String }) {}

/** How far the time in a request may be from now: a recorded request is worth nothing afterwards. */
export const toleranceSeconds = 300

/** Headers as Node, `fetch` and most frameworks have them. */
export type Given = Headers | { readonly [name: string]: string | ReadonlyArray<string> | undefined }

const headerIn = (headers: Given, name: string): string => {
  if (headers instanceof Headers) return headers.get(name) ?? ""
  const [, value = ""] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? []
  return typeof value === "string" ? value : value.join(" ")
}

const refuse = (message: string): never => {
  throw new WebhookRefused({ message })
}

const isSame = (one: Buffer, other: Buffer): boolean => one.length === other.length && timingSafeEqual(one, other)

// An Ed25519 public key as SubjectPublicKeyInfo, up to its 32 bytes (RFC 8410, section 4).
const spki = Buffer.from("302a300506032b6570032100", "hex")

/** Whether one of the signatures in the header is right, with a secret (`whsec_…`) or with the service's public key (`whpk_…`). */
const isSigned = (key: string, content: string, signatures: string): boolean => {
  const of = (version: string) =>
    signatures.split(" ").flatMap((one) => (one.startsWith(`${version},`) ? [Buffer.from(one.slice(version.length + 1), "base64")] : []))
  if (key.startsWith("whpk_")) {
    const bytes = Buffer.concat([spki, Buffer.from(key.slice("whpk_".length), "base64")])
    const publicKey = createPublicKey({ key: bytes, format: "der", type: "spki" })
    return of("v1a").some((signature) => verifySignature(null, Buffer.from(content), publicKey, signature))
  }
  const secret = Buffer.from(key.replace(/^whsec_/, ""), "base64")
  const expected = createHmac("sha256", secret).update(content).digest()
  return of("v1").some((signature) => isSame(signature, expected))
}

/**
 * The event in a webhook, if the service sent it, and a moment ago. `body` is the body as it arrived, to the byte: parse nothing before. `secret` is the
 * endpoint's, or the public key of `/.well-known/satrail-webhook-keys`. Throws a `WebhookRefused` otherwise: answer 400, and do nothing.
 *
 * The same event may arrive more than once, with the same `id`: remember the ids that you have dealt with.
 */
export const verify = (headers: Given, body: string | Uint8Array, secret: string, nowMillis: number = Date.now()): Told => {
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => headerIn(headers, name))
  if (id === undefined || timestamp === undefined || signatures === undefined || id === "" || signatures === "")
    return refuse("The headers webhook-id, webhook-timestamp and webhook-signature are missing")
  if (!/^\d{1,12}$/.test(timestamp)) return refuse("The header webhook-timestamp is no number of seconds")
  const text = typeof body === "string" ? body : Buffer.from(body).toString("utf8")
  if (!isSigned(secret, `${id}.${timestamp}.${text}`, signatures)) return refuse("The signature is not one of this secret over this body")
  if (Math.abs(nowMillis / 1000 - Number(timestamp)) > toleranceSeconds)
    return refuse(`The request is from more than ${toleranceSeconds} seconds ago, or ahead`)
  const event: unknown = JSON.parse(text)
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the schema says so, type by type
  return Schema.is(Event)(event) ? (event as Told) : refuse("The body is no event that this version knows")
}
