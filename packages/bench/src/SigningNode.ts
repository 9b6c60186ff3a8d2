import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { LightningReceiver, type Settled } from "@satrail/core/nodes/LightningReceiver"
import * as Receiver from "@satrail/sandbox/Receiver"
import * as World from "@satrail/sandbox/World"
import { Clock, Effect, Layer, Option, Schema, Stream, SubscriptionRef } from "effect"
import * as Fill from "./Fill.ts"

/** A world that makes decisions as usual, but does not store them. */
const forgetful = (world: World.World): World.World => ({
  ...world,
  commit: (decide) =>
    Effect.flatMap(Clock.currentTimeMillis, (nowMillis) =>
      Effect.map(Effect.fromResult(decide(world.state(), nowMillis)), ({ answer }) => answer(world.state()))
    )
})

/**
 * The sandbox's node, but without its list of invoices, which would grow in the measured process. (A real node
 * keeps that list in its own process.) The node reports only the given settlements.
 */
export const layer = (
  options: Parameters<typeof World.make>[0],
  settlements: Partial<Pick<LightningReceiver["Service"], "settlements">> = {}
) =>
  Layer.effect(
    LightningReceiver,
    Effect.map(World.make(options), (world) => ({ ...Receiver.make(forgetful(world)), ...settlements }))
  )

/** A range of invoices of one kind, created by `Fill.open`, that the node reports as paid. */
export const Run = Schema.Struct({ kind: Schema.Int, first: Schema.Int, count: Schema.Int })
export interface Run extends Schema.Schema.Type<typeof Run> {}

/** The maximum number of settlements that the node reports together. */
const batch = 100

const received = Msat.fromSats(1)

const settlement = (kind: number, number: number, cursor: number, settledAtMillis: number): Settled => {
  const preimage = Preimage.make(Fill.preimage(kind, number))
  return { paymentHash: Preimage.hashOf(preimage), received, preimage, settledAtMillis, cursor: String(cursor) }
}

/** Returns the next settlements, skipping the first `after`. */
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
 * Reports settlements as fast as the stream is read. The cursor is the number of settlements reported so far,
 * so an interrupted stream resumes where it stopped.
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
