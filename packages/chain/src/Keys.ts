import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import type { Network } from "@satrail/bitcoin/Network"
import type * as Coin from "@satrail/core/nodes/Coin"
import type * as Payout from "@satrail/core/sending/Payout"
import { HDKey } from "@scure/bip32"
import { type Redacted, Schema } from "effect"
import * as Seed from "./Seed.ts"

/** A wallet's public keys. They are enough to issue addresses and to detect payments, but not to spend. */
export const Accounts = Schema.Struct({
  network: Schema.Literals(["mainnet", "testnet", "signet", "regtest"]),
  /** The fingerprint of the master key, 4 bytes in hex. */
  fingerprint: Schema.String,
  /** The extended public key of each account (BIP 32): m/86', m/84' and m/49'. */
  taproot: Schema.String,
  segwit: Schema.String,
  nested_segwit: Schema.String
})
export interface Accounts extends Schema.Schema.Type<typeof Accounts> {}

/** A wallet key, and the address that pays to it. */
export interface Key extends Payout.Key {
  readonly address: BitcoinAddress.BitcoinAddress
}

export interface Keys extends Payout.Keys {
  readonly accounts: Accounts
  /** Derives a key. The most recent ones are cached. */
  readonly key: (place: Coin.Place) => Key
}

/** Returns the public keys of the wallet with this seed. */
export const accountsOf = (words: Redacted.Redacted, network: Network): Accounts => {
  const master = Seed.master(words, network)
  const account = (type: BitcoinAddress.AddressType) =>
    master.derive(Seed.written(Seed.accountPath(type, network))).publicExtendedKey
  return {
    network,
    fingerprint: master.fingerprint.toString(16).padStart(8, "0"),
    taproot: account("taproot"),
    segwit: account("segwit"),
    nested_segwit: account("nested_segwit")
  }
}

// Number of cached keys. A derivation takes two milliseconds, and a payout reads the keys of its coins more
// than once.
const maxKnown = 4096

/** Creates the keys. Throws if an account is not an extended public key of its network. */
export const make = (accounts: Accounts): Keys => {
  const { network } = accounts
  const { versions } = Seed.parameters(network)
  const branches = new Map<string, HDKey>()
  const known = new Map<string, Key>()
  const branchOf = ({ type, branch }: Coin.Place): HDKey => {
    const name = `${type}/${branch}`
    const parent = branches.get(name) ?? HDKey.fromExtendedKey(accounts[type], versions).deriveChild(branch)
    branches.set(name, parent)
    return parent
  }
  for (const type of BitcoinAddress.AddressType.literals) branchOf({ type, branch: 0, index: 0 })
  return {
    accounts,
    fingerprint: Number.parseInt(accounts.fingerprint, 16),
    key: (place) => {
      const { type, branch, index } = place
      const name = `${type}/${branch}/${index}`
      const found = known.get(name)
      if (found !== undefined) return found
      const publicKey = Seed.present(branchOf(place).deriveChild(index).publicKey)
      const path = [...Seed.accountPath(type, network), branch, index]
      const key = { publicKey, path, address: BitcoinAddress.fromPublicKey(publicKey, type, network) }
      known.set(name, key)
      for (const [oldest] of known) {
        if (known.size <= maxKnown) break
        known.delete(oldest)
      }
      return key
    }
  }
}
