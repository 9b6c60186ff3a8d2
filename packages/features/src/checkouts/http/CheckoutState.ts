import * as Bip21 from "@satrail/bitcoin/Bip21"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Checkout from "../core/Checkout.ts"
import * as Deposit from "@satrail/core/receiving/Deposit"
import type { Asking, Page, Payment, State } from "@satrail/ui/checkout/State"
import * as Words from "@satrail/ui/checkout/Words"
import { Result } from "effect"
import type { Explorer } from "./Explorer.ts"

const satsOf = (rest: Msat.Msat | null): number | null => (rest === null ? null : Number(Msat.toSats(rest)))

/**
 * Returns the amount still due and how to pay it: on-chain alone while there is no invoice for it, and Lightning alone if
 * the amount is too small for the chain. Null if nothing is due, or if it cannot be paid yet.
 */
const askingOf = (checkout: Checkout.Shown): Asking | null => {
  const { bip21: uri, isAsking, paymentRequest, address } = checkout
  if (uri === null) return null
  const sats = satsOf(Checkout.unsent(checkout))
  return {
    uri,
    invoice: isAsking ? paymentRequest : null,
    address: Bip21.isBip21(uri) ? address : null,
    sats
  }
}

/** Returns the facts of a deposit that its payer may see. */
export const paymentOf = (deposit: Deposit.Deposit, explorer: Explorer): Payment => {
  const { rail, amount, status, recipient, chainTxId } = deposit
  const seen = {
    sats: Number(Msat.toSats(amount)),
    isPending: status === "pending",
    atMillis: Deposit.paidAt(deposit)
  }
  if (rail === "on_chain")
    return {
      way: "chain",
      ...seen,
      reference: chainTxId,
      explorerUrl: chainTxId === null ? null : explorer(chainTxId)
    }
  const hash = Result.map(Bolt11.decode(recipient), ({ paymentHash }) => paymentHash)
  return { way: "lightning", ...seen, reference: Result.getOrElse(hash, () => null), explorerUrl: null }
}

/** Further facts that a payer may see. */
export interface Besides extends Pick<State, "confirmations" | "refunds" | "payments"> {}

/** Returns the state that a payer may see: without internal ids, metadata or other payers' data. */
export const stateOf = (
  checkout: Checkout.Shown,
  { confirmations, refunds, payments }: Besides,
  nowMillis: number
): State => {
  const { status, tipPercent, received, pending, paidAtMillis, endedAtMillis, expiresAtMillis } = checkout
  const total = Checkout.total(checkout)
  const over = total !== null && received > total ? Msat.make(received - total) : Msat.zero
  const asking = askingOf(checkout)
  return {
    status,
    asking,
    restSats: (asking === null && Checkout.isDue(checkout) && satsOf(Checkout.unsent(checkout))) || 0,
    receivedSats: Number(Msat.toSats(received)),
    pendingSats: Number(Msat.toSats(pending)),
    confirmations,
    overSats: Number(Msat.toSats(over)),
    isLate: Checkout.isLate(checkout),
    isRenewable: Checkout.isRenewable(checkout, nowMillis),
    questions: !Checkout.isAnswerable(checkout) ? null : tipPercent === null ? "due" : "answered",
    payments,
    refunds,
    paidAtMillis,
    endedAtMillis,
    expiresAtMillis,
    nowMillis
  }
}

/** Returns the constant part of the page at `/pay/<publicId>`. All of the page's files are under that path. */
export const pageOf = (
  checkout: Checkout.Checkout,
  {
    isSandbox,
    seller,
    about
  }: { readonly isSandbox: boolean; readonly seller: string; readonly about: string | null }
): Page => {
  const {
    publicId,
    locale,
    embedOrigin,
    description,
    orderId,
    amount,
    returnUrl,
    cancelUrl,
    createdAtMillis
  } = checkout
  const { fiatAmount, fiatCurrency, rate, tipPercent, options, contact, quotedAtMillis } = checkout
  const fiat =
    fiatAmount === null || fiatCurrency === null ? null : { amount: fiatAmount, currency: fiatCurrency, rate }
  const [price, total] = [amount, Checkout.total(checkout)].map((msat) =>
    msat === null ? null : Number(Msat.toSatsCeiling(msat))
  )
  return {
    locale,
    seller,
    description,
    orderId,
    price: { amountSats: price ?? null, fiat },
    amountSats: total ?? null,
    fiat: Words.tipped({ amountSats: null, fiat }, tipPercent ?? 0).fiat,
    tipPercent: tipPercent ?? 0,
    tips: options.includes("tip") ? Checkout.tips : [],
    asksEmail: options.includes("email"),
    contact,
    about,
    returnUrl,
    cancelUrl,
    reference: publicId,
    createdAtMillis: quotedAtMillis ?? createdAtMillis,
    renewal: { url: `${publicId}/renew`, method: "post" },
    answerUrl: `${publicId}/answer`,
    stateUrl: `${publicId}/state`,
    isStreamed: true,
    receiptUrl: `${publicId}/receipt`,
    isTest: isSandbox,
    sandboxUrl: isSandbox ? `${publicId}/sandbox` : null,
    embedOrigin
  }
}
