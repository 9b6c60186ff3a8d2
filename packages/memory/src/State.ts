import type { ApiKey } from "@satrail/core/accounts/ApiKey"
import type { Company } from "@satrail/core/accounts/Company"
import type { Domain } from "@satrail/core/accounts/Domain"
import type { Answer } from "@satrail/core/ledger/Answer"
import * as Balance from "@satrail/core/ledger/Balance"
import type { Posting } from "@satrail/core/ledger/Change"
import type { Published } from "@satrail/core/ledger/LedgerReads"
import * as Coin from "@satrail/core/nodes/Coin"
import type { Deposit } from "@satrail/core/receiving/Deposit"
import type { Invoice, Unmatched } from "@satrail/core/receiving/Invoice"
import type { KeyRange } from "@satrail/core/receiving/KeyRange"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import type { OnChainAddress } from "@satrail/core/receiving/OnChainAddress"
import type { Voucher } from "@satrail/core/sending/Voucher"
import type { Attempt, Candidate, Withdrawal } from "@satrail/core/sending/Withdrawal"
import { HashMap, HashSet, Option } from "effect"

/** Grows at its head, so that one more costs the same however long it is. */
export interface List<A> {
  readonly head: A
  readonly tail: List<A> | null
}

/** What is in a list, the newest first. */
export function* items<A>(list: List<A> | null): Generator<A> {
  for (let rest = list; rest !== null; rest = rest.tail) yield rest.head
}

/** A posting, and which transfer it is of. */
export interface Entry extends Posting {
  readonly transferId: string
}

/** Work to be done. `dueAtMillis` is also when a claim on it ends. */
export interface Work {
  readonly kind: string
  readonly companyId: string
  readonly lane: string
  readonly dueAtMillis: number
  readonly token: number
  readonly attempts: number
}

/** An answer and when it may be forgotten; null: never. */
export interface Kept extends Answer {
  readonly forgetAtMillis: number | null
}

/** A transaction for a payout, and what became of it. */
export interface Signed extends Candidate {
  readonly standing: "offered" | "settled" | "buried"
}

type Map<A> = HashMap.HashMap<string, A>

/** Everything there is. A commit makes the next one out of this one, so a refusal has nothing to undo. */
export interface State {
  readonly companies: Map<Company>
  readonly domains: Map<Domain>
  readonly apiKeys: Map<ApiKey>
  readonly invoices: Map<Invoice>
  readonly unmatched: Map<Unmatched>
  readonly lightningAddresses: Map<LightningAddress.LightningAddress>
  readonly onChainAddresses: Map<OnChainAddress>
  readonly deposits: Map<Deposit>
  readonly withdrawals: Map<Withdrawal>
  readonly attempts: Map<Attempt>
  /** Who follows a withdrawal: its transaction pays them too. */
  readonly followers: Map<ReadonlyArray<string>>
  /** Every transaction ever signed for a payout, the oldest first. */
  readonly candidates: Map<ReadonlyArray<Signed>>
  readonly keyRanges: Map<KeyRange>
  readonly vouchers: Map<Voucher>
  readonly answers: Map<Kept>
  readonly cursors: Map<string>
  readonly tasks: Map<Work>

  readonly balances: Map<Balance.Balance>
  /** Every posting there ever was, by company. */
  readonly entries: Map<List<Entry>>
  /** By their ids, which leave no gap. */
  readonly events: HashMap.HashMap<number, Published>

  // Ids, found another way.
  readonly invoiceByHash: Map<string>
  readonly openInvoices: HashSet.HashSet<string>
  readonly lightningAddressByText: Map<string>
  readonly lightningAddressesOf: Map<List<string>>
  readonly onChainAddressByScript: Map<string>
  readonly depositByOutpoint: Map<string>
  readonly depositsInBlocks: HashSet.HashSet<string>
  readonly depositsOf: Map<List<string>>
  readonly withdrawalByHash: Map<string>
  readonly withdrawalByCoin: Map<string>
  readonly withdrawalsOf: Map<List<string>>
  readonly voucherBySecret: Map<string>
  readonly vouchersOf: Map<List<string>>
}

