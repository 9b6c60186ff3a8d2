import { sha256 } from "@satrail/bitcoin/Sha256"
import {
  HandleSchema,
  maxHandleLength,
  normaliseDomain,
  schemeOf
} from "@satrail/bitcoin/LightningAddressText"
import * as Msat from "@satrail/bitcoin/Msat"
import { Result, Schema } from "effect"
import { type Installation, originOf } from "../accounts/Installation.ts"
import type { Bounds } from "../accounts/Bounds.ts"
import * as Characters from "../base/Characters.ts"
import { isText } from "../base/Metadata.ts"
import type { Callback } from "./Invoice.ts"
import type { LightningAddress } from "./LightningAddress.ts"

/** The target of a wallet's request: the `Host` header, and the parts of the path. */
export interface Place {
  readonly host: string
  /** The domain in the path; null if the host is the domain. */
  readonly domain: string | null
  /** The part before the @, including its tag (LUD-16). */
  readonly user: string
}

/** The service's domain, and the host of its links. */
type Own = Pick<Installation["Service"], "domain" | "linkHost">

/** The requested Lightning address, and the prefix of all its URLs. */
export interface Target {
  readonly handle: string
  readonly tag: string | null
  readonly domain: string
  readonly url: string
}

/**
 * The response to a wallet at a Lightning address (LUD-06, step 3). Amounts are what the payee receives, in
 * msat.
 */
export interface PayRequest {
  readonly callback: string
  readonly minSendable: Msat.Msat
  readonly maxSendable: Msat.Msat
  /** Must be sent unchanged, byte for byte, because its hash is part of the invoice. */
  readonly metadata: string
  readonly commentAllowed: number
  /** Public key that signs public receipts (NIP-57). */
  readonly nostrPubkey: string | null
}

/** The wallet's request is rejected. `message` is for its user and states the error and the correct value. */
export class PayRequestRefused extends Schema.TaggedError<PayRequestRefused>()("PayRequestRefused", {
  code: Schema.Literals(["not_found", "amount", "comment", "payer_data", "zap", "too_many", "stopped"]),
  message: Schema.String
}) {}

/** Payer data that a wallet may send. Every field is optional, and none is verified (LUD-18). */
export const payerDataFields = ["name", "identifier", "email"] as const

const refuse = (code: PayRequestRefused["code"], message: string) =>
  Result.fail(new PayRequestRefused({ code, message }))

/** The error for an address that does not exist, was deleted, or must not be revealed. */
export const notFound = new PayRequestRefused({ code: "not_found", message: "No such Lightning address" })

const isHandle = Schema.is(HandleSchema)

/**
 * Returns the path of an address at any host that serves its domain. `user` is the part before the @,
 * including its tag.
 */
export const pathOf = (domain: string, user: string): string => `/lnurlp/${domain}/${user}`

/**
 * Returns the service's domain for a request to its link host. A link host such as `localhost:3000` is not a
 * domain.
 */
const atLinkHost = (host: string, { domain, linkHost = domain }: Own) =>
  host === linkHost.replace(/\/.*/, "")
    ? Result.succeed({ host: domain, prefix: originOf(linkHost) })
    : Result.fail(notFound)

/** Parses the target of a request. The path may name another domain only in requests to the service's own domain. */
export const targetOf = (place: Place, own: Own): Result.Result<Target, PayRequestRefused> => {
  const [, name = "", port = ""] = /^(.*?)(:\d{1,5})?$/.exec(place.host) ?? []
  const [, handle = "", tag = null] =
    /^([^+]*)(?:\+([a-z0-9_.+-]+))?$/.exec(Characters.lowerAscii(place.user)) ?? []
  const target = Result.gen(function* () {
    const { host, prefix } = yield* Result.match(normaliseDomain(name), {
      onSuccess: (host) => Result.succeed({ host, prefix: `${schemeOf(host)}://${host}${port}` }),
      onFailure: () => atLinkHost(place.host, own)
    })
    const domain = place.domain === null ? host : yield* normaliseDomain(place.domain)
    return { host, handle, tag, domain, url: `${prefix}${pathOf(domain, userOf({ handle, tag }))}` }
  })
  if (Result.isFailure(target) || !isHandle(handle) || place.user.length > maxHandleLength)
    return Result.fail(notFound)
  const { host, ...found } = target.success
  return host === found.domain || host === own.domain ? Result.succeed(found) : Result.fail(notFound)
}

