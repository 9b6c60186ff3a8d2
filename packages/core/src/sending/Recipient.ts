import { sha256 } from "@noble/hashes/sha2.js"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import type { Bolt12 } from "@satrail/bitcoin/Bolt12"
import * as Msat from "@satrail/bitcoin/Msat"
import { Result, Schema } from "effect"
import type { Bounds } from "../accounts/Bounds.ts"
import type { Installation } from "../accounts/Installation.ts"
import * as Id from "../base/Id.ts"
import type { Rail } from "../ledger/Rail.ts"
import type { Offer } from "../nodes/Resolver.ts"
import type { Invoice } from "../receiving/Invoice.ts"
import type { IssuedOffer } from "../receiving/IssuedOffers.ts"
import type { LightningAddress } from "../receiving/LightningAddress.ts"
import type { OnChainAddress } from "../receiving/OnChainAddress.ts"
import type { Destination } from "./Destination.ts"
import type { PaymentOptions } from "./PaymentOptions.ts"

/** A payee that was found by a name has what the record of its domain's DNS says to pay (BIP 353). */
interface Found {
  readonly instructed?: Destination
}

/** The payee: a company of ours, paid inside the ledger, or one outside. */
export type Recipient = Found & Payee
type Payee =
  | { readonly _tag: "OwnInvoice"; readonly bolt11: Bolt11.Bolt11; readonly invoice: Invoice }
  | { readonly _tag: "OwnLightningAddress"; readonly lightningAddress: LightningAddress }
  | { readonly _tag: "OwnOffer"; readonly bolt12: Bolt12; readonly offer: IssuedOffer }
  | { readonly _tag: "OwnChainAddress"; readonly onChainAddress: OnChainAddress }
  | { readonly _tag: "Invoice"; readonly bolt11: Bolt11.Bolt11 }
  | { readonly _tag: "Bolt12"; readonly bolt12: Bolt12 }
  | { readonly _tag: "Offer"; readonly offer: Offer }
  | { readonly _tag: "Address"; readonly address: BitcoinAddress.BitcoinAddress }

/** The rules do not allow paying this. `message` says what was wrong and what would be right. Nothing was held. */
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

const refuse = (code: DestinationRefused["code"], message: string) => Result.fail(new DestinationRefused({ code, message }))

export const isInternal = (recipient: Recipient): boolean => recipient._tag.startsWith("Own")

/** Whether paying it moves money in the ledger and does nothing else: an invoice has to be canceled at the node first. */
export const isInLedger = (recipient: Recipient): boolean => isInternal(recipient) && recipient._tag !== "OwnInvoice"

/** The destination as it is kept: a name that its domain's DNS has a record for is that from here on, and no Lightning address any more. */
export const understood = (destination: Destination, { instructed }: Recipient): Destination =>
  instructed !== undefined && destination._tag === "LightningAddress" ? { ...destination, isInDns: true } : destination

export const rail = (recipient: Recipient): Rail =>
  recipient._tag === "Address" || recipient._tag === "OwnChainAddress" ? "on_chain" : "lightning"

/** Which invoices are paid. */
type Rules = Pick<PaymentOptions["Service"], "expiryMarginMillis" | "maxFinalCltvExpiry">

/** Whether an invoice can still be paid: with time left to do so, and without locking the money for long. */
export const checkBolt11 = (
  bolt11: Bolt11.Bolt11,
  { expiryMarginMillis, maxFinalCltvExpiry }: Rules,
  nowMillis: number
): Result.Result<void, DestinationRefused> => {
  if (Bolt11.expiresAtSeconds(bolt11) * 1000 < nowMillis + expiryMarginMillis) {
    return refuse("invoice_expired", "The invoice has expired or is about to: ask for a new one")
  }
  if (bolt11.minFinalCltvExpiry > maxFinalCltvExpiry) {
    return refuse(
      "final_cltv_too_long",
      `The invoice could lock the payment for ${bolt11.minFinalCltvExpiry} blocks; at most ${maxFinalCltvExpiry} are accepted`
    )
  }
  return Result.void
}

