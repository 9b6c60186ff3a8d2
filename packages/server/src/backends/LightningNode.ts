import type { Network } from "@satrail/bitcoin/Network"
import type { Journal, StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import type { LightningReceiver, NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import type { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Config, Effect, Layer, type Redacted } from "effect"
import type { Check } from "../base/Check.ts"
import { type Entry, unproven } from "./Entry.ts"
import * as InvoiceSecret from "./InvoiceSecret.ts"
import type { NodeUnusable } from "./NodeUnusable.ts"
import * as Remembered from "./Remembered.ts"

/** A backend's node, to which the database is bound. */
export interface Identity extends Remembered.Place {
  readonly ask: Effect.Effect<Remembered.Identity, NodeUnavailable | NodeUnusable>
  /**
   * The secret from which preimages and the key for stored responses are derived. It must never change, and
   * must be the same in all processes.
   */
  readonly invoiceSecret: Redacted.Redacted
}

/** Greatest height that the block source reports or that was read; undefined if unknown. */
export type KnownHeight = Effect.Effect<number | undefined>

/** A kind of Lightning node that an operator can choose, with everything the server needs to use it. */
export interface Definition<S extends object> extends Entry {
  /** The node's settings. They are read only if LIGHTNING selects this node. */
  readonly config: Config.Config<S>
  readonly identity: (settings: S) => Identity
  /**
   * Receives and sends payments with the node that was identified as `found`. Includes `LightningBooks` if the
   * node's statement can be read.
   */
  readonly layer: (
    settings: S,
    found: Remembered.Identity
  ) => Layer.Layer<
    LightningReceiver | LightningSender,
    NodeUnusable | StoreUnavailable,
    Journal | LedgerReads
  >
  /** The checks for `satrail check` and startup. A node far below the known height is behind. */
  readonly checks: (settings: S, network: Network, known: KnownHeight) => ReadonlyArray<Check>
}

/** A configured Lightning node. */
export interface LightningNode {
  /** The address shown in the banner, such as `lnd at https://127.0.0.1:8080`. */
  readonly at: string
  readonly invoiceSecret: Redacted.Redacted
  /** The settings, kept so that checks can redact the secrets among them. */
  readonly settings: object
  /** Fails if the node is on another network, or the node or its secret is not the one that the database is bound to. */
  readonly layer: (
    network: Network
  ) => Layer.Layer<
    LightningReceiver | LightningSender,
    NodeUnusable | StoreUnavailable,
    Journal | LedgerReads
  >
  readonly checks: (network: Network, known: KnownHeight) => ReadonlyArray<Check>
}

/** A table entry for a node with settings of any type. */
export interface Backend extends Entry {
  readonly config: Config.Config<LightningNode>
}

/** Returns the name of the setting with this value. */
const nameOf = <S extends object>(
  definition: Definition<S>,
  settings: S,
  value: Redacted.Redacted
): string => {
  const [key = ""] = Object.entries(settings).find(([, given]) => given === value) ?? []
  return definition.settings[key]?.name ?? `the secret of ${definition.title}`
}

const node = <S extends object>(definition: Definition<S>, settings: S): LightningNode => {
  const { ask, invoiceSecret, ...place } = definition.identity(settings)
  return {
    at: place.at,
    invoiceSecret,
    settings,
    layer: (network) =>
      Layer.unwrap(
        Effect.gen(function* () {
          const found = yield* Remembered.identify(place, network, ask)
          yield* InvoiceSecret.confirm(invoiceSecret, nameOf(definition, settings, invoiceSecret))
          return definition.layer(settings, found)
        })
      ),
    checks: (network, known) => [
      ...definition.checks(settings, network, known),
      ...unproven(definition, definition.title)
    ]
  }
}

export const make = <S extends object>(definition: Definition<S>): Backend => ({
  ...definition,
  config: Config.map(definition.config, (settings) => node(definition, settings))
})
