import type { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import type { Network } from "@satrail/bitcoin/Network"
import { HDKey } from "@scure/bip32"
import { entropyToMnemonic, mnemonicToSeedSync, validateMnemonic } from "@scure/bip39"
import { wordlist } from "@scure/bip39/wordlists/english.js"
import { Redacted, Result, Schema } from "effect"

/** The words are no seed: one is missing, misspelt or out of place. */
export class SeedInvalid extends Schema.TaggedError<SeedInvalid>()("SeedInvalid", {}) {
  override get message(): string {
    return "These words are no seed. It is 12 to 24 English words in their order, and the last one checks the others (BIP 39)."
  }
}

const label = "seed words"

/** 24 words (BIP 39) of these 32 random bytes. */
export const fromEntropy = (entropy: Uint8Array): Redacted.Redacted => Redacted.make(entropyToMnemonic(entropy, wordlist), { label })

/** Words as a person types them. */
export const parse = (text: string): Result.Result<Redacted.Redacted, SeedInvalid> => {
  const words = text.trim().toLowerCase().split(/\s+/).join(" ")
  return validateMnemonic(words, wordlist) ? Result.succeed(Redacted.make(words, { label })) : Result.fail(new SeedInvalid())
}

/** How a network writes its extended keys (BIP 32), and its number in paths (SLIP 44). */
export const parameters = (network: Network) =>
  network === "mainnet"
    ? { versions: { private: 0x0488ade4, public: 0x0488b21e }, coin: 0 }
    : { versions: { private: 0x04358394, public: 0x043587cf }, coin: 1 }

/** The master key of these words. */
export const master = (words: Redacted.Redacted, network: Network): HDKey =>
  HDKey.fromMasterSeed(mnemonicToSeedSync(Redacted.value(words)), parameters(network).versions)

const hardened = 0x80000000
const purposes: { readonly [type in AddressType]: number } = { taproot: 86, segwit: 84, nested_segwit: 49 }

/** The way from the master key to the account of this address type (BIP 86, 84, 49). */
export const accountPath = (type: AddressType, network: Network): ReadonlyArray<number> => [
  purposes[type] + hardened,
  parameters(network).coin + hardened,
  hardened
]

/** A path as people write it. */
export const written = (path: ReadonlyArray<number>): string =>
  ["m", ...path.map((step) => (step >= hardened ? `${step - hardened}'` : String(step)))].join("/")

/** A key as bytes: only a wiped key has none, and these are never wiped. */
export const present = (key: Uint8Array | null): Uint8Array => {
  if (key === null) throw new Error("a derived key without bytes")
  return key
}
