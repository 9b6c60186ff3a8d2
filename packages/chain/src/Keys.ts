import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import type { Network } from "@satrail/bitcoin/Network"
import type * as Coin from "@satrail/core/nodes/Coin"
import type * as Payout from "@satrail/core/sending/Payout"
import { HDKey } from "@scure/bip32"
import { type Redacted, Schema } from "effect"
import * as Seed from "./Seed.ts"

/** The public side of a wallet: enough to give out addresses and to see what is paid to them, and not enough to spend anything. */
export const Accounts = Schema.Struct({
  network: Schema.Literals(["mainnet", "testnet", "signet", "regtest"]),
  /** Of the master key, 4 bytes in hex. */
  fingerprint: Schema.String,
  /** The extended public key of each account (BIP 32): m/86', m/84' and m/49'. */
  taproot: Schema.String,
  segwit: Schema.String,
  nested_segwit: Schema.String
})
export interface Accounts extends Schema.Schema.Type<typeof Accounts> {}

/** A key of the wallet, and what pays to it. */
export interface Key extends Payout.Key {
  readonly address: BitcoinAddress.BitcoinAddress
}

export interface Keys extends Payout.Keys {
  readonly accounts: Accounts
  /** Derived once, and known from then on as long as it is among the last ones asked for. */
  readonly key: (place: Coin.Place) => Key
}

/** What may be known of the wallet that these words are the seed of. */
export const accountsOf = (words: Redacted.Redacted, network: Network): Accounts => {
  const master = Seed.master(words, network)
  const account = (type: BitcoinAddress.AddressType) => master.derive(Seed.written(Seed.accountPath(type, network))).publicExtendedKey
  return {
    network,
    fingerprint: master.fingerprint.toString(16).padStart(8, "0"),
    taproot: account("taproot"),
    segwit: account("segwit"),
    nested_segwit: account("nested_segwit")
  }
}

// A derivation costs two milliseconds, and a payout asks for the keys of its coins more than once.
const maxKnown = 4096

/** Throws when an account is no extended public key of its network. */
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
