import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import type { InvoiceState, Settled } from "@satrail/core/nodes/LightningReceiver"
import { Schema } from "effect"
import { hex } from "./LndBytes.ts"

/** An invoice as lnd lists and reports it. */
export const Invoice = Schema.Struct({
  r_hash: hex(PaymentHash.PaymentHash),
  r_preimage: hex(Preimage.Preimage),
  payment_request: Schema.String,
  state: Schema.Literals(["OPEN", "SETTLED", "CANCELED", "ACCEPTED"]),
  amt_paid_msat: Msat.FromString,
  settle_date: Schema.NumberFromString,
  settle_index: Schema.BigIntFromString
})
export type Invoice = typeof Invoice.Type

/** A page of them, by the order in which they were made. */
export const Page = Schema.Struct({ invoices: Schema.Array(Invoice), last_index_offset: Schema.BigIntFromString })

/** How it stands. */
export const stateOf = (invoice: Invoice): InvoiceState => {
  switch (invoice.state) {
    case "OPEN":
      return { _tag: "open" }
    case "ACCEPTED":
      return { _tag: "accepted" }
    case "CANCELED":
      return { _tag: "canceled" }
    case "SETTLED":
      return { _tag: "settled", received: invoice.amt_paid_msat, preimage: invoice.r_preimage }
  }
}

/** What was paid for one that is settled; the cursor is lnd's own count of what was settled. */
export const settledOf = (invoice: Invoice): Settled => ({
  paymentHash: invoice.r_hash,
  received: invoice.amt_paid_msat,
  preimage: invoice.r_preimage,
  settledAtMillis: invoice.settle_date * 1000,
  cursor: String(invoice.settle_index)
})
