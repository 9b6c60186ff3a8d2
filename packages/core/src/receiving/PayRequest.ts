import { sha256 } from "@noble/hashes/sha2.js"
import { HandleSchema, maxHandleLength, normaliseDomain, schemeOf } from "@satrail/bitcoin/LightningAddressText"
import * as Msat from "@satrail/bitcoin/Msat"
import { Result, Schema } from "effect"
import type { Bounds } from "../accounts/Bounds.ts"
import * as Characters from "../base/Characters.ts"
import * as Id from "../base/Id.ts"
import { isText } from "../base/Metadata.ts"
import type { Callback } from "./Invoice.ts"
import type { LightningAddress } from "./LightningAddress.ts"

/** Where a wallet asked: the `Host` it named, and what the path says. */
export interface Place {
  readonly host: string
  /** The domain in the path; null where the host is the domain. */
  readonly domain: string | null
  /** The part before the @, with its tag (LUD-16). */
  readonly user: string
}

/** The Lightning address that is meant, and the beginning of every URL that leads there. */
export interface Target {
  readonly handle: string
  readonly tag: string | null
  readonly domain: string
  readonly url: string
}

/** What a wallet is shown at a Lightning address (LUD-06, step 3). Amounts are what the recipient gets. */
export interface PayRequest {
  readonly callback: string
  readonly minSendable: Msat.Msat
  readonly maxSendable: Msat.Msat
  /** To be shown to the byte: its hash goes into the invoice. */
  readonly metadata: string
  readonly commentAllowed: number
  /** Whose signature receipts will have, where others may see them (NIP-57). */
  readonly nostrPubkey: string | null
}

/** The wallet cannot pay like this. `message` is for its user: what was wrong, and what would be right. */
export class PayRequestRefused extends Schema.TaggedError<PayRequestRefused>()("PayRequestRefused", {
  code: Schema.Literals(["not_found", "amount", "comment", "payer_data", "zap", "too_many", "stopped"]),
  message: Schema.String
}) {}

/** Payer data that may be sent. None of it is required, and none of it is verified (LUD-18). */
export const payerDataFields = ["name", "identifier", "email"] as const

const refuse = (code: PayRequestRefused["code"], message: string) => Result.fail(new PayRequestRefused({ code, message }))

/** The error for everything that does not exist, no longer exists, or must not be revealed. */
export const notFound = new PayRequestRefused({ code: "not_found", message: "There is no such Lightning address" })

const isHandle = Schema.is(HandleSchema)

/** Where a wallet asks about an address, at any host that answers for its domain. `user` is the part before the @, with its tag. */
export const pathOf = (domain: string, user: string): string => `/lnurlp/${domain}/${user}`

/** Reads where a wallet asked. At `ownDomain`, the service's, and only there, a path may name another one. */
export const targetOf = (place: Place, ownDomain: string): Result.Result<Target, PayRequestRefused> => {
  const [, name = "", port = ""] = /^(.*?)(:\d{1,5})?$/.exec(place.host) ?? []
  const [, handle = "", tag = null] = /^([^+]*)(?:\+([a-z0-9_.+-]+))?$/.exec(place.user.toLowerCase()) ?? []
  const target = Result.gen(function* () {
    const host = yield* normaliseDomain(name)
    const domain = place.domain === null ? host : yield* normaliseDomain(place.domain)
    return { host, handle, tag, domain, url: `${schemeOf(host)}://${host}${port}${pathOf(domain, userOf({ handle, tag }))}` }
  })
  if (Result.isFailure(target) || !isHandle(handle) || place.user.length > maxHandleLength) return Result.fail(notFound)
  const { host, ...found } = target.success
  return host === found.domain || host === ownDomain ? Result.succeed(found) : Result.fail(notFound)
}

/** The part before the @, as its payer wrote it. */
export const userOf = ({ handle, tag }: Pick<Target, "handle" | "tag">): string => (tag === null ? handle : `${handle}+${tag}`)

/** The address as its payer wrote it. */
export const identifier = (target: Target): string => `${userOf(target)}@${target.domain}`

/** What a payer is shown and the invoice commits to: the same text, to the byte, for the same address (LUD-06, LUD-16). */
export const metadataOf = (target: Target): string =>
  JSON.stringify([
    ["text/plain", `Pay to ${identifier(target)}`],
    ["text/identifier", identifier(target)],
    ...(target.tag === null ? [] : [["text/tag", target.tag]])
  ])

/** What one payment may be: the owner's limits, within the operator's. */
export const limitsOf = ({ minSendable, maxSendable }: LightningAddress, { minAmount, maxInvoice }: Bounds["Service"]) => {
  const [min, max] = [minSendable ?? minAmount, maxSendable ?? maxInvoice]
  return { minSendable: min < minAmount ? minAmount : min, maxSendable: max > maxInvoice ? maxInvoice : max }
}

/** Reads an amount in msat, in decimal digits, and holds it to the limits; to whole satoshis where the node knows nothing smaller. */
export const checkAmount = (
  text: string | null,
  { minSendable, maxSendable }: Pick<PayRequest, "minSendable" | "maxSendable">,
  isWhole = false
): Result.Result<Msat.Msat, PayRequestRefused> => {
  const amount = /^\d{1,18}$/.test(text ?? "") ? Msat.make(BigInt(text ?? "")) : undefined
  if (amount === undefined) return refuse("amount", "amount must be given, in whole millisatoshis: amount=21000 for 21 sats")
  if (isWhole && amount % 1000n !== 0n)
    return refuse("amount", `amount must be whole satoshis here, such as ${Msat.fromSats(Msat.toSatsCeiling(amount))}`)
  return amount < minSendable || amount > maxSendable
    ? refuse("amount", `amount must be from ${minSendable} to ${maxSendable} millisatoshis, this is ${amount}`)
    : Result.succeed(amount)
}

/** Reads a comment (LUD-12). The empty one is none. */
export const checkComment = (text: string | null, commentAllowed: number): Result.Result<string | null, PayRequestRefused> => {
  if (text === null || text === "") return Result.succeed(null)
  const characters = Characters.count(text)
  if (characters > commentAllowed) return refuse("comment", `comment may have ${commentAllowed} characters, this has ${characters}`)
  return isText(text) ? Result.succeed(text) : refuse("comment", "comment must be well-formed text without NUL characters")
}

const isObject = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** Reads payer data (LUD-18). It stays as received, unknown members too: the payer's wallet hashes it as well. */
export const checkPayerData = (text: string | null, maxBytes: number): Result.Result<string | null, PayRequestRefused> => {
  if (text === null || text === "") return Result.succeed(null)
  const bytes = new TextEncoder().encode(text).length
  if (bytes > maxBytes) return refuse("payer_data", `payerdata may have ${maxBytes} bytes, this has ${bytes}`)
  return isObject(text) && isText(text) ? Result.succeed(text) : refuse("payer_data", "payerdata must be a JSON object")
}

/** What the invoice's description hash is the hash of: the metadata and who pays (LUD-18), or a zap request alone (NIP-57). */
export const descriptionHash = ({ metadata, payerData, zapRequest }: Callback): string =>
  Id.toHex(sha256(new TextEncoder().encode(zapRequest ?? `${metadata}${payerData ?? ""}`)))
