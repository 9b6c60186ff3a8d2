import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import type { LightningReceiver, Settled } from "@satrail/core/nodes/LightningReceiver"
import { Effect, Option, Schema, Stream, SubscriptionRef } from "effect"
import * as Fill from "./Fill.ts"

/** Invoices that `Fill.open` made, of one kind and in order, which a node reports as paid. */
export const Run = Schema.Struct({ kind: Schema.Int, first: Schema.Int, count: Schema.Int })
export interface Run extends Schema.Schema.Type<typeof Run> {}

/** A node reports so many settlements at once, at most. */
const batch = 100

const received = Msat.fromSats(1)

const settlement = (kind: number, number: number, cursor: number, settledAtMillis: number): Settled => {
  const preimage = Preimage.make(Fill.preimage(kind, number))
  return { paymentHash: Preimage.hashOf(preimage), received, preimage, settledAtMillis, cursor: String(cursor) }
}

/** What follows the `after`th settlement of all. */
const following = (runs: ReadonlyArray<Run>, after: number): ReadonlyArray<Settled> => {
  const nowMillis = Date.now()
  const found: Array<Settled> = []
  let before = 0
  for (const { kind, first, count } of runs) {
    for (let at = Math.max(after, before); at < before + count && found.length < batch; at++)
      found.push(settlement(kind, first + at - before, at + 1, nowMillis))
    before += count
  }
  return found
}

/**
 * The settlements of a node that has been paid these runs, one after the other, as fast as they are wanted. Its cursor is how many there were: it keeps nothing else, and
 * an interrupted stream goes on where its reader left off.
 */
export const settlements =
  (runs: SubscriptionRef.SubscriptionRef<ReadonlyArray<Run>>): LightningReceiver["Service"]["settlements"] =>
  (after) =>
    Stream.paginate(Number(after ?? 0), (at) =>
      SubscriptionRef.changes(runs).pipe(
        Stream.map((all) => following(all, at)),
        Stream.filter((found) => found.length > 0),
        Stream.runHead,
        Effect.map(Option.getOrElse(() => [])),
        Effect.map((found) => [found, Option.some(at + found.length)] as const)
      )
    )
