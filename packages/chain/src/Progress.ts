import type { Network } from "@satrail/bitcoin/Network"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import * as Behind from "@satrail/core/nodes/Behind"
import type { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import { Clock, Effect, Option } from "effect"
import * as Follower from "./Follower.ts"
import { away, Outage } from "./Outage.ts"

/** Reads the height of the last block that any process of the service has read; undefined if none was read. */
export type LastRead = Effect.Effect<number | undefined, ChainUnavailable>

/** For a source that is compared with no block. */
export const noneRead: LastRead = Effect.succeed(undefined)

/** Reads the height from the store. It survives restarts, so that an older copy of a node is recognized as behind. */
export const lastRead: Effect.Effect<LastRead, never, LedgerReads> = Effect.map(LedgerReads, (ledger) =>
  ledger.cursor("chain").pipe(
    Effect.map((found) => Option.getOrUndefined(Option.map(found, Follower.heightIn))),
    Effect.mapError(away("last block read"))
  )
)

/** A block takes ten minutes on average, and less than one block in a million takes longer than this. */
const maxAgeSeconds = 3 * 3600

/** What a block source reports of its newest block. */
export interface Reported extends Behind.Progress {
  readonly network: Network
  readonly announced?: number
  readonly lastRead: number | undefined
  /** Time in the header of its newest block; undefined if unknown. Not judged on regtest, where blocks are mined on demand. */
  readonly timeSeconds: number | undefined
}

/** Fails if a block source is behind, because then a transaction or coin that it lacks may exist. */
export const current = Effect.fnUntraced(function* ({
  network,
  timeSeconds,
  announced,
  lastRead,
  height,
  isSynced
}: Reported) {
  const ageSeconds = (yield* Clock.currentTimeMillis) / 1000 - (timeSeconds ?? Infinity)
  const isOld = network !== "regtest" && ageSeconds > maxAgeSeconds
  const reason = yield* Behind.judge({
    node: "chain",
    height,
    isSynced: isSynced && !isOld,
    announced,
    lastRead
  })
  if (reason === undefined) return
  const age = isOld ? `Its last block is ${Math.round(ageSeconds / 3600)} hours old. ` : ""
  const remedy = `${age}Wait while it is catching up. If its height doesn't change, check its connections. Until then, deposits and payouts wait.`
  return yield* away("tip")(new Outage(reason, remedy))
})
