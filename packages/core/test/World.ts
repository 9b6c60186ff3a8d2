import { assert, it } from "@effect/vitest"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Ledger from "@satrail/contracts/Ledger"
import * as Memory from "@satrail/service/memory/Memory"
import * as Chain from "@satrail/sandbox/Chain"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import type * as SimulatedDns from "@satrail/sandbox/SimulatedDns"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Context, Effect, Fiber, Layer, Logger, Option, Result, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Companies } from "../src/accounts/Companies.ts"
import type { Company } from "../src/accounts/Company.ts"
import type { Currency } from "../src/base/Amount.ts"
import * as Decimal from "../src/base/Decimal.ts"
import { Entropy } from "../src/base/Entropy.ts"
import type { Outcome, Request } from "../src/ledger/Answer.ts"
import * as AuditVerification from "@satrail/features/audit/core/AuditVerification"
import { AuditStore } from "../src/ledger/Audit.ts"
import type { ChainBooks } from "../src/nodes/ChainBooks.ts"
import { type Broadcast, ChainSource } from "../src/nodes/ChainSource.ts"
import type { LightningBooks } from "../src/nodes/LightningBooks.ts"
import { OfferSender } from "../src/nodes/OfferSender.ts"
import type { Plan } from "../src/accounts/Plan.ts"
import type { Settings } from "../src/service/Policy.ts"
import { ChainDeposits } from "../src/receiving/ChainDeposits.ts"
import { Invoices } from "../src/receiving/Invoices.ts"
import { LightningAddresses } from "../src/receiving/LightningAddresses.ts"
import { OnChainAddresses } from "../src/receiving/OnChainAddresses.ts"
import { Settlements } from "../src/receiving/Settlements.ts"
import { Records } from "../src/service/Records.ts"
import * as Satrail from "@satrail/service/core/Satrail"
import { PaymentWorker } from "../src/sending/PaymentWorker.ts"
import type { Withdrawal } from "../src/sending/Withdrawal.ts"
import { Withdrawals } from "../src/sending/Withdrawals.ts"
import { settings as usual } from "./Rows.ts"

/** Everything that outlives a process: the store, the nodes, and the outside world. */
export type Ports =
  | Satrail.Ports
  | OfferSender
  | LightningBooks
  | ChainBooks
  | SimulatedDns.SimulatedDns
  | Sandbox.Sandbox

/** The services of a process. */
export type Process = Layer.Success<ReturnType<typeof Satrail.layer>>

/** The time at which every scenario begins. */
export const beginsAtMillis = 1_700_000_000_000

const ports = Layer.mergeAll(
  Memory.layer,
  FixedRates.layer(),
  Sandbox.layer({ seed: "21", network: "regtest" })
)

/** Starts a process on these ports. Processes share nothing else. */
export const start = (
  ports: Context.Context<Exclude<Ports, OfferSender>>,
  settings: Settings = usual
): Effect.Effect<Context.Context<Process>, never, Scope.Scope> =>
  Layer.build(Layer.fresh(Satrail.layer(settings))).pipe(Effect.provideContext(ports))

/** Starts the workers of this process or of another one. They stop when the scope is closed. */
export const working = Effect.fnUntraced(function* (process?: Effect.Success<ReturnType<typeof start>>) {
  const scope = yield* Scope.make()
  const workers = Layer.buildWithScope(Layer.fresh(Satrail.layerWorkers), scope)
  yield* process === undefined ? workers : Effect.provideContext(workers, process)
  yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
  return scope
})

/** Random bytes that are the same in every run, so that ids of the same millisecond are in the same order. */
const seeded = () => {
  let state = 21
  return (size: number) =>
    Uint8Array.from({ length: size }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state >>> 24
    })
}

/** Replaces members of one port. */
export const replace =
  <I, S extends object>(key: Context.Key<I, S>, change: (service: S) => Partial<S>) =>
  <R>(ports: Context.Context<R | I>): Context.Context<R | I> => {
    const service = Context.get(ports, key)
    return Context.add(ports, key, { ...service, ...change(service) })
  }

