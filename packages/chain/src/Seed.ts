import type { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import type { Network } from "@satrail/bitcoin/Network"
import { HDKey } from "@scure/bip32"
import { entropyToMnemonic, mnemonicToSeedSync, validateMnemonic } from "@scure/bip39"
import { wordlist } from "@scure/bip39/wordlists/english.js"
import { Redacted, Result, Schema } from "effect"

/** The words are not a valid seed: one is missing, misspelled or misplaced. */
export class SeedInvalid extends Schema.TaggedError<SeedInvalid>()("SeedInvalid", {}) {
  override get message(): string {
    return "These words are not a seed. A seed has 12 to 24 English words in order; the last one contains a checksum (BIP 39)."
  }
}

const label = "seed words"

/** Returns 24 words (BIP 39) for these 32 random bytes. */
export const fromEntropy = (entropy: Uint8Array): Redacted.Redacted =>
  Redacted.make(entropyToMnemonic(entropy, wordlist), { label })

/** Parses seed words as a user types them. */
export const parse = (text: string): Result.Result<Redacted.Redacted, SeedInvalid> => {
  const words = text.trim().toLowerCase().split(/\s+/).join(" ")
  return validateMnemonic(words, wordlist)
    ? Result.succeed(Redacted.make(words, { label }))
    : Result.fail(new SeedInvalid())
}

/** A network's extended key versions (BIP 32), and its number in paths (SLIP 44). */
export const parameters = (network: Network) =>
  network === "mainnet"
    ? { versions: { private: 0x0488ade4, public: 0x0488b21e }, coin: 0 }
    : { versions: { private: 0x04358394, public: 0x043587cf }, coin: 1 }

/** Returns the master key of a seed. */
export const master = (words: Redacted.Redacted, network: Network): HDKey =>
  HDKey.fromMasterSeed(mnemonicToSeedSync(Redacted.value(words)), parameters(network).versions)

const hardened = 0x80000000
const purposes: { readonly [type in AddressType]: number } = { taproot: 86, segwit: 84, nested_segwit: 49 }

/** Returns the path from the master key to the account of this address type (BIP 86, 84, 49). */
export const accountPath = (type: AddressType, network: Network): ReadonlyArray<number> => [
  purposes[type] + hardened,
  parameters(network).coin + hardened,
  hardened
]

/** Formats a path, such as m/86'/0'/0'. */
export const written = (path: ReadonlyArray<number>): string =>
  ["m", ...path.map((step) => (step >= hardened ? `${step - hardened}'` : String(step)))].join("/")

/** Returns a key's bytes. They are never null, because only a wiped key has none, and no key is wiped here. */
export const present = (key: Uint8Array | null): Uint8Array => {
  if (key === null) throw new Error("a derived key without bytes")
  return key
}
