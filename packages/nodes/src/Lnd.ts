import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Layer, type Redacted } from "effect"
import type * as LndInfo from "./LndInfo.ts"
import * as LndReceiver from "./LndReceiver.ts"
import { make as connect, type Options as RestOptions } from "./LndRest.ts"
import * as LndSender from "./LndSender.ts"
import type * as Macaroon from "./Macaroon.ts"

// Uses lnd v0.21 over its REST interface (https://lightning.engineering/api-docs/api/lnd/), which encodes bytes
// in base64 and 64-bit numbers as strings.

export interface Options extends RestOptions {
  /** The identity of the expected node, as read once with `LndInfo.identity`. */
  readonly identity: LndInfo.Identity
  /**
   * How long a payment call can still reach the node after it was made, even if our process died. 60 s by
   * default, far longer than a request takes.
   */
  readonly graceMillis?: number
}

export interface ReceiverOptions extends Options {
  /**
   * Each invoice's preimage is derived from this secret and the invoice's id, so a repeated request returns the
   * same invoice. Anyone who has the secret can steal incoming payments in flight.
   */
  readonly invoiceSecret: Redacted.Redacted
  /** True if the macaroon allows `holdingCalls`, which hold invoices require. Defaults to true. */
  readonly holds?: boolean
}

/** The lnd calls needed to receive payments. Bake a macaroon for these calls only. */
export const receiverCalls = [
  { uri: "/lnrpc.Lightning/GetInfo", entity: "info", action: "read" },
  { uri: "/lnrpc.Lightning/AddInvoice", entity: "invoices", action: "write" },
  { uri: "/lnrpc.Lightning/LookupInvoice", entity: "invoices", action: "read" },
  { uri: "/lnrpc.Lightning/ListInvoices", entity: "invoices", action: "read" },
  { uri: "/lnrpc.Lightning/SubscribeInvoices", entity: "invoices", action: "read" },
  { uri: "/invoicesrpc.Invoices/CancelInvoice", entity: "invoices", action: "write" }
] as const satisfies ReadonlyArray<Macaroon.Call>

/** The additional lnd calls needed for hold invoices. */
export const holdingCalls = [
  { uri: "/invoicesrpc.Invoices/AddHoldInvoice", entity: "invoices", action: "write" },
  { uri: "/invoicesrpc.Invoices/SettleInvoice", entity: "invoices", action: "write" }
] as const satisfies ReadonlyArray<Macaroon.Call>

/** The lnd calls needed to send payments. */
export const senderCalls = [
  { uri: "/lnrpc.Lightning/GetInfo", entity: "info", action: "read" },
  { uri: "/lnrpc.Lightning/QueryRoutes", entity: "info", action: "read" },
  { uri: "/routerrpc.Router/SendPaymentV2", entity: "offchain", action: "write" },
  { uri: "/routerrpc.Router/TrackPaymentV2", entity: "offchain", action: "read" },
  { uri: "/routerrpc.Router/TrackPayments", entity: "offchain", action: "read" }
] as const satisfies ReadonlyArray<Macaroon.Call>

/** Receives payments with lnd. */
export const layerReceiver = (options: ReceiverOptions): Layer.Layer<LightningReceiver> =>
  Layer.sync(LightningReceiver, () => LndReceiver.make(connect(options), options))

/** Sends payments with lnd. */
export const layerSender = (options: Options): Layer.Layer<LightningSender> =>
  Layer.sync(LightningSender, () => LndSender.make(connect(options), options))