/** The environment of a test, and the state in which the test leaves it. */
export interface World {
  readonly settings?: Settings
  /** Replaces ports before the process starts. */
  readonly change?: (ports: Context.Context<Ports>) => Context.Context<Ports>
  /** The node can't pay offers. */
  readonly lacksOffers?: true
  /**
   * Something is still pending at the end, so the assets may differ from the ledger. Otherwise they must match
   * to the msat.
   */
  readonly isPending?: true
  /** The test changes logged records directly in the store, so the audit log does not match them. */
  readonly isUnlogged?: true
  /**
   * The test must log an error, as the service does for a bug or for a loss of the operator. Without this
   * option, it must log none.
   */
  readonly logsErrors?: true
}

/** Runs a scenario in its own world with one process. */
export const inWorld = <A, E>(
  story: Effect.Effect<A, E, Ports | Process | Scope.Scope>,
  { settings = usual, change = (ports) => ports, lacksOffers }: World = {}
) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(beginsAtMillis)
    const outlasting = change(yield* Layer.build(Layer.fresh(ports)))
    const process = yield* start(
      lacksOffers === true ? Context.omit(OfferSender)(outlasting) : outlasting,
      settings
    )
    return yield* Effect.provideContext(story, Context.merge(outlasting, process))
  }).pipe(Effect.provideService(Entropy, seeded()))

export type Steps<W> = (
  world: W
) => Generator<Effect.Effect<unknown, unknown, Ports | Process | Scope.Scope>, unknown, never>

/** Runs these steps in a world of their own, and then checks the world's state. */
export const run = <W extends World>(world: W, steps: Steps<W>) => {
  const checked = audited(
    Effect.gen(() => steps(world)),
    world.isPending === true
  )
  const story = world.isUnlogged === true ? checked : Effect.tap(checked, () => logged)
  return inWorld(logging(story, world.logsErrors === true), world)
}

/** Defines a test that runs in its own world. Uses the default world unless one is given. */
export function scenario(title: string, steps: Steps<World>): void
export function scenario<W extends World>(title: string, world: W | (() => W), steps: Steps<W>): void
export function scenario<W extends World>(
  title: string,
  ...given: readonly [Steps<World>] | readonly [W | (() => W), Steps<W>]
): void {
  it.effect(title, () => {
    if (given.length === 1) return run({}, given[0])
    const [world, steps] = given
    return run(typeof world === "function" ? world() : world, steps)
  })
}

/** Returns the created value. Dies if the outcome is a replay. */
export const made = <A, E, R>(creation: Effect.Effect<Outcome<A>, E, R>) =>
  Effect.flatMap(creation, (outcome) =>
    outcome._tag === "Made" ? Effect.succeed(outcome.value) : Effect.die("replayed")
  )

/** Builds a request whose response is the id of the created record. */
export const request = (key: string, fingerprint = "body"): Request<{ readonly id: string }> => ({
  key,
  fingerprint,
  render: ({ id }) => id
})

export const asked = (amount: string | number, currency: Currency = "sats") =>
  Effect.map(Effect.fromResult(Decimal.parse(String(amount))), (amount) => ({ amount, currency }))

export const company = Effect.fnUntraced(function* (plan: Plan = "paid") {
  return yield* made((yield* Companies).open({ name: "Acme", plan }))
})

/** Creates an invoice for a company. */
export const invoice = Effect.fnUntraced(function* (company: Company, sats: number, expirySeconds = 3600) {
  const amount = yield* asked(sats)
  return yield* made(
    (yield* Invoices).create({
      companyId: company.id,
      ...amount,
      description: "tea",
      expirySeconds,
      metadata: {}
    })
  )
})

/** Opens a company, and credits it with an external payment of `sats`. */
export const companyWith = Effect.fnUntraced(function* (sats: number, plan: Plan = "paid") {
  const row = yield* company(plan)
  const { paymentRequest } = yield* invoice(row, sats)
  yield* (yield* Sandbox.Sandbox).pay({ paymentRequest })
  yield* (yield* Settlements).poll
  return row
})

export const lightningAddress = Effect.fnUntraced(function* (
  company: Company,
  handle: string | null = null,
  domain: string | null = null
) {
  return yield* made((yield* LightningAddresses).create({ company, handle, domain, metadata: {} }))
})

