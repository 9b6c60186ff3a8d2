import * as Msat from "@satrail/bitcoin/Msat"
import * as Ledger from "@satrail/contracts/Ledger"
import * as Chain from "@satrail/sandbox/Chain"
import { Effect, HashMap, Option } from "effect"
import type { Coverage } from "../world/Coverage.ts"
import type { World } from "../world/World.ts"
import { all as features } from "../features/index.ts"
import type { KeyOf } from "../features/Feature.ts"
import * as CompanyChecks from "./CompanyChecks.ts"
import * as LimitChecks from "./LimitChecks.ts"
import * as RecordChecks from "./RecordChecks.ts"
import type { Seen } from "./Seen.ts"
import * as TradeChecks from "./TradeChecks.ts"
import { claim, same } from "./Violation.ts"

/** Compares the books with the simulated outside world. */
export interface Books {
  /** Checks every record touched since the last check, and the balances of the companies concerned. */
  readonly look: () => Promise<void>
  /** Checks everything. */
  readonly audit: () => Promise<void>
  /**
   * Checks everything to the millisatoshi once nothing is in flight. Returns the final state of all money.
   */
  readonly close: () => Promise<string>
}

/** The final statuses of a hold invoice. */
const isHoldOver: ReadonlySet<string> = new Set(["settled", "canceled", "expired"])

const walletOf = ({ chain }: RecordChecks.Outside): Msat.Msat =>
  Msat.sum(...Chain.coins(chain, "wallet", false).map(({ amount }) => amount))

/** `keyOf` returns the key of a customer's request. */
export const make = (
  world: World,
  seen: Seen,
  coverage: Coverage,
  isOrdered: boolean,
  keyOf: KeyOf
): Books => {
  const { records, sandbox, store } = world
  const known = <A, E>(effect: Effect.Effect<A, E>): A => {
    const exit = world.now(effect)
    if (exit._tag === "Failure") throw new Error("the sandbox failed to report its state")
    return exit.value
  }
  const outside = () => known(sandbox.state)
  const localBalance = () => known(sandbox.localBalance)
  const first = { node: localBalance(), chain: walletOf(outside()) }
  const { isSettledByItsCompany, suspended } = TradeChecks.listen(seen)
  for (const { change } of features) if (change !== undefined) seen.hear(change)
  if (isOrdered) {
    seen.hear(LimitChecks.listener())
    for (const { listener } of features) if (listener !== undefined) seen.hear(listener(keyOf))
  }
  const books = features.flatMap(({ books }) => books?.(world) ?? [])
  const touched = RecordChecks.make(records, coverage, isSettledByItsCompany)

  const look = Effect.gen(function* () {
    const { companies, rows } = seen.take()
    const now = outside()
    for (const row of rows) yield* touched(row, now)
    if (companies.size > 0) yield* Effect.provideContext(Ledger.isSound([...companies]), store)
  })

  /**
   * Checks the payees our node paid, and that its balance matches the books, including payments in flight.
   */
  const node = Effect.fnUntraced(function* (
    companies: ReadonlyArray<CompanyChecks.Company>,
    now: RecordChecks.Outside
  ) {
    const byHash = new Map(
      companies.flatMap(({ withdrawals }) => withdrawals).map((one) => [RecordChecks.hashOf(one, now), one])
    )
    let expected = first.node - (yield* records.trialBalance).node
    for (const { paymentHash, times } of HashMap.values(now.lightning.payeeInvoices)) {
      claim(times <= 1, `no payee is paid twice: ${paymentHash}`)
      if (times > 0) claim(byHash.has(paymentHash), `no payee is paid without a withdrawal: ${paymentHash}`)
    }
    for (const { paymentHash, stage, amount, fee } of HashMap.values(now.lightning.sent)) {
      if (stage._tag !== "failed" && byHash.get(paymentHash)?.status !== "settled") expected -= amount + fee
    }
    for (const { id, paymentHash, stage } of HashMap.values(now.lightning.invoices)) {
      if (stage._tag !== "settled" || seen.unmatched.has(paymentHash)) continue
      const row = Option.getOrUndefined(yield* records.invoiceByHash(paymentHash))
      const isCredited = row?.status === "settled" && row.preimage !== null
      if (!isCredited || Option.isSome(yield* RecordChecks.paidInside(records, paymentHash)))
        expected += stage.received
      if (row !== undefined)
        claim(row.paymentHash === paymentHash, `an invoice is found by its own hash: ${id}`)
    }
    same(localBalance(), expected, "the node's balance matches the books, including payments in flight")
  })

  const audit = Effect.gen(function* () {
    yield* look
    const now = outside()
    const companies: Array<CompanyChecks.Company> = []
    for (const { id } of yield* records.companies(null, 1000))
      companies.push(yield* CompanyChecks.read(records, id))
    for (const one of companies) {
      yield* CompanyChecks.adds(records, one)
      yield* Effect.provideContext(CompanyChecks.exported(records, one), store)
      for (const check of books) yield* check(one.id)
      CompanyChecks.isOnce(one)
      for (const row of one.withdrawals) yield* RecordChecks.withdrawal(records, row, now)
      for (const row of one.deposits) yield* RecordChecks.deposit(records, row, now)
    }
    yield* node(companies, now)
    same(
      (yield* records.trialBalance).suspense,
      suspended(),
      "suspense holds exactly the payments received and not yet assigned"
    )
    yield* Effect.provideContext(Ledger.auditAll, store)
    return { companies, now }
  })

  const close = Effect.gen(function* () {
    const { companies, now } = yield* audit
    const accounts = yield* records.trialBalance
    for (const one of companies) CompanyChecks.hasEnded(one)
    for (const { paymentHash, stage } of HashMap.values(now.lightning.invoices)) {
      const row = Option.getOrUndefined(yield* records.invoiceByHash(paymentHash))
      if (row !== undefined && row.hold !== null)
        claim(
          isHoldOver.has(row.status),
          `every hold invoice reaches a final status: ${row.id} is ${row.status}`
        )
      if (stage._tag !== "settled") continue
      if (row !== undefined)
        claim(row.status === "settled", `a paid invoice is credited: invoice ${row.id} is ${row.status}`)
    }
    yield* CompanyChecks.paidOnChain(world, companies)
    same(localBalance() - first.node, -accounts.node, "the node's balance matches the books")
    // Amounts too small to be credited are still in the wallet.
    const uncredited = companies
      .flatMap(({ deposits }) => deposits)
      .filter(
        ({ chainTxId, status }) =>
          chainTxId !== null && status === "failed" && RecordChecks.isLive(now, chainTxId)
      )
    const small = Msat.sum(...uncredited.map(({ amount }) => amount))
    same(walletOf(now) - first.chain, -accounts.chain + small, "the wallet's balance matches the books")
    return companies.map(CompanyChecks.ending).toSorted().join("\n")
  })

  const run =
    <A>(effect: Effect.Effect<A, unknown>) =>
    async () => {
      seen.absorb()
      return world.read(effect)
    }
  return { look: run(look), audit: run(Effect.asVoid(audit)), close: run(close) }
}
