import * as LndRest from "@satrail/nodes/LndRest"
import { Context, Effect, Layer, Schema } from "effect"
import * as Btcd from "./Btcd.ts"
import { Chain } from "./Chain.ts"
import * as Lnd from "./Lnd.ts"
import * as Miner from "./Miner.ts"
import * as Process from "./Process.ts"

/**
 * A chain and three nodes in a row. alice is our node, bob forwards payments for a fee, and carol sends and
 * receives payments. Each channel has funds on both sides. alice and carol have no direct channel, so payments
 * between them cost a fee.
 */
export class Network extends Context.Service<
  Network,
  {
    readonly alice: Lnd.Lnd
    readonly bob: Lnd.Lnd
    readonly carol: Lnd.Lnd
    readonly chain: Pick<
      Chain["Service"],
      "mine" | "send" | "height" | "url" | "user" | "password" | "certificateFile"
    >
  }
>()("@satrail/regtest/Network") {}

const channelSats = 15_000_000
const pushedSats = 7_000_000
const fundsSats = 100_000_000n

const Address = Schema.Struct({ address: Schema.String })
const Opened = Schema.Struct({ funding_txid_bytes: Schema.String })
const Channels = Schema.Struct({
  channels: Schema.Array(Schema.Struct({ active: Schema.Boolean, remote_pubkey: Schema.String }))
})
const Balance = Schema.Struct({ confirmed_balance: Schema.String })
const Graph = Schema.Struct({
  edges: Schema.Array(
    Schema.Struct({
      node1_policy: Schema.NullOr(Schema.Unknown),
      node2_policy: Schema.NullOr(Schema.Unknown)
    })
  )
})
const Anything = Schema.Unknown

const { get, post } = LndRest

/** Mines blocks, and waits until all nodes have seen them. */
export const mine = Effect.fnUntraced(function* (blocks: number, nodes: ReadonlyArray<Lnd.Lnd>) {
  const chain = yield* Chain
  yield* chain.mine(blocks)
  const height = yield* chain.height
  const Info = Schema.Struct({ block_height: Schema.Int, synced_to_chain: Schema.Boolean })
  for (const node of nodes) {
    const here = Lnd.ask(node, get("/v1/getinfo"), Info)
    yield* Process.until(
      `${node.name} sees block ${height}`,
      Effect.map(here, (info) => (info.block_height >= height && info.synced_to_chain ? true : undefined))
    )
  }
})

/** Opens a channel with funds on both sides, and leaves its funding transaction in the mempool. */
export const open = (from: Lnd.Lnd, to: Lnd.Lnd) =>
  Effect.gen(function* () {
    yield* Lnd.ask(
      from,
      post("/v1/peers", { addr: { pubkey: to.nodeId, host: to.p2p }, perm: true }),
      Anything
    )
    const body = {
      node_pubkey: Buffer.from(to.nodeId, "hex").toString("base64"),
      local_funding_amount: String(channelSats),
      push_sat: String(pushedSats),
      sat_per_vbyte: "2"
    }
    // The two nodes may not be connected yet.
    yield* Process.until(
      `a channel from ${from.name} to ${to.name}`,
      Lnd.ask(from, post("/v1/channels", body), Opened)
    )
  })

/** Waits until a node has this many active channels. */
export const active = (node: Lnd.Lnd, count: number) =>
  Process.until(
    `${node.name} has ${count} active channels`,
    Effect.map(Lnd.ask(node, get("/v1/channels"), Channels), ({ channels }) =>
      channels.filter((one) => one.active).length >= count ? true : undefined
    )
  )

/** Waits until a node's graph contains this many channels with both policies. */
const known = (node: Lnd.Lnd, count: number) =>
  Process.until(
    `${node.name} knows ${count} channels`,
    Effect.map(Lnd.ask(node, get("/v1/graph"), Graph), ({ edges }) =>
      edges.filter((edge) => edge.node1_policy !== null && edge.node2_policy !== null).length >= count
        ? true
        : undefined
    )
  )

/**
 * Starts the whole network, which takes about ten seconds until payments work. The network stops when the scope
 * closes.
 */
export const make = Effect.gen(function* () {
  const chain = yield* Chain
  yield* chain.mine(Miner.firstBlocks)
  // The forwarding fee is too large to be hidden by rounding. The delay after a force-close is short, because
  // the default for large channels is 2000 blocks.
  const options = ["--bitcoin.basefee=1000", "--bitcoin.feerate=100", "--bitcoin.defaultremotedelay=40"]
  const [alice, bob, carol] = yield* Effect.all(
    [Lnd.make("alice", options), Lnd.make("bob", options), Lnd.make("carol", options)],
    {
      concurrency: "unbounded"
    }
  )
  const nodes = [alice, bob, carol]
  for (const node of [alice, carol]) {
    const { address } = yield* Lnd.ask(node, get("/v1/newaddress"), Address)
    yield* chain.send(address, fundsSats)
  }
  yield* mine(6, nodes)
  for (const node of [alice, carol]) {
    yield* Process.until(
      `${node.name} has coins`,
      Effect.map(Lnd.ask(node, get("/v1/balance/blockchain"), Balance), (balance) =>
        balance.confirmed_balance === "0" ? undefined : true
      )
    )
  }
  yield* open(alice, bob)
  yield* open(carol, bob)
  yield* mine(6, nodes)
  yield* active(alice, 1)
  yield* active(carol, 1)
  yield* active(bob, 2)
  for (const node of nodes) yield* known(node, 2)
  return Network.of({ alice, bob, carol, chain })
})

export const layer = Layer.effect(Network, make).pipe(Layer.provide(Btcd.layer))
