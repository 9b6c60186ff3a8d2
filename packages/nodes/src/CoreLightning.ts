import { LightningReceiver, type NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Effect, Layer, type Redacted } from "effect"
import * as CoreLightningReceiver from "./CoreLightningReceiver.ts"
import { connect, Info, networks, type Options, unavailable } from "./CoreLightningRest.ts"
import * as CoreLightningSender from "./CoreLightningSender.ts"

export type { Options }

export interface ReceiverOptions extends Options {
  /** What the preimages of our invoices are derived from, together with their ids. The same for ever. */
  readonly invoiceSecret: Redacted.Redacted
}

export interface SenderOptions extends Options {
  /** The public key of the node that it must be; of the first that answers when absent. That another has no record of a payment says nothing. */
  readonly nodeId?: string
  /** How long the node may begin new attempts of one payment; 60 s when absent. */
  readonly retrySeconds?: number
}

/** Asks the node who it is. */
export const identity = (options: Options) =>
  Effect.map(Effect.catchTag(connect(options)("getinfo", {}, Info), "Refused", unavailable("getinfo")), ({ id, network, version }) => ({
    nodeId: id,
    network: networks[network],
    version
  }))

/** Core Lightning receives payments for us. Fails when it does not answer at the start, since its identity is needed. */
export const layerReceiver = (options: ReceiverOptions): Layer.Layer<LightningReceiver, NodeUnavailable> =>
  Layer.effect(LightningReceiver, CoreLightningReceiver.make(connect(options), options.invoiceSecret))

/** Core Lightning pays for us. */
export const layerSender = (options: SenderOptions): Layer.Layer<LightningSender> =>
  Layer.effect(LightningSender, CoreLightningSender.make(connect(options), options))
