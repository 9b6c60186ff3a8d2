import * as Msat from "@satrail/bitcoin/Msat"
import type { Hop } from "./Event.ts"

/** A channel of the simulated network. Its capacity is public, but only its two ends know its balances. */
export interface Channel {
  readonly id: string
  readonly a: string
  readonly b: string
  readonly capacity: Msat.Msat
  /**
   * The fee that either end charges for forwarding through the channel: `base` plus `partsPerMillion` of the
   * amount, rounded down (BOLT 7).
   */
  readonly base: Msat.Msat
  readonly partsPerMillion: bigint
  /** Range of `a`'s initial share of the capacity, in percent. */
  readonly share: readonly [least: number, most: number]
}

/** The balances of a channel. The rest of its capacity is in flight. */
export interface Balance {
  readonly a: Msat.Msat
  readonly b: Msat.Msat
}

/** A route to a payee, with its price. `fee` is what the sender pays in addition to the amount. */
export interface Route {
  readonly hops: ReadonlyArray<Hop>
  readonly fee: Msat.Msat
  /**
   * Estimated from public information. Each balance except the sender's is assumed to be uniformly distributed.
   */
  readonly probability: number
}

/** Our own node. */
export const us = "us"

/** The node of another service like ours. */
export const neighbour = "lodge"

/** The services' nodes, which send and receive payments. */
export const services: ReadonlyArray<string> = [us, neighbour]

/** The `node` field of an event, which is absent for our node. */
export const notOurs = (node: string): { readonly node?: string } => (node === us ? {} : { node })

/** An external payer with a wallet. */
export const payer = "payer"

/** Payees behind wide channels, behind a thin one, and without a channel. */
export const payees = { usual: ["alder", "birch", "cedar", "dogwood"], thin: "elm", cut: "fern" } as const

export const allPayees: ReadonlyArray<string> = [...payees.usual, payees.thin, payees.cut]

const bitcoin = 100_000_000n
const channel = (
  a: string,
  b: string,
  sats: bigint,
  share: Channel["share"],
  baseMsat: bigint,
  partsPerMillion: bigint
): Channel => ({
  id: `${a}-${b}`,
  a,
  b,
  capacity: Msat.fromSats(sats),
  base: Msat.make(baseMsat),
  partsPerMillion,
  share
})

export const channels: ReadonlyArray<Channel> = [
  channel(us, "harbor", 100n * bitcoin, [45, 55], 1_000n, 100n),
  channel(us, "bazaar", 100n * bitcoin, [45, 55], 1_000n, 100n),
  channel(payer, "harbor", 200n * bitcoin, [90, 95], 1_000n, 100n),
  channel(payer, "bazaar", 200n * bitcoin, [90, 95], 1_000n, 100n),
  channel("harbor", "bazaar", 40n * bitcoin, [40, 60], 1_000n, 50n),
  channel("harbor", "relay", 20n * bitcoin, [40, 60], 500n, 200n),
  channel("bazaar", "relay", 20n * bitcoin, [40, 60], 1_000n, 100n),
  channel("harbor", "alder", 10n * bitcoin, [60, 90], 1_000n, 150n),
  channel("bazaar", "alder", 5n * bitcoin, [60, 90], 0n, 500n),
  channel("harbor", "birch", 10n * bitcoin, [60, 90], 1_000n, 250n),
  channel("relay", "birch", 5n * bitcoin, [60, 90], 0n, 300n),
  channel("relay", "cedar", 10n * bitcoin, [60, 90], 1_000n, 200n),
  channel("bazaar", "dogwood", 10n * bitcoin, [60, 90], 2_000n, 80n),
  // The neighbor's only channel, so that no other node's routes lead through the neighbor.
  channel("harbor", neighbour, 20n * bitcoin, [45, 55], 1_000n, 150n),
  channel("relay", payees.thin, 200_000n, [40, 60], 1_000n, 1_000n)
]

const byId: ReadonlyMap<string, Channel> = new Map(channels.map((one) => [one.id, one]))

/** Maximum number of channels in a route. */
const maxHops = 5

interface Step {
  readonly channel: Channel
  readonly from: "a" | "b"
}

/**
 * Returns every path without a loop. Paths are computed once per pair of nodes, because the graph is small and
 * never changes.
 */
