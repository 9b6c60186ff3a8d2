import type { Network } from "@satrail/bitcoin/Network"
import type { Unspent } from "@satrail/chain/Books"
import type * as FeeRates from "@satrail/chain/FeeRates"
import type * as Follower from "@satrail/chain/Follower"
import type { LastRead } from "@satrail/chain/Progress"
import type { ChainSource } from "@satrail/core/nodes/ChainSource"
import { Config, type Layer } from "effect"
import type { Check } from "../base/Check.ts"
import * as Setting from "../environment/Setting.ts"
import { type Entry, unproven } from "./Entry.ts"
import type { NodeUnusable } from "./NodeUnusable.ts"

/** The network, and the last block that the service read, without which a source is behind. */
export interface Place {
  readonly network: Network
  readonly lastRead: LastRead
}

/** A chain follower's place, starting point and fee rate options. */
export interface Beginning extends Place {
  readonly beginning: Follower.Beginning
  readonly feeRates: FeeRates.Options
}

/** A kind of block source that an operator can choose, with everything the server needs to use it. */
export interface Definition<S extends object> extends Entry {
  /** The block source's settings. They are read only if CHAIN selects this source. */
  readonly config: Config.Config<S>
  /** The address shown in the banner, such as `bitcoin node at http://127.0.0.1:8332`. */
  readonly identity: (settings: S) => { readonly at: string }
  readonly layer: (settings: S, from: Beginning) => Layer.Layer<ChainSource, NodeUnusable>
  /** Reads blocks, for a scan of the whole chain. */
  readonly blocks: (settings: S, place: Place) => Follower.Node
  /** Returns which of these outputs are unspent, for the wallet's statement. */
  readonly unspent: (settings: S, place: Place) => Unspent
  /** The checks for `satrail check` and startup. */
  readonly checks: (settings: S, place: Place) => ReadonlyArray<Check>
}

/** A configured block source. */
export interface ChainView {
  readonly at: string
  /** The settings, kept so that checks can redact the secrets among them. */
  readonly settings: object
  readonly layer: (from: Beginning) => Layer.Layer<ChainSource, NodeUnusable>
  readonly blocks: (place: Place) => Follower.Node
  readonly unspent: (place: Place) => Unspent
  readonly checks: (place: Place) => ReadonlyArray<Check>
}

/** A table entry for a block source with settings of any type. */
export interface Backend extends Entry {
  readonly config: Config.Config<ChainView>
}

export const make = <S extends object>(definition: Definition<S>): Backend => ({
  ...definition,
  config: Config.map(definition.config, (settings) => ({
    ...definition.identity(settings),
    settings,
    layer: (from) => definition.layer(settings, from),
    blocks: (place) => definition.blocks(settings, place),
    unspent: (place) => definition.unspent(settings, place),
    checks: (place) => [...definition.checks(settings, place), ...unproven(definition, "chain")]
  }))
})

/** Timeout of a call. Shorter than the timeout of a check. */
export const lookMillis = 4000

/** The certificate of the chosen block source. */
export const certificateFile = Setting.optional({
  name: "CHAIN_TLS_CERT",
  meaning:
    "The certificate of the bitcoin node or Esplora server; a changed file is read again. Without it, the certificate must be signed by a trusted CA",
  ...Setting.file
})
