import * as Msat from "@satrail/bitcoin/Msat"

/** A fee of `base` plus `partsPerMillion` of the amount, rounded up to a whole msat. */
export interface FeeRate {
  readonly base: Msat.Msat
  readonly partsPerMillion: bigint
}

/**
 * A withdrawal's fee, fixed when it is confirmed. `service` is the operator's fee. `network` is the maximum
 * routing or mining fee, and is passed to the node as the limit. Sending 1000 with fees of 5 and 10 costs 1015,
 * whatever the route actually costs.
 */
export interface Fee {
  readonly service: Msat.Msat
  readonly network: Msat.Msat
}

export const free: FeeRate = { base: Msat.zero, partsPerMillion: 0n }

/** Returns the fee for `amount`. */
export const at = (rate: FeeRate, amount: Msat.Msat): Msat.Msat =>
  Msat.make(rate.base + (amount * rate.partsPerMillion + 999_999n) / 1_000_000n)

/** Returns the sum of both parts, which customers see as one fee. */
export const total = (fee: Fee): Msat.Msat => Msat.make(fee.service + fee.network)
