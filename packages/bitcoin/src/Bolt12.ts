import { bech32, hex } from "@scure/base"
import { Result, Schema } from "effect"
import * as Field from "./Bolt12Field.ts"
import * as Msat from "./Msat.ts"
import * as Network from "./Network.ts"

/** An offer (BOLT 12): who holds it can ask its issuer for an invoice, again and again. It has no checksum and no signature. Bytes and keys are hex. */
export interface Bolt12 {
  /** In lower case and in one piece. */
  readonly offer: string
  /** Those of bitcoin's networks on which it can be paid. None, where it is another chain's only. */
  readonly networks: ReadonlyArray<Network.Network>
  /** The least that its issuer takes for one item. Absent: the payer decides, or `price` says. */
  readonly amount?: Msat.Msat
  /** The same in a currency, in its smallest unit: how many msat that is, only the issuer's invoice says. */
  readonly price?: { readonly currency: string; readonly amount: bigint }
  readonly description?: string
  /** No invoice is to be asked for after this second. Absent: it does not expire. */
  readonly absoluteExpirySeconds?: number
  /** Who the issuer says to be. Nobody checked it. */
  readonly issuer?: string
  /** The node to ask. Absent where only blinded paths lead there. */
  readonly issuerId?: string
  /** Where its blinded paths begin (BOLT 4): a node's key, or nine bytes of a channel and the side of it that is meant. */
  readonly introductions: ReadonlyArray<string>
  /** The most items of one invoice; 0 where it does not say. Absent: there is one item, and a quantity must not be given. */
  readonly quantityMax?: bigint
  /** Opaque bytes that the issuer reads again in each request for an invoice. */
  readonly metadata?: string
  /** Every feature bit that is set, ascending. */
  readonly features: ReadonlyArray<number>
}

/** The text is no offer that may be answered. */
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

/** The most characters an offer may have, pluses and spaces included. Real ones have a hundred, with several blinded paths a thousand. */
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

/** Fields outside of these belong to other messages: who copied them into a request would say something else with it. */
const isOffers = (one: bigint) => (one >= 1n && one <= 79n) || (one >= 1_000_000_000n && one <= 1_999_999_999n)

const alphabet = new Map([..."qpzry9x8gf2tvdw0s3jn54khce6mua7l"].map((letter, word) => [letter, word]))

const refuse = (reason: Bolt12Invalid["reason"], message: string) => Result.fail(new Bolt12Invalid({ reason, message }))

/** Whether a text begins like an offer, good or bad. */
export const isBolt12 = (text: string): boolean => /^l(?:\+\s*)?n(?:\+\s*)?o(?:\+\s*)?1/i.test(text)

/** In lower case and in one piece: a plus and the spaces after it may be between any two characters. */
const joined = (text: string): Result.Result<string, Bolt12Invalid> => {
  if (text.length > maxLength) return refuse("bech32", `An offer has at most ${maxLength} characters`)
  const pieces = text.split(/\+\s*/)
  if (!pieces.every((piece) => /^[0-9a-z]+$/i.test(piece)))
    return refuse("bech32", "The offer contains a character that no offer has, or is cut off")
  const whole = pieces.join("")
  const lower = whole.toLowerCase()
  if (whole !== lower && whole !== whole.toUpperCase()) return refuse("bech32", "The offer mixes upper and lower case")
  return lower.startsWith(prefix) ? Result.succeed(lower) : refuse("prefix", `An offer begins with ${prefix}`)
}

const bytesOf = (offer: string): Result.Result<Uint8Array, Bolt12Invalid> => {
  const words = Array.from(offer.slice(prefix.length), (letter) => alphabet.get(letter))
  const known = words.filter((word) => word !== undefined)
  const bytes = known.length === words.length ? bech32.fromWordsUnsafe(known) : undefined
  return bytes ? Result.succeed(bytes) : refuse("bech32", "The offer has a typing error, or is cut off")
}

const networksOf = (chains: ReadonlyArray<string> | undefined): ReadonlyArray<Network.Network> =>
  chains === undefined ? ["mainnet"] : Network.all.filter((network) => chains.includes(Network.parameters[network].chainHash))

type Asked = Pick<Bolt12, "amount" | "price">

/** What it asks for: in msat, in a currency, or nothing. */
const askedOf = (amount: bigint | undefined, currency: string | undefined): Result.Result<Asked, Bolt12Invalid> => {
  if (amount === undefined) {
    return currency === undefined ? Result.succeed({}) : refuse("currency", "The offer names a currency and no amount")
  }
  if (amount === 0n) return refuse("amount", "The offer asks for nothing")
  if (currency !== undefined) {
    return /^[A-Z]{3}$/.test(currency)
      ? Result.succeed({ price: { currency, amount } })
      : refuse("currency", "The offer's currency is no code of three capital letters (ISO 4217)")
  }
  return amount > Msat.max
    ? refuse("amount", "The offer asks for more than all bitcoin there can be")
    : Result.succeed({ amount: Msat.make(amount) })
}

/** Reads an offer in upper or lower case, in one piece or several, and checks everything about it but the clock and the network (BOLT 12, "A reader of an offer"). */
export const decode = (text: string): Result.Result<Bolt12, Bolt12Invalid> =>
  Result.gen(function* () {
    const offer = yield* joined(text)
    const fields = Field.read(yield* bytesOf(offer))
    if (fields === undefined) return yield* refuse("truncated", "The offer ends in the middle of a field, or its fields are out of order")
    const unknown = fields.find((field) => !isOffers(field.type) || (field.type % 2n === 0n && !knownTypes.has(field.type)))
    if (unknown !== undefined) return yield* refuse("unknown_field", `The offer has a field ${unknown.type}, which is not known here`)

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

    // No feature of offers is defined so far: an even one is demanded, an odd one may be ignored.
    const demanded = features.find((bit) => bit % 2 === 0)
    if (demanded !== undefined) return yield* refuse("unknown_feature", `The offer demands feature ${demanded}, which is not known here`)
    if (data("amount") !== undefined && description === undefined) {
      return yield* refuse("description", "The offer asks for an amount and does not say what for")
    }
    if (issuerId === undefined && introductions.length === 0)
      return yield* refuse("issuer", "The offer does not say whom to ask for an invoice")
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

/** What to put into an offer. */
export interface Draft extends Omit<Bolt12, "offer" | "introductions" | "features" | "issuerId"> {
  readonly issuerId: string
  readonly features?: ReadonlyArray<number>
}

/** Writes an offer, and refuses one that nobody could read. */
export const encode = (draft: Draft): Result.Result<string, Bolt12Invalid> => {
  const text = (value: string | undefined) => (value === undefined ? undefined : Field.fromText(value))
  const integer = (value: bigint | undefined) => (value === undefined ? undefined : Field.fromInteger(value))
  const { networks, price, absoluteExpirySeconds, features = [] } = draft
  const isMainnet = networks.length === 1 && networks[0] === "mainnet"
  const fields: ReadonlyArray<readonly [type: bigint, data: Uint8Array | undefined]> = [
    [type.chains, isMainnet ? undefined : hex.decode(networks.map((network) => Network.parameters[network].chainHash).join(""))],
    [type.metadata, draft.metadata === undefined ? undefined : hex.decode(draft.metadata)],
    [type.currency, text(price?.currency)],
    [type.amount, integer(draft.amount ?? price?.amount)],
    [type.description, text(draft.description)],
    [type.features, features.length === 0 ? undefined : Field.fromFeatures(features)],
    [type.absoluteExpiry, integer(absoluteExpirySeconds === undefined ? undefined : BigInt(absoluteExpirySeconds))],
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
