import * as Msat from "@satrail/bitcoin/Msat"
import type * as TxId from "@satrail/bitcoin/TxId"
import * as ChainWalletContract from "@satrail/contracts/nodes/ChainWallet"
import { begin, onChain } from "@satrail/contracts/Fixtures"
import { Companies } from "@satrail/core/accounts/Companies"
import * as CompaniesService from "@satrail/core/accounts/Companies"
import * as Answer from "@satrail/core/ledger/Answer"
import { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { Signer } from "@satrail/core/nodes/Signer"
import * as Policy from "@satrail/core/service/Policy"
import { ChainDeposits } from "@satrail/core/receiving/ChainDeposits"
import * as Deposits from "@satrail/core/receiving/ChainDeposits"
import * as Stops from "@satrail/core/accounts/Stops"
import { OnChainAddresses } from "@satrail/core/receiving/OnChainAddresses"
import * as Addresses from "@satrail/core/receiving/OnChainAddresses"
import * as Payout from "@satrail/core/sending/Payout"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import * as Memory from "@satrail/service/memory/Memory"
import { Context, Effect, Layer } from "effect"
import * as HotSigner from "../src/HotSigner.ts"
import * as Keys from "../src/Keys.ts"
import * as Seed from "../src/Seed.ts"
import * as Wallet from "../src/Wallet.ts"

export const words = Seed.fromEntropy(new Uint8Array(32).fill(1))
export const accounts = Keys.accountsOf(words, "regtest")

export const types = ["taproot", "segwit", "nested_segwit"] as const

const keys = Keys.make(accounts)

/** A payout that spends one coin of each type. */
export const psbt = Payout.toPsbt(
  Payout.draft(
    keys,
    types.map((type, index) => ({
      outpoint: `${String(index).repeat(64)}:${index}`,
      scriptPubKey: keys.key({ type, branch: 0, index }).address.scriptPubKey,
      amount: Msat.fromSats(10_000),
      type,
      branch: 0,
      index,
      isConfirmed: true
    })),
    [{ scriptPubKey: `0014${"07".repeat(20)}`, sats: 25_000n }]
  )
)

/** The defaults, except that one confirmation is always enough. */
export const settings: Policy.Settings = {
  ...Policy.defaults,
  network: "regtest",
  domain: "pay.example",
  confirmations: [{ upTo: Policy.defaults.maxWithdrawal, confirmations: 1 }]
}

/** Our wallet on a chain that has all of its coins. */
export const wallet = Wallet.layer(accounts, (outpoints) => Effect.succeed(outpoints))

/** Our wallet with its store, and the services that credit deposits. Requires a chain source. */
export const layer = Layer.mergeAll(Addresses.layer, Deposits.layer, CompaniesService.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(wallet, HotSigner.layer(words, "regtest"))),
  Layer.provide(Stops.layer),
  Layer.provideMerge(Layer.merge(Memory.layer, Policy.layer(settings)))
)

/** Follows the chain until no blocks are left to read. */
export const followAll = Effect.flatMap(ChainDeposits, ({ follow }) =>
  Effect.repeat(follow(), { while: (blocksLeft) => blocksLeft > 0 })
)

/** The peer that the wallet's contract requires, built from an external payer and miner. */
export const walletPeer = (outside: {
  readonly send: (address: string, amount: Msat.Msat) => Effect.Effect<TxId.TxId, unknown>
  readonly mine: (blocks: number) => Effect.Effect<unknown, unknown>
  readonly address: Effect.Effect<{ readonly scriptPubKey: string }, unknown>
  readonly feeOf: (txId: TxId.TxId) => Effect.Effect<Msat.Msat, unknown>
}) =>
  Effect.gen(function* () {
    const context = yield* Effect.context<
      ChainDeposits | OnChainAddresses | Companies | Signer | ChainSource | Journal | Tasks
    >()
    const addresses = Context.get(context, OnChainAddresses)
    const [signer, source, journal] = [
      Context.get(context, Signer),
      Context.get(context, ChainSource),
      Context.get(context, Journal)
    ]
    const { id: companyId } = yield* Effect.flatMap(
      Context.get(context, Companies).open({ name: "Acme", plan: "paid" }),
      Answer.made
    )
    return ChainWalletContract.Peer.of({
      send: Effect.fnUntraced(function* (type, amount) {
        const { address } = yield* Effect.flatMap(
          addresses.create({ companyId, type, metadata: {} }),
          Answer.made
        )
        return yield* outside.send(address, amount)
      }),
      mine: Effect.andThen(outside.mine(1), Effect.provideContext(followAll, context)),
      dispatch: ({ psbt, fee, ...draft }) =>
        Effect.gen(function* () {
          const { txId, rawTx } = yield* signer.sign(psbt)
          const { withdrawal, fence } = yield* begin(companyId, 1, onChain)
          const attempt = { _tag: "Chain", txId, rawTx, psbt, networkFee: fee, ...draft } as const
          yield* journal.commit(Withdrawal.dispatched(withdrawal, attempt, fence, withdrawal.createdAtMillis))
          yield* source.broadcast(rawTx)
        }).pipe(Effect.provideContext(context)),
      script: Effect.map(outside.address, ({ scriptPubKey }) => scriptPubKey),
      feeOf: outside.feeOf
    })
  })