export const onChainAddress = Effect.fnUntraced(function* (company: Company) {
  return yield* made(
    (yield* OnChainAddresses).create({ companyId: company.id, type: "segwit", metadata: {} })
  )
})

/** Creates an external destination. */
export const outside = Effect.fnUntraced(function* (
  ask: Partial<Sandbox.DestinationAsk> & { readonly sats?: number } = {}
) {
  const { sats, ...rest } = ask
  return yield* (yield* Sandbox.Sandbox).destination({
    type: "lightning_invoice",
    ...rest,
    ...(sats !== undefined && { amount: Msat.fromSats(sats) })
  })
})

/** Confirms a withdrawal. No worker has claimed the withdrawal yet. */
export const confirm = Effect.fnUntraced(function* (company: Company, destination: string, sats?: number) {
  const amount = sats === undefined ? undefined : yield* asked(sats)
  return yield* made((yield* Withdrawals).confirm({ company, asked: amount, destination, metadata: {} }))
})

/** Opens a company with a balance in sats, and confirms its payment to a new external destination. */
export const paying = Effect.fnUntraced(function* (
  balance: number,
  ask: Parameters<typeof outside>[0],
  sats?: number
) {
  const payer = yield* companyWith(balance)
  const { destination, paymentHash } = yield* outside(ask)
  return { payer, row: yield* confirm(payer, destination, sats), destination, paymentHash }
})

export const now = Effect.fnUntraced(function* ({ companyId, id }: Withdrawal) {
  return Option.getOrThrow(yield* (yield* Records).withdrawal(companyId, id))
})

/** Returns the withdrawal's status, followed by the reason if the withdrawal failed. */
export const standing = (withdrawal: Withdrawal) =>
  Effect.map(now(withdrawal), ({ status, failure }) => (failure === null ? status : `${status}: ${failure}`))

export const step = Effect.flatMap(PaymentWorker, ({ step }) => step)
export const poll = Effect.flatMap(Settlements, ({ poll }) => poll)
export const follow = Effect.flatMap(ChainDeposits, ({ follow }) => follow())
export const mine = (blocks: number) => Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.mine(blocks))

/** Runs the payment worker's step `count` times, `seconds` apart. */
export const steps = Effect.fnUntraced(function* (count: number, seconds = 15) {
  for (let i = 0; i < count; i++) {
    yield* step
    yield* TestClock.adjust(seconds * 1000)
  }
})

/** Returns a company's balance in sats, with up to three decimals. */
export const has = Effect.fnUntraced(function* ({ id }: Company) {
  const { posted, held } = yield* (yield* Records).balance(id)
  return { posted: Number(posted) / 1000, held: Number(held) / 1000 }
})

/** A balance of which nothing is held, in sats. */
export const unheld = (posted: number) => ({ posted, held: 0 })

/** Returns how many payments with this hash external payees received, and the total in sats. */
export const got = Effect.fnUntraced(function* (paymentHash: string | undefined) {
  const one = (yield* (yield* Sandbox.Sandbox).payments).find((one) => one.paymentHash === paymentHash)
  return { times: one?.times ?? 0, sats: Number(one?.received ?? 0n) / 1000 }
})

/**
 * Returns the outputs to the payee's address, each with its amount in sats and whether it is mined, in the
 * mempool or missing.
 */
export const outputsOf = Effect.fnUntraced(function* ({ recipient }: Withdrawal) {
  const { scriptPubKey } = Result.getOrThrow(BitcoinAddress.decode(recipient, "regtest"))
  const outputs = yield* (yield* Sandbox.Sandbox).outputsTo(scriptPubKey)
  return outputs.map(({ placement, amount }) => [placement._tag, Number(amount) / 1000])
})

/**
 * A chain with a variable fee rate. A broadcast selected by `deaf` does not reach the chain, and its result is
 * unknown. `sent` records all broadcasts.
 */
