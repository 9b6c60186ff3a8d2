import * as Msat from "@satrail/bitcoin/Msat"
import { ChainBooks } from "@satrail/core/nodes/ChainBooks"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { Effect } from "effect"
import * as Chain from "./Chain.ts"
import * as Lightning from "./Lightning.ts"
import * as Network from "./Network.ts"
import * as Source from "./Source.ts"
import * as World from "./World.ts"

const pageSize = 500

/** Outgoing payments in flight count as our node's funds until they arrive. */
const owned = (state: Lightning.State, node: string): Msat.Msat =>
  Msat.sum(
    Network.funds(Lightning.balances(state), node),
    ...Lightning.sentBy(state, node)
      .flatMap(({ stage, hops }) => (stage._tag === "pending" ? hops.slice(0, 1) : []))
      .map(({ amount }) => amount)
  )

/** Returns the entries numbered above `after`, in order. */
const page = <A extends { readonly index: number }, B>(
  all: ReadonlyArray<A>,
  after: string | null,
  lineOf: (one: A) => B
) => {
  const newest = Math.max(0, ...all.map(({ index }) => index))
  const from = after === null ? newest : Number(after)
  const found = all
    .filter(({ index }) => index > from)
    .toSorted((a, b) => a.index - b.index)
    .slice(0, pageSize)
  return { lines: found.map(lineOf), cursor: String(found.at(-1)?.index ?? from) }
}

/** The statement of a service's node. Defaults to our node. */
export const lightning = (world: World.World, node = Network.us): LightningBooks["Service"] => {
  const read = <A>(operation: string, select: (state: Lightning.State) => A) =>
    World.reachable(
      world,
      "node",
      () => new NodeUnavailable({ operation, cause: new Error("The sandbox node is paused") }),
      Effect.sync(() => select(world.state().lightning))
    )
  return LightningBooks.of({
    owned: read("owned", (state) => ({ amount: owned(state, node), within: Msat.zero })),
    capacity: read("capacity", (state) => {
      const balances = Lightning.balances(state)
      const active = Network.channels.filter(({ a, b }) => a === node || b === node).length
      return {
        outgoing: Network.funds(balances, node),
        incoming: Network.room(balances, node),
        channels: { active, inactive: 0, opening: 0, closing: 0, forceClosing: 0 }
      }
    }),
    sent: (after) =>
      read("sent", (state) =>
        page(Lightning.sentBy(state, node), after, ({ paymentHash, amount, fee, stage }) => {
          const attempt = Lightning.attemptOf(state, paymentHash, node)
          return { paymentHash, ...(attempt !== undefined && { attempt }), amount, fee, state: stage._tag }
        })
      ),
    taken: (after) =>
      read("taken", (state) =>
        page(Lightning.takenBy(state, node), after, ({ paymentHash, received }) => ({
          paymentHash,
          received
        }))
      )
  })
}

/** The wallet's funds. Its keys exist only here, so none of its coins ever disappears unexpectedly. */
export const chain = (world: World.World): ChainBooks["Service"] =>
  ChainBooks.of({
    holdings: Source.reachable(world)(
      "holdings",
      Effect.sync(() => ({
        owned: Msat.sum(...Chain.coins(world.state().chain, "wallet", false).map(({ amount }) => amount)),
        gone: []
      }))
    )
  })
