import * as Msat from "@satrail/bitcoin/Msat"
import { AccountReads } from "@satrail/core/accounts/AccountReads"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Changes from "@satrail/core/Changes"
import * as Balance from "@satrail/core/ledger/Balance"
import type { Account } from "@satrail/core/ledger/Change"
import * as Journal from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import * as OnChainAddress from "@satrail/core/receiving/OnChainAddress"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import type { Records } from "@satrail/core/Records"
import { ReportReads } from "@satrail/core/reports/ReportReads"
import { SendingReads } from "@satrail/core/sending/SendingReads"

import type { Audit } from "@satrail/core/reports/ReportReads"
import type { Published } from "@satrail/core/ledger/LedgerReads"
import type * as Noun from "@satrail/core/ledger/Noun"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as Tally from "@satrail/core/ledger/Tally"
import { type Task, Tasks, type Turn } from "@satrail/core/ledger/Tasks"
import type { Query, Transaction } from "@satrail/core/reports/Transaction"
import * as Voucher from "@satrail/core/sending/Voucher"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Context, Effect, HashMap, Layer, Option, Ref } from "effect"
import * as Books from "./Books.ts"
import * as State from "./State.ts"
import { apply } from "./Verdict.ts"

const compare = <A>(a: A, b: A): number => (a < b ? -1 : a > b ? 1 : 0)

/** The page of `rows` by id that starts after `after`. */
const page = <A extends { readonly id: string }>(rows: Iterable<A>, after: string | null, limit: number): ReadonlyArray<A> =>
  Array.from(rows)
    .filter(({ id }) => after === null || id > after)
    .toSorted((a, b) => compare(a.id, b.id))
    .slice(0, limit)

/** The page of `rows` by id, the newest first, that starts before `before`. */
const newestFirst = <A extends { readonly id: string }>(rows: ReadonlyArray<A>, before: string | null, limit: number): ReadonlyArray<A> =>
  rows
    .filter(({ id }) => before === null || id < before)
    .toSorted((a, b) => compare(b.id, a.id))
    .slice(0, limit)

const fromDeposit = ({ id, companyId, amount, recipient, rail, status, createdAtMillis }: Deposit.Deposit): Transaction => ({
  id,
  companyId,
  amount,
  recipient,
  rail,
  type: "deposit",
  fee: Msat.zero,
  status,
  createdAtMillis
})

const fromWithdrawal = (withdrawal: Withdrawal.Withdrawal): Transaction => {
  const { id, companyId, amount, recipient, rail, status, createdAtMillis } = withdrawal
  return { id, companyId, amount, recipient, rail, type: "withdrawal", fee: Withdrawal.fee(withdrawal), status, createdAtMillis }
}

/** Newest first: negative when `a` comes before `b`. */
const newest = (a: Pick<Transaction, "createdAtMillis" | "id">, b: Pick<Transaction, "createdAtMillis" | "id">): number =>
  compare(b.createdAtMillis, a.createdAtMillis) || compare(b.id, a.id)

const transactions = (state: State.State, companyId: CompanyId.CompanyId, query: Query): ReadonlyArray<Transaction> =>
  [
    ...State.ownedBy(state, Deposit.noun, companyId).map(fromDeposit),
    ...State.ownedBy(state, Withdrawal.noun, companyId).map(fromWithdrawal)
  ]
    .filter(
      (one) =>
        (query.after === undefined || newest(query.after, one) < 0) &&
        (query.type === undefined || query.type === one.type) &&
        (query.status === undefined || query.status === one.status) &&
        (query.rail === undefined || query.rail === one.rail) &&
        (query.createdAfterMillis === undefined || query.createdAfterMillis < one.createdAtMillis) &&
        (query.createdBeforeMillis === undefined || query.createdBeforeMillis > one.createdAtMillis)
    )
    .toSorted(newest)
    .slice(0, query.limit)

const published = (state: State.State, after: bigint, limit: number): ReadonlyArray<Published> => {
  const page: Array<Published> = []
  for (let id = Number(after) + 1; page.length < limit; id++) {
    const event = Option.getOrUndefined(HashMap.get(state.events, id))
    if (event === undefined) break
    page.push(event)
  }
  return page
}

const openInvoices = (state: State.State) =>
  State.all(state, Invoice.noun).filter(({ status }) => status === "pending" || status === "claimed")

const depositsInBlocks = (state: State.State) =>
  State.all(state, Deposit.noun).filter(({ status, height }) => status === "pending" && height !== null)

