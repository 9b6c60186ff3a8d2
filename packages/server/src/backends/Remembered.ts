import { Network } from "@satrail/bitcoin/Network"
import * as Id from "@satrail/core/base/Id"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { Journal } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { Clock, Effect, Option, Schema } from "effect"
import { NodeUnusable } from "./Backend.ts"

// Which node the database was begun with. Another one has never heard of the payments in it, and would be asked to make them again.

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
}

/** What it said at its first start; undefined before that. */
export const known = Effect.fnUntraced(function* ({ source }: Place) {
  const stored = Option.getOrUndefined(yield* (yield* LedgerReads).cursor(source))
  return stored === undefined ? undefined : yield* Effect.orDie(Schema.decodeUnknownEffect(Text)(stored))
})

/** Fails where the node that was found is on another network than ours, or another one than the database's. The first one is remembered. */
export const confirm = Effect.fnUntraced(function* (
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
