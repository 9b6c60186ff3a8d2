import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as Ledger from "@satrail/contracts/Ledger"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { type Deposit, isTooSmall } from "@satrail/core/receiving/Deposit"
import type { Invoice } from "@satrail/core/receiving/Invoice"
import type { Transaction } from "@satrail/core/reports/Transaction"
import type { Voucher } from "@satrail/core/sending/Voucher"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import * as Chain from "@satrail/sandbox/Chain"
import * as Lightning from "@satrail/sandbox/Lightning"
import type { Sandbox } from "@satrail/sandbox/Sandbox"
import { Effect, HashMap, Option } from "effect"
import type { Coverage } from "./Coverage.ts"
import type { Row, Seen } from "./Seen.ts"
import { Violation } from "./Stage.ts"
import type { World } from "./World.ts"

type Outside = Effect.Success<Sandbox["Service"]["state"]>

/** What the books say, held against what really happened outside. */
export interface Books {
  /** What was touched since the last look, and the accounts it is booked on. */
  readonly look: () => Promise<void>
  /** Everything there is. */
  readonly audit: () => Promise<void>
  /** Everything there is, when nothing is on its way any more: to the millisatoshi. Answers what became of everybody's money. */
  readonly close: () => Promise<string>
}

/** Holds that something is so; says what was promised where it is not. */
export const claim = (isSo: boolean, promise: string): void => {
  if (!isSo) throw new Violation(promise)
}

const same = (actual: unknown, expected: unknown, promise: string): void =>
  claim(actual === expected, `${promise}: ${String(actual)} instead of ${String(expected)}`)

interface Company {
  readonly id: CompanyId.CompanyId
  readonly withdrawals: ReadonlyArray<Withdrawal.Withdrawal>
  readonly deposits: ReadonlyArray<Deposit>
  readonly vouchers: ReadonlyArray<Voucher>
}

/** What a company did and what became of it. What it cost to send is left out: that hangs on who is paid, and with whom. */
const ending = ({ withdrawals, deposits, vouchers }: Company): string =>
  [
    ...withdrawals.map(({ status, amount, failure, preimage }) => `withdrawal ${status} ${amount} ${failure} ${preimage === null}`),
    ...deposits.map(({ status, amount, absorbed }) => `deposit ${status} ${amount} ${absorbed}`),
    ...vouchers.map(({ status, amount }) => `voucher ${status} ${amount}`)
  ]
    .toSorted()
    .join(", ")

/** What may follow what. What is not here ends it. */
const moves: { readonly [kind in Row["kind"]]: { readonly [from: string]: ReadonlyArray<string> } } = {
  withdrawal: { pending: ["settled", "failed"] },
  deposit: { pending: ["settled", "failed"], settled: ["pending", "failed"], failed: ["pending", "settled"] },
  invoice: { pending: ["claimed", "settled", "expired"], claimed: ["settled", "expired"], expired: ["settled"] },
  voucher: { open: ["claimed", "expired", "canceled"] }
}

const walletOf = ({ chain }: Outside): Msat.Msat => Msat.sum(...Chain.coins(chain, "wallet", false).map(({ amount }) => amount))

