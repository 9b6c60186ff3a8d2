import * as Msat from "@satrail/bitcoin/Msat"
import { Effect, Option, Schema } from "effect"
import type { StoreUnavailable } from "../../ledger/Journal.ts"
import { LedgerReads } from "../../ledger/LedgerReads.ts"
import type { Own } from "../../nodes/LightningBooks.ts"
import * as Side from "./Side.ts"

/**
 * The operator's income and costs that the node lists, all together since its list was first read: what forwards earned, and what channels that were closed by
 * agreement cost (less than zero). `closed` is how many channels those were, with those that cost us nothing.
 */
export const Listed = Schema.Struct({ forwarding: Msat.FromString, channels: Msat.FromString, closed: Schema.Int })
export interface Listed extends Schema.Schema.Type<typeof Listed> {}

export const none: Listed = { forwarding: Msat.zero, channels: Msat.zero, closed: 0 }

/** One commit keeps both, so that nothing is counted twice: `place` is where the node's list goes on. */
const Kept = Schema.Struct({ ...Listed.fields, place: Schema.String })
export interface Kept extends Schema.Schema.Type<typeof Kept> {}

const source = "node list"
const Text = Schema.fromJsonString(Kept)

/** What was listed until now. None before the first comparison, which begins at the end of the list: what is older is in the operator's own as it was stated. */
export const last: Effect.Effect<Kept | undefined, StoreUnavailable, LedgerReads> = Effect.gen(function* () {
  const text = yield* (yield* LedgerReads).cursor(source)
  return Option.isNone(text) ? undefined : yield* Effect.orDie(Schema.decodeUnknownEffect(Text)(text.value))
})

/** How it is stored. */
export const kept = (kept: Kept) => ({ source, value: Schema.encodeSync(Text)(kept) })

export const add = (listed: Listed, items: ReadonlyArray<Own>): Listed =>
  items.reduce<Listed>(
    (sum, { kind, amount }) =>
      kind === "forward"
        ? { ...sum, forwarding: Msat.sum(sum.forwarding, amount) }
        : { ...sum, channels: Msat.sum(sum.channels, amount), closed: sum.closed + 1 },
    listed
  )

/** What the node has more by what was listed after `then`. */
export const since = (now: Listed, then: Listed): Msat.Msat => Msat.make(now.forwarding + now.channels - then.forwarding - then.channels)

/** A channel that is closed leaves us without the part of its balance that is below a satoshi. No list has those parts: this is the most that they can be. */
export const roundedAway = (now: Listed, then: Listed): Msat.Msat => Msat.make(999n * BigInt(Math.max(0, now.closed - then.closed)))

/** Whether what a comparison left unexplained is what the node had not listed yet: the first items that it has listed since, in their order. */
export const explain = ({ owned, own, ledger, least, most, unexplained }: Side.Side, items: ReadonlyArray<Own>): boolean => {
  if (unexplained === 0n || own === null) return false
  let rest = owned - own - ledger
  return items.some(({ amount }) => {
    rest -= amount
    return Side.unexplained(rest, { least, most }) === 0n
  })
}
