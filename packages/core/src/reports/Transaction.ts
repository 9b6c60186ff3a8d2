import * as Msat from "@satrail/bitcoin/Msat"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as TxId from "@satrail/bitcoin/TxId"
import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as Metadata from "../base/Metadata.ts"
import type { Position } from "../ledger/Page.ts"
import * as Posts from "../ledger/Posts.ts"
import type { Feature } from "../ledger/Feature.ts"
import { ListedRail, Standing } from "../ledger/Rail.ts"
import { Failure } from "../sending/Withdrawal.ts"

const own = ["withdrawal", "deposit"] as const

/** The type of a transaction: a withdrawal, a deposit, or what a feature posts (`Posts.type`). */
export type Type = (typeof own)[number] | Posts.Type

/** Returns the types of transactions that a service with these features lists. */
export const types = (features: ReadonlyArray<Feature>): ReadonlyArray<Type> => [
  ...own,
  ...Posts.types(features)
]

/** A deposit, a withdrawal, or a posting of a feature's record, as an entry in a list. */
export const Transaction = Schema.Struct({
  id: Schema.String,
  companyId: CompanyId.CompanyId,
  /** The amount in msat; negative for a posting that debits the company. */
  amount: Msat.Msat,
  /** For a posting, the other company, or empty. */
  recipient: Schema.String,
  /** Null for a posting without another company. */
  rail: Schema.NullOr(ListedRail),
  type: Schema.String.pipe(Schema.refine((type): type is Type => type !== "")),
  /** The total fee; 0 for a deposit or posting. */
  fee: Msat.Msat,
  status: Standing,
  /** Reason for an adjustment; null for other entries. */
  reason: Schema.NullOr(Schema.String),
  /** For a deposit, the metadata of the paid invoice or address. */
  metadata: Metadata.Metadata,
  /** Reason why a withdrawal failed; null for other entries. */
  failure: Schema.NullOr(Failure),
  /** The description of its checkout, invoice or refund, or of a posting's record; empty if there is none. */
  description: Schema.String,
  /** For a posting, the time of booking. */
  createdAtMillis: Schema.Int
})
export interface Transaction extends Schema.Schema.Type<typeof Transaction> {}

/** Default and maximum number of entries per page. */
export const limit = { default: 100, maximum: 1000 } as const

/** Selects entries. `createdAfterMillis` and `createdBeforeMillis` are both exclusive. */
export interface Query {
  readonly limit: number
  readonly after?: Position
  readonly type?: Type
  readonly status?: Standing
  readonly rail?: ListedRail
  readonly createdAfterMillis?: number
  readonly createdBeforeMillis?: number
  /** Only records with this key and value in their metadata. */
  readonly label?: Metadata.Label
  /** Only records with this payment hash. */
  readonly paymentHash?: PaymentHash.PaymentHash
  /** Only records with this on-chain transaction. */
  readonly chainTxId?: TxId.TxId
  /** Only deposits of this invoice. */
  readonly lightningInvoiceId?: string
}
