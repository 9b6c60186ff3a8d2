import * as Msat from "@satrail/bitcoin/Msat"
import { Effect, Option, Schema } from "effect"
import type { StoreUnavailable } from "../../ledger/Journal.ts"
import { LedgerReads } from "../../ledger/LedgerReads.ts"
import type { Own } from "../../nodes/LightningBooks.ts"
import * as AssetBalance from "./AssetBalance.ts"

/**
 * Totals of the operator's income and costs that the node has listed since its list was first read, in msat.
 * `forwarding` is the income from forwarding. `channels` is the cost of cooperatively closed channels, as a
 * negative amount. `closed` is the number of these channels, including those without a cost.
 */
export const Listed = Schema.Struct({
  forwarding: Msat.FromString,
  channels: Msat.FromString,
  closed: Schema.Int
})
export interface Listed extends Schema.Schema.Type<typeof Listed> {}

export const none: Listed = { forwarding: Msat.zero, channels: Msat.zero, closed: 0 }

/**
 * Totals and list position are stored in one commit, so nothing is counted twice. `place` is the position at
 * which the next read of the node's list resumes.
 */
const Kept = Schema.Struct({ ...Listed.fields, place: Schema.String })
export interface Kept extends Schema.Schema.Type<typeof Kept> {}

const source = "node list"
const Text = Schema.fromJsonString(Kept)

/**
 * Reads the totals so far; none before the first run. The first run starts at the end of the list, because
 * older items are part of the declared operator equity.
 */
export const last: Effect.Effect<Kept | undefined, StoreUnavailable, LedgerReads> = Effect.gen(function* () {
  const text = yield* (yield* LedgerReads).cursor(source)
  return Option.isNone(text) ? undefined : yield* Effect.orDie(Schema.decodeUnknownEffect(Text)(text.value))
})

/** Returns the cursor that stores the totals. */
export const kept = (kept: Kept) => ({ source, value: Schema.encodeSync(Text)(kept) })

export const add = (listed: Listed, items: ReadonlyArray<Own>): Listed =>
  items.reduce<Listed>(
    (sum, { kind, amount }) =>
      kind === "forward"
        ? { ...sum, forwarding: Msat.sum(sum.forwarding, amount) }
        : { ...sum, channels: Msat.sum(sum.channels, amount), closed: sum.closed + 1 },
    listed
  )

/** Returns the node's net gain from items listed after `then`. */
export const since = (now: Listed, then: Listed): Msat.Msat =>
  Msat.make(now.forwarding + now.channels - then.forwarding - then.channels)

/**
 * Returns the maximum loss from rounding. When a channel is closed, the fraction of a satoshi in our balance is
 * lost, and the node does not list this loss.
 */
export const roundedAway = (now: Listed, then: Listed): Msat.Msat =>
  Msat.make(999n * BigInt(Math.max(0, now.closed - then.closed)))

/**
 * Returns whether the items that the node has listed since a run explain the run's unexplained amount. Tries
 * the first item, then the first two, and so on.
 */
export const explain = (
  { owned, own, ledger, least, most, unexplained }: AssetBalance.AssetBalance,
  items: ReadonlyArray<Own>
): boolean => {
  if (unexplained === 0n || own === null) return false
  let rest = owned - own - ledger
  return items.some(({ amount }) => {
    rest -= amount
    return AssetBalance.unexplained(rest, { least, most }) === 0n
  })
}
