import * as Msat from "@satrail/bitcoin/Msat"

/** `base` plus `partsPerMillion` of the amount, rounded up to a whole msat. */
export interface FeeRate {
  readonly base: Msat.Msat
  readonly partsPerMillion: bigint
}

/**
 * What a withdrawal costs its company, fixed when it is confirmed. `service` is the operator's; `network` is the most that routing or
 * mining may cost: the node gets this very number as its limit. Sending 1000 with 5 and 10 takes 1015, whatever the route costs.
 */
export interface Fee {
  readonly service: Msat.Msat
  readonly network: Msat.Msat
}

export const free: FeeRate = { base: Msat.zero, partsPerMillion: 0n }

/** The fee on top of `amount`. */
export const at = (rate: FeeRate, amount: Msat.Msat): Msat.Msat =>
  Msat.make(rate.base + (amount * rate.partsPerMillion + 999_999n) / 1_000_000n)

/** Both parts together: what the customer sees as one fee. */
export const total = (fee: Fee): Msat.Msat => Msat.make(fee.service + fee.network)
