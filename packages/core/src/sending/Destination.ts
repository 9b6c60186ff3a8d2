import * as Bip21 from "@satrail/bitcoin/Bip21"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import * as LightningAddressText from "@satrail/bitcoin/LightningAddressText"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import type { Network } from "@satrail/bitcoin/Network"
import { Array as Arr, Result } from "effect"
import { isText } from "../base/Metadata.ts"
import { RecipientType } from "../ledger/Rail.ts"
import { askedIn } from "./AskedAmount.ts"
import { DestinationInvalid, refuse } from "./DestinationInvalid.ts"
import * as NotPayable from "./NotPayable.ts"
import * as Pasted from "./Pasted.ts"

/**
 * `amount` is the amount requested by the invoice, or by the `bitcoin:` URI around it. Absent if the payer
 * chooses.
 */
export interface LightningInvoice {
  readonly _tag: "LightningInvoice"
  readonly invoice: Bolt11.Bolt11
  readonly amount?: Msat.Msat
}
/**
 * `user@domain`: a DNS name (BIP 353), or a Lightning address (LUD-16) if there is no such record.
 * `₿user@domain` can only be a DNS name. `amount` comes from the URI around it.
 */
export interface LightningAddress {
  readonly _tag: "LightningAddress"
  readonly address: LightningAddressText.LightningAddressText
  readonly amount?: Msat.Msat
  /** Set if only the DNS record may be used, because the text starts with ₿ or a record was found earlier. */
  readonly isInDns?: true
}
/** `amount` comes from the `bitcoin:` URI around the LNURL. Absent if the payer chooses. */
export interface LnurlPay {
  readonly _tag: "Lnurl"
  readonly lnurl: Lnurl.Lnurl
  readonly amount?: Msat.Msat
}
/** `amount` comes from the `bitcoin:` URI around the address. Absent if the payer chooses. */
export interface ChainAddress {
  readonly _tag: "ChainAddress"
  readonly address: BitcoinAddress.BitcoinAddress
  readonly amount?: Msat.Msat
}

/**
 * `amount` comes from the `bitcoin:` URI around the offer, or is the offer's minimum. Absent if the payer
 * chooses.
 */
export interface Bolt12Offer {
  readonly _tag: "Bolt12Offer"
  readonly bolt12: Bolt12.Bolt12
  readonly amount?: Msat.Msat
  /** Whether the payer may send more than `amount`. */
  readonly isLeast: boolean
}

/** A destination for a payment. */
export type Destination = LightningInvoice | LightningAddress | LnurlPay | ChainAddress | Bolt12Offer

export { RecipientType }
export { DestinationInvalid }

/**
 * Maximum length of a destination in characters. Real invoices have a few hundred characters, or 1,500 with
 * many routing hints.
 */
export const maxLength = 4096

type Parsed<A = Destination> = Result.Result<A, DestinationInvalid>

const decodeInvoice = (text: string): Parsed<Bolt11.Bolt11> =>
  Result.mapError(
    Bolt11.decode(text),
    ({ message }) => new DestinationInvalid({ code: "invalid_invoice", message })
  )

/** Checks that the invoice and the URI around it do not contradict each other. */
const agreeing = (invoice: Bolt11.Bolt11, asked?: Msat.Msat): Parsed<LightningInvoice> => {
  const amount = invoice.amount ?? asked
  // The URI's amount is in sats and the invoice's in msat, so accept the invoice's amount rounded either way.
  if (
    amount !== undefined &&
    asked !== undefined &&
    Msat.toSats(asked) !== Msat.toSats(amount) &&
    Msat.toSats(asked) !== Msat.toSatsCeiling(amount)
  ) {
    return refuse("amount_mismatch", "The bitcoin: URI and its invoice specify different amounts")
  }
  return Result.succeed({ _tag: "LightningInvoice", invoice, ...(amount !== undefined && { amount }) })
}

const parseInvoice = (text: string, network: Network, asked?: Msat.Msat): Parsed<LightningInvoice> =>
  Result.flatMap(decodeInvoice(text), (invoice) =>
    invoice.network === network
      ? agreeing(invoice, asked)
      : refuse("wrong_network", `This is a ${invoice.network} invoice, but this service runs on ${network}`)
  )

