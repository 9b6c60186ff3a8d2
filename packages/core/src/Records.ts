import type { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import type { Msat } from "@satrail/bitcoin/Msat"
import { Context, type Effect, type Option } from "effect"
import type { Answer } from "./Answer.ts"
import type { Holder } from "./ApiKey.ts"
import type { Balance } from "./Balance.ts"
import type { Account } from "./Change.ts"
import type * as Coin from "./Coin.ts"
import type { Company } from "./Company.ts"
import type { Deposit } from "./Deposit.ts"
import type { Domain } from "./Domain.ts"
import type { Fault } from "./Fault.ts"
import type { Invoice, Unmatched } from "./Invoice.ts"
import type { StoreUnavailable } from "./Journal.ts"
import type { LightningAddress } from "./LightningAddress.ts"
import type { OnChainAddress } from "./OnChainAddress.ts"
import type { Tally } from "./Tally.ts"
import type { Query, Transaction } from "./Transaction.ts"
import type { Voucher } from "./Voucher.ts"
import type * as Waiting from "./Waiting.ts"
import type { Candidate, Withdrawal } from "./Withdrawal.ts"

/**
 * The same money counted three ways. On a sound ledger `totals` equals `entries`, and `totals.held` equals `pending`: what pending withdrawals
 * and open vouchers hold.
 */
export interface Audit {
  readonly totals: Balance
  readonly entries: Balance
  readonly pending: Msat
}

/** A committed event. `id` grows in the order of commits as one reader sees them. */
export interface Published {
  readonly id: bigint
  readonly companyId: string
  readonly type: string
  readonly subject: string
  readonly atMillis: number
}

/** A payout that settled, and the transaction that it settled with. */
export interface SettledPayout {
  readonly id: string
  readonly companyId: string
  readonly txId: string
  readonly rawTx: string
}

/** What deposits that are not deep enough yet come to: those of each company, and those of everybody in each block. */
export interface Unconfirmed {
  readonly ofCompany: ReadonlyMap<string, Msat>
  readonly inBlock: ReadonlyMap<number, Msat>
}

type Read<A> = Effect.Effect<A, StoreUnavailable>

/** Reads what was committed. A method that takes a company's id answers only what is that company's. */
export class Records extends Context.Service<
  Records,
  {
    /** A company that nobody opened has nothing. */
    readonly balance: (companyId: string) => Read<Balance>
    readonly company: (id: string) => Read<Option.Option<Company>>
    /** A key by the id in its text, whoever's it is, and its company's plan. */
    readonly apiKey: (id: string) => Read<Option.Option<Holder>>
    readonly domain: (domain: string) => Read<Option.Option<Domain>>
    /** A company's domains, by name. */
    readonly domainsOf: (companyId: string) => Read<ReadonlyArray<Domain>>
    /** Domains that DNS shows, looked for last before `beforeMillis`, by name, after `after`. */
    readonly domainsToCheck: (beforeMillis: number, after: string | null, limit: number) => Read<ReadonlyArray<Domain>>
    readonly answer: (owner: string, key: string) => Read<Option.Option<Answer>>
    readonly cursor: (source: string) => Read<Option.Option<string>>

    readonly invoice: (companyId: string, id: string) => Read<Option.Option<Invoice>>
    readonly invoiceByHash: (paymentHash: string) => Read<Option.Option<Invoice>>
    /** Invoices that are pending or claimed, by id, after `after` (exclusive; null for the first page). */
    readonly openInvoices: (after: string | null, limit: number) => Read<ReadonlyArray<Invoice>>
    /** Those of them whose ids are in one of these ranges, each from its first id to before its last. */
    readonly openInvoicesWithin: (
      ranges: ReadonlyArray<readonly [from: string, until: string]>,
      after: string | null,
      limit: number
    ) => Read<ReadonlyArray<Invoice>>
    /** How many invoices that wallets asked for at a Lightning address are pending and expire after `nowMillis`, of each address that has any. */
    readonly openForWallets: (nowMillis: number) => Read<ReadonlyArray<{ readonly lightningAddressId: string; readonly count: number }>>
    /** Pending invoices that wallets asked for at a Lightning address and that expired by `untilMillis`, by (`expiresAtMillis`, `id`), after `after`. */
    readonly endedForWallets: (
      untilMillis: number,
      after: Pick<Invoice, "expiresAtMillis" | "id"> | null,
      limit: number
    ) => Read<ReadonlyArray<Invoice>>
    /** The deposit that credited an invoice, once it was settled. */
    readonly depositOfInvoice: (companyId: string, invoiceId: string) => Read<Option.Option<Deposit>>
    /** What waits in suspense. */
    readonly unmatched: (companyId: string, id: string) => Read<Option.Option<Unmatched>>
    readonly lightningAddress: (handle: string, domain: string) => Read<Option.Option<LightningAddress>>
    readonly lightningAddressById: (companyId: string, id: string) => Read<Option.Option<LightningAddress>>
    /** A company's Lightning addresses, deleted ones too, the newest first by id, before `before` (exclusive; null for the first page). */
    readonly lightningAddressesOf: (companyId: string, before: string | null, limit: number) => Read<ReadonlyArray<LightningAddress>>
    /** Whichever of these scripts are ours. */
    readonly onChainAddresses: (scriptPubKeys: ReadonlyArray<string>) => Read<ReadonlyArray<OnChainAddress>>
    /** Every address we ever gave out, by id, after `after`: what a chain source has to watch. */
    readonly allOnChainAddresses: (after: string | null, limit: number) => Read<ReadonlyArray<OnChainAddress>>

    readonly deposit: (companyId: string, id: string) => Read<Option.Option<Deposit>>
    readonly depositByOutpoint: (txId: string, vout: number) => Read<Option.Option<Deposit>>
    /** On-chain deposits that are pending and in a block, by id, after `after`. */
    readonly depositsInBlocks: (after: string | null, limit: number) => Read<ReadonlyArray<Deposit>>
    /** What on-chain deposits come to that are pending and in a block above `height`: one question, however many they are. */
    readonly depositsUnconfirmed: (height: number) => Read<Unconfirmed>
    /** On-chain deposits that are said to be in a block above `height`, by id, after `after`. */
    readonly depositsAbove: (height: number, after: string | null, limit: number) => Read<ReadonlyArray<Deposit>>
    /** On-chain deposits that are pending and in no block, by id, after `after`. */
    readonly depositsInNoBlock: (after: string | null, limit: number) => Read<ReadonlyArray<Deposit>>
    /** On-chain deposits that failed after they had been pending, the newest first by id, before `before` (exclusive; null for the first page). */
    readonly depositsGivenUp: (before: string | null, limit: number) => Read<ReadonlyArray<Deposit>>

    /** Where the next range of keys of this account and branch begins. */
    readonly nextKey: (wallet: string, type: AddressType, branch: 0 | 1) => Read<number>
    /**
     * The largest coins of a wallet that no payout spends: credited deposits, change that is in a block, and, `isConfirmed: false`, change of
     * payouts under way that spend none of that kind themselves.
     */
    readonly coins: (wallet: string, limit: number) => Read<ReadonlyArray<Coin.Coin>>

    readonly withdrawal: (companyId: string, id: string) => Read<Option.Option<Withdrawal>>
    /** The withdrawal, of whichever company, that this payment hash belongs to. */
    readonly withdrawalByHash: (paymentHash: string) => Read<Option.Option<Withdrawal>>
    /** Withdrawals of all companies that were dispatched and have not ended, by id, after `after`. */
    readonly withdrawalsUnderWay: (after: string | null, limit: number) => Read<ReadonlyArray<Withdrawal>>
    /** The withdrawals, of whichever company, that the transaction of this one pays too, by id. */
    readonly followers: (withdrawalId: string) => Read<ReadonlyArray<Withdrawal>>
    /** Every transaction that was ever signed for a payout, the oldest first. Those of one that follows another are the other's. */
    readonly candidates: (companyId: string, withdrawalId: string) => Read<ReadonlyArray<Candidate>>
    /** Payouts that settled and are not buried, by id, after `after`. */
    readonly settledPayouts: (after: string | null, limit: number) => Read<ReadonlyArray<SettledPayout>>
    /** The outpoints that payouts have spent or are about to spend, as `txid:vout`: those among `outpoints`. */
    readonly spentCoins: (outpoints: ReadonlyArray<string>) => Read<ReadonlySet<string>>

    readonly voucher: (companyId: string, id: string) => Read<Option.Option<Voucher>>
    /** The voucher, of whichever company, whose secret has this hash. */
    readonly voucherBySecret: (secretHash: string) => Read<Option.Option<Voucher>>
    /** A company's vouchers, the newest first by id, before `before` (exclusive; null for the first page). */
    readonly vouchersOf: (companyId: string, before: string | null, limit: number) => Read<ReadonlyArray<Voucher>>

    /** Deposits and withdrawals, newest first by (`createdAtMillis`, `id`). */
    readonly transactions: (companyId: string, query: Query) => Read<ReadonlyArray<Transaction>>
    /** Committed events after `after`, oldest first. */
    readonly events: (after: bigint, limit: number) => Read<ReadonlyArray<Published>>
    /** The id of the newest of them; 0 where there is none. */
    readonly lastEvent: Read<bigint>
    /** What waits, of all companies, and since when. Tasks are overdue that were due before `overdueBeforeMillis`. */
    readonly waiting: (overdueBeforeMillis: number) => Read<Waiting.All>

    /** Recounts everything of one company: for tests and the nightly job, never for a request. */
    readonly audit: (companyId: string) => Read<Audit>
    /** What all entries of all companies come to, by account: they sum to zero, and `internal` is zero. Recounts everything. */
    readonly trialBalance: Read<Readonly<Record<Account, Msat>>>
    /** The same, counted on from a tally that was made before: only what was booked since is read. null counts everything. */
    readonly tally: (before: Tally | null) => Read<Tally>
    /** Compares everything of one company with everything else of it. Answers what is wrong, at most 1000 of it. */
    readonly faults: (companyId: string) => Read<ReadonlyArray<Fault>>
    /** Every company, by id, after `after`. */
    readonly companies: (after: string | null, limit: number) => Read<ReadonlyArray<Company>>
  }
>()("core/Records") {}