export const weather = () => {
  const sky = { rate: 2, deaf: (_rawTx: string): boolean => false }
  const sent: Array<string> = []
  const change = replace(ChainSource, (chain) => ({
    feeRate: Effect.sync(() => sky.rate),
    broadcast: (rawTx) =>
      Effect.suspend((): Effect.Effect<Broadcast> => {
        sent.push(rawTx)
        return sky.deaf(rawTx) ? Effect.succeed({ _tag: "unknown" }) : chain.broadcast(rawTx)
      })
  }))
  return { sky, sent, change }
}

/** Runs a scenario and asserts that it logs an error, or that it logs none. */
const logging = <A, E, R>(story: Effect.Effect<A, E, R>, logsErrors: boolean) =>
  Effect.suspend(() => {
    const errors: Array<unknown> = []
    const logger = Logger.make(({ message, logLevel }) => {
      if (logLevel === "Error") errors.push(message)
    })
    const look = Effect.sync(() =>
      logsErrors ? assert.isNotEmpty(errors) : assert.deepStrictEqual(errors, [])
    )
    return Effect.tap(story, () => look).pipe(Effect.provide(Logger.layer([logger])))
  })

/** All nonzero account balances, in sats. */
export const accounts = Effect.gen(function* () {
  const all = Object.entries(yield* (yield* Records).trialBalance)
  return Object.fromEntries(
    all.filter(([, amount]) => amount !== 0n).map(([account, amount]) => [account, Number(amount) / 1000])
  )
})

/**
 * The assets of our node and our wallet, according to their own records. The wallet's coins are those in a
 * block and those created by the wallet itself.
 */
const assets = Effect.gen(function* () {
  const sandbox = yield* Sandbox.Sandbox
  const coins = Chain.coins((yield* sandbox.state).chain, "wallet", true)
  return { node: yield* sandbox.localBalance, chain: Msat.sum(...coins.map(({ amount }) => amount)) }
})

/** Asserts that the audit log explains every record that it covers. Records that a test wrote directly are not in the log. */
const logged = Effect.gen(function* () {
  const faults: Array<AuditVerification.Fault> = []
  const all = AuditVerification.verify(null, (fault) => Effect.sync(() => faults.push(fault)))
  yield* Effect.provideService(all, AuditStore, yield* Records)
  assert.deepStrictEqual(
    faults.filter(({ problem }) => problem === "differs" || problem === "gone"),
    [],
    "the audit log matches the records"
  )
})

/** Asserts that the books are sound, and that no external payee was paid twice for an invoice. */
export const sound = Effect.gen(function* () {
  yield* Ledger.auditAll
  for (const { paymentHash, times } of yield* (yield* Sandbox.Sandbox).payments)
    assert.strictEqual(times, 1, `${paymentHash} was paid ${times} times`)
})

/**
 * Runs a scenario, and asserts that the books are sound at its end. Unless something is pending, the assets on
 * the node and on the chain must match the ledger to the msat.
 */
export const audited = <A, E, R>(story: Effect.Effect<A, E, R>, isPending = false) =>
  Effect.gen(function* () {
    const before = yield* assets
    const result = yield* story
    yield* sound
    if (isPending) return result
    const after = yield* assets
    const { node, chain } = yield* (yield* Records).trialBalance
    assert.deepStrictEqual(
      { node: after.node - before.node, chain: after.chain - before.chain },
      { node: -node, chain: -chain },
      "assets match the ledger"
    )
    return result
  })

/**
 * Runs a change that completes only once every process has applied it, and advances the clock by a quarter of a
 * second.
 */
export const everywhere = Effect.fnUntraced(function* <A, E, R>(change: Effect.Effect<A, E, R>) {
  const changing = yield* Effect.forkChild(change, { startImmediately: true })
  yield* TestClock.adjust(250)
  return yield* Fiber.join(changing)
})

/** Returns `ok`, or the error's tag with its detail. */
export const said = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.match(effect, {
    onSuccess: () => "ok",
    onFailure: (error) => {
      const detail = ["code", "reason", "path", "feature"]
        .map((member) => Object.entries(error).find(([name]) => name === member)?.[1])
        .find((value) => typeof value === "string")
      return detail === undefined ? error._tag : `${error._tag}: ${String(detail)}`
    }
  })
