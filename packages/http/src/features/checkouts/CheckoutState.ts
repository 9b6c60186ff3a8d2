import * as Msat from "@satrail/bitcoin/Msat"
import * as Checkout from "@satrail/core/features/checkouts/Checkout"
import type { Asking, Page, State } from "@satrail/ui/checkout/State"
import * as Words from "@satrail/ui/checkout/Words"

/** What a wallet is given: address, amount and invoice in one (BIP 21). */
export const uriOf = ({ address, paymentRequest }: Checkout.Checkout, rest: Msat.Msat | null): string => {
  const digits = rest === null ? "" : String(Msat.toSats(rest)).padStart(9, "0")
  const amount = rest === null ? "" : `amount=${digits.slice(0, -8)}.${digits.slice(-8)}&`
  return `bitcoin:${address}?${amount}lightning=${paymentRequest}`
}

/** What is still to be paid, and how. Null where nothing is: also for the moment in which there is no invoice of the rest. */
const askingOf = (checkout: Checkout.Shown): Asking | null => {
  const { status, received, isAsking, paymentRequest, address } = checkout
  if ((status !== "open" && status !== "underpaid") || !isAsking || Checkout.isSeen(checkout)) return null
  const rest = Checkout.rest(checkout, received)
  return { uri: uriOf(checkout, rest), invoice: paymentRequest, address, sats: rest === null ? null : Number(Msat.toSats(rest)) }
}

/** What a payer is told of besides the checkout itself. */
export interface Besides {
  readonly confirmations: State["confirmations"]
  readonly refunds: State["refunds"]
}

/** Where it stands, as far as its payer must know: no id of ours, no metadata, not who else paid. */
export const stateOf = (checkout: Checkout.Shown, { confirmations, refunds }: Besides, nowMillis: number): State => {
  const { status, amount, received, pending, paidAtMillis, expiresAtMillis } = checkout
  const over = amount !== null && received > amount ? Msat.make(received - amount) : Msat.zero
  return {
    status,
    asking: askingOf(checkout),
    receivedSats: Number(Msat.toSats(received)),
    pendingSats: Number(Msat.toSats(pending)),
    confirmations,
    overSats: Number(Msat.toSats(over)),
    isLate: Checkout.isLate(checkout),
    refunds,
    paidAtMillis,
    expiresAtMillis,
    nowMillis
  }
}

/** What of its page does not change. It is at `/pay/<publicId>`, and what belongs to it below that. */
export const pageOf = (
  checkout: Checkout.Checkout,
  { isSandbox, seller }: { readonly isSandbox: boolean; readonly seller: string }
): Page => {
  const { publicId, locale, embedOrigin, description, orderId, amount, fiatAmount, fiatCurrency, returnUrl, cancelUrl } = checkout
  return {
    locale,
    seller,
    description,
    orderId,
    amountSats: amount === null ? null : Number(Msat.toSatsCeiling(amount)),
    fiat: fiatAmount === null || fiatCurrency === null ? null : Words.fiat(fiatAmount, fiatCurrency, locale),
    returnUrl,
    cancelUrl,
    reference: publicId,
    stateUrl: `${publicId}/state`,
    isStreamed: true,
    sandboxUrl: isSandbox ? `${publicId}/sandbox` : null,
    embedOrigin
  }
}
