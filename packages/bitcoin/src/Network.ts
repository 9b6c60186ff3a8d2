import { Schema } from "effect"
import * as Msat from "./Msat.ts"

/** The bitcoin network of a service. A process serves only one. */
export const Network = Schema.Literals(["mainnet", "testnet", "signet", "regtest"])
export type Network = typeof Network.Type

/**
 * A network's prefixes and versions in addresses (BIP 173, base58 versions), invoices (BOLT 11) and offers
 * (BOLT 12).
 */
export interface Parameters {
  readonly bech32Prefix: string
  readonly invoicePrefix: string
  readonly p2pkhVersion: number
  readonly p2shVersion: number
  /** The hash of the network's first block in hex, in the byte order of Lightning messages (BOLT 1). */
  readonly chainHash: string
  /** The maximum supply. */
  readonly supplyMsat: Msat.Msat
}

const test = { p2pkhVersion: 0x6f, p2shVersion: 0xc4, supplyMsat: Msat.max }

/** Testnet and signet share their address formats. Only an invoice distinguishes the two. */
export const parameters: { readonly [network in Network]: Parameters } = {
  mainnet: {
    bech32Prefix: "bc",
    invoicePrefix: "lnbc",
    chainHash: "6fe28c0ab6f1b372c1a6a246ae63f74f931e8365e15a089c68d6190000000000",
    p2pkhVersion: 0x00,
    p2shVersion: 0x05,
    supplyMsat: Msat.max
  },
  testnet: {
    bech32Prefix: "tb",
    invoicePrefix: "lntb",
    chainHash: "43497fd7f826957108f4a30fd9cec3aeba79972084e90ead01ea330900000000",
    ...test
  },
  signet: {
    bech32Prefix: "tb",
    invoicePrefix: "lntbs",
    chainHash: "f61eee3b63a380a477a063af32b2bbc97c9ff9f01f2c4225e973988108000000",
    ...test
  },
  regtest: {
    bech32Prefix: "bcrt",
    invoicePrefix: "lnbcrt",
    chainHash: "06226e46111a0b59caaf126043eb5bbf28c34f3a5e332a1fc7b2b73cf188910f",
    ...test
  }
}

export const all: ReadonlyArray<Network> = Network.literals
