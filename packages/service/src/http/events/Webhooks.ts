import { Option, Schema } from "effect"
import { createHmac, createPublicKey, timingSafeEqual, verify as verifySignature } from "node:crypto"
import type { WebhookEvent } from "./EventBody.ts"

/**
 * A request that does not come from the service, or is too old. `message` states the reason without revealing
 * the secret.
 */
export class WebhookRefused extends Schema.TaggedError<WebhookRefused>()("WebhookRefused", {
  message: Schema.String
}) {}

/**
 * Maximum clock difference accepted in a webhook request, in seconds. It limits how long a captured request
 * can be replayed.
 */
export const toleranceSeconds = 300

/** Maximum number of signatures in a request. The service sends at most five. */
export const maxSignatures = 8
/** Maximum size of a body, in bytes. The service's events have at most about 20,000. */
export const maxBodyBytes = 262_144
/** Maximum length of the `webhook-` headers together, in characters. */
export const maxHeaders = 1024

/** Headers as represented by Node, `fetch` and most frameworks. */
export type Given = Headers | { readonly [name: string]: string | ReadonlyArray<string> | undefined }

const headerIn = (headers: Given, name: string): string => {
  if (headers instanceof Headers) return headers.get(name) ?? ""
  const [, value = ""] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? []
  return typeof value === "string" ? value : value.join(" ")
}

const refuse = (message: string): never => {
  throw new WebhookRefused({ message })
}

const isSame = (one: Buffer, other: Buffer): boolean =>
  one.length === other.length && timingSafeEqual(one, other)

// Prefix of an Ed25519 public key as SubjectPublicKeyInfo (RFC 8410, section 4).
const spki = Buffer.from("302a300506032b6570032100", "hex")

/**
 * Returns whether a signature in the header is valid for a secret (`whsec_…`) or the service's public key
 * (`whpk_…`).
 */
const isSigned = (key: string, content: string, signatures: string): boolean => {
  const of = (version: string) =>
    signatures
      .split(" ")
      .flatMap((one) =>
        one.startsWith(`${version},`) ? [Buffer.from(one.slice(version.length + 1), "base64")] : []
      )
  const bytes = Buffer.from(key.replace(/^wh(?:sec|pk)_/, ""), "base64")
  // A missing setting often becomes an empty secret, with which anybody can sign.
  if (bytes.length === 0) return refuse("secret must be whsec_… or whpk_…")
  if (key.startsWith("whpk_")) {
    const publicKey = createPublicKey({ key: Buffer.concat([spki, bytes]), format: "der", type: "spki" })
    return of("v1a").some((signature) => verifySignature(null, Buffer.from(content), publicKey, signature))
  }
  const expected = createHmac("sha256", bytes).update(content).digest()
  return of("v1").some((signature) => isSame(signature, expected))
}

// Doesn't check the type or the record, because a newer service can add types and values.
const hasShape = Schema.is(
  Schema.Struct({
    id: Schema.String,
    type: Schema.String,
    timestamp: Schema.String,
    data: Schema.Record(Schema.String, Schema.Unknown)
  })
)
const isEvent = (value: unknown): value is WebhookEvent => hasShape(value)
const parsed = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/**
 * Returns the event in a webhook request that the service sent recently. Pass `body` byte for byte as it
 * arrived, before any parsing. `secret` is the endpoint's secret, or the public key from
 * `/.well-known/satrail-webhook-keys`. Throws `WebhookRefused` for any other request; respond with 400 and do
 * nothing else.
 *
 * The same event can arrive more than once with the same `id`, so store the ids you have processed. A newer
 * service can send events of types that `WebhookEvent` lacks. They are returned too; ignore them.
 */
export const verify = (
  headers: Given,
  body: string | Uint8Array,
  secret: string,
  nowMillis: number = Date.now()
): WebhookEvent => {
  const given = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    headerIn(headers, name)
  )
  const [id, timestamp = "", signatures = ""] = given
  if (given.includes("") || given.join("").length > maxHeaders)
    return refuse(
      `The headers webhook-id, webhook-timestamp and webhook-signature are required, with at most ${maxHeaders} characters together`
    )
  if (!/^\d{1,12}$/.test(timestamp)) return refuse("The header webhook-timestamp must be a number of seconds")
  // The sender is unknown until a signature matches, so the cheapest checks come first.
  if (Math.abs(nowMillis / 1000 - Number(timestamp)) > toleranceSeconds)
    return refuse(`The timestamp is more than ${toleranceSeconds} seconds from the current time`)
  if (signatures.split(" ").length > maxSignatures)
    return refuse(`The header webhook-signature has more than ${maxSignatures} signatures`)
  if (body.length > maxBodyBytes || Buffer.byteLength(body) > maxBodyBytes)
    return refuse(`The body is over ${maxBodyBytes} bytes`)
  const text = typeof body === "string" ? body : Buffer.from(body).toString("utf8")
  if (!isSigned(secret, `${id}.${timestamp}.${text}`, signatures))
    return refuse("The signature does not match this secret and body")
  const event = Option.getOrUndefined(parsed(text))
  return isEvent(event) ? event : refuse("The body is not an event")
}