/** Whether this much may be asked of an offer's issuer now, with time left to answer. */
export const checkBolt12 = (
  { amount: least, absoluteExpirySeconds }: Bolt12,
  amount: Msat.Msat,
  { expiryMarginMillis }: Pick<Rules, "expiryMarginMillis">,
  nowMillis: number
): Result.Result<void, DestinationRefused> => {
  if (absoluteExpirySeconds !== undefined && absoluteExpirySeconds * 1000 < nowMillis + expiryMarginMillis) {
    return refuse("invoice_expired", "The offer has expired or is about to: ask for a new one")
  }
  return least !== undefined && amount < least
    ? refuse("amount_out_of_range", `The offer asks for at least ${Msat.toSatsCeiling(least)} sats`)
    : Result.void
}

/** Whether this recipient may be paid this amount now. */
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
      return checkBolt12(recipient.bolt12, amount, rules, nowMillis)
    case "OwnInvoice": {
      const { invoice } = recipient
      if (invoice.hold !== null)
        return refuse(
          "invoice_not_payable",
          "The invoice is a hold invoice of this service's own, which is paid from outside only: ask the recipient for another one"
        )
      if (invoice.status === "settled") return refuse("invoice_not_payable", "The invoice was paid already")
      if (invoice.status === "claimed") return refuse("invoice_not_payable", "The invoice is being paid by another withdrawal")
      if (invoice.status === "canceling" || invoice.status === "canceled")
        return refuse("invoice_not_payable", "The invoice was canceled: ask for a new one")
      if (invoice.status === "expired" || invoice.expiresAtMillis <= nowMillis)
        return refuse("invoice_expired", "The invoice has expired: ask for a new one")
      return Result.void
    }
    case "Offer": {
      const { min, max } = recipient.offer
      return amount < min || amount > max
        ? refuse("amount_out_of_range", `The recipient takes from ${Msat.toSatsCeiling(min)} to ${Msat.toSats(max)} sats`)
        : Result.void
    }
    case "Address": {
      const dust = BitcoinAddress.dustLimitSats(recipient.address.kind)
      return amount < Msat.fromSats(dust)
        ? refuse("dust", `The network does not relay less than ${dust} sats to an address of this kind`)
        : Result.void
    }
    case "OwnLightningAddress": {
      const { minSendable, maxSendable } = recipient.lightningAddress
      const [min, max] = [minSendable ?? rules.minAmount, maxSendable ?? rules.maxWithdrawal]
      return amount < min || amount > max
        ? refuse("amount_out_of_range", `The recipient takes from ${Msat.toSatsCeiling(min)} to ${Msat.toSats(max)} sats`)
        : Result.void
    }
    case "OwnChainAddress":
      return Result.void
  }
}

/**
 * Whether an invoice that a recipient's server sent is one for exactly this payment (LUD-06, "Pay to static QR"). A `description_hash` that is
 * there must be that of the metadata; many servers send a plain description instead, which changes nothing about who gets what.
 */
export const checkFetched = (
  bolt11: Bolt11.Bolt11,
  offer: Offer,
  amount: Msat.Msat,
  rules: Rules & Pick<Installation["Service"], "network">,
  nowMillis: number
): Result.Result<void, string> => {
  if (bolt11.network !== rules.network) return Result.fail(`an invoice of ${bolt11.network}`)
  if (bolt11.amount !== amount) return Result.fail("an invoice for another amount")
  if (bolt11.descriptionHash !== undefined && bolt11.descriptionHash !== Id.toHex(sha256(new TextEncoder().encode(offer.metadata)))) {
    return Result.fail("an invoice for another description")
  }
  return Result.mapError(checkBolt11(bolt11, rules, nowMillis), ({ message }) => message)
}
