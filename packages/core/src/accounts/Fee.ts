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

/** The rates of a fee's two parts. */
export interface Rates {
  readonly service: FeeRate
  readonly network: FeeRate
}

/** Returns both parts of the fee for `amount`. */
export const quote = ({ service, network }: Rates, amount: Msat.Msat): Fee => ({
  service: at(service, amount),
  network: at(network, amount)
})

/** Returns the largest amount in whole sats that, together with its fee, costs at most `funds`; zero if there is none. */
export const largest = (rates: Rates, funds: Msat.Msat): Msat.Msat => {
  const { service, network } = rates
  const millionths = 1_000_000n + service.partsPerMillion + network.partsPerMillion
  const most = ((funds - service.base - network.base) * 1_000_000n) / millionths
  if (most < 1000n) return Msat.zero
  const amount = Msat.fromSats(Msat.toSats(Msat.make(most)))
  // `most` ignores that each part of the fee is rounded up, by less than 1 msat.
  return amount + total(quote(rates, amount)) > funds ? Msat.make(amount - 1000n) : amount
}

/** Returns the sum of both parts, which customers see as one fee. */
export const total = (fee: Fee): Msat.Msat => Msat.make(fee.service + fee.network)
