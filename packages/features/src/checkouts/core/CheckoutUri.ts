import * as Msat from "@satrail/bitcoin/Msat"

/** Formats `0.00021000`, in bitcoin as BIP 21 requires. */
const btc = (amount: Msat.Msat): string =>
  Msat.toSats(amount)
    .toString()
    .padStart(9, "0")
    .replace(/(?=.{8}$)/, ".")

/** The ways to pay a checkout. */
export interface Ways {
  /** On-chain address. */
  readonly address: string
  /** BOLT 11 invoice for the amount due; null while there is none. */
  readonly invoice: string | null
  /** The amount due in whole satoshis; null if the payer chooses it. */
  readonly due: Msat.Msat | null
  /** Smallest on-chain payment that may be requested. A smaller one would be lost, because it is never credited. */
  readonly minOnChain: Msat.Msat
}

/**
 * Returns the URI that any wallet can pay: a `bitcoin:` URI with the invoice (BIP 321), or a `lightning:` URI if the
 * amount due is too small for the chain. Null if neither can be paid. It has no BOLT 12 offer, because an offer cannot
 * be revoked once the checkout ends.
 */
export const make = ({ address, invoice, due, minOnChain }: Ways): string | null => {
  if (due !== null && due < minOnChain) return invoice === null ? null : `lightning:${invoice.toUpperCase()}`
  const amount = due === null ? [] : [`amount=${btc(due)}`]
  const parameters = [...amount, ...(invoice === null ? [] : [`lightning=${invoice}`])]
  return `bitcoin:${address}${parameters.length === 0 ? "" : `?${parameters.join("&")}`}`
}