/** Nothing happened yet. */
export const empty: State = {
  companies: HashMap.empty(),
  domains: HashMap.empty(),
  apiKeys: HashMap.empty(),
  invoices: HashMap.empty(),
  unmatched: HashMap.empty(),
  lightningAddresses: HashMap.empty(),
  onChainAddresses: HashMap.empty(),
  deposits: HashMap.empty(),
  withdrawals: HashMap.empty(),
  attempts: HashMap.empty(),
  followers: HashMap.empty(),
  candidates: HashMap.empty(),
  keyRanges: HashMap.empty(),
  vouchers: HashMap.empty(),
  answers: HashMap.empty(),
  cursors: HashMap.empty(),
  tasks: HashMap.empty(),
  balances: HashMap.empty(),
  entries: HashMap.empty(),
  events: HashMap.empty(),
  invoiceByHash: HashMap.empty(),
  openInvoices: HashSet.empty(),
  lightningAddressByText: HashMap.empty(),
  lightningAddressesOf: HashMap.empty(),
  onChainAddressByScript: HashMap.empty(),
  depositByOutpoint: HashMap.empty(),
  depositsInBlocks: HashSet.empty(),
  depositsOf: HashMap.empty(),
  withdrawalByHash: HashMap.empty(),
  withdrawalByCoin: HashMap.empty(),
  withdrawalsOf: HashMap.empty(),
  voucherBySecret: HashMap.empty(),
  vouchersOf: HashMap.empty()
}

/** A list with one more at its head. */
export const push = <A>(lists: Map<List<A>>, key: string, ...more: ReadonlyArray<A>): Map<List<A>> => {
  let list = Option.getOrNull(HashMap.get(lists, key))
  for (const head of more) list = { head, tail: list }
  return list === null ? lists : HashMap.set(lists, key, list)
}

/** What is in the list at this key, the newest first. */
export const listed = <A>(lists: Map<List<A>>, key: string): Iterable<A> => items(Option.getOrNull(HashMap.get(lists, key)))

/** The rows of these ids. */
export const rows = <A>(map: Map<A>, ids: Iterable<string>): Array<A> => Array.from(ids, (id) => HashMap.getUnsafe(map, id))

/** The row that an index leads to. */
export const found = <A>(map: Map<A>, index: Map<string>, key: string): Option.Option<A> =>
  Option.flatMap(HashMap.get(index, key), (id) => HashMap.get(map, id))

/** A company that nobody opened has nothing. */
export const balanceOf = (state: State, companyId: string): Balance.Balance =>
  Option.getOrElse(HashMap.get(state.balances, companyId), () => Balance.empty)

/** Keys may hold any visible character, owners are ids: a space keeps the two apart. */
export const answerAddress = (owner: string, key: string): string => `${owner} ${key}`

/** An output, as one text. */
export const outpoint = (txId: string, vout: number): string => `${txId}:${vout}`

/** The invoice as it is now, wherever it is found. */
export const putInvoice = (state: State, invoice: Invoice): State => ({
  ...state,
  invoices: HashMap.set(state.invoices, invoice.id, invoice),
  invoiceByHash: HashMap.set(state.invoiceByHash, invoice.paymentHash, invoice.id),
  openInvoices:
    invoice.status === "pending" || invoice.status === "claimed"
      ? HashSet.add(state.openInvoices, invoice.id)
      : HashSet.remove(state.openInvoices, invoice.id)
})

/** The invoice is not there any more, wherever it was found. */
export const removeInvoice = (state: State, { id, paymentHash }: Invoice): State => ({
  ...state,
  invoices: HashMap.remove(state.invoices, id),
  invoiceByHash: HashMap.remove(state.invoiceByHash, paymentHash),
  openInvoices: HashSet.remove(state.openInvoices, id)
})

/** The Lightning address as it is now, wherever it is found. */
export const putLightningAddress = (state: State, row: LightningAddress.LightningAddress): State => ({
  ...state,
  lightningAddresses: HashMap.set(state.lightningAddresses, row.id, row),
  lightningAddressesOf: HashMap.has(state.lightningAddresses, row.id)
    ? state.lightningAddressesOf
    : push(state.lightningAddressesOf, row.companyId, row.id),
  lightningAddressByText: HashMap.set(state.lightningAddressByText, LightningAddress.text(row), row.id)
})

/** The on-chain address, wherever it is found. */
export const putOnChainAddress = (state: State, row: OnChainAddress): State => ({
  ...state,
  onChainAddresses: HashMap.set(state.onChainAddresses, row.id, row),
  onChainAddressByScript: HashMap.set(state.onChainAddressByScript, row.scriptPubKey, row.id)
})

