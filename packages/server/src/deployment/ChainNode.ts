import type { Network } from "@satrail/bitcoin/Network"
import * as Books from "@satrail/chain/Books"
import * as ExternalSigner from "@satrail/chain/ExternalSigner"
import * as HotSigner from "@satrail/chain/HotSigner"
import * as Progress from "@satrail/chain/Progress"
import * as ChainWallet from "@satrail/chain/Wallet"
import * as WalletFile from "@satrail/chain/WalletFile"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { Journal } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { Effect, Layer, Option } from "effect"
import type * as ChainView from "../backends/ChainView.ts"
import { NodeUnusable } from "../backends/NodeUnusable.ts"
import type * as Wallet from "../environment/Wallet.ts"

/** A real chain: its block source, and the wallet on it. */
export interface Chain extends Wallet.Wallet {
  readonly source: ChainView.ChainView
}

/** Fee rate in satoshis per virtual byte, used on networks without enough traffic for an estimate. */
const quietFeeRate = 2

const feeRates = (network: Network) =>
  network === "regtest" || network === "signet" ? { fallback: quietFeeRate } : {}

const signerLayer = Effect.fnUntraced(function* (
  { signer, walletFile }: Wallet.Wallet,
  wallet: WalletFile.WalletFile
) {
  if (signer._tag === "External") return ExternalSigner.layer(signer)
  const words =
    signer._tag === "Words" ? signer.words : yield* WalletFile.open(walletFile, wallet, signer.passphrase)
  if (!WalletFile.isSeedOf(words, wallet)) {
    return yield* new NodeUnusable({ message: `CHAIN_SEED is not the seed of the wallet in ${walletFile}.` })
  }
  return HotSigner.layer(words, wallet.accounts.network)
})

// Binds the database to the wallet that it was created with. The database's addresses belong to that wallet,
// and no other wallet can spend payments to them.
const owner = "wallet"
/** Stored for the simulated wallet, in place of a fingerprint. */
const simulated = "simulated"

const nameOf = (wallet: string) =>
  wallet === simulated ? "the simulated wallet" : `the wallet with fingerprint ${wallet}`

/** Fails if the database belongs to another wallet. An empty database belongs to this wallet from now on. */
export const belongs = Effect.fnUntraced(function* (wallet: string) {
  const records = yield* LedgerReads
  // An earlier version did not store that the wallet was simulated, but the database contains the chain's position.
  const before = Option.as(yield* records.cursor("chain"), simulated)
  const stored = yield* records.cursor(owner)
  const known = Option.getOrUndefined(Option.orElse(stored, () => before))
  if (known !== undefined && known !== wallet) {
    const remedy = known === simulated ? "CHAIN to sandbox" : "CHAIN and CHAIN_WALLET to that wallet"
    return yield* new NodeUnusable({
      message: `The database belongs to ${nameOf(known)}, but CHAIN selects ${nameOf(wallet)}. Set ${remedy}, or start with an empty database.`
    })
  }
  if (Option.isNone(stored)) yield* Cursor.store(yield* Journal, { source: owner, value: wallet })
})

/** Fails if the database belongs to a real wallet. */
export const layerSimulated = Layer.effectDiscard(belongs(simulated))

/** Reads our wallet. Fails if it is for another network. */
export const walletFor = Effect.fnUntraced(function* (network: Network, walletFile: string) {
  const wallet = yield* WalletFile.read(walletFile)
  const { network: own } = wallet.accounts
  if (own === network) return wallet
  return yield* new NodeUnusable({
    message: `The wallet in ${walletFile} is for ${own}, but SATRAIL_NETWORK is ${network}.`
  })
})

/** Provides a real chain, our wallet, and its signer. Starts even if the chain is unreachable. */
export const layer = (network: Network, chain: Chain) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { source, walletFile } = chain
      const wallet = yield* walletFor(network, walletFile)
      const { accounts, birthdaySeconds } = wallet
      yield* belongs(accounts.fingerprint)
      const place = { network, lastRead: yield* Progress.lastRead }
      return Layer.mergeAll(
        source.layer({ ...place, beginning: { birthdaySeconds }, feeRates: feeRates(network) }),
        ChainWallet.layer(accounts, source.unspent(place)),
        Books.layer(accounts.fingerprint, source.unspent(place)),
        yield* signerLayer(chain, wallet)
      )
    })
  )
