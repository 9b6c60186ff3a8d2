import { bech32, hex } from "@scure/base"
import { Result, Schema } from "effect"
import * as Field from "./Bolt12Field.ts"
import * as Msat from "./Msat.ts"
import * as Network from "./Network.ts"

/**
 * An offer (BOLT 12). Anyone who has the offer can repeatedly request invoices from its issuer. An offer has no
 * checksum and no signature. Bytes and keys are hex.
 */
export interface Bolt12 {
  /** The offer as text, in lower case and without plus signs. */
  readonly offer: string
  /** The bitcoin networks on which the offer can be paid. Empty if the offer is only for another chain. */
  readonly networks: ReadonlyArray<Network.Network>
  /** The minimum amount for one item. Absent: the payer chooses it, or `price` is set. */
  readonly amount?: Msat.Msat
  /**
   * The minimum amount for one item in a currency's smallest unit. Only the issuer's invoice contains the
   * amount in msat.
   */
  readonly price?: { readonly currency: string; readonly amount: bigint }
  readonly description?: string
  /** The time after which invoices can't be requested, in seconds since 1970. Absent: the offer does not expire. */
  readonly absoluteExpirySeconds?: number
  /** The name that the issuer chose; not verified. */
  readonly issuer?: string
  /** The node to request invoices from. Absent if the node is reachable only over blinded paths. */
  readonly issuerId?: string
  /**
   * The first node of each blinded path (BOLT 4): its key, or nine bytes that identify a channel and one of its
   * ends.
   */
  readonly introductions: ReadonlyArray<string>
  /**
   * Maximum number of items per invoice; 0 means unlimited. Absent: there is one item, and a quantity must
   * not be given.
   */
  readonly quantityMax?: bigint
  /** Opaque bytes that the issuer receives in each invoice request. */
  readonly metadata?: string
  /** Every feature bit that is set, ascending. */
  readonly features: ReadonlyArray<number>
}

/** The text is not a usable offer. */
export class Bolt12Invalid extends Schema.TaggedError<Bolt12Invalid>()("Bolt12Invalid", {
  reason: Schema.Literals([
    "bech32",
    "prefix",
    "truncated",
    "field",
    "unknown_field",
    "unknown_feature",
    "amount",
    "currency",
    "description",
    "issuer"
  ]),
  message: Schema.String
}) {}

/**
 * Maximum length of an offer, including plus signs and spaces. A typical offer has about a hundred characters,
 * or a thousand with several blinded paths.
 */
export const maxLength = 4096

const prefix = "lno1"

/** The TLV types of an offer. */
const type = {
  chains: 2n,
  metadata: 4n,
  currency: 6n,
  amount: 8n,
  description: 10n,
  features: 12n,
  absoluteExpiry: 14n,
  paths: 16n,
  issuer: 18n,
  quantityMax: 20n,
  issuerId: 22n
} as const

const knownTypes: ReadonlySet<bigint> = new Set(Object.values(type))

/**
 * Fields outside these ranges belong to other messages. Copying them into a request would change its meaning.
 */
const isOffers = (one: bigint) =>
  (one >= 1n && one <= 79n) || (one >= 1_000_000_000n && one <= 1_999_999_999n)

const alphabet = new Map([..."qpzry9x8gf2tvdw0s3jn54khce6mua7l"].map((letter, word) => [letter, word]))

const refuse = (reason: Bolt12Invalid["reason"], message: string) =>
  Result.fail(new Bolt12Invalid({ reason, message }))

/** Returns whether a string begins like an offer, valid or not. */
export const isBolt12 = (text: string): boolean => /^l(?:\+\s*)?n(?:\+\s*)?o(?:\+\s*)?1/i.test(text)

/** Joins an offer's parts in lower case. A plus sign and spaces can separate any two characters. */
const joined = (text: string): Result.Result<string, Bolt12Invalid> => {
  if (text.length > maxLength) return refuse("bech32", `An offer must have at most ${maxLength} characters`)
  const pieces = text.split(/\+\s*/)
  if (!pieces.every((piece) => /^[0-9a-z]+$/i.test(piece)))
    return refuse("bech32", "The offer contains an invalid character, or is cut off")
  const whole = pieces.join("")
  const lower = whole.toLowerCase()
  if (whole !== lower && whole !== whole.toUpperCase())
    return refuse("bech32", "The offer mixes upper and lower case")
  return lower.startsWith(prefix)
    ? Result.succeed(lower)
    : refuse("prefix", `An offer must begin with ${prefix}`)
}

const bytesOf = (offer: string): Result.Result<Uint8Array, Bolt12Invalid> => {
  const words = Array.from(offer.slice(prefix.length), (letter) => alphabet.get(letter))
  const known = words.filter((word) => word !== undefined)
  const bytes = known.length === words.length ? bech32.fromWordsUnsafe(known) : undefined
  return bytes
    ? Result.succeed(bytes)
    : refuse("bech32", "The offer is malformed. Check for a typo or missing characters")
}

const networksOf = (chains: ReadonlyArray<string> | undefined): ReadonlyArray<Network.Network> =>
  chains === undefined
    ? ["mainnet"]
    : Network.all.filter((network) => chains.includes(Network.parameters[network].chainHash))

type Asked = Pick<Bolt12, "amount" | "price">

