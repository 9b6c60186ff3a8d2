import * as Msat from "@satrail/bitcoin/Msat"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as TxId from "@satrail/bitcoin/TxId"
import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import type * as Metadata from "../base/Metadata.ts"
import type { Position } from "../ledger/Page.ts"
import * as Posts from "../ledger/Posts.ts"
import { Rail, Standing } from "../ledger/Rail.ts"

export const Type = Schema.Literals(["withdrawal", "deposit", ...Posts.types])
export type Type = typeof Type.Type

/** A deposit or a withdrawal, or what operators booked by hand, as a line in a list. */
export const Transaction = Schema.Struct({
  id: Schema.String,
  companyId: CompanyId.CompanyId,
  /** What moved; below zero for an adjustment that took it from the company. */
  amount: Msat.Msat,
  recipient: Schema.String,
  /** null for an adjustment. */
  rail: Schema.NullOr(Rail),
  type: Type,
  /** The whole fee; nothing for a deposit and an adjustment. */
  fee: Msat.Msat,
  status: Standing,
  /** Why an adjustment was booked; null for all else. */
  reason: Schema.NullOr(Schema.String),
  /** An adjustment's is when it was booked. */
  createdAtMillis: Schema.Int
})
export interface Transaction extends Schema.Schema.Type<typeof Transaction> {}

/** How many a page may have. */
export const limit = { default: 100, maximum: 1000 } as const

/** Which lines, and how many at most. `createdAfterMillis` and `createdBeforeMillis` are both exclusive. */
export interface Query {
  readonly limit: number
  readonly after?: Position
  readonly type?: Type
  readonly status?: Standing
  readonly rail?: Rail
  readonly createdAfterMillis?: number
  readonly createdBeforeMillis?: number
  /** With this key and value in their metadata. */
  readonly label?: Metadata.Label
  /** Of the invoice that was paid. */
  readonly paymentHash?: PaymentHash.PaymentHash
  /** The transaction on the chain. */
  readonly chainTxId?: TxId.TxId
  /** Deposits of this invoice. */
  readonly lightningInvoiceId?: string
}
