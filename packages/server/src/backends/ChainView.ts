import type { Network } from "@satrail/bitcoin/Network"
import type { Unspent } from "@satrail/chain/Books"
import type * as FeeRates from "@satrail/chain/FeeRates"
import type * as Follower from "@satrail/chain/Follower"
import type { ChainSource } from "@satrail/core/nodes/ChainSource"
import { Config, type Layer } from "effect"
import type { Check } from "../base/Check.ts"
import * as Setting from "../environment/Setting.ts"
import { type Entry, unproven } from "./Entry.ts"
import type { NodeUnusable } from "./NodeUnusable.ts"

/** What a follower of the chain begins with. */
export interface Beginning {
  readonly network: Network
  readonly beginning: Follower.Beginning
  readonly feeRates: FeeRates.Options
}

/** A kind of source of blocks that an operator can choose. Everything that the server knows of it is here. */
export interface Definition<S extends object> extends Entry {
  /** Its settings as they are read, where CHAIN names it. */
  readonly config: Config.Config<S>
  /** Where it is, for the banner, such as `bitcoin node at http://127.0.0.1:8332`. */
  readonly identity: (settings: S) => { readonly at: string }
  readonly layer: (settings: S, from: Beginning) => Layer.Layer<ChainSource, NodeUnusable>
  /** Blocks, for a search of the whole chain. */
  readonly blocks: (settings: S, network: Network) => Follower.Node
  /** Which outputs are there and not spent, for the wallet's statement. */
  readonly unspent: (settings: S, network: Network) => Unspent
  /** What can be wrong with it, for `satrail check` and every start. */
  readonly checks: (settings: S, network: Network) => ReadonlyArray<Check>
}

/** A source of blocks as the settings describe it. */
export interface ChainView {
  readonly at: string
  /** So that a check can keep what is secret in them out of its words. */
  readonly settings: object
  readonly layer: (from: Beginning) => Layer.Layer<ChainSource, NodeUnusable>
  readonly blocks: (network: Network) => Follower.Node
  readonly unspent: (network: Network) => Unspent
  readonly checks: (network: Network) => ReadonlyArray<Check>
}

/** An entry of the table, whatever its settings are. */
export interface Backend extends Entry {
  readonly config: Config.Config<ChainView>
}

export const make = <S extends object>(definition: Definition<S>): Backend => ({
  ...definition,
  config: Config.map(definition.config, (settings) => ({
    ...definition.identity(settings),
    settings,
    layer: (from) => definition.layer(settings, from),
    blocks: (network) => definition.blocks(settings, network),
    unspent: (network) => definition.unspent(settings, network),
    checks: (network) => [...definition.checks(settings, network), ...unproven(definition, "chain")]
  }))
})

/** How long a look waits for an answer, which ends sooner than a check does. */
export const lookMillis = 4000

/** The certificate of whichever is asked. */
export const certificateFile = Setting.optional({
  name: "CHAIN_TLS_CERT",
  meaning: "The certificate of either; without one it must be signed by a known authority",
  ...Setting.file
})
