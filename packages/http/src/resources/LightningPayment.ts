import * as Msat from "@satrail/bitcoin/Msat"
import { type Failure, fee, hashOf, type Withdrawal } from "@satrail/core/sending/Withdrawal"
import { Schema } from "effect"
import * as Member from "../wire/Member.ts"
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
const startedAtMillis = ({ dispatchedAtMillis, createdAtMillis }: Withdrawal): number =>
  dispatchedAtMillis ?? createdAtMillis

/**
 * Result of a Lightning payment in the format of lnd's payment record, whichever node paid. Numbers are
 * strings, as in lnd.
 */
export const view = View.make<Withdrawal>()(
  { identifier: "LightningPayment" },
  {
    payment_hash: Member.text((row) => hashOf(row) ?? ""),
    payment_preimage: Member.text(
      (row) => row.preimage ?? "",
      "Payment preimage, in hex. Empty unless the payment succeeded"
    ),
    payment_request: Member.text((row) => row.paymentRequest ?? "", "Invoice or BOLT 12 offer that was paid"),
    status: [
      Schema.Literals(["SUCCEEDED", "FAILED"]),
      (row) => (row.status === "settled" ? "SUCCEEDED" : "FAILED")
    ],
    failure_reason: [
      FailureReason,
      (row) => (row.failure === null ? "FAILURE_REASON_NONE" : failureReasons[row.failure])
    ],
    value: Member.text((row) => inSats(row.amount)),
    value_sat: Member.text((row) => inSats(row.amount)),
    value_msat: Member.text((row) => row.amount.toString()),
    fee: Member.text((row) => inSats(costOf(row))),
    fee_sat: Member.text((row) => inSats(costOf(row))),
    fee_msat: Member.text(
      (row) => costOf(row).toString(),
      "Fee charged on top of the amount, in millisatoshis. Same as the withdrawal's `fee_sats`. 0 if the payment failed"
    ),
    creation_date: Member.text(
      (row) => Math.floor(startedAtMillis(row) / 1000).toString(),
      "Unix time in seconds"
    ),
    creation_time_ns: Member.text((row) => (BigInt(startedAtMillis(row)) * 1_000_000n).toString()),
    payment_index: Member.text((row) => row.paymentIndex ?? "0"),
    htlcs: [Schema.Array(Schema.Never).annotate({ description: "Always empty" }), () => []]
  }
)

/** Returns the payment, or null for a pending or on-chain withdrawal. */
export const of = (row: Withdrawal) =>
  row.rail !== "lightning" || row.status === "pending" ? null : view.of(row)
