import { Result } from "effect"
import * as BitcoinAddress from "../src/BitcoinAddress.ts"
import type { Network } from "../src/Network.ts"

export type Reason = BitcoinAddress.BitcoinAddressInvalid["reason"]

/** A valid test vector with its expected values. */
export type Valid = readonly [address: string, network: Network, scriptPubKey: string, kind: BitcoinAddress.Kind]

/** An invalid test vector with the reason why it is invalid. */
export type Invalid = readonly [why: string, address: string, network: Network, reason: Reason]

export const refusal = (address: string, network: Network): Reason | "valid" => {
  const decoded = BitcoinAddress.decode(address, network)
  return Result.isFailure(decoded) ? decoded.failure.reason : "valid"
}

/** Decodes the vector's address and encodes its script. Both results must equal `expected`. */
export const bothWays = ([address, network, scriptPubKey]: Valid) =>
  [BitcoinAddress.decode(address, network), BitcoinAddress.fromScript(scriptPubKey, network)].map(Result.getOrThrow)

/** The expected results of `bothWays`. Segwit addresses are written in lowercase. */
export const expected = ([address, network, scriptPubKey, kind]: Valid) => {
  const written = kind === "p2pkh" || kind === "p2sh" ? address : address.toLowerCase()
  const one = { address: written, network, kind, scriptPubKey }
  return [one, one]
}