export const make = (world: World, seen: Seen, coverage: Coverage): Books => {
  const { records, sandbox, store } = world
  const outside = (): Outside => {
    const exit = world.now(sandbox.state)
    if (exit._tag === "Failure") throw new Error("the sandbox always tells its state")
    return exit.value
  }
  const localBalance = (): Msat.Msat => {
    const exit = world.now(sandbox.localBalance)
    if (exit._tag === "Failure") throw new Error("the node always tells its balance")
    return exit.value
  }
  const first = { node: localBalance(), chain: walletOf(outside()) }
  const statuses = new Map<string, string>()

  const moved = ({ kind, id }: Row, status: string): void => {
    const before = statuses.get(id)
    if (before === status) return
    statuses.set(id, status)
    coverage.count("transition", `${kind}: ${before ?? "nothing"} to ${status}`)
    if (before !== undefined)
      claim(moves[kind][before]?.includes(status) === true, `what is ${before} does not become ${status}: ${kind} ${id}`)
  }

  /** What a withdrawal did outside is what it says, at any moment. */
  const withdrawal = Effect.fnUntraced(function* (row: Withdrawal.Withdrawal, now: Outside) {
    const { id, status, rail, amount, paymentHash, preimage, networkFee, chainTxId } = row
    if (rail === "lightning" && paymentHash !== null) {
      const isInternal = Option.isSome(yield* records.invoiceByHash(paymentHash))
      const asked = Lightning.payeeInvoice(now.lightning, paymentHash)
      const sent = Lightning.sent(now.lightning, paymentHash)
      if (status === "settled")
        claim(preimage !== null && Preimage.proves(preimage, paymentHash), `a settled withdrawal has its proof: ${id}`)
      if (status === "settled" && !isInternal) {
        same(asked?.times ?? 0, 1, `what is settled was paid once: withdrawal ${id}`)
        same(asked?.received, amount, `the recipient got what was sent: withdrawal ${id}`)
        same(networkFee, sent?.fee, `the routing cost what the node says: withdrawal ${id}`)
      }
      if (status === "failed") {
        same(asked?.times ?? 0, 0, `what failed was not paid: withdrawal ${id}`)
        claim(sent === undefined || sent.stage._tag === "failed", `what failed is not under way: withdrawal ${id}`)
      }
    }
    if (rail === "on_chain") {
      const candidates = yield* records.candidates(row.companyId, id)
      const live = candidates.filter(({ txId }) => (Chain.transaction(now.chain, txId)?.placement._tag ?? "gone") !== "gone")
      claim(live.length <= 1, `a payout is paid by one transaction: withdrawal ${id}`)
      if (status === "failed") same(live.length, 0, `what failed is not under way: withdrawal ${id}`)
      if (status === "settled" && candidates.length > 0)
        claim(
          candidates.some(({ txId }) => txId === chainTxId),
          `a payout settled with one of its transactions: withdrawal ${id}`
        )
    }
  })

  const invoiceOf = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, id: string) {
    const found = yield* records.invoice(companyId, id)
    return Option.getOrThrowWith(found, () => new Violation(`there is no invoice ${id}`))
  })

  /** What a settled invoice received is what the node got for it, or what a withdrawal of ours paid. */
  const invoice = Effect.fnUntraced(function* (row: Invoice, now: Outside) {
    if (row.status !== "settled") return
    const stage = Lightning.invoice(now.lightning, row.paymentHash)?.stage
    const paidBy = yield* records.withdrawalByHash(row.paymentHash)
    const inside = Option.filter(paidBy, ({ dispatchedAtMillis }) => dispatchedAtMillis === null)
    if (Option.isSome(inside)) {
      same(inside.value.status, "settled", `an invoice that was paid from inside: the withdrawal of ${row.id}`)
      return same(row.received, inside.value.amount, `an invoice gets what was sent: ${row.id}`)
    }
    same(stage?._tag, "settled", `an invoice is settled when the node says so: ${row.id}`)
    if (stage?._tag === "settled") same(row.received, stage.received, `an invoice gets what the node received: ${row.id}`)
  })

  const deposit = Effect.fnUntraced(function* (row: Deposit, now: Outside) {
    const { id, companyId, lightningInvoiceId, chainTxId, vout, amount, status } = row
    if (lightningInvoiceId !== null) {
      const paid = yield* invoiceOf(companyId, lightningInvoiceId)
      same(paid.status, "settled", `a deposit's invoice is settled: ${id}`)
      same(amount, paid.received, `what is credited is what was received: deposit ${id}`)
    }
    if (chainTxId !== null) {
      const output = Chain.output(now.chain, `${chainTxId}:${vout}`)
      same(amount, output && Msat.fromSats(output.output.sats), `a deposit is worth its output: ${id}`)
      const placement = output?.of.placement._tag
      if (status === "failed" && !isTooSmall(row)) same(placement, "gone", `a deposit is given up when its payment is gone: ${id}`)
    }
  })

  const touched = Effect.fnUntraced(function* (row: Row, now: Outside) {
    const { companyId, id } = row
    switch (row.kind) {
      case "withdrawal": {
        const found = Option.getOrThrow(yield* records.withdrawal(companyId, id))
        moved(row, found.status)
        return yield* withdrawal(found, now)
      }
      case "deposit": {
        // What was credited before is credited once: then there is no second deposit.
        const found = Option.getOrUndefined(yield* records.deposit(companyId, id))
        if (found === undefined) return
        moved(row, found.status)
        return yield* deposit(found, now)
      }
      case "invoice": {
        const found = yield* invoiceOf(companyId, id)
        moved(row, found.status)
        return yield* invoice(found, now)
      }
      case "voucher":
        return moved(row, Option.getOrThrow(yield* records.voucher(companyId, id)).status)
    }
  })

  const look = Effect.gen(function* () {
    const { companies, rows } = seen.take()
    const now = outside()
    for (const row of rows) yield* touched(row, now)
    if (companies.size > 0) yield* Effect.provideContext(Ledger.isSound([...companies]), store)
  })

  const listed = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
    const all: Array<Transaction> = []
    for (let after: Transaction | undefined; ;) {
      const page: ReadonlyArray<Transaction> = yield* records.transactions(companyId, {
        limit: 1000,
        ...(after !== undefined && { after })
      })
      all.push(...page)
      after = page.at(-1)
      if (after === undefined || page.length < 1000) return all
    }
  })

  const company = Effect.fnUntraced(function* (id: CompanyId.CompanyId) {
    const lines = yield* listed(id)
    const withdrawals: Array<Withdrawal.Withdrawal> = []
    const deposits: Array<Deposit> = []
    for (const line of lines) {
      if (line.type === "withdrawal") withdrawals.push(Option.getOrThrow(yield* records.withdrawal(id, line.id)))
      else deposits.push(Option.getOrThrow(yield* records.deposit(id, line.id)))
    }
    return { id, withdrawals, deposits, vouchers: yield* records.vouchersOf(id, null, 1000) } satisfies Company
  })

  /** The balance is what the transactions come to. */
  const adds = Effect.fnUntraced(function* ({ id, withdrawals, deposits, vouchers }: Company) {
    const { posted, held } = yield* records.balance(id)
    const came = Msat.sum(...deposits.map(({ status, amount, absorbed }) => (status === "settled" ? amount : absorbed)))
    const went = Msat.sum(...withdrawals.filter(({ status }) => status === "settled").map(Withdrawal.held))
    same(posted, came - went, `what company ${id} has is what came and went`)
    const waiting = withdrawals.filter(({ status }) => status === "pending").map(Withdrawal.held)
    const offered = vouchers
      .filter(({ status }) => status === "open")
      .map(({ amount, serviceFee, networkAllowance }) => Msat.sum(amount, serviceFee, networkAllowance))
    same(held, Msat.sum(...waiting, ...offered), `what company ${id} has held is what is on its way`)
  })

  /** One of each: a credit for an invoice or an output, an effect for a key. */
  const isOnce = ({ withdrawals, deposits, vouchers }: Company): void => {
    const unique = new Set<string>()
    const add = (name: string, promise: string) => {
      claim(!unique.has(name), `${promise}: ${name}`)
      unique.add(name)
    }
    for (const { lightningInvoiceId, chainTxId, vout } of deposits) {
      if (lightningInvoiceId !== null) add(lightningInvoiceId, "an invoice is credited once")
      if (chainTxId !== null) add(`${chainTxId}:${vout}`, "an output is credited once")
    }
    const claimed = new Set(vouchers.flatMap(({ withdrawalId }) => withdrawalId ?? []))
    const once = [...withdrawals.filter(({ id }) => !claimed.has(id)), ...vouchers].flatMap(({ metadata }) => metadata["once"] ?? [])
    for (const key of once) add(key, "an idempotency key takes effect once")
  }

  /** Whom our node paid, and that it has what the books say, what is on its way included. */
  const node = Effect.fnUntraced(function* (companies: ReadonlyArray<Company>, now: Outside) {
    const byHash = new Map(companies.flatMap(({ withdrawals }) => withdrawals).map((one) => [one.paymentHash, one]))
    let expected = first.node - (yield* records.trialBalance).node
    for (const { paymentHash, times } of HashMap.values(now.lightning.payeeInvoices)) {
      claim(times <= 1, `nobody is paid twice: ${paymentHash}`)
      if (times > 0) claim(byHash.has(paymentHash), `nobody is paid without a withdrawal: ${paymentHash}`)
    }
    for (const { paymentHash, stage, amount, fee } of HashMap.values(now.lightning.sent)) {
      if (stage._tag !== "failed" && byHash.get(paymentHash)?.status !== "settled") expected -= amount + fee
    }
    for (const { id, paymentHash, stage } of HashMap.values(now.lightning.invoices)) {
      if (stage._tag !== "settled") continue
      const row = Option.getOrUndefined(yield* records.invoiceByHash(paymentHash))
      const isCredited = row?.status === "settled" && row.preimage !== null && seen.unmatched.get(paymentHash) === undefined
      const isFromInside = Option.exists(
        yield* records.withdrawalByHash(paymentHash),
        ({ dispatchedAtMillis }) => dispatchedAtMillis === null
      )
      if (seen.unmatched.has(paymentHash)) continue
      if (!isCredited || isFromInside) expected += stage.received
      if (row !== undefined) claim(row.paymentHash === paymentHash, `an invoice has its hash: ${id}`)
    }
    same(localBalance(), expected, "the node has what the books say it has, with what is on its way")
  })

  const audit = Effect.gen(function* () {
    yield* look
    const now = outside()
    const companies: Array<Company> = []
    for (const { id } of yield* records.companies(null, 1000)) companies.push(yield* company(id))
    for (const one of companies) {
      yield* adds(one)
      isOnce(one)
      for (const row of one.withdrawals) yield* withdrawal(row, now)
      for (const row of one.deposits) yield* deposit(row, now)
    }
    yield* node(companies, now)
    yield* Effect.provideContext(Ledger.auditAll, store)
    return { companies, now }
  })

  /** Whoever is outside got on the chain what was sent, once for each time that it was. */
  const paidOnChain = Effect.fnUntraced(function* (companies: ReadonlyArray<Company>) {
    const sent = new Map<string, Array<Msat.Msat>>()
    for (const { rail, recipient, status, amount } of companies.flatMap(({ withdrawals }) => withdrawals)) {
      if (rail !== "on_chain") continue
      const { scriptPubKey } = yield* Effect.fromResult(BitcoinAddress.decode(recipient, "regtest"))
      if ((yield* records.onChainAddresses([scriptPubKey])).length > 0) continue
      sent.set(scriptPubKey, [...(sent.get(scriptPubKey) ?? []), ...(status === "settled" ? [amount] : [])])
    }
    const listed = (amounts: ReadonlyArray<Msat.Msat>) => amounts.map(String).toSorted().join()
    for (const [scriptPubKey, amounts] of sent) {
      const outputs = (yield* sandbox.outputsTo(scriptPubKey)).filter(({ placement }) => placement._tag === "mined")
      same(listed(outputs.map(({ amount }) => amount)), listed(amounts), `what settled on the chain is there: ${scriptPubKey}`)
    }
  })

  const close = Effect.gen(function* () {
    const { companies, now } = yield* audit
    const accounts = yield* records.trialBalance
    for (const { withdrawals, vouchers, deposits } of companies) {
      for (const { id, status, recipient, paymentHash } of withdrawals)
        claim(status !== "pending", `nothing is pending for ever: withdrawal ${id} to ${recipient} (${paymentHash})`)
      for (const { id, status } of vouchers) claim(status !== "open", `no voucher is open for ever: ${id}`)
      for (const { id, status } of deposits) claim(status !== "pending", `nothing is pending for ever: deposit ${id}`)
    }
    for (const { paymentHash, stage } of HashMap.values(now.lightning.invoices)) {
      if (stage._tag !== "settled") continue
      const row = Option.getOrUndefined(yield* records.invoiceByHash(paymentHash))
      if (row === undefined) continue
      claim(row.status === "settled", `what was paid is credited: invoice ${row.id} is ${row.status}`)
    }
    yield* paidOnChain(companies)
    same(localBalance() - first.node, -accounts.node, "the node has what the books say")
    // What is too small to be credited is in the wallet all the same.
    const small = companies.flatMap(({ deposits }) => deposits).filter(({ chainTxId, status }) => chainTxId !== null && status === "failed")
    const uncredited = small.flatMap(({ chainTxId, amount }) =>
      (chainTxId === null ? "gone" : (Chain.transaction(now.chain, chainTxId)?.placement._tag ?? "gone")) === "gone" ? [] : [amount]
    )
    same(walletOf(now) - first.chain, -accounts.chain + Msat.sum(...uncredited), "the wallet has what the books say")
    return companies.map(ending).toSorted().join("\n")
  })

  const run =
    <A>(effect: Effect.Effect<A, unknown>) =>
    async () => {
      seen.absorb()
      return world.read(effect)
    }
  return { look: run(look), audit: run(Effect.asVoid(audit)), close: run(close) }
}