/** The deposit as it is now, wherever it is found. */
export const putDeposit = (state: State, deposit: Deposit): State => ({
  ...state,
  deposits: HashMap.set(state.deposits, deposit.id, deposit),
  depositsOf: HashMap.has(state.deposits, deposit.id) ? state.depositsOf : push(state.depositsOf, deposit.companyId, deposit.id),
  depositByOutpoint:
    deposit.chainTxId === null || deposit.vout === null
      ? state.depositByOutpoint
      : HashMap.set(state.depositByOutpoint, outpoint(deposit.chainTxId, deposit.vout), deposit.id),
  depositsInBlocks:
    deposit.status === "pending" && deposit.height !== null
      ? HashSet.add(state.depositsInBlocks, deposit.id)
      : HashSet.remove(state.depositsInBlocks, deposit.id)
})

/** The withdrawal as it is now, wherever it is found. */
export const putWithdrawal = (state: State, withdrawal: Withdrawal): State => ({
  ...state,
  withdrawals: HashMap.set(state.withdrawals, withdrawal.id, withdrawal),
  withdrawalsOf: HashMap.has(state.withdrawals, withdrawal.id)
    ? state.withdrawalsOf
    : push(state.withdrawalsOf, withdrawal.companyId, withdrawal.id),
  withdrawalByHash:
    withdrawal.paymentHash === null ? state.withdrawalByHash : HashMap.set(state.withdrawalByHash, withdrawal.paymentHash, withdrawal.id)
})

/** Who is paid by the transaction of this withdrawal too, by id. */
export const followers = (state: State, withdrawalId: string): ReadonlyArray<Withdrawal> =>
  rows(state.withdrawals, Option.getOrElse(HashMap.get(state.followers, withdrawalId), () => []).toSorted())

/** Every transaction ever signed for a payout, the oldest first. */
export const candidates = (state: State, withdrawalId: string): ReadonlyArray<Signed> =>
  Option.getOrElse(HashMap.get(state.candidates, withdrawalId), () => [])

/** Where the next range of keys of this account and branch begins. */
export const nextKey = (state: State, of: Pick<KeyRange, "wallet" | "type" | "branch">): number =>
  Math.max(
    0,
    ...Array.from(HashMap.values(state.keyRanges))
      .filter(({ wallet, type, branch }) => wallet === of.wallet && type === of.type && branch === of.branch)
      .map(({ next }) => next)
  )

const creditedCoins = (state: State, wallet: string): ReadonlyArray<Coin.Coin> => {
  const addresses = new Map(Array.from(HashMap.values(state.onChainAddresses), (row) => [row.address, row]))
  return Array.from(HashMap.values(state.deposits)).flatMap(({ chainTxId, vout, status, recipient, amount }) => {
    const address = status === "settled" ? addresses.get(recipient) : undefined
    if (address?.nodeId !== wallet || chainTxId === null || vout === null) return []
    const { scriptPubKey, type, index } = address
    return [{ outpoint: Coin.outpoint(chainTxId, vout), scriptPubKey, amount, type, branch: 0, index, isConfirmed: true }]
  })
}

const changeCoins = (state: State, wallet: string): ReadonlyArray<Coin.Coin> =>
  Array.from(HashMap.entries(state.candidates)).flatMap(([id, all]) =>
    all.flatMap(({ txId, change, standing, isDeep }) => {
      const isOffered =
        standing === "offered" && !isDeep && all.length === 1 && HashMap.getUnsafe(state.withdrawals, id).status === "pending"
      if (change === null || change.wallet !== wallet || (standing === "offered" && !isOffered)) return []
      const { vout, wallet: _, ...coin } = change
      return [{ ...coin, outpoint: Coin.outpoint(txId, vout), isConfirmed: !isOffered }]
    })
  )

/** What a wallet could spend, the largest first. */
export const coins = (state: State, wallet: string): ReadonlyArray<Coin.Coin> =>
  [...creditedCoins(state, wallet), ...changeCoins(state, wallet)]
    .filter(({ outpoint }) => !HashMap.has(state.withdrawalByCoin, outpoint))
    .toSorted((a, b) => (a.amount === b.amount ? (a.outpoint < b.outpoint ? -1 : 1) : a.amount > b.amount ? -1 : 1))
/** The voucher as it is now, wherever it is found. */
export const putVoucher = (state: State, voucher: Voucher): State => ({
  ...state,
  vouchers: HashMap.set(state.vouchers, voucher.id, voucher),
  vouchersOf: HashMap.has(state.vouchers, voucher.id) ? state.vouchersOf : push(state.vouchersOf, voucher.companyId, voucher.id),
  voucherBySecret: HashMap.set(state.voucherBySecret, voucher.secretHash, voucher.id)
})
