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
import type { LightningAddress } from "./LightningAddress.ts"
import type { OnChainAddress } from "./OnChainAddress.ts"

/** What deposits that are not deep enough yet come to: those of each company, and those of everybody in each block. */
export interface Unconfirmed {
  readonly ofCompany: ReadonlyMap<string, Msat>
  readonly inBlock: ReadonlyMap<number, Msat>
}

type Read<A> = Effect.Effect<A, StoreUnavailable>

/** What companies are paid with: invoices, addresses, deposits. A method that takes a company's id answers only what is that company's. */
export class ReceivingReads extends Context.Service<
  ReceivingReads,
  {
    readonly invoice: (companyId: CompanyId.CompanyId, id: string) => Read<Option.Option<Invoice>>
    /** The invoice with the id of the deposit that credited it, null until it is settled: one question. */
    readonly invoiceWithDeposit: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Read<Option.Option<{ readonly invoice: Invoice; readonly depositId: string | null }>>
    readonly invoiceByHash: (paymentHash: PaymentHash.PaymentHash) => Read<Option.Option<Invoice>>
    /** A company's invoices, the newest first by id, which is made of the time of its creation. Looks at no more than `looks` of them. */
    readonly invoicesOf: (companyId: CompanyId.CompanyId, query: Query, looks: number) => Read<Found<Invoice>>
    /** Invoices that are pending or claimed, by id, after `after` (exclusive; null for the first page). */
    readonly openInvoices: (after: string | null, limit: number) => Read<ReadonlyArray<Invoice>>
    /** Those of them whose ids are in one of these ranges, each from its first id to before its last. */
    readonly openInvoicesWithin: (
      ranges: ReadonlyArray<readonly [from: string, until: string]>,
      after: string | null,
      limit: number
    ) => Read<ReadonlyArray<Invoice>>
    /** How many hold invoices of a company have not ended: counted up to `limit`. */
    readonly openHolds: (companyId: CompanyId.CompanyId, limit: number) => Read<number>
    /** Pending invoices that wallets asked for at a Lightning address and that expired by `untilMillis`, by (`expiresAtMillis`, `id`), after `after`. */
    readonly endedForWallets: (
      untilMillis: number,
      after: Pick<Invoice, "expiresAtMillis" | "id"> | null,
      limit: number
    ) => Read<ReadonlyArray<Invoice>>
    /** The deposit that credited an invoice, once it was settled. */
    readonly depositOfInvoice: (companyId: CompanyId.CompanyId, invoiceId: string) => Read<Option.Option<Deposit>>
    /** What came to lie in suspense. */
    readonly unmatched: (companyId: CompanyId.CompanyId, id: string) => Read<Option.Option<Unmatched>>
    /** The same, of whichever company. */
    readonly unmatchedById: (id: string) => Read<Option.Option<Unmatched>>
    /** All of it, the newest first by (`createdAtMillis`, `id`), after this one (exclusive; null for the first page). */
    readonly suspended: (after: Position | null, limit: number) => Read<ReadonlyArray<Unmatched>>
    readonly lightningAddress: (handle: string, domain: string) => Read<Option.Option<LightningAddress>>
    readonly lightningAddressById: (companyId: CompanyId.CompanyId, id: string) => Read<Option.Option<LightningAddress>>
    /** A company's Lightning addresses, deleted ones too, the newest first by id, before `before` (exclusive; null for the first page). */
    readonly lightningAddressesOf: (
      companyId: CompanyId.CompanyId,
      before: string | null,
      limit: number
    ) => Read<ReadonlyArray<LightningAddress>>
    /** Whichever of these scripts are ours. */
    readonly onChainAddresses: (scriptPubKeys: ReadonlyArray<string>) => Read<ReadonlyArray<OnChainAddress>>
    readonly deposit: (companyId: CompanyId.CompanyId, id: string) => Read<Option.Option<Deposit>>
    /** The deposit, of whichever company. */
    readonly depositById: (id: string) => Read<Option.Option<Deposit>>
    readonly depositByOutpoint: (txId: TxId.TxId, vout: number) => Read<Option.Option<Deposit>>
    /** On-chain deposits that are pending and in a block, by id, after `after`. */
    readonly depositsInBlocks: (after: string | null, limit: number) => Read<ReadonlyArray<Deposit>>
    /** What on-chain deposits come to that are pending and in a block above `height`: one question, however many they are. */
    readonly depositsUnconfirmed: (height: number) => Read<Unconfirmed>
    /** On-chain deposits that are recorded in a block above `height`, by id, after `after`. */
    readonly depositsAbove: (height: number, after: string | null, limit: number) => Read<ReadonlyArray<Deposit>>
    /** On-chain deposits that are pending and in no block, by id, after `after`. */
    readonly depositsInNoBlock: (after: string | null, limit: number) => Read<ReadonlyArray<Deposit>>
    /** On-chain deposits that failed after they had been pending, the newest first by id, before `before` (exclusive; null for the first page). */
    readonly depositsGivenUp: (before: string | null, limit: number) => Read<ReadonlyArray<Deposit>>
    /** Where the next range of keys of this account and branch begins. */
    readonly nextKey: (wallet: string, type: AddressType, branch: 0 | 1) => Read<number>
  }
>()("@satrail/core/receiving/ReceivingReads") {}
