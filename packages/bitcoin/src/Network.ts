import { Schema } from "effect"
import * as Msat from "./Msat.ts"

/** The bitcoin network a service runs on. One process serves one. */
export const Network = Schema.Literals(["mainnet", "testnet", "signet", "regtest"])
export type Network = typeof Network.Type

/** How a network writes itself into addresses (BIP 173, base58 versions) and invoices (BOLT 11). */
export interface Parameters {
  readonly bech32Prefix: string
  readonly invoicePrefix: string
  readonly p2pkhVersion: number
  readonly p2shVersion: number
  /** The most that can ever exist there. */
  readonly supplyMsat: Msat.Msat
}

const test = { p2pkhVersion: 0x6f, p2shVersion: 0xc4, supplyMsat: Msat.max }

/** Testnet and signet share their address forms: only an invoice distinguishes the two. */
export const parameters: { readonly [network in Network]: Parameters } = {
  mainnet: { bech32Prefix: "bc", invoicePrefix: "lnbc", p2pkhVersion: 0x00, p2shVersion: 0x05, supplyMsat: Msat.max },
  testnet: { bech32Prefix: "tb", invoicePrefix: "lntb", ...test },
  signet: { bech32Prefix: "tb", invoicePrefix: "lntbs", ...test },
  regtest: { bech32Prefix: "bcrt", invoicePrefix: "lnbcrt", ...test }
}

export const all: ReadonlyArray<Network> = Network.literals
