import * as Msat from "@satrail/bitcoin/Msat"
import type * as TxId from "@satrail/bitcoin/TxId"
import type { Tip } from "@satrail/core/nodes/ChainSource"
import { HashMap } from "effect"
import * as Chain from "./Chain.ts"
import * as Lightning from "./Lightning.ts"
import * as Network from "./Network.ts"
import * as Transaction from "./Transaction.ts"
import type { World } from "./World.ts"

/** Maximum number of held payments and of mempool transactions listed in a survey. The counts include all of them. */
export const listed = 100

export interface Node {
  readonly name: string
  readonly nodeId: string
  /** The node's balance in its channels. */
  readonly balance: Msat.Msat
}

export interface Survey {
  /** Our node is first. */
  readonly nodes: ReadonlyArray<Node>
  readonly channels: ReadonlyArray<{
    readonly peer: string
    readonly local: Msat.Msat
    readonly remote: Msat.Msat
  }>
  readonly held: { readonly count: number; readonly payments: ReadonlyArray<Lightning.Held> }
  readonly tip: Tip
  /** In satoshis per virtual byte. */
  readonly feeRate: number
  readonly mempool: {
    readonly count: number
    readonly transactions: ReadonlyArray<{
      readonly txId: TxId.TxId
      readonly feeSats: bigint
      readonly virtualSize: number
    }>
  }
  /** Spendable funds of the service's wallet and the external wallet, including unconfirmed coins. */
  readonly wallet: Msat.Msat
  readonly outside: Msat.Msat
  /** Number of stored events. */
  readonly events: number
}

const names: ReadonlyArray<string> = [
  ...new Set([Network.us, ...Network.channels.flatMap(({ a, b }) => [a, b]), ...Network.allPayees])
]

export const of = (world: World): Survey => {
  const { lightning, chain } = world.state()
  const balances = Lightning.balances(lightning)
  const worth = (owner: "wallet" | "outside") =>
    Msat.sum(...Chain.coins(chain, owner, false).map(({ amount }) => amount))
  return {
    nodes: names.map((name) => ({
      name,
      nodeId: world.keys.node(name).publicKey,
      balance: Network.funds(balances, name)
    })),
    channels: Network.channels
      .filter(({ a }) => a === Network.us)
      .map(({ id, b }) => ({ peer: b, local: balances(id).a, remote: balances(id).b })),
    held: {
      count: HashMap.size(lightning.held),
      payments: [...HashMap.values(lightning.held)].slice(0, listed)
    },
    tip: chain.tip,
    feeRate: chain.feeRate,
    mempool: {
      count: chain.mempool.length,
      transactions: chain.mempool.slice(0, listed).flatMap((txId) => {
        const found = Chain.transaction(chain, txId)
        return found === undefined
          ? []
          : [{ txId, feeSats: found.feeSats, virtualSize: Transaction.virtualSize(found.weight) }]
      })
    },
    wallet: worth("wallet"),
    outside: worth("outside"),
    events: world.eventCount()
  }
}
