import { Network } from "@satrail/bitcoin/Network"
import * as Outage from "@satrail/core/base/Outage"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { Journal, type StoreUnavailable } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import type { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { Effect, Option, Result, Schema } from "effect"
import { NodeUnusable } from "./NodeUnusable.ts"

// Binds the database to the node that it was first started with. Any other node has no record of that node's
// payments, so it would pay those in flight again, or its failures would release their holds.

const Identity = Schema.Struct({ nodeId: Schema.String, network: Network })
export interface Identity extends Schema.Schema.Type<typeof Identity> {}

const Bound = Schema.Struct({ source: Schema.String, ...Identity.fields })
interface Bound extends Schema.Schema.Type<typeof Bound> {}

const text = { bound: Schema.fromJsonString(Bound), earlier: Schema.fromJsonString(Identity) }

/** The cursor source under which the database's node is stored. */
const cursorSource = "lightning node"
/** Backends of versions that stored the node under the backend's own source. */
const earlierSources = ["lnd", "ldk"]

/** A backend's names, used in messages and storage. */
export interface Place {
  /** The kind of node, which is stored with the identity and never changes. */
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

const stored = Effect.fnUntraced(function* (source: string) {
  return Option.getOrUndefined(yield* (yield* LedgerReads).cursor(source))
})

/** Returns the node that an earlier version stored. This backend's own comes first. */
const earlier = Effect.fnUntraced(function* (
  own: string
): Effect.fn.Return<Bound | undefined, StoreUnavailable, LedgerReads> {
  for (const source of [own, ...earlierSources]) {
    const found = yield* stored(source)
    if (found !== undefined)
      return { source, ...(yield* Effect.orDie(Schema.decodeUnknownEffect(text.earlier)(found))) }
  }
  return undefined
})

interface Known {
  /** The node to which the database is bound; undefined before the first start. */
  readonly bound: Bound | undefined
  /** False if only an earlier version stored it. */
  readonly isCurrent: boolean
}

const known = Effect.fnUntraced(function* ({
  source
}: Place): Effect.fn.Return<Known, StoreUnavailable, LedgerReads> {
  const found = yield* stored(cursorSource)
  return found === undefined
    ? { bound: yield* earlier(source), isCurrent: false }
    : { bound: yield* Effect.orDie(Schema.decodeUnknownEffect(text.bound)(found)), isCurrent: true }
})

/**
 * Fails if the node is on another network, or is not the one that the database is bound to. At the first start,
 * and at the first start of this version, stores the identity.
 */
const confirm = Effect.fnUntraced(function* (
  { source, at, setting }: Place,
  network: Network,
  { bound, isCurrent }: Known,
  found: Identity
) {
  if (found.network !== network) {
    return yield* new NodeUnusable({
      message: `${at} is on ${found.network}, but SATRAIL_NETWORK is ${network}. Set both to the same network.`
    })
  }
  if (bound !== undefined && bound.nodeId !== found.nodeId) {
    return yield* new NodeUnusable({
      message: `The database belongs to the node ${bound.nodeId}, but ${at} is ${found.nodeId}. Set ${setting} to the database's node, or start with an empty database.`
    })
  }
  const value = Schema.encodeSync(text.bound)({ source, nodeId: found.nodeId, network: found.network })
  if (!isCurrent) yield* Cursor.store(yield* Journal, { source: cursorSource, value })
  return found
})

/**
 * Returns the identity that the node reports or, during an outage, the stored identity. Fails if the node is on
 * another network, or is not the one that the database is bound to. A node of another kind is not called at all.
 * During an outage, also fails if no identity was stored.
 */
export const identify = Effect.fnUntraced(function* (
  place: Place,
  network: Network,
  ask: Effect.Effect<Identity, NodeUnavailable | NodeUnusable>
) {
  const remembered = yield* known(place)
  const before = remembered.bound
  if (before !== undefined && before.source !== place.source) {
    return yield* new NodeUnusable({
      message: `The database belongs to the ${before.source} node ${before.nodeId}, but LIGHTNING selects ${place.at}, which has no record of that node's payments. Set LIGHTNING back to that node, or start with an empty database.`
    })
  }
  const asked = yield* Effect.result(ask)
  if (Result.isSuccess(asked)) return yield* confirm(place, network, remembered, asked.success)
  const outage = asked.failure
  if (outage._tag === "NodeUnusable") return yield* outage
  const message = Outage.text(outage) ?? String(outage.cause)
  if (before === undefined || !place.mayBeAway(outage)) return yield* new NodeUnusable({ message })
  yield* Effect.logWarning(
    `${message} Until then, no Lightning payments are received, and outgoing ones wait.`
  )
  return before
})
