import { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as TxId from "@satrail/bitcoin/TxId"
import { Schema } from "effect"

/**
 * Outcomes of a payment to an external recipient. With `unknown_then_…`, the caller of our node gets no
 * responses for a while. `no_route`, `insufficient_liquidity`, `canceled`, `node_error` and `channel_closed`
 * are failures reported by our node.
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

/**
 * Behaviors of a server that receives a request for an invoice: refuse, don't respond, or return the same invoice every
 * time.
 */
const servers = ["refuse", "unreachable", "same_invoice"] as const

export const Behaviour = Schema.Literals([...payments, ...servers])
export type Behaviour = typeof Behaviour.Type

/** Returns whether only a server can behave this way, and not an invoice or an on-chain address. */
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

/**
 * A payment's hop through one channel. `amount` moves from one side to the other and includes the fees of all
 * later hops.
 */
export const Hop = Schema.Struct({
  channel: Schema.String,
  from: Schema.Literals(["a", "b"]),
  amount: Msat.Msat
})
export interface Hop extends Schema.Schema.Type<typeof Hop> {}

const paymentHash = PaymentHash.PaymentHash
/** The node whose event this is; our node by default. */
const node = Schema.optionalKey(Schema.String)
const atMillis = Schema.Int
const hops = Schema.Array(Hop)

/** Events at the Lightning nodes. */
export const LightningEvent = Schema.TaggedUnion({
  InvoiceIssued: {
    node,
    id: Schema.String,
    paymentHash,
    amount: Schema.NullOr(Msat.Msat),
    description: Schema.TaggedUnion({ Text: { text: Schema.String }, Hash: { sha256: Schema.String } }),
    timestampSeconds: Schema.Int,
    expirySeconds: Schema.Int,
    /**
     * If present, a payment is held until the node's owner settles or cancels it. If absent, it settles
     * immediately.
     */
    isHold: Schema.optionalKey(Schema.Literal(true))
  },
  /** `endsAtHeight`: the block height at which a hold invoice's payment is returned automatically. */
  InvoiceAccepted: { paymentHash, hops, endsAtHeight: Schema.optionalKey(Schema.Int) },
  InvoiceReleased: { paymentHash },
  /** `preimage`: set for a hold invoice with a preimage chosen by the company. */
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
  /**
   * An attempt to pay an offer, with the payment hash of the issuer's invoice. Without a hash, the attempt has
   * failed.
   */
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

/** Events on the chain and in the wallets. Transactions are serialized in hex (BIP 144). */
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
  /** `timeSeconds` is missing in logs of earlier versions. */
  BlockMined: {
    hash: Schema.String,
    coinbase: Schema.String,
    txIds: Schema.Array(TxId.TxId),
    timeSeconds: Schema.optionalKey(Schema.Int)
  },
  BlocksDisconnected: { depth: Schema.Int },
  FeeRateSet: { feeRate: Schema.Int }
})
export type ChainEvent = typeof ChainEvent.Type

/** Events on the web. */
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

/** An event. The complete state results from applying all events in order. */
export const Event = Schema.Union([LightningEvent, ChainEvent, WebEvent])
export type Event = typeof Event.Type
