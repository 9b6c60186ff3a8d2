import { sha256 } from "@satrail/bitcoin/Sha256"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import type { Bolt12 } from "@satrail/bitcoin/Bolt12"
import * as Msat from "@satrail/bitcoin/Msat"
import { Result, Schema } from "effect"
import type { Bounds } from "../accounts/Bounds.ts"
import type { Installation } from "../accounts/Installation.ts"
import type { Way } from "../accounts/Fees.ts"
import type { Rail } from "../ledger/Rail.ts"
import type { PayTerms } from "../nodes/Resolver.ts"
import type { Invoice } from "../receiving/Invoice.ts"
import type { IssuedOffer } from "../receiving/IssuedOffers.ts"
import type { LightningAddress } from "../receiving/LightningAddress.ts"
import type { OnChainAddress } from "../receiving/OnChainAddress.ts"
import type { Destination } from "./Destination.ts"
import { expiryMarginMillis, type PaymentOptions } from "./PaymentOptions.ts"

/**
 * If the payee was found by a name, `instructed` is the payment method in its domain's DNS record (BIP 353).
 */
interface Found {
  readonly instructed?: Destination
}

/** The payee: one of our companies, paid internally, or an external one. */
export type Recipient = Found & Payee
type Payee =
  | { readonly _tag: "OwnInvoice"; readonly bolt11: Bolt11.Bolt11; readonly invoice: Invoice }
  | { readonly _tag: "OwnLightningAddress"; readonly lightningAddress: LightningAddress }
  | { readonly _tag: "OwnOffer"; readonly bolt12: Bolt12; readonly offer: IssuedOffer }
  | { readonly _tag: "OwnChainAddress"; readonly onChainAddress: OnChainAddress }
  | { readonly _tag: "Invoice"; readonly bolt11: Bolt11.Bolt11 }
  | { readonly _tag: "Bolt12"; readonly bolt12: Bolt12 }
  | { readonly _tag: "LnurlPay"; readonly terms: PayTerms }
  | { readonly _tag: "Address"; readonly address: BitcoinAddress.BitcoinAddress }

/** The payment is not allowed. `message` states the error and what would be valid. Nothing was held. */
export class DestinationRefused extends Schema.TaggedError<DestinationRefused>()("DestinationRefused", {
  code: Schema.Literals([
    "amount_required",
    "amount_mismatch",
    "amount_out_of_range",
    "dust",
    "invoice_expired",
    "invoice_not_payable",
    "payment_hash_used",
    "unsupported",
    "recipient_not_found",
    "final_cltv_too_long"
  ]),
  message: Schema.String
}) {}

const refuse = (code: DestinationRefused["code"], message: string) =>
  Result.fail(new DestinationRefused({ code, message }))

export const isInternal = (recipient: Recipient): boolean => recipient._tag.startsWith("Own")

/**
 * Returns whether a payment to this payee only moves money in the ledger. Our own invoices do not count,
 * because they must first be canceled at the node.
 */
export const isInLedger = (recipient: Recipient): boolean =>
  isInternal(recipient) && recipient._tag !== "OwnInvoice"

/**
 * Returns the destination to store. A name with a DNS record is stored as such, and is never again tried as a
 * Lightning address.
 */
export const understood = (destination: Destination, { instructed }: Recipient): Destination =>
  instructed !== undefined && destination._tag === "LightningAddress"
    ? { ...destination, isInDns: true }
    : destination

export const rail = (recipient: Recipient): Rail =>
  recipient._tag === "Address" || recipient._tag === "OwnChainAddress" ? "on_chain" : "lightning"

export const way = (recipient: Recipient): Way =>
  isInternal(recipient) ? "internal" : recipient._tag === "Address" ? "on_chain" : "lightning"

/** An amount to pay, which can depend on the way if the fee comes out of it. */
export type Amount = Msat.Msat | ((way: Way) => Msat.Msat)

/** Returns the amount that this payee is paid. */
export const amountFor = (recipient: Recipient, amount: Amount): Msat.Msat =>
  typeof amount === "function" ? amount(way(recipient)) : amount

/** Returns whether nobody has paid our own invoice, is paying it, or canceled it. */
export const isUnpaid = ({ status }: Invoice): boolean => status === "pending" || status === "expired"

/** Rules for paying invoices. */
type Rules = Pick<PaymentOptions["Service"], "maxFinalCltvExpiry">

/**
 * Checks that an invoice can still be paid: enough time is left, and the funds would not be locked for too
 * long.
 */
