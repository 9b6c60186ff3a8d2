import { assert } from "@effect/vitest"
import type { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Ledger from "@satrail/contracts/Ledger"
import { Companies } from "@satrail/core/accounts/Companies"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Decimal from "@satrail/core/base/Decimal"
import * as Answer from "@satrail/core/ledger/Answer"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import * as Policy from "@satrail/core/service/Policy"
import { ChainDeposits } from "@satrail/core/receiving/ChainDeposits"
import { OnChainAddresses } from "@satrail/core/receiving/OnChainAddresses"
import { Records } from "@satrail/core/service/Records"
import * as Satrail from "@satrail/service/core/Satrail"
import { PaymentWorker } from "@satrail/core/sending/PaymentWorker"
import { SettledPayouts } from "@satrail/core/sending/SettledPayouts"
import type { Withdrawal } from "@satrail/core/sending/Withdrawal"
import { Withdrawals } from "@satrail/core/sending/Withdrawals"
import * as Memory from "@satrail/service/memory/Memory"
import { Chain } from "@satrail/regtest/Chain"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Context, Effect, Layer, Option } from "effect"
import * as BitcoinRpc from "../src/BitcoinRpc.ts"
import * as HotSigner from "../src/HotSigner.ts"
import * as Keys from "../src/Keys.ts"
import * as Rescan from "../src/Rescan.ts"
import * as Wallet from "../src/Wallet.ts"
import { accounts, words } from "./Ours.ts"
import * as Outside from "./Outside.ts"

/** The first block of every scenario. Earlier blocks contain none of our transactions. */
const firstHeight = 440

export const settings: Policy.Settings = {
  ...Policy.defaults,
  network: "regtest",
  domain: "pay.example",
  confirmations: [
    { upTo: Msat.fromSats(10_000), confirmations: 1 },
    { upTo: Policy.defaults.maxWithdrawal, confirmations: 2 }
  ],
  trackMillis: { minimum: 1, maximum: 1 },
  replacement: { afterMillis: 0, allowances: 50 }
}

/** The current fee rate. A node can't estimate the fee rate on such a chain, so the scenario sets it. */
export const FeeRate = Context.Reference<{ rate: number }>("chain/test/FeeRate", {
  defaultValue: () => ({ rate: 2 })
})

const options = Effect.map(Chain, ({ url, certificateFile, user, password }) => ({
  url,
  certificateFile,
  user,
  password,
  network: "regtest" as const,
  beginning: { height: firstHeight },
  feeRates: { fallback: 2 }
}))

const source = Layer.effect(
  ChainSource,
  Effect.gen(function* () {
    const chain = BitcoinRpc.make(yield* options)
    const weather = yield* FeeRate
    return ChainSource.of({ ...chain, feeRate: Effect.sync(() => weather.rate) })
  })
)

const wallet = Layer.unwrap(
  Effect.map(options, (options) => Wallet.layer(accounts, BitcoinRpc.unspent(options)))
)

/** A service with its own store on a real node's chain. Its Lightning node is simulated. */
export const service = (more: Partial<Policy.Settings> = {}) =>
  Satrail.layer({ ...settings, ...more }).pipe(
    Layer.provideMerge(Layer.mergeAll(wallet, HotSigner.layer(words, "regtest"))),
    Layer.provideMerge(Layer.merge(Memory.layer, source)),
    Layer.provideMerge(Layer.merge(Sandbox.layer({ seed: "story", network: "regtest" }), FixedRates.layer()))
  )

export const mine = (blocks: number) => Effect.flatMap(Outside.Outside, (outside) => outside.mine(blocks))

/** Follows the chain to its tip, and runs one step of the workers. */
export const work = Effect.gen(function* () {
  const { follow } = yield* ChainDeposits
  yield* Effect.repeat(follow(), { while: (blocksLeft) => blocksLeft > 0 })
  yield* (yield* PaymentWorker).step
  yield* (yield* SettledPayouts).look
  yield* Effect.sleep(2) // tasks are due again after this
})

export const mineAndWork = (blocks: number) => Effect.andThen(mine(blocks), work)

export const company = Effect.gen(function* () {
  return yield* Effect.flatMap((yield* Companies).open({ name: "Acme", plan: "paid" }), Answer.made)
})

export const address = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  type: AddressType = "taproot"
) {
  const created = yield* (yield* OnChainAddresses).create({ companyId, type, metadata: {} })
  return (yield* Answer.made(created)).address
})

export const sats = (amount: number) => Msat.fromSats(amount)

/**
 * Pays a company from the external wallet, and mines until the deposit is credited: at one confirmation up to
 * 10,000 sats, otherwise at two. Returns the transaction's id.
 */
export const funded = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  amount: number,
  type: AddressType = "taproot"
) {
  const txId = yield* (yield* Outside.Outside).send([
    { address: yield* address(companyId, type), amount: sats(amount) }
  ])
  yield* mineAndWork(amount > 10_000 ? 2 : 1)
  return txId
})

export const balance = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
  const { posted, held } = yield* (yield* Records).balance(companyId)
  return { posted: Number(posted) / 1000, held: Number(held) / 1000 }
})

export const statuses = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
  const found = yield* (yield* Records).transactions(companyId, { limit: 100, type: "deposit" })
  return found.map(({ status }) => status)
})

export const withdraw = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  destination: string,
  amount: number
) {
  const asked = { amount: Decimal.make(BigInt(amount)), currency: "sats" as const }
  const outcome = yield* (yield* Withdrawals).confirm({
    company: { id: companyId, plan: "paid" },
    asked,
    destination,
    metadata: {}
  })
  return yield* Answer.made(outcome)
})

export const now = Effect.fnUntraced(function* ({ companyId, id }: Withdrawal) {
  return Option.getOrThrow(yield* (yield* Records).withdrawal(companyId, id))
})

/** Confirmed amounts at external addresses, in sats. */
export const received = Effect.fnUntraced(function* (...scriptPubKeys: ReadonlyArray<string>) {
  const chain = BitcoinRpc.make(yield* options)
  const amounts: Array<number> = []
  let cursor: string | null = null
  for (let blocksLeft = 1; blocksLeft > 0;) {
    const activity: Effect.Success<ReturnType<typeof chain.activity>> = yield* chain.activity(cursor, () =>
      Effect.succeed(new Set(scriptPubKeys))
    )
    amounts.push(
      ...activity.outputs
        .filter(({ placement }) => placement._tag === "mined")
        .map(({ amount }) => Number(amount) / 1000)
    )
    cursor = activity.cursor
    blocksLeft = activity.blocksLeft
  }
  return amounts
})

/** The wallet's balance on the chain, found from its accounts alone. */
export const onChain = Effect.gen(function* () {
  const { coins } = yield* Rescan.scan(BitcoinRpc.node(yield* options), Keys.make(accounts), {
    fromHeight: firstHeight,
    gap: 20
  })
  return Msat.sum(...coins.map(({ amount }) => amount))
})

/**
 * Asserts that the books are sound and match the chain to the satoshi. Call it only while nothing is pending.
 */
export const audit = Effect.gen(function* () {
  yield* Ledger.auditAll
  const { chain } = yield* (yield* Records).trialBalance
  assert.strictEqual(-chain, yield* onChain, "the books match the chain")
})
