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

/** `amount` is what the payee asks for: the invoice's own, or that of the `bitcoin:` URI around it. Absent: the payer decides. */
export interface LightningInvoice {
  readonly _tag: "LightningInvoice"
  readonly invoice: Bolt11.Bolt11
  readonly amount?: Msat.Msat
}
/** `user@domain`: a name in the DNS (BIP 353), or a Lightning address (LUD-16) where that has none. `₿user@domain` is the first alone. */
export interface LightningAddress {
  readonly _tag: "LightningAddress"
  readonly address: LightningAddressText.LightningAddressText
  /** Only what the DNS says of it counts: it was written with ₿, or that was said of it before. */
  readonly isInDns?: true
}
/** `amount` is that of the `bitcoin:` URI around it. Absent: the payer decides. */
export interface LnurlPay {
  readonly _tag: "Lnurl"
  readonly lnurl: Lnurl.Lnurl
  readonly amount?: Msat.Msat
}
/** `amount` is that of the `bitcoin:` URI around the address. Absent: the payer decides. */
export interface ChainAddress {
  readonly _tag: "ChainAddress"
  readonly address: BitcoinAddress.BitcoinAddress
  readonly amount?: Msat.Msat
}

/** `amount` is that of the `bitcoin:` URI around it, or the least that the offer asks for. Absent: the payer decides. */
export interface Bolt12Offer {
  readonly _tag: "Bolt12Offer"
  readonly bolt12: Bolt12.Bolt12
  readonly amount?: Msat.Msat
  /** The payer may send more than `amount`. */
  readonly isLeast: boolean
}

/** Where money can be sent. */
export type Destination = LightningInvoice | LightningAddress | LnurlPay | ChainAddress | Bolt12Offer

/** What the service can do about it. */
export interface Ways {
  /** Whether BOLT 12 offers are paid: by the node, or inside. Where they are not, one alone is refused, and one next to another way is passed over. */
  readonly paysOffers: boolean
}

export { RecipientType }
/** Nothing can be sent there. `message` says what was wrong and what would be right. */
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

/** The most characters a destination may have. Real invoices have a few hundred, with many routing hints 1 500. */
export const maxLength = 4096

type Parsed<A = Destination> = Result.Result<A, DestinationInvalid>

const refuse = (code: DestinationInvalid["code"], message: string) => Result.fail(new DestinationInvalid({ code, message }))

const parseInvoice = (text: string, network: Network, asked?: Msat.Msat): Parsed<LightningInvoice> =>
  Result.flatMap(
    Result.mapError(Bolt11.decode(text), ({ message }) => new DestinationInvalid({ code: "invalid_invoice", message })),
    (invoice): Parsed<LightningInvoice> => {
      if (invoice.network !== network) {
        return refuse("wrong_network", `This is an invoice of ${invoice.network}, and this service runs on ${network}`)
      }
      const amount = invoice.amount ?? asked
      // A URI counts in sats and an invoice in msat, so either way of rounding is the same amount.
      if (
        amount !== undefined &&
        asked !== undefined &&
        Msat.toSats(asked) !== Msat.toSats(amount) &&
        Msat.toSats(asked) !== Msat.toSatsCeiling(amount)
      ) {
        return refuse("amount_mismatch", "The bitcoin: URI and the invoice in it have different amounts")
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

/** What is written before a name that is looked up in the DNS (BIP 353). */
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
        return refuse("wrong_network", `This is an offer of ${where}, and this service runs on ${network}`)
      }
      if (!paysOffers) {
        return refuse("unsupported", "The node of this service cannot pay BOLT 12 offers: ask for a BOLT 11 invoice")
      }
      if (price !== undefined) {
        return refuse(
          "unsupported",
          `The offer asks for an amount in ${price.currency}: only offers in bitcoin, or without an amount, are paid`
        )
      }
      if (asked !== undefined && least !== undefined && Msat.toSatsCeiling(asked) < Msat.toSats(least)) {
        return refuse("amount_mismatch", "The bitcoin: URI asks for less than the offer in it")
      }
      const amount = least === undefined || (asked !== undefined && asked > least) ? asked : least
      return Result.succeed({ _tag: "Bolt12Offer", bolt12, ...(amount !== undefined && { amount }), isLeast: asked === undefined })
    }
  )

