import type { Network } from "@satrail/bitcoin/Network"
import type { Journal, StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import type { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import type { LightningSender } from "@satrail/core/nodes/LightningSender"
import { type Layer, type Redacted, Schema } from "effect"
import type { Check } from "../check/Check.ts"
import type { Reader, Variable } from "../environment/Variable.ts"

/** The node cannot be used as it is configured: the message says what to do about it. */
export class NodeUnusable extends Schema.TaggedError<NodeUnusable>()("NodeUnusable", { message: Schema.String }) {}

/** A Lightning node as the settings describe it. */
export interface Node {
  /** What LIGHTNING says. */
  readonly name: string
  /** Where it is, for the banner, such as `lnd at https://127.0.0.1:8080`. */
  readonly at: string
  /** What preimages and the key that seals stored answers are derived from. The same for ever, and in all processes. */
  readonly invoiceSecret: Redacted.Redacted
  /** The settings, so that a check can keep what is secret in them out of its words. */
  readonly settings: object
  /** Takes payments and pays; with `LightningBooks` where its statement can be read. */
  readonly layer: (
    network: Network
  ) => Layer.Layer<LightningReceiver | LightningSender, NodeUnusable | StoreUnavailable, Journal | LedgerReads>
  /** What can be wrong with it, for `satrail check` and every start; of one that was never shown to work with a real node, that too. */
  readonly check: (network: Network) => Check
}

/** A kind of Lightning node that an operator can choose. Everything that the server knows of it is here. */
export interface Backend {
  readonly name: string
  /** In the order of the documentation. */
  readonly variables: Readonly<Record<string, Variable<unknown>>>
  /** Its settings, where LIGHTNING names it. */
  readonly read: (reader: Reader) => Node
}
