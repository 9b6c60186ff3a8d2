import { sha256 } from "@noble/hashes/sha2.js"
import * as TxId from "@satrail/bitcoin/TxId"
import { hex, utf8 } from "@scure/base"
import { p2wpkh } from "@scure/btc-signer/payment.js"
import { Transaction } from "@scure/btc-signer/transaction.js"
import { pubECDSA } from "@scure/btc-signer/utils.js"

const network = { bech32: "bcrt", pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef }

/** This key is not a secret, because its coins are on a temporary chain. */
export const privateKey = sha256(utf8.decode("satrail regtest miner"))
const payment = p2wpkh(pubECDSA(privateKey), network)

/** The address that receives the coins of new blocks. */
export const address: string = payment.address ?? ""

/** Segwit and taproot are active after 432 blocks, and each block's coins mature after 100. */
export const firstBlocks = 450

const feeSats = 2_000n

/** Spends the coins of one block: pays `sats` to `to`, and returns the change to the miner. */
export const spend = (
  coinbase: { readonly txId: TxId.TxId; readonly sats: bigint },
  to: string,
  sats: bigint
): { rawTx: string; txId: TxId.TxId } => {
  const transaction = new Transaction()
  transaction.addInput({
    txid: coinbase.txId,
    index: 0,
    witnessUtxo: { script: payment.script, amount: coinbase.sats }
  })
  transaction.addOutputAddress(to, sats, network)
  transaction.addOutputAddress(address, coinbase.sats - sats - feeSats, network)
  transaction.sign(privateKey)
  transaction.finalize()
  return { rawTx: hex.encode(transaction.extract()), txId: TxId.make(transaction.id) }
}