/**
 * An offer that is good here goes first: it can be asked for a fresh invoice. An invoice that is good here goes before the address next to it, being faster and cheaper; one that is not leaves the address. So does an LNURL,
 * whose server may or may not answer.
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

/** What we know by its beginning and cannot pay. */
const unsupported: ReadonlyArray<readonly [beginning: RegExp, message: string]> = [
  [/^ln[ri]1/, "BOLT 12 invoices and requests for them cannot be paid: ask for an offer or a BOLT 11 invoice"],
  [/^t?sp1/, "Silent payment addresses cannot be paid yet: ask for an ordinary bitcoin address"],
  [/^0[23][0-9a-f]{64}$/, "A node's key alone cannot be paid: ask for an invoice"],
  [/^[xyztuv](?:pub|prv)/, "An extended key is no address: ask for an address"],
  [/^https?:/, "A web address cannot be paid: give the LNURL or the Lightning address"]
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

/** Understands whatever a caller may give as a destination, spaces around it and `lightning:` before it included. */
export const parse = (
  text: string,
  network: Network,
  ways: Ways = { paysOffers: true }
): Result.Result<Destination, DestinationInvalid> => {
  const trimmed = text.trim()
  if (trimmed === "" || trimmed.length > maxLength)
    return refuse("unrecognised", `The destination must be ${expected}, of at most ${maxLength} characters`)
  // It is kept as it was understood, also where that is a URL with whatever in it.
  if (!isText(trimmed)) return refuse("unrecognised", "The destination must be well-formed text without NUL characters")
  if (Bip21.isBip21(trimmed)) return parseUri(trimmed, network, ways)
  const [, lightning] = /^lightning:(.*)$/is.exec(trimmed) ?? []
  if (lightning === undefined) return parseTrimmed(trimmed, network, ways)
  const parsed = parseTrimmed(lightning, network, ways)
  return Result.isSuccess(parsed) && parsed.success._tag === "ChainAddress"
    ? refuse("unrecognised", "After lightning: comes an invoice, an LNURL, an offer or a Lightning address")
    : parsed
}

/** The offer in such a text, and nothing else of it; undefined where there is none that can be read. */
export const offerIn = (text: string, network: Network): Bolt12.Bolt12 | undefined => {
  const trimmed = text.trim()
  const offer = Bip21.isBip21(trimmed) ? Result.getOrUndefined(Bip21.parse(trimmed, network))?.offer : trimmed.replace(/^lightning:/i, "")
  return offer === undefined ? undefined : Result.getOrUndefined(Bolt12.decode(offer))
}

/** What the payee asks for by itself. */
export const amount = (destination: Destination): Msat.Msat | undefined => ("amount" in destination ? destination.amount : undefined)

/** Whether more than that may be sent. */
export const isLeast = (destination: Destination): boolean => destination._tag === "Bolt12Offer" && destination.isLeast

export const recipientType = (destination: Destination): RecipientType => recipientTypes[destination._tag]
const recipientTypes: { readonly [tag in Destination["_tag"]]: RecipientType } = {
  LightningInvoice: "lightning_invoice",
  LightningAddress: "lightning_address",
  Lnurl: "lnurl",
  ChainAddress: "chain_address",
  Bolt12Offer: "bolt12_offer"
}

/** The destination as it was understood, the same for every way of writing it. */
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

/** The name itself of one that is looked up in the DNS, of a destination as `text` writes it: without its ₿. */
export const name = (text: string): string => (text.startsWith(mark) ? text.slice(mark.length) : text)

/** Whether a destination as `text` writes it is a name that is looked up in the DNS (BIP 353). */
export const isInDns = (text: string): boolean => text.startsWith(mark)

/** The server that is asked for an invoice, of a destination as `text` writes it; null where none is. */
export const domain = (type: RecipientType, text: string): string | null => {
  if (type === "lightning_address") return text.slice(text.lastIndexOf("@") + 1)
  const lnurl = type === "lnurl" ? Lnurl.decode(text) : undefined
  return lnurl !== undefined && Result.isSuccess(lnurl) ? new URL(lnurl.success.url).hostname : null
}
