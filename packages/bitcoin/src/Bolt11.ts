import { sha256 } from "@noble/hashes/sha2.js"
import { bech32, hex } from "@scure/base"
import { Result, Schema } from "effect"
import type { BitcoinAddress } from "./BitcoinAddress.ts"
import type { Hop } from "./Bolt11Field.ts"
import * as Field from "./Bolt11Field.ts"
import { curve } from "./Curve.ts"
import * as Msat from "./Msat.ts"
import * as Network from "./Network.ts"
import * as PaymentHash from "./PaymentHash.ts"

export type { Hop } from "./Bolt11Field.ts"

/** An invoice (BOLT 11) with a verified signature. Hashes, secrets and keys are hex. */
export interface Bolt11 {
  /** The invoice as text, in lower case. */
  readonly paymentRequest: string
  readonly network: Network.Network
  /** The requested amount without routing fees. Absent: the payer chooses it. */
  readonly amount?: Msat.Msat
  readonly timestampSeconds: number
  readonly expirySeconds: number
  readonly paymentHash: PaymentHash.PaymentHash
  readonly paymentSecret: string
  /** The public key of the node that signed the invoice. */
  readonly payee: string
  /** Either this or `descriptionHash` is set. The hash is the SHA-256 of a description given elsewhere. */
  readonly description?: string
  readonly descriptionHash?: string
  readonly minFinalCltvExpiry: number
  readonly routes: ReadonlyArray<ReadonlyArray<Hop>>
  readonly fallbacks: ReadonlyArray<BitcoinAddress>
  /** Opaque bytes that the payer returns with the payment. */
  readonly metadata?: string
  /** Every feature bit that is set, ascending. */
  readonly features: ReadonlyArray<number>
}

/** The text is not a payable invoice. */
export class Bolt11Invalid extends Schema.TaggedError<Bolt11Invalid>()("Bolt11Invalid", {
  reason: Schema.Literals([
    "bech32",
    "prefix",
    "amount",
    "truncated",
    "field",
    "payment_hash",
    "payment_secret",
    "description",
    "unknown_feature",
    "signature"
  ]),
  message: Schema.String
}) {}

/** Default lifetime of an invoice. */
export const defaultExpirySeconds = 3600

/** Default CLTV delta of the last hop, in blocks. */
export const defaultMinFinalCltvExpiry = 18

/** Maximum size of a description in UTF-8 bytes. It must fit into 1023 words of 5 bits. */
export const maxDescriptionBytes = 639

/**
 * The mandatory features that payers support: var_onion_optin, payment_secret, basic_mpp,
 * option_payment_metadata (BOLT 9).
 */
export const knownMandatoryFeatures: ReadonlySet<number> = new Set([8, 14, 16, 48])

/** The mandatory feature of invoices that are paid over blinded paths (bLIP 39). */
const blindedPathsFeature = 262

const timestampWords = 7
const signatureWords = 104

/** The multipliers in tenths of a millisatoshi (a pico-bitcoin), largest first. */
const multipliers: ReadonlyArray<readonly [letter: string, tenths: bigint]> = [
  ["", 10n ** 12n],
  ["m", 10n ** 9n],
  ["u", 10n ** 6n],
  ["n", 10n ** 3n],
  ["p", 1n]
]

/** Number of digits of the total supply in pico-bitcoin. Longer text is not parsed as a number. */
const maxAmountDigits = 20

const refuse = (reason: Bolt11Invalid["reason"], message: string) =>
  Result.fail(new Bolt11Invalid({ reason, message }))

/** 9999-01-01. A field of 50 bits can hold an expiry that no date can represent in milliseconds. */
const latestExpirySeconds = 253_370_764_800

/** Returns the time, in seconds, at which the invoice expires, or the year 9999 if that is earlier. */
export const expiresAtSeconds = (invoice: Pick<Bolt11, "timestampSeconds" | "expirySeconds">): number =>
  Math.min(invoice.timestampSeconds + invoice.expirySeconds, latestExpirySeconds)

