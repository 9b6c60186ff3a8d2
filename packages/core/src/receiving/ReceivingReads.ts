import type { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import type { Msat } from "@satrail/bitcoin/Msat"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as TxId from "@satrail/bitcoin/TxId"
import { Context, type Effect, type Option } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { Found, Position } from "../ledger/Page.ts"
import type { Deposit } from "./Deposit.ts"
import type { Invoice, Query, Unmatched } from "./Invoice.ts"
import type { OnChainAddress } from "./OnChainAddress.ts"

/** Totals of deposits with too few confirmations: per company, and per block across all companies. */
export interface Unconfirmed {
  readonly ofCompany: ReadonlyMap<string, Msat>
  readonly inBlock: ReadonlyMap<number, Msat>
}

type Read<A> = Effect.Effect<A, StoreUnavailable>

/**
 * Reads invoices, addresses and deposits. A method that takes a company id returns only that company's
 * records.
 */
export class ReceivingReads extends Context.Service<
  ReceivingReads,
  {
    readonly invoice: (companyId: CompanyId.CompanyId, id: string) => Read<Option.Option<Invoice>>
    /**
     * Returns an invoice and the id of the deposit that credited it (null until it is settled), in one query.
     */
    readonly invoiceWithDeposit: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Read<Option.Option<{ readonly invoice: Invoice; readonly depositId: string | null }>>
    readonly invoiceByHash: (paymentHash: PaymentHash.PaymentHash) => Read<Option.Option<Invoice>>
    /**
     * Returns a company's invoices, newest first by id; ids start with the creation time. Examines at most
     * `looks` of them.
     */
    readonly invoicesOf: (companyId: CompanyId.CompanyId, query: Query, looks: number) => Read<Found<Invoice>>
    /** Returns pending, claimed and canceling invoices after `after` (exclusive; null for the first page), ordered by id. */
    readonly openInvoices: (after: string | null, limit: number) => Read<ReadonlyArray<Invoice>>
    /**
     * Returns open invoices whose ids are in one of these ranges. Each range includes its first id and excludes
     * its last.
     */
    readonly openInvoicesWithin: (
      ranges: ReadonlyArray<readonly [from: string, until: string]>,
      after: string | null,
      limit: number
    ) => Read<ReadonlyArray<Invoice>>
    /** Counts a company's hold invoices that are not final, up to `limit`. */
    readonly openHolds: (companyId: CompanyId.CompanyId, limit: number) => Read<number>
    /**
     * Returns pending invoices that wallets requested at Lightning addresses and that expired by `untilMillis`.
     * Starts after `after`, ordered by (`expiresAtMillis`, `id`).
     */
    readonly endedForWallets: (
      untilMillis: number,
      after: Pick<Invoice, "expiresAtMillis" | "id"> | null,
      limit: number
    ) => Read<ReadonlyArray<Invoice>>
    /** Returns the deposit that credited an invoice, if it is settled. */
    readonly depositOfInvoice: (
      companyId: CompanyId.CompanyId,
      invoiceId: string
    ) => Read<Option.Option<Deposit>>
    /** Returns a payment in suspense, whichever company's invoice it refers to. */
    readonly unmatchedById: (id: string) => Read<Option.Option<Unmatched>>
    /**
     * Returns payments that were put in suspense, newest first by (`createdAtMillis`, `id`), after `after`
     * (exclusive; null for the first page). Without a status, includes the assigned ones.
     */
    readonly suspended: (
      after: Position | null,
      limit: number,
      status?: "open" | "assigned"
    ) => Read<ReadonlyArray<Unmatched>>
    /** Returns our addresses among these scripts. */
    readonly onChainAddresses: (scriptPubKeys: ReadonlyArray<string>) => Read<ReadonlyArray<OnChainAddress>>
    readonly deposit: (companyId: CompanyId.CompanyId, id: string) => Read<Option.Option<Deposit>>
    /** Returns any company's deposit. */
    readonly depositById: (id: string) => Read<Option.Option<Deposit>>
    readonly depositByOutpoint: (txId: TxId.TxId, vout: number) => Read<Option.Option<Deposit>>
    /** Returns pending on-chain deposits in a block after `after`, ordered by id. */
    readonly depositsInBlocks: (after: string | null, limit: number) => Read<ReadonlyArray<Deposit>>
    /**
     * Returns the totals of pending on-chain deposits in blocks above `height`, in one query regardless of
     * their number.
     */
    readonly depositsUnconfirmed: (height: number) => Read<Unconfirmed>
    /**
     * Returns on-chain deposits recorded in a block above `height`, and not above `upTo` (null: without end). Starts
     * after `after`, ordered by id. The cost of each page grows with the number of deposits in these blocks.
     */
    readonly depositsAbove: (
      height: number,
      upTo: number | null,
      after: string | null,
      limit: number
    ) => Read<ReadonlyArray<Deposit>>
    /** Returns pending on-chain deposits that are in no block. Starts after `after`, ordered by id. */
    readonly depositsInNoBlock: (after: string | null, limit: number) => Read<ReadonlyArray<Deposit>>
    /**
     * Returns on-chain deposits that failed after having been pending, newest first by id, before `before`
     * (exclusive; null for the first page).
     */
    readonly depositsGivenUp: (before: string | null, limit: number) => Read<ReadonlyArray<Deposit>>
    /** Returns deposits with an `absorbed` part whose companies have available funds, ordered by id. */
    readonly depositsOwed: (limit: number) => Read<ReadonlyArray<Deposit>>
    /** Returns the start of the next key range of this account and branch. */
    readonly nextKey: (wallet: string, type: AddressType, branch: 0 | 1) => Read<number>
  }
>()("@satrail/core/receiving/ReceivingReads") {}
