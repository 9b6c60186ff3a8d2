import * as Msat from "@satrail/bitcoin/Msat"
import { Companies } from "@satrail/core/accounts/Companies"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Decimal from "@satrail/core/base/Decimal"
import * as Answer from "@satrail/core/ledger/Answer"
import { Journal } from "@satrail/core/ledger/Journal"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { ChainWallet } from "@satrail/core/nodes/ChainWallet"
import { Signer } from "@satrail/core/nodes/Signer"
import { ChainDeposits } from "@satrail/core/receiving/ChainDeposits"
import { OnChainAddresses } from "@satrail/core/receiving/OnChainAddresses"
import { Records } from "@satrail/core/service/Records"
import * as Satrail from "@satrail/service/core/Satrail"
import { PaymentWorker } from "@satrail/core/sending/PaymentWorker"
import { Withdrawals } from "@satrail/core/sending/Withdrawals"
import * as Storage from "@satrail/service/postgres/Storage"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Clock, Effect, Layer, Redacted } from "effect"
import * as BitcoinRpc from "../src/BitcoinRpc.ts"
import * as HotSigner from "../src/HotSigner.ts"
import * as Keys from "../src/Keys.ts"
import * as Seed from "../src/Seed.ts"
import * as Wallet from "../src/Wallet.ts"
import { settings } from "./Story.ts"

// A service in its own process, which can be killed. Each run performs one stage of a payout. `fund` creates
// two companies and their addresses. `pay` confirms a withdrawal to each destination, alternating between the
// companies, sends all of them, and kills the process at `fate`. `finish` completes the payouts.

const [
  ,
  ,
  step = "",
  directory = "",
  url = "",
  certificateFile = "",
  seed = "0",
  companies = "",
  destinations = "",
  fate = ""
] = process.argv
const companyIds = companies.split(",").map((id) => CompanyId.make(id))
const words = Seed.fromEntropy(new Uint8Array(32).fill(Number(seed)))
const accounts = Keys.accountsOf(words, "regtest")

/** Kills this process immediately. */
const die = Effect.sync(() => process.kill(process.pid, "SIGKILL")).pipe(Effect.andThen(Effect.never))

const around = <A, E, R>(name: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  fate === `before ${name}` ? die : fate === `after ${name}` ? Effect.andThen(effect, die) : effect

const options = {
  url,
  certificateFile: certificateFile || undefined,
  user: "satrail",
  password: Redacted.make("regtest"),
  network: "regtest",
  beginning: { height: 440 },
  feeRates: { fallback: 2 }
} as const

const mortal = Layer.mergeAll(
  Layer.effect(
    ChainWallet,
    Effect.map(Wallet.make(accounts, BitcoinRpc.unspent(options)), (wallet) => ({
      ...wallet,
      build: (ask) => around("select", wallet.build(ask))
    }))
  ),
  Layer.sync(Signer, () => {
    const { sign } = HotSigner.make(words, "regtest")
    return { sign: (psbt) => around("sign", sign(psbt)) }
  }),
  Layer.sync(ChainSource, () => {
    const chain = BitcoinRpc.make(options)
    return ChainSource.of({ ...chain, broadcast: (rawTx) => around("broadcast", chain.broadcast(rawTx)) })
  })
)

const store = Storage.layerEmbedded({ directory })
const mortalStore = Layer.provideMerge(
  Layer.effect(
    Journal,
    Effect.map(Journal, ({ commit }) =>
      Journal.of({
        commit: (change) =>
          change._tag === "WithdrawalDispatched" ? around("commit", commit(change)) : commit(change)
      })
    )
  ),
  store
)

const service = Satrail.layer({
  ...settings,
  payoutWindowMillis: 1,
  replacement: { afterMillis: 3_600_000, allowances: 1 }
}).pipe(
  Layer.provideMerge(mortal),
  Layer.provideMerge(mortalStore),
  Layer.provideMerge(Layer.merge(Sandbox.layer({ seed: "killed", network: "regtest" }), FixedRates.layer()))
)

const follow = Effect.flatMap(ChainDeposits, ({ follow }) =>
  Effect.repeat(follow(), { while: (blocksLeft) => blocksLeft > 0 })
)

const program = Effect.gen(function* () {
  if (step === "fund") {
    const [{ open }, { create }] = [yield* Companies, yield* OnChainAddresses]
    return yield* Effect.forEach(["Acme", "Globex"], (name) =>
      Effect.gen(function* () {
        const { id } = yield* Effect.flatMap(open({ name, plan: "paid" }), Answer.made)
        const { address } = yield* Effect.flatMap(
          create({ companyId: id, type: "taproot", metadata: {} }),
          Answer.made
        )
        return { companyId: id, address }
      })
    )
  }
  yield* follow
  const records = yield* Records
  const worker = yield* PaymentWorker
  if (step === "pay") {
    for (const [n, destination] of destinations.split(",").entries()) {
      const asked = { amount: Decimal.make(50_000n), currency: "sats" as const }
      const id = companyIds[n % companyIds.length] ?? CompanyId.operator
      yield* (yield* Withdrawals).confirm({ company: { id, plan: "paid" }, asked, destination, metadata: {} })
    }
    yield* Effect.sleep(2) // until the withdrawals are due
  }
  yield* worker.step
  const listed = yield* Effect.forEach(companyIds, (id) =>
    records.transactions(id, { limit: 10, type: "withdrawal" })
  )
  const rows = yield* Effect.forEach(listed.flat(), ({ companyId, id }) =>
    Effect.flatMap(records.withdrawal(companyId, id), Effect.fromOption)
  )
  const balances = yield* Effect.forEach(companyIds, records.balance)
  const accounts = yield* records.trialBalance
  return {
    statuses: rows.map(({ status }) => status),
    allowed: String(Msat.sum(...rows.map(({ networkAllowance }) => networkAllowance))),
    transactions: new Set(rows.map(({ chainTxId }) => chainTxId)).size,
    held: balances.map(({ held }) => String(held)),
    accounts: Object.fromEntries(
      Object.entries(accounts).map(([account, amount]) => [account, String(amount)])
    )
  }
})

// A killed process's claim expires after half a minute, so this run's clock is ahead.
const later = Effect.map(Clock.Clock, (clock) => {
  const ahead = step === "finish" ? 60_000 : 0
  return Object.assign(Object.create(clock), {
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + ahead,
    currentTimeMillis: Effect.map(clock.currentTimeMillis, (millis) => millis + ahead)
  })
})

const run = Effect.flatMap(later, (clock) =>
  Effect.provideService(Effect.provide(program, service), Clock.Clock, clock)
)
process.stdout.write(`${JSON.stringify(await Effect.runPromise(Effect.scoped(run)))}\n`)
