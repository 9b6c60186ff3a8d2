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

/** Which node it is, and what a database is bound to. */
export interface Identity extends Remembered.Place {
  /** Asks the node who it is. */
  readonly ask: Effect.Effect<Remembered.Identity, NodeUnavailable | NodeUnusable>
  /** What preimages and the key that seals stored answers are derived from. The same for ever, and in all processes. */
  readonly invoiceSecret: Redacted.Redacted
}

/** A kind of Lightning node that an operator can choose. Everything that the server knows of it is here. */
export interface Definition<S extends object> extends Entry {
  /** Its settings as they are read, where LIGHTNING names it. */
  readonly config: Config.Config<S>
  readonly identity: (settings: S) => Identity
  /** Takes payments and pays, as the node that was found; with `LightningBooks` where its statement can be read. */
  readonly layer: (
    settings: S,
    found: Remembered.Identity
  ) => Layer.Layer<LightningReceiver | LightningSender, NodeUnusable | StoreUnavailable, Journal | LedgerReads>
  /** What can be wrong with it, for `satrail check` and every start. */
  readonly checks: (settings: S, network: Network) => ReadonlyArray<Check>
}

/** A Lightning node as the settings describe it. */
export interface LightningNode {
  /** Where it is, for the banner, such as `lnd at https://127.0.0.1:8080`. */
  readonly at: string
  readonly invoiceSecret: Redacted.Redacted
  /** So that a check can keep what is secret in them out of its words. */
  readonly settings: object
  /** Fails where it is another node than the database's, or on another network. */
  readonly layer: (
    network: Network
  ) => Layer.Layer<LightningReceiver | LightningSender, NodeUnusable | StoreUnavailable, Journal | LedgerReads>
  readonly checks: (network: Network) => ReadonlyArray<Check>
}

/** An entry of the table, whatever its settings are. */
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