const parseAddress = (text: string, network: Network, amount?: Msat.Msat): Parsed<ChainAddress> =>
  Result.mapBoth(BitcoinAddress.decode(text, network), {
    onFailure: ({ message, reason }) =>
      new DestinationInvalid({
        code:
          reason === "wrong_network"
            ? reason
            : reason === "unknown_witness_version" || reason === "pay_to_anchor"
              ? "unsupported"
              : "invalid_address",
        message
      }),
    onSuccess: (address): ChainAddress => ({
      _tag: "ChainAddress",
      address,
      ...(amount !== undefined && { amount })
    })
  })

/** Prefix of a name that is only looked up in the DNS (BIP 353). */
const mark = "₿"

const parseLightningAddress = (text: string): Parsed<LightningAddress> =>
  Result.mapBoth(LightningAddressText.parse(text.startsWith(mark) ? text.slice(mark.length) : text), {
    onFailure: ({ message }) => new DestinationInvalid({ code: "invalid_lightning_address", message }),
    onSuccess: (address): LightningAddress => ({
      _tag: "LightningAddress",
      address,
      ...(text.startsWith(mark) && { isInDns: true })
    })
  })

const isLnurl = (text: string): boolean => /^(?:lnurl1|lnurl[cwp]:\/\/|keyauth:\/\/)/i.test(text)

const parseLnurl = (text: string, amount?: Msat.Msat): Parsed<LnurlPay> =>
  Result.mapBoth(Lnurl.decode(text), {
    onFailure: ({ message, reason }) =>
      new DestinationInvalid({ code: reason === "unsupported" ? reason : "invalid_lnurl", message }),
    onSuccess: (lnurl): LnurlPay => ({ _tag: "Lnurl", lnurl, ...(amount !== undefined && { amount }) })
  })

const decodeOffer = (text: string): Parsed<Bolt12.Bolt12> =>
  Result.mapError(
    Bolt12.decode(text),
    ({ message }) => new DestinationInvalid({ code: "invalid_offer", message })
  )

const parseOffer = (text: string, network: Network, asked?: Msat.Msat): Parsed<Bolt12Offer> =>
  Result.flatMap(decodeOffer(text), (bolt12): Parsed<Bolt12Offer> => {
    const { networks, price, amount: least } = bolt12
    if (!networks.includes(network)) {
      const where = networks.length === 0 ? "another chain" : networks.join(" or ")
      return refuse("wrong_network", `This offer is for ${where}, but this service runs on ${network}`)
    }
    if (price !== undefined) {
      return refuse(
        "unsupported",
        `The offer's amount is in ${price.currency}. Only offers in bitcoin, or without an amount, can be paid`
      )
    }
    if (asked !== undefined && least !== undefined && Msat.toSatsCeiling(asked) < Msat.toSats(least)) {
      return refuse("amount_mismatch", "The bitcoin: URI specifies less than its offer requires")
    }
    const amount = least === undefined || (asked !== undefined && asked > least) ? asked : least
    return Result.succeed({
      _tag: "Bolt12Offer",
      bolt12,
      ...(amount !== undefined && { amount }),
      isLeast: asked === undefined
    })
  })

/** An LNURL or an invoice in the `lightning` parameter of a `bitcoin:` URI. */
const parseLightning = (
  given: string,
  network: Network,
  amount?: Msat.Msat
): Parsed<LightningInvoice | LnurlPay> => {
  const { text } = Pasted.bare(given)
  return isLnurl(text) ? parseLnurl(text, amount) : parseInvoice(text, network, amount)
}

/** Refuses invoices for different amounts, because only one of them can be what the payee wants. */
const checkAgreed = (parsed: ReadonlyArray<Parsed>): Result.Result<void, DestinationInvalid> => {
  const wrong = parsed.find((one) => Result.isFailure(one) && one.failure.code === "amount_mismatch")
  if (wrong !== undefined) return Result.map(wrong, () => undefined)
  const amounts = new Set(
    Arr.getSuccesses(parsed).flatMap((one) =>
      one._tag === "LightningInvoice" && one.invoice.amount !== undefined ? [one.invoice.amount] : []
    )
  )
  return amounts.size > 1
    ? refuse("amount_mismatch", "The bitcoin: URI contains invoices for different amounts")
    : Result.void
}

