import type { Network } from "@satrail/bitcoin/Network"
import type { Journal, StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import type { LightningReceiver, NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import type { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Config, Effect, Layer, type Redacted } from "effect"
import type { Check } from "../base/Check.ts"
import { type Entry, unproven } from "./Entry.ts"
import type { NodeUnusable } from "./NodeUnusable.ts"
import * as Remembered from "./Remembered.ts"

/** The identity of a node, to which a database is bound. */
export interface Identity extends Remembered.Place {
  /** Reads the node's identity. */
  readonly ask: Effect.Effect<Remembered.Identity, NodeUnavailable | NodeUnusable>
  /**
   * The secret from which preimages and the key for stored responses are derived. It must never change, and
   * be equal in all processes.
   */
  readonly invoiceSecret: Redacted.Redacted
}

/** A kind of Lightning node that an operator can choose. Contains everything the server knows about it. */
export interface Definition<S extends object> extends Entry {
  /** Its settings, read if LIGHTNING names it. */
  readonly config: Config.Config<S>
  readonly identity: (settings: S) => Identity
  /**
   * Receives and sends payments with the node that was found. Includes `LightningBooks` if its statement can
   * be read.
   */
  readonly layer: (
    settings: S,
    found: Remembered.Identity
  ) => Layer.Layer<LightningReceiver | LightningSender, NodeUnusable | StoreUnavailable, Journal | LedgerReads>
  /** Checks for `satrail check` and startup. */
  readonly checks: (settings: S, network: Network) => ReadonlyArray<Check>
}

/** A configured Lightning node. */
export interface LightningNode {
  /** Its address for the banner, such as `lnd at https://127.0.0.1:8080`. */
  readonly at: string
  readonly invoiceSecret: Redacted.Redacted
  /** Kept so that a check can redact secrets in its output. */
  readonly settings: object
  /** Fails if it is not the database's node, or is on another network. */
  readonly layer: (
    network: Network
  ) => Layer.Layer<LightningReceiver | LightningSender, NodeUnusable | StoreUnavailable, Journal | LedgerReads>
  readonly checks: (network: Network) => ReadonlyArray<Check>
}

/** An entry of the table, with any type of settings. */
export interface Backend extends Entry {
  readonly config: Config.Config<LightningNode>
}

const node = <S extends object>(definition: Definition<S>, settings: S): LightningNode => {
  const { ask, invoiceSecret, ...place } = definition.identity(settings)
  return {
    at: place.at,
    invoiceSecret,
    settings,
    layer: (network) => Layer.unwrap(Effect.map(Remembered.identify(place, network, ask), (found) => definition.layer(settings, found))),
    checks: (network) => [...definition.checks(settings, network), ...unproven(definition, definition.title)]
  }
}

export const make = <S extends object>(definition: Definition<S>): Backend => ({
  ...definition,
  config: Config.map(definition.config, (settings) => node(definition, settings))
})
