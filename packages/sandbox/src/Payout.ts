import * as BitcoinAddress from "@satrail/core/BitcoinAddress"
import { base64, hex } from "@scure/base"
import { p2wpkh } from "@scure/btc-signer/payment.js"
import { Transaction as Scure } from "@scure/btc-signer/transaction.js"
import type * as Keys from "./Keys.ts"
import type * as Transaction from "./Transaction.ts"

/** An output that a wallet can spend, with the key that can. */
export interface Coin extends Transaction.Output {
  readonly outpoint: string
  readonly place: Keys.Place
}

/** Which coins to spend, and what is left for ourselves and the miners. No change: `changeSats` is 0. */
export interface Selection {
  readonly coins: ReadonlyArray<Coin>
  readonly feeSats: bigint
  readonly changeSats: bigint
}

/** Replaceable (BIP 125). */
const sequence = 0xfffffffd

// Weight units. Signatures are counted at their longest, so a fee is never less than its rate.
const overheadWeight = 42
const inputWeight: { readonly [type in BitcoinAddress.AddressType]: number } = { taproot: 230, segwit: 272, nested_segwit: 364 }
const outputWeight = (scriptPubKey: string) => (9 + scriptPubKey.length / 2) * 4

const feeFor = (weight: number, feeRate: number): bigint => BigInt(Math.ceil((weight * feeRate) / 4))

/** Where change goes: P2TR, the cheapest to spend. */
export const changeType = "taproot"
const changeWeight = (9 + 34) * 4
const changeDust = BitcoinAddress.dustLimitSats("p2tr")

/**
 * The largest coins first, until they pay for all outputs and a fee: `feeRate`, or as much of it as `feeLimit` allows, never less than 1 sat
 * for a virtual byte. Answers what would have been needed when they do not.
 */
export const select = (ask: {
  readonly coins: ReadonlyArray<Coin>
  readonly outputs: ReadonlyArray<Transaction.Output>
  readonly feeRate: number
  readonly feeLimitSats: bigint
}): Selection | { readonly neededSats: bigint } => {
  const { outputs, feeRate, feeLimitSats } = ask
  const amount = outputs.reduce((sum, { sats }) => sum + sats, 0n)
  const limited = (weight: number): bigint | undefined => {
    const wanted = feeFor(weight, feeRate)
    const fee = wanted < feeLimitSats ? wanted : feeLimitSats
    return fee >= feeFor(weight, 1) ? fee : undefined
  }
  const coins: Array<Coin> = []
  let total = 0n
  let weight = overheadWeight + outputs.reduce((sum, { scriptPubKey }) => sum + outputWeight(scriptPubKey), 0)
  for (const coin of ask.coins.toSorted((one, other) => (one.sats === other.sats ? 0 : one.sats > other.sats ? -1 : 1))) {
    coins.push(coin)
    total += coin.sats
    weight += inputWeight[coin.place.type]
    const withChange = limited(weight + changeWeight)
    const changeSats = withChange === undefined ? 0n : total - amount - withChange
    if (withChange !== undefined && changeSats >= changeDust) return { coins, feeSats: withChange, changeSats }
    // What is too little to be an output of its own goes to the miners, within the limit.
    const rest = total - amount
    if (rest >= (limited(weight) ?? feeLimitSats + 1n) && rest <= feeLimitSats) return { coins, feeSats: rest, changeSats: 0n }
  }
  return { neededSats: amount + feeFor(weight, feeRate) }
}

/** The unsigned transaction, with everything in it that a signer needs besides the keys. */
export const draft = (wallet: Keys.Wallet, coins: ReadonlyArray<Coin>, outputs: ReadonlyArray<Transaction.Output>): Scure => {
  const tx = new Scure()
  for (const { outpoint, scriptPubKey, sats, place } of coins) {
    const { publicKey, path } = wallet.key(place)
    const [txid = "", index = ""] = outpoint.split(":")
    const derivation = { fingerprint: wallet.master.fingerprint, path: [...path] }
    const xOnly = publicKey.slice(1)
    tx.addInput({
      txid,
      index: Number(index),
      sequence,
      witnessUtxo: { amount: sats, script: hex.decode(scriptPubKey) },
      ...(place.type === "taproot"
        ? { tapInternalKey: xOnly, tapBip32Derivation: [[xOnly, { hashes: [], der: derivation }]] }
        : { bip32Derivation: [[publicKey, derivation]] }),
      ...(place.type === "nested_segwit" && { redeemScript: p2wpkh(publicKey).script })
    })
  }
  for (const { scriptPubKey, sats } of outputs) tx.addOutput({ script: hex.decode(scriptPubKey), amount: sats })
  return tx
}

export const toPsbt = (tx: Scure): string => base64.encode(tx.toPSBT())
export const fromPsbt = (psbt: string): Scure => Scure.fromPSBT(base64.decode(psbt))

// Signing the same twice gives the same bytes.
const noRandomness = new Uint8Array(32)

/** Signs every input whose key one of the wallets has, and serialises. Throws when that is not all of them. */
export const sign = (tx: Scure, wallets: ReadonlyArray<Keys.Wallet>): { readonly txId: string; readonly rawTx: string } => {
  for (let index = 0; index < tx.inputsLength; index++) {
    const { bip32Derivation, tapBip32Derivation } = tx.getInput(index)
    const derivation = tapBip32Derivation?.[0]?.[1].der ?? bip32Derivation?.[0]?.[1]
    const wallet = wallets.find(({ master }) => master.fingerprint === derivation?.fingerprint)
    if (derivation === undefined || wallet === undefined) throw new Error(`Input ${index} names no key of this signer`)
    tx.signIdx(wallet.privateKey(derivation.path), index, undefined, noRandomness)
  }
  tx.finalize()
  return { txId: tx.id, rawTx: tx.hex }
}
