import * as Bip21 from "@satrail/bitcoin/Bip21"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import * as LightningAddressText from "@satrail/bitcoin/LightningAddressText"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import type { Network } from "@satrail/bitcoin/Network"
import { Result, Schema } from "effect"
import { isText } from "../base/Metadata.ts"
import { RecipientType } from "../ledger/Rail.ts"

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
 * `₿user@domain` can only be a DNS name.
 */
export interface LightningAddress {
  readonly _tag: "LightningAddress"
  readonly address: LightningAddressText.LightningAddressText
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

/** Payment methods that the service supports. */
export interface Ways {
  /**
   * Whether BOLT 12 offers can be paid, by the node or internally. If not, an offer alone is rejected, and an
   * offer next to another method is ignored.
   */
  readonly paysOffers: boolean
}

export { RecipientType }
/** The destination cannot be paid. `message` states the error and what would be valid. */
export class DestinationInvalid extends Schema.TaggedError<DestinationInvalid>()("DestinationInvalid", {
  code: Schema.Literals([
    "unrecognised",
    "invalid_invoice",
    "invalid_address",
    "invalid_lnurl",
    "invalid_lightning_address",
    "invalid_offer",
    "invalid_uri",
    "amount_mismatch",
    "wrong_network",
    "unsupported"
  ]),
  message: Schema.String
}) {}

/**
 * Maximum length of a destination in characters. Real invoices have a few hundred characters, or 1,500 with
 * many routing hints.
 */
export const maxLength = 4096

type Parsed<A = Destination> = Result.Result<A, DestinationInvalid>

const refuse = (code: DestinationInvalid["code"], message: string) => Result.fail(new DestinationInvalid({ code, message }))

const parseInvoice = (text: string, network: Network, asked?: Msat.Msat): Parsed<LightningInvoice> =>
  Result.flatMap(
    Result.mapError(Bolt11.decode(text), ({ message }) => new DestinationInvalid({ code: "invalid_invoice", message })),
    (invoice): Parsed<LightningInvoice> => {
      if (invoice.network !== network) {
        return refuse("wrong_network", `This is a ${invoice.network} invoice, but this service runs on ${network}`)
      }
      const amount = invoice.amount ?? asked
      // The URI's amount is in sats and the invoice's in msat, so accept the invoice's amount rounded either
      // way.
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
    onSuccess: (address): ChainAddress => ({ _tag: "ChainAddress", address, ...(amount !== undefined && { amount }) })
  })

/** Prefix of a name that is only looked up in the DNS (BIP 353). */
const mark = "₿"

const parseLightningAddress = (text: string): Parsed<LightningAddress> =>
  Result.mapBoth(LightningAddressText.parse(text.startsWith(mark) ? text.slice(mark.length) : text), {
    onFailure: ({ message }) => new DestinationInvalid({ code: "invalid_lightning_address", message }),
    onSuccess: (address): LightningAddress => ({ _tag: "LightningAddress", address, ...(text.startsWith(mark) && { isInDns: true }) })
  })

const isLnurl = (text: string): boolean => /^(?:lnurl1|lnurl[cwp]:\/\/|keyauth:\/\/)/i.test(text)

const parseLnurl = (text: string, amount?: Msat.Msat): Parsed<LnurlPay> =>
  Result.mapBoth(Lnurl.decode(text), {
    onFailure: ({ message, reason }) => new DestinationInvalid({ code: reason === "unsupported" ? reason : "invalid_lnurl", message }),
    onSuccess: (lnurl): LnurlPay => ({ _tag: "Lnurl", lnurl, ...(amount !== undefined && { amount }) })
  })

const parseOffer = (text: string, network: Network, { paysOffers }: Ways, asked?: Msat.Msat): Parsed<Bolt12Offer> =>
  Result.flatMap(
    Result.mapError(Bolt12.decode(text), ({ message }) => new DestinationInvalid({ code: "invalid_offer", message })),
    (bolt12): Parsed<Bolt12Offer> => {
      const { networks, price, amount: least } = bolt12
      if (!networks.includes(network)) {
        const where = networks.length === 0 ? "another chain" : networks.join(" or ")
        return refuse("wrong_network", `This offer is for ${where}, but this service runs on ${network}`)
      }
      if (!paysOffers) {
        return refuse("unsupported", "This service's node cannot pay BOLT 12 offers. Get a BOLT 11 invoice from the payee")
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
      return Result.succeed({ _tag: "Bolt12Offer", bolt12, ...(amount !== undefined && { amount }), isLeast: asked === undefined })
    }
  )

/**
 * Prefers a usable offer, because a fresh invoice can be requested from it. A usable invoice comes before the
 * address, because Lightning is faster and cheaper. If the invoice is not usable, the address is paid. The
 * address also comes before an LNURL, whose server may not respond.
 */
const parseUri = (text: string, network: Network, ways: Ways): Parsed =>
  Result.flatMap(
    Result.mapError(Bip21.parse(text, network), ({ message }) => new DestinationInvalid({ code: "invalid_uri", message })),
    ({ address, amount, lightning, offer }): Parsed => {
      const offered = offer === undefined ? undefined : parseOffer(offer, network, ways, amount)
      const isAlone = address === undefined && lightning === undefined
      if (offered !== undefined && (isAlone || Result.isSuccess(offered) || offered.failure.code === "amount_mismatch")) return offered
      if (address === undefined && lightning !== undefined && isLnurl(lightning)) return parseLnurl(lightning, amount)
      const invoice = lightning === undefined ? undefined : parseInvoice(lightning, network, amount)
      if (invoice !== undefined && (address === undefined || Result.isSuccess(invoice) || invoice.failure.code === "amount_mismatch"))
        return invoice
      return parseAddress(address ?? "", network, amount)
    }
  )

/** Formats recognized by their prefix that cannot be paid. */
const unsupported: ReadonlyArray<readonly [beginning: RegExp, message: string]> = [
  [/^ln[ri]1/, "BOLT 12 invoices and invoice requests cannot be paid. Ask for an offer or a BOLT 11 invoice"],
  [/^t?sp1/, "Silent payment addresses cannot be paid yet. Ask for an ordinary bitcoin address"],
  [/^0[23][0-9a-f]{64}$/, "A node's key cannot be paid. Ask for an invoice"],
  [/^[xyztuv](?:pub|prv)/, "An extended key is not an address. Ask for an address"],
  [/^https?:/, "A web address cannot be paid. Use the LNURL or the Lightning address"]
]

const expected =
  "a Lightning invoice, a Lightning address, a name like ₿user@example.com, an LNURL, a BOLT 12 offer, a bitcoin address or a bitcoin: URI"

const parseTrimmed = (text: string, network: Network, ways: Ways): Parsed => {
  const lower = text.toLowerCase()
  const known = unsupported.find(([beginning]) => beginning.test(lower))
  if (known !== undefined) return refuse("unsupported", known[1])
  if (isLnurl(text)) return parseLnurl(text)
  if (Bolt12.isBolt12(text)) return parseOffer(text, network, ways)
  if (lower.includes("@")) return parseLightningAddress(text)
  if (/^ln[a-z]*\d/.test(lower)) return parseInvoice(text, network)
  return /^[0-9a-z]{14,90}$/.test(lower) ? parseAddress(text, network) : refuse("unrecognised", `The destination must be ${expected}`)
}

/**
 * Parses anything that a caller may give as a destination, with optional surrounding spaces and `lightning:`
 * prefix.
 */
export const parse = (
  text: string,
  network: Network,
  ways: Ways = { paysOffers: true }
): Result.Result<Destination, DestinationInvalid> => {
  const trimmed = text.trim()
  if (trimmed === "" || trimmed.length > maxLength)
    return refuse("unrecognised", `The destination must be ${expected}, of at most ${maxLength} characters`)
  // The text is stored as parsed, including URLs with arbitrary content.
  if (!isText(trimmed)) return refuse("unrecognised", "The destination must be well-formed text without NUL characters")
  if (Bip21.isBip21(trimmed)) return parseUri(trimmed, network, ways)
  const [, lightning] = /^lightning:(.*)$/is.exec(trimmed) ?? []
  if (lightning === undefined) return parseTrimmed(trimmed, network, ways)
  const parsed = parseTrimmed(lightning, network, ways)
  return Result.isSuccess(parsed) && parsed.success._tag === "ChainAddress"
    ? refuse("unrecognised", "lightning: must be followed by an invoice, an LNURL, an offer or a Lightning address")
    : parsed
}

/** Parses the destination of a withdrawal, in the form that `text` returns. Throws only if the row is corrupt. */
export const stored = ({ recipient, network }: { readonly recipient: string; readonly network: Network }): Destination =>
  Result.getOrThrow(parse(recipient, network))

/**
 * Returns the offer in a string and ignores other payment methods. Returns undefined if the string has no valid
 * offer.
 */
export const offerIn = (text: string, network: Network): Bolt12.Bolt12 | undefined => {
  const trimmed = text.trim()
  const offer = Bip21.isBip21(trimmed) ? Result.getOrUndefined(Bip21.parse(trimmed, network))?.offer : trimmed.replace(/^lightning:/i, "")
  return offer === undefined ? undefined : Result.getOrUndefined(Bolt12.decode(offer))
}

/** Returns the amount requested by the destination itself. */
export const amount = (destination: Destination): Msat.Msat | undefined => ("amount" in destination ? destination.amount : undefined)

/** Returns whether more than the requested amount may be sent. */
export const isLeast = (destination: Destination): boolean => destination._tag === "Bolt12Offer" && destination.isLeast

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