const walks = new Map<string, ReadonlyArray<ReadonlyArray<Step>>>()
const paths = (source: string, target: string): ReadonlyArray<ReadonlyArray<Step>> => {
  const key = `${source}>${target}`
  const known = walks.get(key)
  if (known !== undefined) return known
  const found: Array<ReadonlyArray<Step>> = []
  const walk = (at: string, seen: ReadonlyArray<string>, steps: ReadonlyArray<Step>): void => {
    if (at === target) found.push(steps)
    else if (steps.length < maxHops) {
      for (const one of channels) {
        const [from, next] = one.a === at ? ["a" as const, one.b] : ["b" as const, one.a]
        if ((one.a === at || one.b === at) && !seen.includes(next))
          walk(next, [...seen, next], [...steps, { channel: one, from }])
      }
    }
  }
  walk(source, [source], [])
  walks.set(key, found)
  return found
}

/**
 * Computes the amount of each hop so that the last one delivers `amount`. Every node except the sender charges
 * for the channel into which it forwards.
 */
const price = (steps: ReadonlyArray<Step>, amount: Msat.Msat): Route => {
  const hops: Array<Hop> = []
  let carried = amount
  let probability = 1
  for (const [place, { channel, from }] of [...steps.entries()].toReversed()) {
    hops.unshift({ channel: channel.id, from, amount: carried })
    if (place === 0) break
    probability *=
      carried >= channel.capacity ? 0 : Number(channel.capacity - carried) / Number(channel.capacity)
    carried = Msat.make(carried + channel.base + (carried * channel.partsPerMillion) / 1_000_000n)
  }
  return { hops, fee: Msat.make(carried - amount), probability }
}

export type Balances = (channel: string) => Balance

/** Returns whether a channel's sending end has enough for this hop. */
const carries =
  (balances: Balances) =>
  (hop: Hop): boolean =>
    balances(hop.channel)[hop.from] >= hop.amount

/**
 * Returns the routes that `source` would try, cheapest first. They are within `feeLimit` and possible given all
 * capacities and the balances of `source`'s own channels.
 */
export const routes = (
  balances: Balances,
  source: string,
  target: string,
  amount: Msat.Msat,
  feeLimit: Msat.Msat
): ReadonlyArray<Route> =>
  paths(source, target)
    .map((steps) => price(steps, amount))
    .filter(
      ({ hops, fee, probability }) =>
        fee <= feeLimit && probability > 0 && hops.slice(0, 1).every(carries(balances))
    )
    .toSorted((one, other) =>
      one.fee === other.fee ? other.probability - one.probability : one.fee < other.fee ? -1 : 1
    )

/** Returns the first route that works with the actual balances. */
export const passable = (balances: Balances, candidates: ReadonlyArray<Route>): Route | undefined =>
  candidates.find(({ hops }) => hops.every(carries(balances)))

/** Returns the funds of `node` in all its channels. */
export const funds = (balances: Balances, node: string): Msat.Msat =>
  Msat.sum(
    ...channels.flatMap(({ id, a, b }) =>
      a === node ? [balances(id).a] : b === node ? [balances(id).b] : []
    )
  )

/** Returns the funds at the other ends of the node's channels, which is the amount that it can receive. */
export const room = (balances: Balances, node: string): Msat.Msat =>
  Msat.sum(
    ...channels.flatMap(({ id, a, b }) =>
      a === node ? [balances(id).b] : b === node ? [balances(id).a] : []
    )
  )

/** Returns the initial balances of the channels. `random` returns a number in [0, 1) for each channel. */
export const initial = (
  random: (channel: string) => number
): ReadonlyArray<readonly [channel: string, balance: Balance]> =>
  channels.map(({ id, capacity, share: [least, most] }) => {
    const a = Msat.make(
      (capacity * BigInt(Math.round((least + random(id) * (most - least)) * 10_000))) / 1_000_000n
    )
    return [id, { a, b: Msat.make(capacity - a) }] as const
  })

/** Returns the receiving end of a hop. */
export const receiving = (hop: Hop): "a" | "b" => (hop.from === "a" ? "b" : "a")

/** Returns whether both balances and the amount in flight add up to the capacity. */
export const isWhole = (id: string, balance: Balance, onItsWay: Msat.Msat): boolean =>
  byId.get(id)?.capacity === balance.a + balance.b + onItsWay
