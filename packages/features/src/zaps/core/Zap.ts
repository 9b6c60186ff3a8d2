import { isPublicName } from "@satrail/bitcoin/LightningAddressText"
import type { Msat } from "@satrail/bitcoin/Msat"
import * as Nostr from "@satrail/bitcoin/Nostr"
import { type Redacted, Result, Schema } from "effect"
import { isText } from "@satrail/core/base/Metadata"
import * as Change from "@satrail/core/ledger/Change"
import type { Written } from "@satrail/core/ledger/Written"
import type { Invoice } from "@satrail/core/receiving/Invoice"
import { PayRequestRefused } from "@satrail/core/receiving/PayRequest"

// A zap is a payment for which a Nostr user requests a public receipt (NIP-57).
const requestKind = 9734
const receiptKind = 9735

const Request = Schema.fromJsonString(Nostr.Event)
const read = Schema.decodeUnknownResult(Request)

const tagsOf = ({ tags }: Nostr.Event, name: string): ReadonlyArray<ReadonlyArray<string>> =>
  tags.filter(([first]) => first === name)

const isKey = (text: string | undefined): boolean => /^[0-9a-f]{64}$/.test(text ?? "")

/** Matches the coordinate of an event such as an article: `kind:author:name` (NIP-01). */
const isCoordinate = (text: string | undefined): boolean => /^\d{1,5}:[0-9a-f]{64}:/.test(text ?? "")

const isRelay = (text: string): boolean => {
  const url = /[\s\p{Cc}\\]/u.test(text) ? null : URL.parse(text)
  return url?.protocol === "wss:" && url.username === "" && url.password === "" && isPublicName(url.hostname)
}

/**
 * Returns the relays that should receive the receipt: without duplicates, at most `most`, and only those that
 * can be contacted safely.
 */
export const relaysOf = (request: Nostr.Event, most: number): ReadonlyArray<string> =>
  [...new Set(tagsOf(request, "relays").flatMap(([, ...relays]) => relays.filter(isRelay)))].slice(0, most)

/** Returns why a zap request is invalid (NIP-57, Appendix D), or undefined if it may be paid. */
const issueOf = (
  request: Nostr.Event,
  amount: Msat,
  receiptsBy: string,
  maxRelays: number
): string | undefined => {
  const [recipients, events, coordinates, amounts, senders] = ["p", "e", "a", "amount", "P"].map((name) =>
    tagsOf(request, name)
  )
  if (request.kind !== requestKind) return `an event of kind ${requestKind} (got ${request.kind})`
  if (!Nostr.isGenuine(request)) return "signed: its id or signature is invalid"
  if (recipients?.length !== 1 || !isKey(recipients[0]?.[1]))
    return "for one recipient: exactly one p tag with a public key"
  if (events === undefined || events.length > 1 || !events.every(([, id]) => isKey(id)))
    return "about one event at most: one e tag with its id"
  if (!coordinates?.every(([, coordinate]) => isCoordinate(coordinate)))
    return "about something that an a tag can refer to: kind:author:name"
  if (!amounts?.every(([, value]) => value === String(amount)))
    return `for the requested amount: ${amount} millisatoshis`
  if (senders === undefined || senders.length > 1 || !senders.every(([, key]) => key === receiptsBy))
    return `for receipts of this service: its P tag, if any, is ${receiptsBy}`
  return relaysOf(request, maxRelays).length === 0
    ? "with a relays tag that has at least one wss:// address"
    : undefined
}

/**
 * Validates a zap request for this amount. The text stays exactly as received, because its hash goes into the
 * invoice and the text itself into the receipt.
 */
export const check = (
  text: string | null,
  amount: Msat,
  receiptsBy: string,
  limits: { readonly requestBytes: number; readonly relays: number }
): Result.Result<string | null, PayRequestRefused> => {
  if (text === null || text === "") return Result.succeed(null)
  const refuse = (message: string) => Result.fail(new PayRequestRefused({ code: "zap", message }))
  const bytes = new TextEncoder().encode(text).length
  if (bytes > limits.requestBytes)
    return refuse(`nostr must have at most ${limits.requestBytes} bytes (got ${bytes})`)
  const request = read(text)
  if (Result.isFailure(request) || !isText(text))
    return refuse("nostr must be a Nostr event as JSON, with all of its fields")
  const issue = issueOf(request.success, amount, receiptsBy, limits.relays)
  return issue === undefined ? Result.succeed(text) : refuse(`The zap request must be ${issue}`)
}

/**
 * Kind of a zap's job, which is enqueued when the invoice is paid, or claimed for an internal payment. Once the
 * receipt is due, the job has the second kind, and its lane is the Lightning address.
 */
export const taskKind = "zap"
export const receiptTaskKind = "zap receipt"

/**
 * Returns the receipt's job for the Change that pays the invoice; none if the payer requested no receipt.
 */
export const jobs = ({ id, callback }: Invoice, atMillis: number): ReadonlyArray<Change.Job> =>
  callback === null || callback.zapRequest === null
    ? []
    : [Change.enqueue({ kind: taskKind, id, dueAtMillis: atMillis })]

/** A receipt, and the relays to send it to. */
export interface Receipt {
  readonly event: Nostr.Event
  readonly relays: ReadonlyArray<string>
}

/**
 * Returns the receipt of a paid zap (NIP-57, Appendix E). The result is the same, byte for byte, on every call.
 * Returns undefined if no receipt is due.
 */
export const receiptOf = (
  invoice: Invoice,
  secretKey: Redacted.Redacted,
  maxRelays: number
): Receipt | undefined => {
  const description = invoice.callback?.zapRequest ?? null
  const request = description === null ? undefined : read(description)
  if (description === null || request === undefined || Result.isFailure(request)) return undefined
  if (invoice.settledAtMillis === null || invoice.preimage === null) return undefined
  const zap = request.success
  const event = Nostr.signed(
    {
      kind: receiptKind,
      created_at: Math.floor(invoice.settledAtMillis / 1000),
      content: "",
      tags: [
        ...["p", "e", "a"].flatMap((name) => tagsOf(zap, name)),
        ["P", zap.pubkey],
        ["bolt11", invoice.paymentRequest],
        ["description", description],
        ["preimage", invoice.preimage]
      ]
    },
    secretKey
  )
  return { event, relays: relaysOf(zap, maxRelays) }
}

/** The receipt is no longer offered to relays. `taken` is the number of relays that accepted it. */
export interface ZapReceipted extends Written<"ZapReceipted", readonly [], "fence", "zap.receipted"> {
  readonly taken: number
}

/** Completes the job of this receipt. A receipt that no relay accepted is not published as an event. */
export const receipted = (
  invoice: Invoice,
  fence: Change.Fence,
  taken: number,
  atMillis: number
): ZapReceipted => ({
  _tag: "ZapReceipted",
  ...Change.on(invoice, atMillis),
  writes: [],
  taken,
  fence,
  jobs: [Change.complete(fence.taskId)],
  ...(taken > 0 && { event: { type: "zap.receipted", subject: invoice.id } })
})
