import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as TxId from "@satrail/bitcoin/TxId"
import { Context, type Effect, type Option } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type * as Coin from "../nodes/Coin.ts"
import type { Candidate, Withdrawal } from "./Withdrawal.ts"

/** A settled payout, with the transaction that settled it. */
export interface SettledPayout {
  readonly id: string
  readonly companyId: CompanyId.CompanyId
  readonly txId: TxId.TxId
  readonly rawTx: string
}

type Read<A> = Effect.Effect<A, StoreUnavailable>

/** Reads withdrawals and payouts. A method that takes a company id returns only that company's records. */
export class SendingReads extends Context.Service<
  SendingReads,
  {
    /**
     * Returns a wallet's largest coins that no payout spends: credited deposits, confirmed change and, with
     * `isConfirmed: false`, change of pending payouts that spend no unconfirmed change themselves.
     */
    readonly coins: (wallet: string, limit: number) => Read<ReadonlyArray<Coin.Coin>>
    readonly withdrawal: (companyId: CompanyId.CompanyId, id: string) => Read<Option.Option<Withdrawal>>
    /** Returns any company's withdrawal. */
    readonly withdrawalById: (id: string) => Read<Option.Option<Withdrawal>>
    /** Returns any company's withdrawal that pays this payment hash. */
    readonly withdrawalByHash: (paymentHash: PaymentHash.PaymentHash) => Read<Option.Option<Withdrawal>>
    /**
     * Returns all companies' withdrawals that were dispatched and are not final. Starts after `after`, ordered
     * by id.
     */
    readonly withdrawalsUnderWay: (after: string | null, limit: number) => Read<ReadonlyArray<Withdrawal>>
    /**
     * Returns the newest withdrawal of any company that was requested at or after `sinceMillis`, and whose
     * invoice was paid by the node and settled before `beforeMillis`.
     */
    readonly settledOverLightning: (
      sinceMillis: number,
      beforeMillis: number
    ) => Read<Option.Option<Withdrawal>>
    /** Returns the other withdrawals paid by this withdrawal's transaction, across all companies, ordered by id. */
    readonly followers: (withdrawalId: string) => Read<ReadonlyArray<Withdrawal>>
    /**
     * Returns every transaction ever signed for a payout, oldest first. A follower has none, because they
     * belong to its leader.
     */
    readonly candidates: (
      companyId: CompanyId.CompanyId,
      withdrawalId: string
    ) => Read<ReadonlyArray<Candidate>>
    /** Returns any company's payout for which this transaction was signed: the leader, if it pays several. */
    readonly payoutOf: (txId: TxId.TxId) => Read<Option.Option<Withdrawal>>
    /** Returns settled payouts that are still watched. Starts after `after`, ordered by id. */
    readonly settledPayouts: (after: string | null, limit: number) => Read<ReadonlyArray<SettledPayout>>
    /** Returns the outpoints, among those given as `txid:vout`, that payouts have spent or are about to spend. */
    readonly spentCoins: (outpoints: ReadonlyArray<string>) => Read<ReadonlySet<string>>
  }
>()("@satrail/core/sending/SendingReads") {}
