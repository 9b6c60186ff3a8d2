import { attempt, eventOf, parsed } from "./Plain.ts"
import type { Event } from "./Records.ts"

/**
 * The `Request` that a `fetch` handler receives, or its headers and raw body. Get the raw body from
 * `express.raw()` or by joining the chunks of a Node request.
 */
export type Received =
  | Request
  | {
      readonly headers: Headers | { readonly [name: string]: string | ReadonlyArray<string> | undefined }
      readonly body: string | Uint8Array
    }

/** The webhook was not sent by the service, or its timestamp is too old. Respond with 400. */
export class WebhookRefused extends Error {
  override readonly name = "WebhookRefused"
}

/**
 * Maximum difference between `webhook-timestamp` and the current time, so that a captured request cannot be
 * replayed later.
 */
const toleranceSeconds = 300

const refuse = (reason: string): never => {
  throw new WebhookRefused(reason)
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> | undefined =>
  attempt(() => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)))

const headerOf = ({ headers }: Received, name: string): string => {
  if (headers instanceof Headers) return headers.get(name) ?? ""
  const [, value = ""] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? []
  return typeof value === "string" ? value : value.join(" ")
}

const textOf = async (received: Received): Promise<string> => {
  if (received instanceof Request) return received.text()
  const { body } = received
  if (typeof body === "string") return body
  // The signature covers the raw bytes, which are lost when the body is parsed.
  if (!(body instanceof Uint8Array)) return refuse("body must be raw, not parsed JSON")
  return new TextDecoder().decode(body)
}

/**
 * Returns a function that verifies a signature in constant time, and the version of the signatures that it can
 * verify. In JavaScript, the secret can be undefined if a setting is missing.
 */
const verifier = async (secret = "") => {
  const isPublic = secret.startsWith("whpk_")
  const bytes = bytesOf(secret.replace(/^wh(sec|pk)_/, ""))
  if (!bytes?.length) return refuse("secret must be whsec_… or whpk_…")
  const algorithm = isPublic ? { name: "Ed25519" } : { name: "HMAC", hash: "SHA-256" }
  const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["verify"])
  return {
    version: isPublic ? "v1a" : "v1",
    isRight: (signature: Uint8Array<ArrayBuffer>, content: Uint8Array<ArrayBuffer>) =>
      crypto.subtle.verify(algorithm, key, signature, content)
  }
}

/**
 * Returns a webhook's event if its signature is valid and it was sent within the last five minutes. Otherwise
 * throws `WebhookRefused`; in that case, respond with 400. `secret` is the endpoint's secret (`whsec_…`) or the
 * public key from `/.well-known/satrail-webhook-keys` (`whpk_…`).
 *
 * An event can arrive more than once with the same `id`, so store the ids that you have handled.
 *
 * @example
 * const event = await webhooks.verify(request, secret)
 * if (event.type === "checkout.paid") await ship(event.data.orderId)
 */
export const verify = async (received: Received, secret: string, nowMillis: number = Date.now()): Promise<Event> => {
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) => headerOf(received, `webhook-${name}`))
  if (!id || !/^\d{1,12}$/.test(timestamp ?? "") || !signatures) return refuse("a webhook- header is missing or invalid")
  const text = await textOf(received)
  const { version, isRight } = await verifier(secret)
  const content = new TextEncoder().encode(`${id}.${timestamp}.${text}`)
  let isSigned = false
  for (const one of signatures.split(" ")) {
    const signature = one.startsWith(`${version},`) ? bytesOf(one.slice(version.length + 1)) : undefined
    if (signature && (await isRight(signature, content))) isSigned = true
  }
  if (!isSigned) return refuse("No signature matches")
  if (Math.abs(nowMillis / 1000 - Number(timestamp)) > toleranceSeconds) return refuse(`timestamp is over ${toleranceSeconds} seconds off`)
  const event = eventOf(parsed(text))
  if (!event) return refuse("body is not an event")
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the service signed the event
  return event as Event
}