/** Returns the requested amount: in msat, in a currency, or none. */
const askedOf = (
  amount: bigint | undefined,
  currency: string | undefined
): Result.Result<Asked, Bolt12Invalid> => {
  if (amount === undefined) {
    return currency === undefined
      ? Result.succeed({})
      : refuse("currency", "The offer specifies a currency but no amount")
  }
  if (amount === 0n) return refuse("amount", "The offer's amount must be greater than 0")
  if (currency !== undefined) {
    return /^[A-Z]{3}$/.test(currency)
      ? Result.succeed({ price: { currency, amount } })
      : refuse("currency", "The offer's currency must be an ISO 4217 code of three capital letters")
  }
  return amount > Msat.max
    ? refuse("amount", "The offer's amount exceeds the supply of bitcoin")
    : Result.succeed({ amount: Msat.make(amount) })
}

/**
 * Decodes an offer in upper or lower case, in one part or several, and validates everything except its expiry
 * and the network (BOLT 12, "A reader of an offer").
 */
export const decode = (text: string): Result.Result<Bolt12, Bolt12Invalid> =>
  Result.gen(function* () {
    const offer = yield* joined(text)
    const fields = Field.read(yield* bytesOf(offer))
    if (fields === undefined)
      return yield* refuse(
        "truncated",
        "The offer ends in the middle of a field, or its fields are out of order"
      )
    const unknown = fields.find(
      (field) => !isOffers(field.type) || (field.type % 2n === 0n && !knownTypes.has(field.type))
    )
    if (unknown !== undefined)
      return yield* refuse(
        "unknown_field",
        `The offer contains field ${unknown.type}, which this service does not support`
      )

    const data = (name: keyof typeof type) => fields.find((field) => field.type === type[name])?.data
    const optional = <A>(
      name: keyof typeof type,
      read: (data: Uint8Array) => A | undefined
    ): Result.Result<A | undefined, Bolt12Invalid> => {
      const bytes = data(name)
      const value = bytes && read(bytes)
      return bytes !== undefined && value === undefined
        ? refuse("field", `The offer's field ${type[name]} is malformed`)
        : Result.succeed(value)
    }
    const networks = networksOf(yield* optional("chains", Field.toChains))
    const metadata = yield* optional("metadata", hex.encode)
    const currency = yield* optional("currency", Field.toText)
    const asked = yield* askedOf(yield* optional("amount", Field.toInteger), currency)
    const description = yield* optional("description", Field.toText)
    const features = (yield* optional("features", Field.toFeatures)) ?? []
    const absoluteExpiry = yield* optional("absoluteExpiry", Field.toInteger)
    const introductions = (yield* optional("paths", Field.toIntroductions)) ?? []
    const issuer = yield* optional("issuer", Field.toText)
    const quantityMax = yield* optional("quantityMax", Field.toInteger)
    const issuerId = yield* optional("issuerId", Field.toPoint)

    // No offer features are defined yet, so every feature is unknown. Offers with an even (required) feature
    // are rejected, and odd features are ignored.
    const demanded = features.find((bit) => bit % 2 === 0)
    if (demanded !== undefined)
      return yield* refuse(
        "unknown_feature",
        `The offer requires feature ${demanded}, which this service does not support`
      )
    if (data("amount") !== undefined && description === undefined) {
      return yield* refuse("description", "The offer specifies an amount but no description")
    }
    if (issuerId === undefined && introductions.length === 0)
      return yield* refuse("issuer", "The offer has neither an issuer id nor a blinded path")
    return {
      offer,
      networks,
      ...asked,
      ...(description !== undefined && { description }),
      ...(absoluteExpiry !== undefined && { absoluteExpirySeconds: Number(absoluteExpiry) }),
      ...(issuer !== undefined && { issuer }),
      ...(issuerId !== undefined && { issuerId }),
      introductions,
      ...(quantityMax !== undefined && { quantityMax }),
      ...(metadata !== undefined && { metadata }),
      features
    }
  })

/** The contents of a new offer. */
export interface Draft extends Omit<Bolt12, "offer" | "introductions" | "features" | "issuerId"> {
  readonly issuerId: string
  readonly features?: ReadonlyArray<number>
}

/** Encodes an offer, and rejects an invalid one. */
export const encode = (draft: Draft): Result.Result<string, Bolt12Invalid> => {
  const text = (value: string | undefined) => (value === undefined ? undefined : Field.fromText(value))
  const integer = (value: bigint | undefined) => (value === undefined ? undefined : Field.fromInteger(value))
  const { networks, price, absoluteExpirySeconds, features = [] } = draft
  const isMainnet = networks.length === 1 && networks[0] === "mainnet"
  const fields: ReadonlyArray<readonly [type: bigint, data: Uint8Array | undefined]> = [
    [
      type.chains,
      isMainnet
        ? undefined
        : hex.decode(networks.map((network) => Network.parameters[network].chainHash).join(""))
    ],
    [type.metadata, draft.metadata === undefined ? undefined : hex.decode(draft.metadata)],
    [type.currency, text(price?.currency)],
    [type.amount, integer(draft.amount ?? price?.amount)],
    [type.description, text(draft.description)],
    [type.features, features.length === 0 ? undefined : Field.fromFeatures(features)],
    [
      type.absoluteExpiry,
      integer(absoluteExpirySeconds === undefined ? undefined : BigInt(absoluteExpirySeconds))
    ],
    [type.issuer, text(draft.issuer)],
    [type.quantityMax, integer(draft.quantityMax)],
    [type.issuerId, hex.decode(draft.issuerId)]
  ]
  const written = fields.flatMap(([one, data]) => (data === undefined ? [] : [{ type: one, data }]))
  const letters = [...alphabet.keys()]
  const offer =
    prefix +
    bech32
      .toWords(Field.write(written))
      .map((word) => letters[word])
      .join("")
  return Result.map(decode(offer), () => offer)
}