/**
 * Prefers offers, because a fresh invoice can be requested from them. Invoices come before addresses, because
 * Lightning is faster and cheaper. Addresses also come before LNURLs, whose servers may not respond.
 */
const preference: ReadonlyArray<Destination["_tag"]> = [
  "Bolt12Offer",
  "LightningInvoice",
  "ChainAddress",
  "Lnurl"
]

/** The payment methods of a text, best first. Each pays the same payee for the same purpose. */
export type Methods = Arr.NonEmptyReadonlyArray<Destination>

/**
 * Parses a `bitcoin:` URI (BIP 321). Methods that cannot be used here are left out, but contradictory amounts make the
 * URI invalid.
 */
export const uriMethods = (text: string, network: Network): Parsed<Methods> =>
  Result.gen(function* () {
    const uri = yield* Result.mapError(
      Bip21.parse(text, network),
      ({ message }) => new DestinationInvalid({ code: "invalid_uri", message })
    )
    const { addresses, amount, lightning, offers } = uri
    const parsed: ReadonlyArray<Parsed> = [
      ...offers.map((offer) => parseOffer(offer, network, amount)),
      ...lightning.map((text) => parseLightning(text, network, amount)),
      ...addresses.map((address) => parseAddress(address, network, amount))
    ]
    yield* checkAgreed(parsed)
    const usable = Arr.getSuccesses(parsed)
    const methods = preference.flatMap((tag) => usable.filter(({ _tag }) => _tag === tag))
    if (Arr.isReadonlyArrayNonEmpty(methods)) return methods
    // The address is the part that every wallet can read, so its error is the most useful one.
    const [failed] = parsed.slice(addresses.length === 0 ? 0 : -addresses.length)
    return yield* Result.map(
      failed ?? refuse("invalid_uri", "The bitcoin: URI must contain an address"),
      Arr.of
    )
  })

const expected =
  "a Lightning invoice, a Lightning address, a name like ₿user@example.com, an LNURL, a BOLT 12 offer, a bitcoin address or a bitcoin: URI"

const parsePlain = (text: string, network: Network): Parsed => {
  const reason = NotPayable.reason(text)
  if (reason !== undefined) return refuse("unsupported", reason)
  if (isLnurl(text)) return parseLnurl(text)
  if (Bolt12.isBolt12(text)) return parseOffer(text, network)
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(text) ?? []
  if (scheme !== undefined)
    return refuse(
      "unrecognised",
      `"${scheme.slice(0, 30)}:" cannot be paid. The destination must be ${expected}`
    )
  if (text.includes("@")) return parseLightningAddress(text)
  if (/^ln[a-z]*\d/i.test(text)) return parseInvoice(text, network)
  return /^[0-9a-z]{14,90}$/i.test(text)
    ? parseAddress(text, network)
    : refuse("unrecognised", `The destination must be ${expected}`)
}

/**
 * Text in which white space can be removed, because a wrong join is detected: by the checksum of an invoice, address or
 * LNURL. A BOLT 12 offer has none, but BOLT 12 lets it be split, and most wrong joins do not decode.
 */
const isChecked = (text: string): boolean =>
  /^(?:ln|bc1|bcrt1|tb1)[^@:]*$/i.test(text) || /^[123mn][1-9A-HJ-NP-Za-km-z\s]{25,60}$/.test(text)

const surrounded = "The destination has other text around it. Enter only the destination"
const several = "The destination contains more than one payment. Enter only one"

/** Parameters that add another payee or condition to a payment. */
const adding: ReadonlySet<string> = new Set(["lightning", "lno", "bc", "to", "cc", "bcc"])

/** Applies the parameters after an invoice, LNURL, offer or name. Those without a meaning here are ignored. */
const withParameters = (
  destination: Destination,
  parameters: Pasted.Bare["parameters"],
  network: Network
): Parsed => {
  if (parameters.some(([name]) => adding.has(name))) return refuse("unrecognised", several)
  const required = parameters.find(([name]) => name.startsWith("req-"))
  if (required !== undefined)
    return refuse("invalid_uri", `The URI requires "${required[0]}", which this service does not support`)
  const [asked, ...others] = parameters.flatMap(([name, value]) =>
    name === "amount" && value !== "" ? [value] : []
  )
  if (others.length > 0) return refuse("invalid_uri", 'The URI contains "amount" twice')
  if (asked === undefined) return Result.succeed(destination)
  // An offer's amount is a minimum.
  if (destination._tag === "Bolt12Offer")
    return Result.flatMap(askedIn(asked), (found) => parseOffer(destination.bolt12.offer, network, found))
  return Result.map(askedIn(asked, amount(destination)), (found) => ({ ...destination, amount: found }))
}

