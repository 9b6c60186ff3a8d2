import * as Msat from "@satrail/bitcoin/Msat"
import {
  type Activity,
  type Broadcast,
  ChainSource,
  ChainUnavailable,
  type Ours,
  type Output,
  type Placement
} from "@satrail/core/nodes/ChainSource"
import { Clock, Effect, HashMap, Option, Result } from "effect"
import * as Chain from "./Chain.ts"
import * as Mempool from "./Mempool.ts"
import type { World } from "./World.ts"
import { decided, reachable as whenReachable } from "./World.ts"

/** The error of a paused chain. */
const away = (operation: string) =>
  new ChainUnavailable({ operation, cause: new Error("The sandbox chain is paused") })

const indexing = new ChainUnavailable({
  operation: "transaction",
  cause: new Error("The sandbox chain is indexing its blocks")
})

/** Runs an effect unless the chain is paused. */
export const reachable =
  (world: World) =>
  <A, E>(operation: string, effect: Effect.Effect<A, E>): Effect.Effect<A, E | ChainUnavailable> =>
    whenReachable(world, "chain", () => away(operation), effect)

/** Returns an output in its current state. */
export const outputOf = (state: Chain.State, outpoint: string): Output | undefined => {
  const found = Chain.output(state, outpoint)
  return (
    found && {
      txId: found.of.txId,
      vout: found.vout,
      scriptPubKey: found.output.scriptPubKey,
      amount: Msat.fromSats(found.output.sats),
      placement: found.of.placement
    }
  )
}

const activity = Effect.fnUntraced(function* <E>(
  state: Chain.State,
  after: string | null,
  ours: Ours<E>
): Effect.fn.Return<Activity, E> {
  const cursor = Number(after)
  // A cursor that this chain cannot have issued belongs to an earlier sandbox. In that case, report everything
  // again, which is safe.
  const from = Number.isInteger(cursor) && cursor <= state.changeCount ? cursor : 0
  const outputs: Array<Output> = []
  for (let at = from + 1; at <= state.changeCount; at++) {
    const outpoint = HashMap.get(state.changes, at)
    const output = Option.isSome(outpoint) ? outputOf(state, outpoint.value) : undefined
    if (output !== undefined) outputs.push(output)
  }
  const mine = yield* ours([...new Set(outputs.map(({ scriptPubKey }) => scriptPubKey))])
  return {
    outputs: outputs.filter(({ scriptPubKey }) => mine.has(scriptPubKey)),
    // A transaction moved by a reorganization gets a new number, so it is reported again.
    unchangedTo: state.tip.height,
    tip: state.tip,
    cursor: String(state.changeCount),
    blocksLeft: 0
  }
})

const gone: Placement = { _tag: "gone" }

/** The simulated chain, as our node sees it. */
export const make = (world: World): ChainSource["Service"] => {
  const answering = reachable(world)
  const read = <A>(operation: string, select: (state: Chain.State) => A) =>
    answering(
      operation,
      Effect.sync(() => select(world.state().chain))
    )
  return ChainSource.of({
    tip: read("tip", (state) => state.tip),
    activity: (after, ours) =>
      answering(
        "activity",
        Effect.suspend(() => activity(world.state().chain, after, ours))
      ),
    transaction: (txId) =>
      Effect.flatMap(
        read("transaction", (state) => Chain.transaction(state, txId)?.placement ?? gone),
        (placement) =>
          placement._tag === "mined" && world.isPaused("index")
            ? Effect.fail(indexing)
            : Effect.succeed(placement)
      ),
    rawTransaction: (txId) =>
      read("rawTransaction", (state) => {
        const found = Chain.transaction(state, txId)
        return found === undefined || found.placement._tag === "gone" ? null : found.rawTx
      }),
    timeSecondsAt: (height) =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMillis) =>
        read("timeSecondsAt", ({ blocks }) => {
          const block = Option.getOrUndefined(HashMap.get(blocks, height))
          return block?.timeSeconds ?? Math.floor(nowMillis / 1000)
        })
      ),
    broadcast: (rawTx) =>
      Effect.suspend((): Effect.Effect<Broadcast> => {
        if (world.isPaused("chain")) return Effect.succeed({ _tag: "unknown" })
        return world.commit(({ chain }) => {
          const verdict = Mempool.judge(chain, rawTx)
          if (Result.isFailure(verdict))
            return decided([], (): Broadcast => ({ _tag: "rejected", reason: verdict.failure }))
          const { success } = verdict
          return decided(success._tag === "accepted" ? [success.event] : [], (): Broadcast => ({
            _tag: success._tag
          }))
        })
      }),
    feeRate: read("feeRate", (state) => state.feeRate)
  })
}
