import * as BitcoinRpc from "@satrail/chain/BitcoinRpc"
import * as Books from "@satrail/chain/Books"
import * as Esplora from "@satrail/chain/Esplora"
import * as ExternalSigner from "@satrail/chain/ExternalSigner"
import type * as Follower from "@satrail/chain/Follower"
import * as HotSigner from "@satrail/chain/HotSigner"
import * as Keys from "@satrail/chain/Keys"
import * as Wallet from "@satrail/chain/Wallet"
import * as WalletFile from "@satrail/chain/WalletFile"
import * as Id from "@satrail/core/base/Id"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { Journal } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { Clock, Effect, Layer, Option, type Redacted, Schema } from "effect"
import type { Chain, Environment } from "./Environment.ts"

/** The chain cannot be used as it is configured: the message says what to do about it. */
export class ChainMisconfigured extends Schema.TaggedError<ChainMisconfigured>()("ChainMisconfigured", { message: Schema.String }) {}

/** Where the chain's own network has no traffic to estimate from, this much is paid for a virtual byte. */
const quietFeeRate = 2

const feeRates = ({ network }: Environment) => (network === "regtest" || network === "signet" ? { fallback: quietFeeRate } : {})

const rpcOptions = (
  environment: Environment,
  source: Chain["source"] & { readonly _tag: "BitcoinRpc" },
  beginning: Follower.Beginning
) => ({
  ...source,
  network: environment.network,
  beginning,
  feeRates: feeRates(environment)
})

const anywhere: Follower.Beginning = { height: 0 }

/** Blocks, as whoever `CHAIN` names has them. */
export const node = (environment: Environment, { source }: Chain): Follower.Node =>
  source._tag === "BitcoinRpc" ? BitcoinRpc.node(rpcOptions(environment, source, anywhere)) : Esplora.node(source)

const unspent = (environment: Environment, { source }: Chain): Books.Unspent =>
  source._tag === "BitcoinRpc" ? BitcoinRpc.unspent(rpcOptions(environment, source, anywhere)) : Esplora.unspent(source)

const sourceLayer = Effect.fnUntraced(function* (environment: Environment, { source }: Chain, beginning: Follower.Beginning) {
  if (source._tag === "Esplora") return Esplora.layer({ ...source, beginning, feeRates: feeRates(environment) })
  const options = rpcOptions(environment, source, beginning)
  yield* Effect.mapError(
    BitcoinRpc.check(options),
    ({ message }) =>
      new ChainMisconfigured({
        message: `${message}. Look at BITCOIN_RPC_URL, BITCOIN_RPC_USER, BITCOIN_RPC_PASSWORD and SATRAIL_NETWORK.`
      })
  )
  return BitcoinRpc.layer(options)
})

const sameWallet = (words: Redacted.Redacted, { accounts }: WalletFile.WalletFile) =>
  Keys.accountsOf(words, accounts.network).fingerprint === accounts.fingerprint

const signerLayer = Effect.fnUntraced(function* ({ signer, walletFile }: Chain, wallet: WalletFile.WalletFile) {
  if (signer._tag === "External") return ExternalSigner.layer(signer)
  const words = signer._tag === "Words" ? signer.words : yield* WalletFile.open(walletFile, wallet, signer.passphrase)
  if (!sameWallet(words, wallet)) {
    return yield* new ChainMisconfigured({ message: `CHAIN_SEED is the seed of another wallet than the one in ${walletFile}.` })
  }
  return HotSigner.layer(words, wallet.accounts.network)
})

// Which wallet the database was begun with: the addresses in it are that one's, and nobody else can spend what is paid to them.
const owner = "wallet"

const belongs = Effect.fnUntraced(function* (fingerprint: string) {
  const records = yield* LedgerReads
  const journal = yield* Journal
  const known = Option.getOrUndefined(yield* records.cursor(owner))
  if (known === fingerprint) return
  const followed = yield* records.cursor("chain")
  if (known !== undefined || Option.isSome(followed)) {
    const other = known === undefined ? "the sandbox's" : `the one with the fingerprint ${known}`
    return yield* new ChainMisconfigured({
      message: `The database was begun with another wallet, ${other}, and this one is ${fingerprint}. Set CHAIN_WALLET to the first, or begin with an empty database.`
    })
  }
  yield* journal.commit(Cursor.moved({ source: owner, value: fingerprint }, yield* Id.make, yield* Clock.currentTimeMillis))
})

/** A real chain, a wallet of our own, and who signs. Starts also while the chain is away. */
export const layer = (environment: Environment, chain: Chain) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const wallet = yield* WalletFile.read(chain.walletFile)
      const { accounts, birthdaySeconds } = wallet
      if (accounts.network !== environment.network) {
        return yield* new ChainMisconfigured({
          message: `The wallet in ${chain.walletFile} is of ${accounts.network}, and SATRAIL_NETWORK is ${environment.network}.`
        })
      }
      yield* belongs(accounts.fingerprint)
      const source = yield* sourceLayer(environment, chain, { birthdaySeconds })
      const books = Books.layer(accounts.fingerprint, unspent(environment, chain))
      return Layer.mergeAll(source, Wallet.layer(accounts), books, yield* signerLayer(chain, wallet))
    })
  )
