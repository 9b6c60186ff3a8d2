import { Network } from "@satrail/bitcoin/Network"
import * as Id from "@satrail/core/base/Id"
import * as Outage from "@satrail/core/base/Outage"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { Journal } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import type { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { Clock, Effect, Option, Result, Schema } from "effect"
import { NodeUnusable } from "./NodeUnusable.ts"

// The node that the database was created with. Another node has no record of its payments and would pay them
// again.

const Identity = Schema.Struct({ nodeId: Schema.String, network: Network })
export interface Identity extends Schema.Schema.Type<typeof Identity> {}

const Text = Schema.fromJsonString(Identity)

/** Names of a backend for messages and storage. */
export interface Place {
  /** The cursor source that stores the identity. Specific to the backend, and never changes. */
  readonly source: string
  /** For example `lnd at https://127.0.0.1:8080`. */
  readonly at: string
  /** The setting with its address. */
  readonly setting: string
  /**
   * Whether a start is possible during this outage, once the database contains the identity: true if the node
   * is unreachable, false if it must be repaired first.
   */
  readonly mayBeAway: (outage: NodeUnavailable) => boolean
}

/** Returns the identity stored at the first start; undefined before that. */
const known = Effect.fnUntraced(function* ({ source }: Place) {
  const stored = Option.getOrUndefined(yield* (yield* LedgerReads).cursor(source))
  return stored === undefined ? undefined : yield* Effect.orDie(Schema.decodeUnknownEffect(Text)(stored))
})

/** Fails if the node is on another network, or is not the database's node. Stores the first identity. */
const confirm = Effect.fnUntraced(function* (
  { source, at, setting }: Place,
  network: Network,
  known: Identity | undefined,
  found: Identity
) {
  if (found.network !== network) {
    return yield* new NodeUnusable({
      message: `${at} is on ${found.network}, but SATRAIL_NETWORK is ${network}. Set both to the same network.`
    })
  }
  if (known !== undefined && known.nodeId !== found.nodeId) {
    return yield* new NodeUnusable({
      message: `The database belongs to the node ${known.nodeId}, but ${at} is ${found.nodeId}. Set ${setting} to that node, or start with an empty database.`
    })
  }
  if (known === undefined) {
    const value = Schema.encodeSync(Text)({ nodeId: found.nodeId, network: found.network })
    const begun = Cursor.moved({ source, value }, yield* Id.make, yield* Clock.currentTimeMillis)
    yield* Effect.catchTag((yield* Journal).commit(begun), "StaleFence", Effect.die) // this Change has no fence
  }
  return found
})

/**
 * Returns the node's identity: its own response or, during an outage, the stored one. Fails if it is not the
 * database's node, if it is on another network, or if its identity was never read.
 */
export const identify = Effect.fnUntraced(function* (
  place: Place,
  network: Network,
  ask: Effect.Effect<Identity, NodeUnavailable | NodeUnusable>
) {
  const before = yield* known(place)
  const asked = yield* Effect.result(ask)
  if (Result.isSuccess(asked)) return yield* confirm(place, network, before, asked.success)
  const outage = asked.failure
  if (outage._tag === "NodeUnusable") return yield* outage
  const message = Outage.text(outage) ?? String(outage.cause)
  if (before === undefined || !place.mayBeAway(outage)) return yield* new NodeUnusable({ message })
  yield* Effect.logWarning(`${message} Until then, it receives no payments, and outgoing payments wait.`)
  return before
})
