import { assert } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import type { PaymentHash } from "@satrail/bitcoin/PaymentHash"
import { createHash } from "node:crypto"
import type { start } from "./Service.ts"

// A wallet implemented from the LUDs alone. It checks everything that it receives, and relies on no other
// behavior of the service.

type Service = Awaited<ReturnType<typeof start>>

const sha256 = (text: string) => createHash("sha256").update(text, "utf8").digest("hex")

/** A response of the service that has not been checked yet. */
export type Json = Readonly<Record<string, unknown>>

/** An LNURL error, which a wallet shows to its user. */
export class Refused extends Error {}

/**
 * Requests a URL of the service, like a browser on another site. Status and headers carry no meaning
 * (LUD-01).
 */
export const get = async (
  service: Service,
  url: string,
  headers: Record<string, string> = {}
): Promise<Json> => {
  const { host, pathname, search } = new URL(url)
  const { text } = await service.ask("GET", `${pathname}${search}`, {
    headers: { host, origin: "https://wallet.example", ...headers }
  })
  const body: Json = JSON.parse(text)
  if (body["status"] === "ERROR") {
    assert.deepStrictEqual(Object.keys(body), ["status", "reason"])
    throw new Refused(String(body["reason"]))
  }
  return body
}

/** Returns the reason for a refusal. Fails if the request is accepted. */
export const refusal = async (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => assert.fail("the service accepted the request"),
    (error: unknown) => (error instanceof Refused ? error.message : Promise.reject(error))
  )

/** The information a wallet has before it pays (LUD-06, step 3). */
export interface Offer {
  readonly callback: string
  readonly minSendable: number
  readonly maxSendable: number
  readonly metadata: string
  readonly commentAllowed: number
  readonly payerData: Json | undefined
  readonly nostrPubkey: string | undefined
  /** Entries of the metadata, which the wallet shows. */
  readonly entries: ReadonlyArray<readonly [type: string, value: unknown]>
}

const text = (value: unknown): string =>
  typeof value === "string" ? value : assert.fail(`no text: ${String(value)}`)
const whole = (value: unknown): number =>
  Number.isSafeInteger(value) ? Number(value) : assert.fail(`no whole number: ${String(value)}`)
const object = (value: unknown): Json => ({ ...Object(value) })

/** Fetches a payment offer from a URL. */
export const offerAt = async (service: Service, url: string): Promise<Offer> => {
  const body = await get(service, url)
  assert.strictEqual(body["tag"], "payRequest")
  const [minSendable, maxSendable] = [whole(body["minSendable"]), whole(body["maxSendable"])]
  assert.isAtLeast(minSendable, 1)
  assert.isAtLeast(maxSendable, minSendable)
  const metadata = text(body["metadata"])
  const entries: Offer["entries"] = JSON.parse(metadata)
  assert.strictEqual(entries.filter(([type]) => type === "text/plain").length, 1)
  return {
    callback: text(body["callback"]),
    minSendable,
    maxSendable,
    metadata,
    commentAllowed: whole(body["commentAllowed"] ?? 0),
    payerData: body["payerData"] === undefined ? undefined : object(body["payerData"]),
    nostrPubkey: body["allowsNostr"] === true ? text(body["nostrPubkey"]) : undefined,
    entries
  }
}

/** Looks up a Lightning address (LUD-16), and checks that the offer is for that address. */
export const lookUp = async (service: Service, address: string): Promise<Offer> => {
  const [user, domain] = address.split("@")
  const offer = await offerAt(service, `https://${domain}/.well-known/lnurlp/${user}`)
  const identifiers = offer.entries.filter(([type]) => type === "text/identifier" || type === "text/email")
  assert.deepStrictEqual(identifiers, [["text/identifier", address]])
  return offer
}

/** A checked invoice, and the data that came with it. */
export interface Invoice {
  readonly pr: string
  readonly paymentHash: PaymentHash
  readonly message: string | undefined
  readonly verify: string | undefined
}

/** The callback URL for an amount in msat, with further parameters. */
export const callbackUrl = (
  offer: Offer,
  amount: number | string,
  more: Readonly<Record<string, string>> = {}
): string => {
  const parameters = Object.entries({ amount: String(amount), ...more }).map(
    ([name, value]) => `${name}=${encodeURIComponent(value)}`
  )
  return `${offer.callback}${offer.callback.includes("?") ? "&" : "?"}${parameters.join("&")}`
}

/** Requests an invoice (LUD-06, step 4) and makes the checks required before paying. */
export const askFor = async (
  service: Service,
  offer: Offer,
  amount: number,
  more: { readonly comment?: string; readonly payerdata?: string; readonly nostr?: string } = {}
): Promise<Invoice> => {
  const body = await get(service, callbackUrl(offer, amount, more))
  assert.deepStrictEqual(body["routes"], [])
  const decoded = Bolt11.decode(text(body["pr"]))
  const invoice = decoded._tag === "Success" ? decoded.success : assert.fail(decoded.failure.message)
  assert.strictEqual(invoice.amount, BigInt(amount))
  assert.strictEqual(
    invoice.descriptionHash,
    sha256(more.nostr ?? `${offer.metadata}${more.payerdata ?? ""}`)
  )
  const action = object(body["successAction"])
  // A wallet must not pay if it doesn't know the success action (LUD-09).
  assert.include([undefined, "message"], action["tag"])
  return {
    pr: invoice.paymentRequest,
    paymentHash: invoice.paymentHash,
    message: action["tag"] === "message" ? text(action["message"]) : undefined,
    verify: body["verify"] === undefined ? undefined : text(body["verify"])
  }
}

/** Pays the invoice and returns the proof. The service has recorded the payment when this returns. */
export const pay = async (service: Service, { pr, paymentHash }: Invoice): Promise<string> => {
  const { preimage } = await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: pr }))
  await service.work()
  const proof = preimage ?? assert.fail("the invoice was not paid")
  assert.strictEqual(createHash("sha256").update(Buffer.from(proof, "hex")).digest("hex"), paymentHash)
  return proof
}