const parsePrefix = (prefix: string): Result.Result<Pick<Bolt11, "network" | "amount">, Bolt11Invalid> => {
  const [, beginning, rest = ""] = /^(ln[a-z]+)(.*)$/.exec(prefix) ?? []
  const network = Network.all.find((one) => Network.parameters[one].invoicePrefix === beginning)
  if (network === undefined)
    return refuse("prefix", `The invoice prefix "${prefix.slice(0, 12)}" does not belong to a known network`)
  if (rest === "") return Result.succeed({ network })
  const [, digits, letter] = /^([1-9]\d*)([munp]?)$/.exec(rest) ?? []
  const [, unit] = multipliers.find(([one]) => one === letter) ?? []
  if (digits === undefined || unit === undefined) {
    return refuse(
      "amount",
      `The invoice's amount "${rest.slice(0, 24)}" must be a whole number with an optional multiplier m, u, n or p`
    )
  }
  const tenths = digits.length > maxAmountDigits ? undefined : BigInt(digits) * unit
  if (tenths === undefined || tenths / 10n > Network.parameters[network].supplyMsat) {
    return refuse("amount", "The invoice's amount exceeds the supply of bitcoin")
  }
  return tenths % 10n === 0n
    ? Result.succeed({ network, amount: Msat.make(tenths / 10n) })
    : refuse("amount", "The invoice's amount is not a whole number of millisatoshis")
}

const formatPrefix = ({ network, amount }: Pick<Bolt11, "network" | "amount">): string => {
  const { invoicePrefix } = Network.parameters[network]
  if (amount === undefined) return invoicePrefix
  const tenths = amount * 10n
  const [letter, unit] = multipliers.find(([, one]) => tenths % one === 0n) ?? ["p", 1n]
  return `${invoicePrefix}${tenths / unit}${letter}`
}

const hashOf = (prefix: string, words: Field.Words): Uint8Array =>
  sha256.create().update(new TextEncoder().encode(prefix)).update(Field.toSignedBytes(words)).digest()

/** Returns the first field of each type that a reader must not skip, and every route and fallback. */
const readFields = (words: Field.Words) => {
  const first = new Map<number, Field.Words>()
  const routes: Array<Field.Words> = []
  const fallbacks: Array<Field.Words> = []
  for (let at = 0; at < words.length;) {
    const [type = 0, high = 0, low] = words.slice(at, at + 3)
    const end = at + 3 + high * 32 + (low ?? 0)
    if (low === undefined || end > words.length)
      return refuse("truncated", "The invoice ends in the middle of a field")
    const data = words.slice(at + 3, end)
    at = end
    if (type === Field.type.r) routes.push(data)
    else if (type === Field.type.f) fallbacks.push(data)
    else if (!first.has(type) && data.length === (Field.fixedWords.get(type) ?? data.length))
      first.set(type, data)
  }
  return Result.succeed({ first, routes, fallbacks })
}

/**
 * Returns the key of the node that signed. If the invoice declares a node, that node must have signed with a
 * low S value. Otherwise the key is recovered from the signature, and S may be high or low (BOLT 11,
 * requirements of a reader).
 */
const payeeOf = (
  signature: Uint8Array,
  hash: Uint8Array,
  declared: Uint8Array | undefined
): string | undefined => {
  const [compact, recoveryId] = [signature.subarray(0, 64), signature[64]]
  if (recoveryId !== 0 && recoveryId !== 1 && recoveryId !== 2 && recoveryId !== 3) return undefined
  try {
    const payee = declared ?? curve.recover(hash, compact, recoveryId)
    if (declared !== undefined && !curve.verify(hash, declared, compact)) return undefined
    return hex.encode(payee)
  } catch {
    // The curve throws on invalid keys and on numbers beyond its order.
    return undefined
  }
}

