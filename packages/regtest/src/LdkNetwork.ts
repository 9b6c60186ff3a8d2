import * as LndRest from "@satrail/nodes/LndRest"
import { Context, Effect, Layer, Schema } from "effect"
import * as Bitcoind from "./Bitcoind.ts"
import { Chain } from "./Chain.ts"
import * as Ldk from "./Ldk.ts"
import * as Lnd from "./Lnd.ts"
import * as Network from "./Network.ts"
import * as Process from "./Process.ts"

/**
 * dora, an LDK node next to the three lnd nodes. dora is our node. Her channel leads to bob, who forwards
 * payments to carol for a fee.
 */
export class LdkNetwork extends Context.Service<LdkNetwork, { readonly dora: Ldk.Ldk }>()(
  "@satrail/regtest/LdkNetwork"
) {}

const channelSats = 15_000_000
const pushedMsat = 7_000_000_000

const Address = Schema.Struct({ address: Schema.String })
export const Channels = Schema.Struct({
  channels: Schema.Array(
    Schema.Struct({
      channel: Schema.String,
      node: Schema.String,
      usable: Schema.Boolean,
      announced: Schema.Boolean,
      outgoing: Schema.String
    })
  ),
  height: Schema.Int,
  graph: Schema.Int
})
const Quote = Schema.Struct({ fee: Schema.NullOr(Schema.String) })
const Graph = Schema.Struct({
  edges: Schema.Array(
    Schema.Struct({
      node1_policy: Schema.NullOr(Schema.Unknown),
      node2_policy: Schema.NullOr(Schema.Unknown)
    })
  )
})

/** Starts an LDK node with a new store. */
export const started = Effect.fnUntraced(function* (name: string, esplora?: string) {
  const node = yield* Ldk.make(name, esplora)
  yield* node.ask("start", {}, Schema.Unknown)
  return node
})

/** Mines blocks, and waits until these LDK nodes have seen them. */
export const mine = Effect.fnUntraced(function* (
  blocks: number,
  nodes: ReadonlyArray<Pick<Ldk.Ldk, "name" | "ask">>
) {
  const chain = yield* Chain
  yield* chain.mine(blocks)
  const top = yield* chain.height
  for (const node of nodes) {
    yield* Process.until(
      `${node.name} sees block ${top}`,
      Effect.andThen(
        node.ask("sync", {}, Schema.Unknown),
        Effect.map(node.ask("channels", {}, Channels), ({ height }) => (height >= top ? true : undefined))
      )
    )
  }
})

/** Opens a channel from an LDK node, and puts funds on both sides of the channel. */
export const open = Effect.fnUntraced(function* (
  from: Pick<Ldk.Ldk, "name" | "ask">,
  to: { readonly nodeId: string; readonly p2p: string }
) {
  const chain = yield* Chain
  const { address } = yield* from.ask("address", {}, Address)
  yield* chain.send(address, 50_000_000n)
  yield* mine(6, [from])
  const params = { node: to.nodeId, address: to.p2p, sats: channelSats, pushMsat: pushedMsat, announce: true }
  const listed = Effect.map(from.ask("channels", {}, Channels), ({ channels }) => channels.length)
  const waiting = Effect.map(
    chain.call("getrawmempool", [], Schema.Array(Schema.String)),
    ({ length }) => length
  )
  const before = yield* waiting
  // The other node refuses to open a channel until it has seen the newest block.
  const opened = Effect.gen(function* () {
    if ((yield* listed) === 0) yield* from.ask("openChannel", params, Schema.Unknown)
    // The funding transaction is broadcast once both nodes have signed.
    return (yield* waiting) > before ? true : undefined
  })
  yield* Process.until(`${from.name} opens a channel`, opened)
  yield* mine(6, [from])
  yield* Process.until(
    `${from.name} can use the channel`,
    Effect.map(from.ask("channels", {}, Channels), ({ channels }) =>
      channels.some(({ node, usable }) => node === to.nodeId && usable) ? true : undefined
    )
  )
})

/**
 * Waits until an LDK node finds a route for an invoice. Gossip about other nodes' channels may arrive at any
 * time (BOLT 7), and payments fail immediately until it has arrived.
 */
export const findsWay = (from: Pick<Ldk.Ldk, "name" | "ask">, request: string, sats: number) =>
  Process.until(
    `${from.name} finds a route`,
    Effect.map(
      from.ask("quote", { request, amount: `${sats}000`, feeLimit: `${sats}000` }, Quote),
      ({ fee }) => fee ?? undefined
    )
  )

/** Starts dora and waits until all lnd nodes have learned of her channel. */
export const make = Effect.gen(function* () {
  const { alice, bob, carol } = yield* Network.Network
  const dora = yield* started("dora")
  yield* open(dora, bob)
  for (const node of [alice, bob, carol]) {
    yield* Process.until(
      `${node.name} knows 3 channels`,
      Effect.map(Lnd.ask(node, LndRest.get("/v1/graph"), Graph), ({ edges }) =>
        edges.filter((edge) => edge.node1_policy !== null && edge.node2_policy !== null).length >= 3
          ? true
          : undefined
      )
    )
  }
  yield* Process.until(
    "dora knows 3 channels",
    Effect.map(dora.ask("channels", {}, Channels), ({ graph }) => (graph >= 3 ? true : undefined))
  )
  return LdkNetwork.of({ dora })
})

/** A network of bitcoind, three lnd nodes and dora. */
export const layer = Layer.effect(LdkNetwork, make).pipe(
  Layer.provideMerge(Layer.effect(Network.Network, Network.make)),
  Layer.provideMerge(Bitcoind.layer)
)
