import { attempt, eventOf, parsed } from "./Plain.ts"
import type { Event } from "./Records.ts"

/**
 * The `Request` that a `fetch` handler receives, or its headers and raw body. Pass a Node request itself as the
 * body, or what `express.raw()` read.
 */
export type Received =
  | Request
  | {
      readonly headers: Headers | { readonly [name: string]: string | ReadonlyArray<string> | undefined }
      readonly body: string | Uint8Array | AsyncIterable<Uint8Array>
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

/** Maximum number of signatures in a request. The service sends at most five. */
export const maxSignatures = 8
/** Maximum size of a body, in bytes. The service's events have at most about 20,000. */
export const maxBodyBytes = 262_144
/** Maximum length of the `webhook-` headers together, in characters. */
export const maxHeaders = 1024

const refuse = (reason: string): never => {
  throw new WebhookRefused(reason)
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> | undefined =>
  attempt(() => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)))

/** Returns the raw body. Of a stream, at most `maxBodyBytes` and the chunk that exceeds them are read. */
const bodyOf = async (received: Received): Promise<Blob> => {
  const body: unknown = received.body ?? ""
  const parts: Array<BlobPart> = []
  let size = 0
  const check = (bytes: number) => bytes > maxBodyBytes && refuse(`body is over ${maxBodyBytes} bytes`)
  const add = (part: unknown) => {
    // The signature covers the raw bytes, which are lost when the body is parsed.
    if (typeof part !== "string" && !(part instanceof Uint8Array)) return refuse("body must be raw")
    // oxlint-disable-next-line typescript/consistent-type-assertions -- its memory is not shared
    parts.push(part as BlobPart)
    return check((size += part.length || 1))
  }
  const stream = Object(body)
  if (Symbol.asyncIterator in stream) for await (const chunk of stream) add(chunk)
  else add(body)
  const whole = new Blob(parts)
  check(whole.size) // a character can have several bytes
  return whole
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
export const verify = async (
  received: Received,
  secret: string,
  nowMillis: number = Date.now()
): Promise<Event> => {
  const { headers } = received
  const header = (name: string): string => {
    const key = `webhook-${name}`
    const value =
      headers instanceof Headers
        ? headers.get(key)
        : Object.entries(headers).find(([one]) => one.toLowerCase() === key)?.[1]
    return [value ?? ""].flat().join(" ")
  }
  const id = header("id")
  const timestamp = header("timestamp")
  const signature = header("signature")
  const signatures = signature.split(" ")
  if (
    !id ||
    !/^\d{1,12}$/.test(timestamp) ||
    signatures.length > maxSignatures ||
    (id + signature).length > maxHeaders
  )
    return refuse("a webhook- header is missing or invalid")
  // The sender is unknown until a signature matches, so the cheapest checks come first.
  if (Math.abs(nowMillis / 1000 - +timestamp) > toleranceSeconds)
    return refuse(`timestamp is over ${toleranceSeconds} seconds off`)
  // In JavaScript, the secret can be undefined if a setting is missing.
  const bytes = bytesOf((secret ?? "").replace(/^wh(sec|pk)_/, ""))
  if (!bytes?.length) return refuse("secret must be whsec_ or whpk_")
  const isPublic = secret.startsWith("whpk_")
  const algorithm = isPublic ? "Ed25519" : { name: "HMAC", hash: "SHA-256" }
  const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["verify"])
  const body = await bodyOf(received)
  const content = await new Blob([`${id}.${timestamp}.`, body]).arrayBuffer()
  for (const one of signatures) {
    const [version, text = ""] = one.split(",")
    const signature = version === (isPublic ? "v1a" : "v1") && bytesOf(text)
    // `crypto.subtle.verify` compares in constant time.
    if (signature && (await crypto.subtle.verify(algorithm, key, signature, content)))
      // oxlint-disable-next-line typescript/consistent-type-assertions -- the service signed the event
      return (eventOf(parsed(await body.text())) as Event | undefined) ?? refuse("body is not an event")
  }
  return refuse("No signature matches")
}