const recount = (state: State.State, companyId: CompanyId.CompanyId): Audit => ({
  totals: State.balanceOf(state, companyId),
  entries: Balance.effect(Array.from(State.listed(state.entries, companyId))),
  pending: Msat.sum(
    ...State.ownedBy(state, Withdrawal.noun, companyId)
      .filter(({ status }) => status === "pending")
      .map(Withdrawal.held),
    ...State.ownedBy(state, Voucher.noun, companyId)
      .filter(({ status }) => status === "open")
      .map(Voucher.held)
  )
})

const trialBalance = (state: State.State): Readonly<Record<Account, Msat.Msat>> => {
  const sums: Record<Account, Msat.Msat> = Tally.byAccount(() => Msat.zero)
  for (const list of HashMap.values(state.entries)) {
    for (const { from, to, amount } of State.items(list)) {
      sums[from] = Msat.make(sums[from] - amount)
      sums[to] = Msat.make(sums[to] + amount)
    }
  }
  return sums
}

type Ask = Parameters<Tasks["Service"]["claim"]>[0]
type AskInTurn = Parameters<Tasks["Service"]["claimInTurn"]>[0]
type Due = State.Work & { readonly id: string }

/** What is due, the longest first. */
const dueNow = (state: State.State, ask: Ask): ReadonlyArray<Due> =>
  Array.from(HashMap.entries(state.tasks), ([id, work]) => ({ id, ...work }))
    .filter(({ kind, dueAtMillis }) => kind === ask.kind && dueAtMillis <= ask.nowMillis)
    .toSorted((a, b) => compare(a.dueAtMillis, b.dueAtMillis) || compare(a.id, b.id))

const compareTurns = (a: Turn, b: Turn) => compare(a.companyId, b.companyId) || compare(a.lane, b.lane)

/** What is due, by the turns of companies and lanes, so many of each. */
const dueInTurn = (state: State.State, ask: AskInTurn): ReadonlyArray<Due> => {
  const { after, full, perLane } = ask
  const turns = Map.groupBy(dueNow(state, ask), ({ companyId, lane }) => JSON.stringify([companyId, lane]))
  return [...turns.values()]
    .flatMap((tasks) => tasks.slice(0, perLane))
    .filter((task) => after === null || compareTurns(task, after) > 0)
    .filter(({ companyId, lane }) => !full.companies.includes(companyId) && !full.lanes.includes(lane))
    .toSorted(compareTurns)
}

const claim = (state: State.State, due: ReadonlyArray<Due>, ask: Ask) => {
  const claimed = due.slice(0, ask.limit).map(({ kind, id, companyId, lane, token, attempts }): Task => ({
    kind,
    id,
    companyId,
    lane,
    token: token + 1,
    attempts: attempts + 1
  }))
  const dueAtMillis = ask.nowMillis + ask.leaseMillis
  return [
    claimed,
    {
      ...state,
      tasks: HashMap.setMany(
        state.tasks,
        claimed.map(({ id, ...work }) => [id, { ...work, dueAtMillis }] as const)
      )
    }
  ] as const
}

const postpone = (
  state: State.State,
  { id, token }: Task,
  dueAtMillis: number,
  as?: Pick<Task, "kind" | "lane">
): readonly [boolean, State.State] => {
  const work = Option.getOrUndefined(HashMap.get(state.tasks, id))
  if (work?.token !== token) return [false, state]
  return [true, { ...state, tasks: HashMap.set(state.tasks, id, { ...work, ...as, dueAtMillis }) }]
}

/** The state that `layer` is over: its own, unless a caller provides one to inspect. */
export const Held = Context.Reference<Ref.Ref<State.State> | undefined>("@satrail/memory/Memory/Held", { defaultValue: () => undefined })