/** Parses text without `bitcoin:` and without white space around it. */
const parseBare = (given: string, network: Network, around?: "lightning"): Parsed => {
  const { text, scheme = around, parameters } = Pasted.bare(given)
  const whole = isChecked(text) ? Pasted.joined(text) : text
  const parsed = parseAs(scheme, whole, network)
  const [first = "", ...others] = isChecked(text) ? text.split(/\s+/) : []
  if (Result.isFailure(parsed) && others.length > 0 && Result.isSuccess(parseAs(scheme, first, network)))
    return refuse("unrecognised", surrounded)
  return Result.flatMap(parsed, (destination) => withParameters(destination, parameters, network))
}

const parseAs = (scheme: Pasted.Bare["scheme"], text: string, network: Network): Parsed => {
  if (scheme === "mailto" || (scheme === "lnurl" && text.includes("@"))) return parseLightningAddress(text)
  if (scheme === "lnurl")
    return /^lnurl1/i.test(text)
      ? parseLnurl(text)
      : refuse("invalid_lnurl", "lnurl: must be followed by an LNURL")
  const parsed = parsePlain(text, network)
  return scheme === "lightning" && Result.isSuccess(parsed) && parsed.success._tag === "ChainAddress"
    ? refuse(
        "unrecognised",
        "lightning: must be followed by an invoice, an LNURL, an offer or a Lightning address"
      )
    : parsed
}

/** Parses a web address, which can be paid only if it carries an LNURL or an invoice (LUD-01, "Fallback scheme"). */
const parseLink = (link: string, network: Network): Parsed => {
  const [value, ...others] = Pasted.fallbacks(link)
  if (value === undefined) {
    const address = LightningAddressText.ofUrl(link)
    return address === undefined
      ? parsePlain(link, network)
      : Result.succeed({ _tag: "LightningAddress", address })
  }
  return others.length > 0
    ? refuse("unrecognised", several)
    : parseBare(Pasted.clean(value), network, "lightning")
}

/**
 * Parses anything that a caller may give as a destination: everything that people paste or scan, listed in
 * docs/reference/destinations.md. Returns the payment methods in it, best first. Whether they can be paid now is
 * checked later, by `Recipients`.
 */
export const methods = (text: string, network: Network): Parsed<Methods> => {
  const cleaned = Pasted.clean(text)
  if (cleaned === "" || text.trim().length > maxLength)
    return refuse("unrecognised", `The destination must be ${expected}, of at most ${maxLength} characters`)
  // The text is stored as parsed, including URLs with arbitrary content.
  if (!isText(text))
    return refuse("unrecognised", "The destination must be well-formed text without NUL characters")
  if (Pasted.isSeveral(cleaned)) return refuse("unrecognised", several)
  const uri = Pasted.uriOf(cleaned)
  if (uri !== undefined) return uriMethods(uri, network)
  if (Pasted.isSurrounded(cleaned)) return refuse("unrecognised", surrounded)
  if (Pasted.isMarkup(cleaned))
    return refuse("unrecognised", "The destination must be the target of a link, without Markdown or HTML")
  return Result.map(
    Pasted.isLink(cleaned) ? parseLink(cleaned, network) : parseBare(cleaned, network),
    Arr.of
  )
}

/** Like `methods`, but returns only the best method. */
export const parse = (text: string, network: Network): Parsed =>
  Result.map(methods(text, network), Arr.headNonEmpty)

/** Parses the destination of a withdrawal, in the form that `text` returns. Throws only if the row is corrupt. */
export const stored = ({
  recipient,
  network
}: {
  readonly recipient: string
  readonly network: Network
}): Destination => Result.getOrThrow(parsePlain(recipient, network))

