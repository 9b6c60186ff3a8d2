import * as Msat from "@satrail/bitcoin/Msat"
import { type Failure, fee, hashOf, type Withdrawal } from "@satrail/core/sending/Withdrawal"
import { Schema } from "effect"
import * as View from "../wire/View.ts"

const FailureReason = Schema.Literals([
  "FAILURE_REASON_NONE",
  "FAILURE_REASON_TIMEOUT",
  "FAILURE_REASON_NO_ROUTE",
  "FAILURE_REASON_ERROR",
  "FAILURE_REASON_INCORRECT_PAYMENT_DETAILS",
  "FAILURE_REASON_INSUFFICIENT_BALANCE",
  "FAILURE_REASON_CANCELED"
])

/**
 * Maps failures to lnd's six reasons. A withdrawal that failed before the node tried to pay has no such reason
 * and is reported as `ERROR`.
 */
const failureReasons: { readonly [failure in Failure]: typeof FailureReason.Type } = {
  no_route: "FAILURE_REASON_NO_ROUTE",
  timeout: "FAILURE_REASON_TIMEOUT",
  incorrect_payment_details: "FAILURE_REASON_INCORRECT_PAYMENT_DETAILS",
  insufficient_liquidity: "FAILURE_REASON_INSUFFICIENT_BALANCE",
  canceled: "FAILURE_REASON_CANCELED",
  node_error: "FAILURE_REASON_ERROR",
  channel_closed: "FAILURE_REASON_NO_ROUTE",
  invoice_expired: "FAILURE_REASON_INCORRECT_PAYMENT_DETAILS",
  invoice_not_payable: "FAILURE_REASON_INCORRECT_PAYMENT_DETAILS",
  payment_hash_used: "FAILURE_REASON_ERROR",
  recipient_refused: "FAILURE_REASON_ERROR",
  recipient_unreachable: "FAILURE_REASON_ERROR",
  approval_rejected: "FAILURE_REASON_CANCELED",
  approval_expired: "FAILURE_REASON_TIMEOUT"
}

const inSats = (amount: Msat.Msat): string => Msat.toSats(amount).toString()
/** Returns the fee that the company paid. The operator bears the difference between this fee and the routing cost. */
const costOf = (row: Withdrawal): Msat.Msat => (row.status === "settled" ? fee(row) : Msat.zero)
const startedAtMillis = ({ dispatchedAtMillis, createdAtMillis }: Withdrawal): number => dispatchedAtMillis ?? createdAtMillis

/**
 * Result of a Lightning payment in the format of lnd's payment record, whichever node paid. Numbers are
 * strings, as in lnd.
 */
export const view = View.make<Withdrawal>()(
  { identifier: "LightningPayment" },
  {
    payment_hash: [Schema.String, (row) => hashOf(row) ?? ""],
    payment_preimage: [
      Schema.String.annotate({ description: "Payment preimage, in hex. Empty unless the payment succeeded" }),
      (row) => row.preimage ?? ""
    ],
    payment_request: [Schema.String.annotate({ description: "Invoice or BOLT 12 offer that was paid" }), (row) => row.paymentRequest ?? ""],
    status: [Schema.Literals(["SUCCEEDED", "FAILED"]), (row) => (row.status === "settled" ? "SUCCEEDED" : "FAILED")],
    failure_reason: [FailureReason, (row) => (row.failure === null ? "FAILURE_REASON_NONE" : failureReasons[row.failure])],
    value: [Schema.String, (row) => inSats(row.amount)],
    value_sat: [Schema.String, (row) => inSats(row.amount)],
    value_msat: [Schema.String, (row) => row.amount.toString()],
    fee: [Schema.String, (row) => inSats(costOf(row))],
    fee_sat: [Schema.String, (row) => inSats(costOf(row))],
    fee_msat: [
      Schema.String.annotate({
        description: "Fee charged on top of the amount, in millisatoshis. Same as the withdrawal's `fee_sats`. 0 if the payment failed"
      }),
      (row) => costOf(row).toString()
    ],
    creation_date: [
      Schema.String.annotate({ description: "Unix time in seconds" }),
      (row) => Math.floor(startedAtMillis(row) / 1000).toString()
    ],
    creation_time_ns: [Schema.String, (row) => (BigInt(startedAtMillis(row)) * 1_000_000n).toString()],
    payment_index: [Schema.String, (row) => row.paymentIndex ?? "0"],
    htlcs: [Schema.Array(Schema.Never).annotate({ description: "Always empty" }), () => []]
  }
)

/** Returns the payment, or null for a pending or on-chain withdrawal. */
export const of = (row: Withdrawal) => (row.rail !== "lightning" || row.status === "pending" ? null : view.of(row))