/** Decodes an invoice in upper or lower case and validates everything except its expiry. */
export const decode = (text: string): Result.Result<Bolt11, Bolt11Invalid> =>
  Result.gen(function* () {
    const decoded = bech32.decodeUnsafe(text, false)
    if (!decoded)
      return yield* refuse(
        "bech32",
        "The invoice's checksum is wrong. Check for a typo or missing characters"
      )
    const { prefix, words } = decoded
    const { network, amount } = yield* parsePrefix(prefix)
    if (words.length < timestampWords + signatureWords)
      return yield* refuse("truncated", "The invoice is too short to be signed")
    const signed = words.slice(0, -signatureWords)
    const { first, routes, fallbacks } = yield* readFields(signed.slice(timestampWords))

    const optional = <A>(
      letter: keyof typeof Field.type,
      read: (words: Field.Words) => A | undefined
    ): Result.Result<A | undefined, Bolt11Invalid> => {
      const data = first.get(Field.type[letter])
      const value = data && read(data)
      return data !== undefined && value === undefined
        ? refuse("field", `The invoice's field "${letter}" is malformed`)
        : Result.succeed(value)
    }
    const hash = (letter: "p" | "s" | "h") =>
      Result.map(optional(letter, Field.toBytes), (bytes) => bytes && hex.encode(bytes))

    const paymentHash = yield* hash("p")
    if (paymentHash === undefined) return yield* refuse("payment_hash", "The invoice has no payment hash")
    // Check the features first: an invoice over blinded paths has no payment secret.
    const features = (yield* optional("9", Field.toFeatures)) ?? []
    const unknown = features.find((bit) => bit % 2 === 0 && !knownMandatoryFeatures.has(bit))
    if (unknown !== undefined) {
      const what = unknown === blindedPathsFeature ? "blinded paths" : `feature ${unknown}`
      return yield* refuse(
        "unknown_feature",
        `The invoice requires ${what}, which this service does not support`
      )
    }
    const paymentSecret = yield* hash("s")
    if (paymentSecret === undefined)
      return yield* refuse(
        "payment_secret",
        "The invoice has no payment secret, so it cannot be paid safely. Get an invoice from a newer wallet"
      )
    const description = yield* optional("d", Field.toText)
    const descriptionHash = yield* hash("h")
    if ((description === undefined) === (descriptionHash === undefined)) {
      return yield* refuse("description", "The invoice must have either a description or the hash of one")
    }
    const metadata = yield* optional("m", Field.toBytes)
    const expirySeconds = yield* optional("x", Field.toNumber)
    const minFinalCltvExpiry = yield* optional("c", Field.toNumber)
    const hops = routes.map(Field.toRoute).filter((route) => route !== undefined)
    if (hops.length < routes.length) return yield* refuse("field", `The invoice's field "r" is malformed`)
    const addresses = fallbacks
      .map((data) => Field.toFallback(data, network))
      .filter((address) => address !== undefined)
    if (addresses.length < fallbacks.length)
      return yield* refuse("field", `The invoice's field "f" is malformed`)

    const signature = Field.toBytes(words.slice(-signatureWords))
    const payee = signature && payeeOf(signature, hashOf(prefix, signed), yield* optional("n", Field.toBytes))
    if (payee === undefined)
      return yield* refuse("signature", "The invoice's signature does not match its payee")

    return {
      paymentRequest: text.toLowerCase(),
      network,
      ...(amount !== undefined && { amount }),
      timestampSeconds: signed.slice(0, timestampWords).reduce((seconds, word) => seconds * 32 + word, 0),
      expirySeconds: expirySeconds ?? defaultExpirySeconds,
      paymentHash: PaymentHash.make(paymentHash),
      paymentSecret,
      payee,
      ...(description !== undefined && { description }),
      ...(descriptionHash !== undefined && { descriptionHash }),
      minFinalCltvExpiry: minFinalCltvExpiry ?? defaultMinFinalCltvExpiry,
      routes: hops,
      fallbacks: addresses.filter((address) => address !== "unknown"),
      ...(metadata !== undefined && { metadata: hex.encode(metadata) }),
      features
    }
  })

/** Signs a 32-byte hash as the payee. Returns 64 bytes of r and s, then one byte of recovery id. */
export type Signer = (hash: Uint8Array) => Uint8Array

/**
 * Returns a signer that keeps a 32-byte private key in memory. Its signatures are deterministic (RFC 6979) and
 * low-S.
 */
export const signWith =
  (privateKey: Uint8Array): Signer =>
  (hash) =>
    curve.sign(hash, privateKey)

/** The contents of a new invoice. By default it requires a payment secret and allows multi-part payments. */
export interface Draft
  extends
    Pick<
      Bolt11,
      | "network"
      | "amount"
      | "timestampSeconds"
      | "paymentHash"
      | "paymentSecret"
      | "description"
      | "descriptionHash"
      | "metadata"
    >,
    Partial<Pick<Bolt11, "expirySeconds" | "minFinalCltvExpiry" | "routes" | "fallbacks" | "features">> {
  /** Declares the signing node's key in the invoice. Otherwise readers recover it from the signature. */
  readonly payee?: string
}

/** Requires var_onion_optin and payment_secret, and supports basic_mpp. */
export const defaultFeatures: ReadonlyArray<number> = [8, 14, 17]

