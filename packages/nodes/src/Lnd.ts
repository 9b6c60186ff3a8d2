import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Layer, type Redacted } from "effect"
import type * as LndInfo from "./LndInfo.ts"
import * as LndReceiver from "./LndReceiver.ts"
import { make as connect, type Options as RestOptions } from "./LndRest.ts"
import * as LndSender from "./LndSender.ts"
import type * as Macaroon from "./Macaroon.ts"

// lnd v0.21 over its REST interface (https://lightning.engineering/api-docs/api/lnd/): bytes in base64, 64-bit numbers as texts.

export interface Options extends RestOptions {
  /** Which node it must be; asked of the node itself with `LndInfo.identity`, once. */
  readonly identity: LndInfo.Identity
  /** How long after it was asked for, or our process died, a call to pay may still reach the node; 60 s when absent, which is far longer than a request is under way. */
  readonly graceMillis?: number
}

export interface ReceiverOptions extends Options {
  /**
   * What the preimages of our invoices are derived from, together with their ids: with the same secret an invoice that is asked for again is the same one.
   * With it, incoming payments can be stolen in flight.
   */
  readonly invoiceSecret: Redacted.Redacted
  /** Whether the macaroon allows `holdingCalls`: without them no payment is held. It does where this is absent. */
  readonly holds?: boolean
}

/** What taking payments asks lnd for: a macaroon for these calls and no others. */
export const receiverCalls = [
  { uri: "/lnrpc.Lightning/GetInfo", entity: "info", action: "read" },
  { uri: "/lnrpc.Lightning/AddInvoice", entity: "invoices", action: "write" },
  { uri: "/lnrpc.Lightning/LookupInvoice", entity: "invoices", action: "read" },
  { uri: "/lnrpc.Lightning/ListInvoices", entity: "invoices", action: "read" },
  { uri: "/lnrpc.Lightning/SubscribeInvoices", entity: "invoices", action: "read" },
  { uri: "/invoicesrpc.Invoices/CancelInvoice", entity: "invoices", action: "write" }
] as const satisfies ReadonlyArray<Macaroon.Call>

/** What holding payments asks lnd for besides. */
export const holdingCalls = [
  { uri: "/invoicesrpc.Invoices/AddHoldInvoice", entity: "invoices", action: "write" },
  { uri: "/invoicesrpc.Invoices/SettleInvoice", entity: "invoices", action: "write" }
] as const satisfies ReadonlyArray<Macaroon.Call>

/** What paying asks lnd for. */
export const senderCalls = [
  { uri: "/lnrpc.Lightning/GetInfo", entity: "info", action: "read" },
  { uri: "/lnrpc.Lightning/QueryRoutes", entity: "info", action: "read" },
  { uri: "/routerrpc.Router/SendPaymentV2", entity: "offchain", action: "write" },
  { uri: "/routerrpc.Router/TrackPaymentV2", entity: "offchain", action: "read" },
  { uri: "/routerrpc.Router/TrackPayments", entity: "offchain", action: "read" }
] as const satisfies ReadonlyArray<Macaroon.Call>

/** lnd takes payments for us. */
export const layerReceiver = (options: ReceiverOptions): Layer.Layer<LightningReceiver> =>
  Layer.sync(LightningReceiver, () => LndReceiver.make(connect(options), options))

/** lnd pays for us. */
export const layerSender = (options: Options): Layer.Layer<LightningSender> =>
  Layer.sync(LightningSender, () => LndSender.make(connect(options), options))