/** Returns the part before the @ as the payer wrote it. */
export const userOf = ({ handle, tag }: Pick<Target, "handle" | "tag">): string =>
  tag === null ? handle : `${handle}+${tag}`

/** Returns the address as the payer wrote it. */
export const identifier = (target: Target): string => `${userOf(target)}@${target.domain}`

/**
 * Returns the metadata shown to payers, to which the invoice commits. The text is always the same, byte for
 * byte, for the same address (LUD-06, LUD-16).
 */
export const metadataOf = (target: Target): string =>
  JSON.stringify([
    ["text/plain", `Pay to ${identifier(target)}`],
    ["text/identifier", identifier(target)],
    ...(target.tag === null ? [] : [["text/tag", target.tag]])
  ])

/** Returns the limits of one payment: the owner's limits, clamped to the operator's. */
export const limitsOf = (
  { minSendable, maxSendable }: LightningAddress,
  { minAmount, maxInvoice }: Bounds["Service"]
) => {
  const [min, max] = [minSendable ?? minAmount, maxSendable ?? maxInvoice]
  return { minSendable: min < minAmount ? minAmount : min, maxSendable: max > maxInvoice ? maxInvoice : max }
}

/**
 * Parses an amount in msat in decimal digits, and checks it against the limits. The amount must be whole
 * satoshis if the node supports nothing smaller.
 */
export const checkAmount = (
  text: string | null,
  { minSendable, maxSendable }: Pick<PayRequest, "minSendable" | "maxSendable">,
  isWhole = false
): Result.Result<Msat.Msat, PayRequestRefused> => {
  const amount = /^\d{1,18}$/.test(text ?? "") ? Msat.make(BigInt(text ?? "")) : undefined
  if (amount === undefined)
    return refuse("amount", "amount is required in whole millisatoshis, such as amount=21000 for 21 sats")
  if (isWhole && amount % 1000n !== 0n)
    return refuse(
      "amount",
      `amount must be whole satoshis, such as ${Msat.fromSats(Msat.toSatsCeiling(amount))}`
    )
  return amount < minSendable || amount > maxSendable
    ? refuse(
        "amount",
        `amount must be between ${minSendable} and ${maxSendable} millisatoshis (got ${amount})`
      )
    : Result.succeed(amount)
}

/** Parses a comment (LUD-12). An empty comment counts as none. */
export const checkComment = (
  text: string | null,
  commentAllowed: number
): Result.Result<string | null, PayRequestRefused> => {
  if (text === null || text === "") return Result.succeed(null)
  const characters = Characters.count(text)
  if (characters > commentAllowed)
    return refuse("comment", `comment must have at most ${commentAllowed} characters (got ${characters})`)
  return isText(text)
    ? Result.succeed(text)
    : refuse("comment", "comment must be well-formed text without NUL characters")
}

const isObject = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/**
 * Validates payer data (LUD-18). The text stays exactly as received, including unknown fields, because the
 * payer's wallet hashes it too.
 */
export const checkPayerData = (
  text: string | null,
  maxBytes: number
): Result.Result<string | null, PayRequestRefused> => {
  if (text === null || text === "") return Result.succeed(null)
  const bytes = new TextEncoder().encode(text).length
  if (bytes > maxBytes)
    return refuse("payer_data", `payerdata must have at most ${maxBytes} bytes (got ${bytes})`)
  return isObject(text) && isText(text)
    ? Result.succeed(text)
    : refuse("payer_data", "payerdata must be a JSON object")
}

/**
 * Returns the invoice's description hash: of the metadata and payer data (LUD-18), or of the zap request
 * alone (NIP-57).
 */
export const descriptionHash = ({ metadata, payerData, zapRequest }: Callback): string =>
  sha256.hex(zapRequest ?? `${metadata}${payerData ?? ""}`)
