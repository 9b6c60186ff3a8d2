import { Network } from "@satrail/bitcoin/Network"
import * as Id from "@satrail/core/base/Id"
import * as Outage from "@satrail/core/base/Outage"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { Journal } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import type { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { Clock, Effect, Option, Result, Schema } from "effect"
import { NodeUnusable } from "./NodeUnusable.ts"

// Which node the database was begun with. Another one has no record of the payments in it, and would make them again.

const Identity = Schema.Struct({ nodeId: Schema.String, network: Network })
export interface Identity extends Schema.Schema.Type<typeof Identity> {}

const Text = Schema.fromJsonString(Identity)

/** What a backend calls itself here. */
export interface Place {
  /** Where it is kept: a name of the backend's own, for ever. */
  readonly source: string
  /** Such as `lnd at https://127.0.0.1:8080`. */
  readonly at: string
  /** The setting that says where it is. */
  readonly setting: string
  /** Whether a start can do without it, once the database knows which it is: of one that cannot be reached, and of one that must be mended first. */
  readonly mayBeAway: (outage: NodeUnavailable) => boolean
}

/** The identity that it had at its first start; undefined before that. */
const known = Effect.fnUntraced(function* ({ source }: Place) {
  const stored = Option.getOrUndefined(yield* (yield* LedgerReads).cursor(source))
  return stored === undefined ? undefined : yield* Effect.orDie(Schema.decodeUnknownEffect(Text)(stored))
})

/** Fails where the node that was found is on another network than ours, or another one than the database's. The first one is remembered. */
const confirm = Effect.fnUntraced(function* (
  { source, at, setting }: Place,
  network: Network,
  known: Identity | undefined,
  found: Identity
) {
  if (found.network !== network) {
    return yield* new NodeUnusable({
      message: `${at} is on ${found.network}, and SATRAIL_NETWORK is ${network}. Set both to the same network.`
    })
  }
  if (known !== undefined && known.nodeId !== found.nodeId) {
    return yield* new NodeUnusable({
      message: `The database was begun with the node ${known.nodeId}, and ${at} is ${found.nodeId}. Set ${setting} to the first, or begin with an empty database.`
    })
  }
  if (known === undefined) {
    const value = Schema.encodeSync(Text)({ nodeId: found.nodeId, network: found.network })
    const begun = Cursor.moved({ source, value }, yield* Id.make, yield* Clock.currentTimeMillis)
    yield* Effect.catchTag((yield* Journal).commit(begun), "StaleFence", Effect.die) // nothing is fenced here
  }
  return found
})

/**
 * Which node it is: by its own answer, or, during a possible outage, as it was at an earlier start. Fails where it is another node than the database's,
 * or on another network than ours, and where its identity was never read.
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
  yield* Effect.logWarning(`${message} Until then nothing can be paid to it, and what is to be paid waits.`)
  return before
})