/** The three storage ports over one immutable value: gone when the process ends. For tests and simulations. */
export const layer: Layer.Layer<Journal.Journal | Records | Tasks> = Layer.effectContext(
  Effect.gen(function* () {
    const state = (yield* Held) ?? (yield* Ref.make(State.empty))
    const read = <A>(select: (now: State.State) => A) => Effect.map(Ref.get(state), select)
    /** A company's record, a record by a name, and a page of a company's records: all that most reads are. */
    const get =
      <A extends Noun.Row>(noun: Noun.Noun<A>) =>
      (companyId: CompanyId.CompanyId, id: string) =>
        read((now) => State.get(now, noun, companyId, id))
    const pageOf =
      <A extends Noun.Row>(noun: Noun.Noun<A>) =>
      (companyId: CompanyId.CompanyId, before: string | null, limit: number) =>
        read((now) => newestFirst(State.ownedBy(now, noun, companyId), before, limit))

    const nouns = NounReads.of({
      get: (noun, companyId, id) => get(noun)(companyId, id),
      named: (noun, name) => read((now) => State.named(now, noun, name)),
      newestFirst: (noun, companyId, before, limit) => pageOf(noun)(companyId, before, limit)
    })
    const ledger = LedgerReads.of({
      balance: (companyId) => read((now) => State.balanceOf(now, companyId)),
      answer: (owner, key) =>
        read((now) =>
          Option.map(HashMap.get(now.answers, State.answerAddress(owner, key)), ({ fingerprint, answer }) => ({ fingerprint, answer }))
        ),
      cursor: (source) => read((now) => HashMap.get(now.cursors, source)),
      events: (after, limit) => read((now) => published(now, after, limit)),
      lastEvent: read((now) => BigInt(HashMap.size(now.events))),
      waiting: (overdueBeforeMillis) => read((now) => Books.waiting(now, overdueBeforeMillis)),
      trialBalance: read(trialBalance),
      tally: () => read(Books.tally)
    })
    const accounts = AccountReads.of({
      company: (id) => read((now) => HashMap.get(now.companies, id)),
      apiKey: (id) =>
        read((now) =>
          Option.map(HashMap.get(State.of(now, ApiKey.noun), id), (apiKey) => ({
            apiKey,
            plan: HashMap.getUnsafe(now.companies, apiKey.companyId).plan
          }))
        ),
      domain: (domain) => read((now) => HashMap.get(now.domains, domain)),
      domainsOf: (companyId) =>
        read((now) =>
          HashMap.toValues(now.domains)
            .filter((row) => row.companyId === companyId)
            .toSorted((a, b) => compare(a.domain, b.domain))
        ),
      domainsToCheck: (beforeMillis, after, limit) =>
        read((now) =>
          HashMap.toValues(now.domains)
            .filter((row) => row.shownBy === "dns" && row.checkedAtMillis < beforeMillis && (after === null || row.domain > after))
            .toSorted((a, b) => compare(a.domain, b.domain))
            .slice(0, limit)
        ),
      companies: (after, limit) => read((now) => page(HashMap.values(now.companies), after, limit))
    })
    const receiving = ReceivingReads.of({
      invoice: get(Invoice.noun),
      invoiceByHash: (paymentHash) => read((now) => State.named(now, Invoice.noun, { paymentHash })),
      openInvoices: (after, limit) => read((now) => page(openInvoices(now), after, limit)),
      openInvoicesWithin: (ranges, after, limit) =>
        read((now) =>
          page(
            openInvoices(now).filter(({ id }) => ranges.some(([from, until]) => id >= from && id < until)),
            after,
            limit
          )
        ),
      openForWallets: (nowMillis) =>
        read((now) => {
          const counts = new Map<string, number>()
          for (const { status, lightningAddressId, expiresAtMillis } of openInvoices(now)) {
            if (status !== "pending" || lightningAddressId === null || expiresAtMillis <= nowMillis) continue
            counts.set(lightningAddressId, (counts.get(lightningAddressId) ?? 0) + 1)
          }
          return Array.from(counts, ([lightningAddressId, count]) => ({ lightningAddressId, count }))
        }),
      endedForWallets: (untilMillis, after, limit) =>
        read((now) =>
          openInvoices(now)
            .filter((row) => row.status === "pending" && row.lightningAddressId !== null && row.expiresAtMillis <= untilMillis)
            .toSorted((a, b) => compare(a.expiresAtMillis, b.expiresAtMillis) || compare(a.id, b.id))
            .filter((row) => after === null || (compare(row.expiresAtMillis, after.expiresAtMillis) || compare(row.id, after.id)) > 0)
            .slice(0, limit)
        ),
      depositOfInvoice: (companyId, invoiceId) =>
        read((now) =>
          Option.fromUndefinedOr(
            State.ownedBy(now, Deposit.noun, companyId).find(({ lightningInvoiceId }) => lightningInvoiceId === invoiceId)
          )
        ),
      unmatched: get(Invoice.unmatchedNoun),
      lightningAddress: (handle, domain) => read((now) => State.named(now, LightningAddress.noun, { handle, domain })),
      lightningAddressById: get(LightningAddress.noun),
      lightningAddressesOf: pageOf(LightningAddress.noun),
      onChainAddresses: (scripts) =>
        read((now) =>
          Array.from(new Set(scripts)).flatMap((scriptPubKey) => Option.toArray(State.named(now, OnChainAddress.noun, { scriptPubKey })))
        ),
      allOnChainAddresses: (after, limit) => read((now) => page(State.all(now, OnChainAddress.noun), after, limit)),
      deposit: get(Deposit.noun),
      depositByOutpoint: (chainTxId, vout) => read((now) => State.named(now, Deposit.noun, { chainTxId, vout })),
      depositsInBlocks: (after, limit) => read((now) => page(depositsInBlocks(now), after, limit)),
      depositsAbove: (height, after, limit) =>
        read((now) =>
          page(
            State.all(now, Deposit.noun).filter((one) => one.height !== null && one.height > height),
            after,
            limit
          )
        ),
      depositsInNoBlock: (after, limit) =>
        read((now) =>
          page(
            State.all(now, Deposit.noun).filter(
              ({ rail, status, height, chainTxId }) => rail === "on_chain" && status === "pending" && height === null && chainTxId !== null
            ),
            after,
            limit
          )
        ),
      depositsUnconfirmed: (above) =>
        read((now) => {
          const ofCompany = new Map<string, Msat.Msat>()
          const inBlock = new Map<number, Msat.Msat>()
          for (const { companyId, height, amount } of depositsInBlocks(now)) {
            if (height === null || height <= above) continue
            ofCompany.set(companyId, Msat.sum(amount, ofCompany.get(companyId) ?? Msat.zero))
            inBlock.set(height, Msat.sum(amount, inBlock.get(height) ?? Msat.zero))
          }
          return { ofCompany, inBlock }
        }),
      depositsGivenUp: (before, limit) =>
        read((now) =>
          newestFirst(
            State.all(now, Deposit.noun).filter((one) => one.rail === "on_chain" && one.status === "failed" && !Deposit.isTooSmall(one)),
            before,
            limit
          )
        ),
      nextKey: (wallet, type, branch) => read((now) => State.nextKey(now, { wallet, type, branch }))
    })
    const sending = SendingReads.of({
      coins: (wallet, limit) => read((now) => State.coins(now, wallet).slice(0, limit)),
      followers: (withdrawalId) => read((now) => State.followers(now, withdrawalId)),
      candidates: (companyId, id) =>
        read((now) =>
          Option.isSome(State.get(now, Withdrawal.noun, companyId, id))
            ? State.candidates(now, id).map(({ standing: _, ...candidate }) => candidate)
            : []
        ),
      settledPayouts: (after, limit) =>
        read((now) =>
          page(
            Array.from(HashMap.entries(now.candidates)).flatMap(([id, all]) =>
              all
                .filter(({ standing }) => standing === "settled")
                .map(({ txId, rawTx }) => ({ id, companyId: HashMap.getUnsafe(State.of(now, Withdrawal.noun), id).companyId, txId, rawTx }))
            ),
            after,
            limit
          )
        ),
      withdrawalsUnderWay: (after, limit) =>
        read((now) =>
          page(
            State.all(now, Withdrawal.noun).filter(({ status, dispatchedAtMillis }) => status === "pending" && dispatchedAtMillis !== null),
            after,
            limit
          )
        ),
      withdrawal: get(Withdrawal.noun),
      withdrawalByHash: (paymentHash) => read((now) => State.named(now, Withdrawal.noun, { paymentHash })),
      spentCoins: (outpoints) => read((now) => new Set(outpoints.filter((coin) => HashMap.has(now.withdrawalByCoin, coin)))),
      voucher: get(Voucher.noun),
      voucherBySecret: (secretHash) => read((now) => State.named(now, Voucher.noun, { secretHash })),
      vouchersOf: pageOf(Voucher.noun)
    })
    const reports = ReportReads.of({
      transactions: (companyId, query) => read((now) => transactions(now, companyId, query)),
      audit: (companyId) => read((now) => recount(now, companyId)),
      faults: (companyId) => read((now) => Books.faults(now, companyId))
    })
    const tasks = Tasks.of({
      claim: (ask) => Ref.modify(state, (now) => claim(now, dueNow(now, ask), ask)),
      claimInTurn: (ask) => Ref.modify(state, (now) => claim(now, dueInTurn(now, ask), ask)),
      postpone: (task, untilMillis, as) => Ref.modify(state, (now) => postpone(now, task, untilMillis, as))
    })
    return Context.make(
      Journal.Journal,
      Changes.journal((change) => Effect.flatten(Ref.modify(state, (now) => apply(now, change))))
    ).pipe(
      Context.add(NounReads, nouns),
      Context.add(LedgerReads, ledger),
      Context.add(AccountReads, accounts),
      Context.add(ReceivingReads, receiving),
      Context.add(SendingReads, sending),
      Context.add(ReportReads, reports),
      Context.add(Tasks, tasks)
    )
  })
)
