import { Result } from "effect"
import * as BitcoinAddress from "../src/BitcoinAddress.ts"
import type { Network } from "../src/Network.ts"

export type Reason = BitcoinAddress.BitcoinAddressInvalid["reason"]

/** A vector that is valid: what it says, and whose it is. */
export type Valid = readonly [address: string, network: Network, scriptPubKey: string, kind: BitcoinAddress.Kind]

/** A vector that is not, and why. */
export type Invalid = readonly [why: string, address: string, network: Network, reason: Reason]

export const refusal = (address: string, network: Network): Reason | "valid" => {
  const decoded = BitcoinAddress.decode(address, network)
  return Result.isFailure(decoded) ? decoded.failure.reason : "valid"
}

/** The vector as it is decoded, and as its script is encoded: what `expected` is, twice. */
export const bothWays = ([address, network, scriptPubKey]: Valid) =>
  [BitcoinAddress.decode(address, network), BitcoinAddress.fromScript(scriptPubKey, network)].map(Result.getOrThrow)

/** What a vector says, twice. Segregated witness addresses are written in lower case. */
export const expected = ([address, network, scriptPubKey, kind]: Valid) => {
  const written = kind === "p2pkh" || kind === "p2sh" ? address : address.toLowerCase()
  const one = { address: written, network, kind, scriptPubKey }
  return [one, one]
}
