import { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as TxId from "@satrail/bitcoin/TxId"
import { Schema } from "effect"

/**
 * What becomes of a payment to an outside recipient. With `unknown_then_…` the answers to our node's caller get lost for a while; `no_route`,
 * `insufficient_liquidity`, `canceled`, `node_error` and `channel_closed` are failures that our own node reports.
 */
const payments = [
  "settle",
  "fail",
  "hold",
  "unknown_then_settle",
  "unknown_then_fail",
  "no_route",
  "insufficient_liquidity",
  "canceled",
  "node_error",
  "channel_closed"
] as const

/** What a server does that is asked for an invoice: refuse, not answer, or give the same one every time. */
const servers = ["refuse", "unreachable", "same_invoice"] as const

export const Behaviour = Schema.Literals([...payments, ...servers])
export type Behaviour = typeof Behaviour.Type

/** Whether it is about a server, and so nothing that an invoice or an address can do. */
export const isOfServer = (behaviour: Behaviour): boolean => servers.some((one) => one === behaviour)

export const FailureReason = Schema.Literals([
  "timeout",
  "no_route",
  "error",
  "incorrect_payment_details",
  "insufficient_balance",
  "canceled",
  "channel_closed"
])

/** A payment's way through one channel: `amount` goes from one side to the other, the fees of all later hops in it. */
export const Hop = Schema.Struct({ channel: Schema.String, from: Schema.Literals(["a", "b"]), amount: Msat.Msat })
export interface Hop extends Schema.Schema.Type<typeof Hop> {}

const paymentHash = PaymentHash.PaymentHash
/** Its owner: our own node by default. */
const node = Schema.optionalKey(Schema.String)
const atMillis = Schema.Int
const hops = Schema.Array(Hop)

/** What happened at the Lightning nodes. */
export const LightningEvent = Schema.TaggedUnion({
  InvoiceIssued: {
    node,
    id: Schema.String,
    paymentHash,
    amount: Schema.NullOr(Msat.Msat),
    description: Schema.TaggedUnion({ Text: { text: Schema.String }, Hash: { sha256: Schema.String } }),
    timestampSeconds: Schema.Int,
    expirySeconds: Schema.Int,
    /** What is paid waits for the node's owner, who settles it or sends it back. Absent: it settles at once. */
    isHold: Schema.optionalKey(Schema.Literal(true))
  },
  /** `endsAtHeight`: of a hold invoice, the block at which the payment goes back by itself. */
  InvoiceAccepted: { paymentHash, hops, endsAtHeight: Schema.optionalKey(Schema.Int) },
  InvoiceReleased: { paymentHash },
  /** `preimage`: of a hold invoice whose preimage is not this node's own. */
  InvoiceSettled: { paymentHash, atMillis, preimage: Schema.optionalKey(Preimage.Preimage) },
  InvoiceCanceled: { paymentHash },
  NoticeLossOrdered: {},
  PayeeInvoiced: {
    paymentHash,
    paymentRequest: Schema.String,
    payee: Schema.String,
    number: Schema.Int,
    amount: Schema.NullOr(Msat.Msat),
    behaviour: Behaviour,
    expiresAtMillis: atMillis
  },
  PayeePaid: { paymentHash, hops },
  OfferPublished: { offer: Schema.String, payee: Schema.String, behaviour: Behaviour },
  /** An attempt to pay an offer: with the hash of the invoice that its issuer sent; without one it has failed. */
  OfferTried: {
    node,
    attempt: Schema.String,
    offer: Schema.String,
    paymentHash: Schema.NullOr(paymentHash),
    reason: Schema.NullOr(FailureReason)
  },
  PaymentBegun: { node, paymentHash, amount: Msat.Msat, fee: Msat.Msat, hops, atMillis },
  PaymentSettled: { node, paymentHash },
  PaymentFailed: { node, paymentHash, reason: FailureReason }
})
export type LightningEvent = typeof LightningEvent.Type

/** What happened on the chain and in the wallets. Transactions are in hex, as they are sent (BIP 144). */
export const ChainEvent = Schema.TaggedUnion({
  AddressGiven: {
    owner: Schema.Literals(["wallet", "outside"]),
    type: AddressType,
    branch: Schema.Literals([0, 1]),
    index: Schema.Int,
    scriptPubKey: Schema.String
  },
  OutsideAddressGiven: { address: Schema.String },
  ScriptsWatched: { scriptPubKeys: Schema.Array(Schema.String) },
  TransactionSeen: { rawTx: Schema.String },
  BlockMined: { hash: Schema.String, coinbase: Schema.String, txIds: Schema.Array(TxId.TxId) },
  BlocksDisconnected: { depth: Schema.Int },
  FeeRateSet: { feeRate: Schema.Int }
})
export type ChainEvent = typeof ChainEvent.Type

/** What happened on the web. */
export const WebEvent = Schema.TaggedUnion({
  NamePublished: {
    url: Schema.String,
    callback: Schema.String,
    metadata: Schema.String,
    min: Msat.Msat,
    max: Msat.Msat,
    behaviour: Behaviour,
    payee: Schema.NullOr(Schema.String)
  }
})
export type WebEvent = typeof WebEvent.Type

/** One thing that happened. The whole state follows from these, in order. */
export const Event = Schema.Union([LightningEvent, ChainEvent, WebEvent])
export type Event = typeof Event.Type