const isHash = (text: string) => /^[0-9a-f]{64}$/.test(text)
const fits = (value: number, bits: number) => Number.isInteger(value) && value >= 0 && value < 2 ** bits

const isHop = (hop: Hop) => {
  const [block, transaction, output] =
    /^(\d+)x(\d+)x(\d+)$/.exec(hop.shortChannelId)?.slice(1).map(Number) ?? []
  return (
    fits(block ?? -1, 24) &&
    fits(transaction ?? -1, 24) &&
    fits(output ?? -1, 16) &&
    /^0[23][0-9a-f]{64}$/.test(hop.pubkey) &&
    fits(Number(hop.feeBaseMsat), 32) &&
    fits(hop.feeProportionalMillionths, 32) &&
    fits(hop.cltvExpiryDelta, 16)
  )
}

const problem = (draft: Draft): [reason: Bolt11Invalid["reason"], message: string] | undefined => {
  if (
    draft.amount !== undefined &&
    (draft.amount <= 0n || draft.amount > Network.parameters[draft.network].supplyMsat)
  ) {
    return ["amount", "An invoice amount must be positive and at most 21 million bitcoin"]
  }
  if (!isHash(draft.paymentHash)) return ["payment_hash", "A payment hash must have 32 bytes in hex"]
  if (!isHash(draft.paymentSecret)) return ["payment_secret", "A payment secret must have 32 bytes in hex"]
  if (
    (draft.description === undefined) === (draft.descriptionHash === undefined) ||
    (draft.descriptionHash !== undefined && !isHash(draft.descriptionHash))
  ) {
    return ["description", "An invoice must have either a description or the hash of one, 32 bytes in hex"]
  }
  if (
    !fits(draft.timestampSeconds, 35) ||
    !fits(draft.expirySeconds ?? 0, 50) ||
    !fits(draft.minFinalCltvExpiry ?? 0, 50)
  ) {
    return ["field", "A time or a delay is out of range"]
  }
  return draft.routes?.every((route) => route.length > 0 && route.every(isHop)) === false
    ? ["field", "A route is empty, or a hop is out of range"]
    : undefined
}

/** Encodes and signs an invoice. Values that don't fit are rejected, never truncated. */
export const encode = (draft: Draft, sign: Signer): Result.Result<string, Bolt11Invalid> => {
  const invalid = problem(draft)
  if (invalid !== undefined) return refuse(...invalid)
  const bytes = (text: string) => Field.fromBytes(hex.decode(text))
  const {
    description,
    descriptionHash,
    payee,
    expirySeconds,
    metadata,
    minFinalCltvExpiry = defaultMinFinalCltvExpiry
  } = draft
  const features = Field.fromFeatures(draft.features ?? defaultFeatures)
  const fields: ReadonlyArray<readonly [letter: keyof typeof Field.type, data: Field.Words | undefined]> = [
    ["p", bytes(draft.paymentHash)],
    ["s", bytes(draft.paymentSecret)],
    ["d", description === undefined ? undefined : Field.fromBytes(new TextEncoder().encode(description))],
    ["h", descriptionHash === undefined ? undefined : bytes(descriptionHash)],
    ["n", payee === undefined ? undefined : bytes(payee)],
    ["x", expirySeconds === undefined ? undefined : Field.fromNumber(expirySeconds)],
    ["c", Field.fromNumber(minFinalCltvExpiry)],
    ...(draft.routes ?? []).map((route) => ["r", Field.fromRoute(route)] as const),
    ...(draft.fallbacks ?? []).map((address) => ["f", Field.fromFallback(address)] as const),
    ["m", metadata === undefined ? undefined : bytes(metadata)],
    ["9", features.length === 0 ? undefined : features]
  ]
  const words = [...Field.fromNumber(draft.timestampSeconds, timestampWords)]
  for (const [letter, data] of fields) {
    if (data === undefined) continue
    if (data.length > Field.maxWords) {
      return refuse(
        letter === "d" ? "description" : "field",
        letter === "d"
          ? `A description must have at most ${maxDescriptionBytes} bytes of UTF-8`
          : `The field "${letter}" is too long`
      )
    }
    words.push(Field.type[letter], data.length >> 5, data.length & 31, ...data)
  }
  const prefix = formatPrefix(draft)
  return Result.succeed(
    bech32.encode(prefix, [...words, ...Field.fromBytes(sign(hashOf(prefix, words)))], false)
  )
}