/** Returns what a text contains of one kind, and the amount of the URI around it. Undefined if it contains several. */
const onlyIn = (text: string, kind: "lightning" | "offers") => {
  const cleaned = Pasted.clean(text)
  const written = Pasted.uriOf(cleaned)
  const uri = written === undefined ? undefined : Result.getOrUndefined(Bip21.parse(written))
  const [given = cleaned, ...others] =
    uri?.[kind] ?? (Pasted.isLink(cleaned) ? Pasted.fallbacks(cleaned) : [])
  if (others.length > 0 || Pasted.isSeveral(cleaned)) return undefined
  const { text: whole, parameters } = Pasted.bare(given)
  return { text: Pasted.joined(whole), amount: uri?.amount, parameters }
}

/**
 * Returns the invoice in a text that may be written in any form that `methods` takes, whatever its network. Fails if
 * there is none, or if the text contains several.
 */
export const invoiceIn = (text: string): Parsed<Bolt11.Bolt11> => {
  const only = onlyIn(text, "lightning")
  if (only === undefined) return refuse("invalid_invoice", several)
  return Result.gen(function* () {
    const invoice = yield* decodeInvoice(only.text)
    const agreed = yield* agreeing(invoice, only.amount)
    yield* withParameters(agreed, only.parameters, invoice.network)
    return invoice
  })
}

/** Returns the offer in a text, like `invoiceIn`. */
export const offerIn = (text: string): Parsed<Bolt12.Bolt12> => {
  const only = onlyIn(text, "offers")
  return only === undefined ? refuse("invalid_offer", several) : decodeOffer(only.text)
}

/** Returns the best address in a text that may be written in any form that `methods` takes. */
export const addressIn = (text: string, network: Network): Parsed<BitcoinAddress.BitcoinAddress> =>
  Result.flatMap(methods(text, network), (found) => {
    const on = found.find((one) => one._tag === "ChainAddress")
    return on === undefined
      ? refuse("invalid_address", "This contains no bitcoin address")
      : Result.succeed(on.address)
  })

/** Returns the name in a text that may be written in any form that `methods` takes, with or without ₿. */
export const nameIn = (text: string): Parsed<LightningAddressText.LightningAddressText> =>
  Result.flatMap(parse(text, "mainnet"), (found) =>
    found._tag === "LightningAddress"
      ? Result.succeed(found.address)
      : refuse("invalid_lightning_address", "This is not a name such as ₿alice@example.com")
  )

/** Returns the amount requested by the destination itself. */
export const amount = (destination: Destination): Msat.Msat | undefined =>
  "amount" in destination ? destination.amount : undefined

/** Returns whether more than the requested amount may be sent. */
export const isLeast = (destination: Destination): boolean =>
  destination._tag === "Bolt12Offer" && destination.isLeast

export const recipientType = (destination: Destination): RecipientType => recipientTypes[destination._tag]
const recipientTypes: { readonly [tag in Destination["_tag"]]: RecipientType } = {
  LightningInvoice: "lightning_invoice",
  LightningAddress: "lightning_address",
  Lnurl: "lnurl",
  ChainAddress: "chain_address",
  Bolt12Offer: "bolt12_offer"
}

/** Returns the canonical text of a destination, the same for every way of writing it. */
export const text = (destination: Destination): string => {
  switch (destination._tag) {
    case "LightningInvoice":
      return destination.invoice.paymentRequest
    case "LightningAddress":
      return (destination.isInDns ? mark : "") + destination.address.address
    case "ChainAddress":
      return destination.address.address
    case "Lnurl":
      return destination.lnurl.text
    case "Bolt12Offer":
      return destination.bolt12.offer
  }
}

/** Strips the ₿ from a name in the form that `text` returns. */
export const name = (text: string): string => (text.startsWith(mark) ? text.slice(mark.length) : text)

/** Returns whether a destination, in the form that `text` returns, is looked up in the DNS only (BIP 353). */
export const isInDns = (text: string): boolean => text.startsWith(mark)

/**
 * Returns the domain of the server that issues the invoice, for a destination in the form that `text`
 * returns; null if there is none.
 */
export const domain = (type: RecipientType, text: string): string | null => {
  if (type === "lightning_address") return text.slice(text.lastIndexOf("@") + 1)
  const lnurl = type === "lnurl" ? Lnurl.decode(text) : undefined
  return lnurl !== undefined && Result.isSuccess(lnurl) ? new URL(lnurl.success.url).hostname : null
}