export const checkBolt11 = (
  bolt11: Bolt11.Bolt11,
  { maxFinalCltvExpiry }: Rules,
  nowMillis: number
): Result.Result<void, DestinationRefused> => {
  if (Bolt11.expiresAtSeconds(bolt11) * 1000 < nowMillis + expiryMarginMillis) {
    return refuse(
      "invoice_expired",
      "This invoice has expired or is about to expire. Get a new invoice from the payee"
    )
  }
  if (bolt11.minFinalCltvExpiry > maxFinalCltvExpiry) {
    return refuse(
      "final_cltv_too_long",
      `The invoice could lock the payment for ${bolt11.minFinalCltvExpiry} blocks; at most ${maxFinalCltvExpiry} are accepted`
    )
  }
  return Result.void
}

/**
 * Checks that this amount can be requested from an offer's issuer now, and that enough time is left for the
 * response.
 */
export const checkBolt12 = (
  { amount: least, absoluteExpirySeconds }: Bolt12,
  amount: Msat.Msat,
  nowMillis: number
): Result.Result<void, DestinationRefused> => {
  if (absoluteExpirySeconds !== undefined && absoluteExpirySeconds * 1000 < nowMillis + expiryMarginMillis) {
    return refuse(
      "invoice_expired",
      "This offer has expired or is about to expire. Get a new offer from the payee"
    )
  }
  return least !== undefined && amount < least
    ? refuse("amount_out_of_range", `This offer requires at least ${Msat.inSats(Msat.toSatsCeiling(least))}`)
    : Result.void
}

/** Checks that this payee can be paid this amount now. */
export const check = (
  recipient: Recipient,
  amount: Msat.Msat,
  rules: Rules & Pick<Bounds["Service"], "minAmount" | "maxWithdrawal">,
  nowMillis: number
): Result.Result<void, DestinationRefused> => {
  switch (recipient._tag) {
    case "Invoice":
      return checkBolt11(recipient.bolt11, rules, nowMillis)
    case "Bolt12":
    case "OwnOffer":
      return checkBolt12(recipient.bolt12, amount, nowMillis)
    case "OwnInvoice": {
      const { invoice } = recipient
      if (invoice.hold !== null)
        return refuse(
          "invoice_not_payable",
          "This is a hold invoice of this service, which can only be paid from outside. Ask the payee for another invoice"
        )
      if (invoice.status === "settled") return refuse("invoice_not_payable", "This invoice was already paid")
      if (invoice.status === "claimed")
        return refuse("invoice_not_payable", "This invoice is being paid by another withdrawal")
      if (invoice.status === "canceling" || invoice.status === "canceled")
        return refuse("invoice_not_payable", "This invoice was canceled. Get a new invoice from the payee")
      if (invoice.status === "expired" || invoice.expiresAtMillis <= nowMillis)
        return refuse("invoice_expired", "This invoice has expired. Get a new invoice from the payee")
      return Result.void
    }
    case "LnurlPay": {
      const { min, max } = recipient.terms
      return amount < min || amount > max
        ? refuse(
            "amount_out_of_range",
            `The payee accepts between ${Msat.toSatsCeiling(min)} and ${Msat.inSats(Msat.toSats(max))}`
          )
        : Result.void
    }
    case "Address": {
      const dust = BitcoinAddress.dustLimitSats(recipient.address.kind)
      return amount < Msat.fromSats(dust)
        ? refuse(
            "dust",
            `The bitcoin network does not relay less than ${dust} sats to an address of this type`
          )
        : Result.void
    }
    case "OwnLightningAddress": {
      const { minSendable, maxSendable } = recipient.lightningAddress
      const [min, max] = [minSendable ?? rules.minAmount, maxSendable ?? rules.maxWithdrawal]
      return amount < min || amount > max
        ? refuse(
            "amount_out_of_range",
            `The payee accepts between ${Msat.toSatsCeiling(min)} and ${Msat.inSats(Msat.toSats(max))}`
          )
        : Result.void
    }
    case "OwnChainAddress":
      return Result.void
  }
}

/** Describes an invoice from a payee's server. Completes "its server sent …". */
export const unpayable = ({ message }: { readonly message: string }): string =>
  `an invoice that cannot be paid: ${message}`

/**
 * Checks that an invoice from a payee's server is for exactly this payment (LUD-06, "Pay to static QR"). A
 * `description_hash`, if present, must be that of the metadata. Many servers send a plain description instead,
 * which does not affect the payment.
 */
export const checkFetched = (
  bolt11: Bolt11.Bolt11,
  terms: PayTerms,
  amount: Msat.Msat,
  rules: Rules & Pick<Installation["Service"], "network">,
  nowMillis: number
): Result.Result<void, string> => {
  if (bolt11.network !== rules.network) return Result.fail(`an invoice for ${bolt11.network}`)
  if (bolt11.amount !== amount) return Result.fail("an invoice for another amount")
  if (bolt11.descriptionHash !== undefined && bolt11.descriptionHash !== sha256.hex(terms.metadata)) {
    return Result.fail("an invoice for another description")
  }
  return Result.mapError(checkBolt11(bolt11, rules, nowMillis), unpayable)
}
