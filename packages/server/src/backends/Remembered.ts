import { Network } from "@satrail/bitcoin/Network"
import * as Id from "@satrail/core/base/Id"
import * as Outage from "@satrail/core/base/Outage"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { Journal } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import type { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { Clock, Effect, Option, Result, Schema } from "effect"
import { NodeUnusable } from "./NodeUnusable.ts"

// Binds the database to the node that it was created with. A different node has no record of that node's
// payments and would pay them again.

const Identity = Schema.Struct({ nodeId: Schema.String, network: Network })
export interface Identity extends Schema.Schema.Type<typeof Identity> {}

const Text = Schema.fromJsonString(Identity)

/** A backend's names, used in messages and storage. */
export interface Place {
  /** The cursor source under which the identity is stored. It is specific to the backend and never changes. */
  readonly source: string
  /** For example `lnd at https://127.0.0.1:8080`. */
  readonly at: string
  /** The setting that contains the node's address. */
  readonly setting: string
  /**
   * Returns whether the service can start with the stored identity during this outage. Returns false if the
   * operator must fix something first.
   */
  readonly mayBeAway: (outage: NodeUnavailable) => boolean
}

/** Returns the identity stored at the first start; undefined before that. */
const known = Effect.fnUntraced(function* ({ source }: Place) {
  const stored = Option.getOrUndefined(yield* (yield* LedgerReads).cursor(source))
  return stored === undefined ? undefined : yield* Effect.orDie(Schema.decodeUnknownEffect(Text)(stored))
})

/**
 * Fails if the node is on another network, or is not the one that the database is bound to. At the first start,
 * stores the identity.
 */
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
      message: `The database belongs to the node ${known.nodeId}, but ${at} is ${found.nodeId}. Set ${setting} to the database's node, or start with an empty database.`
    })
  }
  if (known === undefined) {
    const value = Schema.encodeSync(Text)({ nodeId: found.nodeId, network: found.network })
    const begun = Cursor.moved({ source, value }, yield* Id.make, yield* Clock.currentTimeMillis)
    yield* Effect.catchTag((yield* Journal).commit(begun), "StaleFence", Effect.die) // a Change without a fence cannot fail this way
  }
  return found
})

/**
 * Returns the identity that the node reports or, during an outage, the stored identity. Fails if the node is on
 * another network, or is not the one that the database is bound to. During an outage, also fails if no identity
 * was stored.
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
  yield* Effect.logWarning(`${message} Until then, no Lightning payments are received, and outgoing ones wait.`)
  return before
})
