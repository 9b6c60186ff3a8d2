import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as TxId from "@satrail/bitcoin/TxId"
import { Context, type Effect, type Option } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type * as Coin from "../nodes/Coin.ts"
import type { Candidate, Withdrawal } from "./Withdrawal.ts"

/** A payout that settled, and the transaction that it settled with. */
export interface SettledPayout {
  readonly id: string
  readonly companyId: CompanyId.CompanyId
  readonly txId: TxId.TxId
  readonly rawTx: string
}

type Read<A> = Effect.Effect<A, StoreUnavailable>

/** What companies pay with: withdrawals and payouts. A method that takes a company's id answers only what is that company's. */
export class SendingReads extends Context.Service<
  SendingReads,
  {
    /**
     * The largest coins of a wallet that no payout spends: credited deposits, change that is in a block, and, `isConfirmed: false`, change of
     * payouts under way that spend none of that kind themselves.
     */
    readonly coins: (wallet: string, limit: number) => Read<ReadonlyArray<Coin.Coin>>
    readonly withdrawal: (companyId: CompanyId.CompanyId, id: string) => Read<Option.Option<Withdrawal>>
    /** The withdrawal, of whichever company. */
    readonly withdrawalById: (id: string) => Read<Option.Option<Withdrawal>>
    /** The withdrawal, of whichever company, that this payment hash belongs to. */
    readonly withdrawalByHash: (paymentHash: PaymentHash.PaymentHash) => Read<Option.Option<Withdrawal>>
    /** Withdrawals of all companies that were dispatched and have not ended, by id, after `after`. */
    readonly withdrawalsUnderWay: (after: string | null, limit: number) => Read<ReadonlyArray<Withdrawal>>
    /** The withdrawals, of whichever company, that the transaction of this one pays too, by id. */
    readonly followers: (withdrawalId: string) => Read<ReadonlyArray<Withdrawal>>
    /** Every transaction that was ever signed for a payout, the oldest first. Those of one that follows another are the other's. */
    readonly candidates: (companyId: CompanyId.CompanyId, withdrawalId: string) => Read<ReadonlyArray<Candidate>>
    /** Payouts that settled and are not buried, by id, after `after`. */
    readonly settledPayouts: (after: string | null, limit: number) => Read<ReadonlyArray<SettledPayout>>
    /** The outpoints that payouts have spent or are about to spend, as `txid:vout`: those among `outpoints`. */
    readonly spentCoins: (outpoints: ReadonlyArray<string>) => Read<ReadonlySet<string>>
  }
>()("@satrail/core/sending/SendingReads") {}
