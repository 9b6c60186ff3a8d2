import * as Msat from "@satrail/bitcoin/Msat"
import type { Hop } from "./Event.ts"

/** A channel of the pretend network. Everybody sees its capacity; who owns how much of it, only its two ends. */
export interface Channel {
  readonly id: string
  readonly a: string
  readonly b: string
  readonly capacity: Msat.Msat
  /** What either end charges for forwarding through it: `base` plus `partsPerMillion` of the amount, rounded down (BOLT 7). */
  readonly base: Msat.Msat
  readonly partsPerMillion: bigint
  /** Between how many hundredths of the capacity are `a`'s in the beginning. */
  readonly share: readonly [least: number, most: number]
}

/** Who owns how much of a channel. What is in neither is on its way. */
export interface Balance {
  readonly a: Msat.Msat
  readonly b: Msat.Msat
}

/** A priced way to a payee. `fee` is everything on top of the amount. */
export interface Route {
  readonly hops: ReadonlyArray<Hop>
  readonly fee: Msat.Msat
  /** From what everybody can see: each balance that is not the sender's is anywhere in its channel, with equal chance. */
  readonly probability: number
}

/** Our own node. */
export const us = "us"

/** The node of another service like ours. */
export const neighbour = "lodge"

/** The nodes that a service takes payments and pays with. */
export const services: ReadonlyArray<string> = [us, neighbour]

/** What an event of a node says of whose it is: nothing where it is ours. */
export const notOurs = (node: string): { readonly node?: string } => (node === us ? {} : { node })

/** An outside payer with a wallet. */
export const payer = "payer"

/** Those who are paid: behind wide channels; behind a thin one; behind none at all. */
export const payees = { usual: ["alder", "birch", "cedar", "dogwood"], thin: "elm", cut: "fern" } as const

export const allPayees: ReadonlyArray<string> = [...payees.usual, payees.thin, payees.cut]

const bitcoin = 100_000_000n
const channel = (a: string, b: string, sats: bigint, share: Channel["share"], baseMsat: bigint, partsPerMillion: bigint): Channel => ({
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
  // Its only one, so that no other node's routes lead through it.
  channel("harbor", neighbour, 20n * bitcoin, [45, 55], 1_000n, 150n),
  channel("relay", payees.thin, 200_000n, [40, 60], 1_000n, 1_000n)
]

const byId: ReadonlyMap<string, Channel> = new Map(channels.map((one) => [one.id, one]))

/** How many channels a route may have. */
const maxHops = 5

interface Step {
  readonly channel: Channel
  readonly from: "a" | "b"
}

/** Every way without a loop. The graph is small and never changes, so each pair is walked once. */
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
        if ((one.a === at || one.b === at) && !seen.includes(next)) walk(next, [...seen, next], [...steps, { channel: one, from }])
      }
    }
  }
  walk(source, [source], [])
  walks.set(key, found)
  return found
}

/** What goes into each channel so that `amount` comes out of the last: every node but the sender charges for the channel it forwards into. */
const price = (steps: ReadonlyArray<Step>, amount: Msat.Msat): Route => {
  const hops: Array<Hop> = []
  let carried = amount
  let probability = 1
  for (const [place, { channel, from }] of [...steps.entries()].toReversed()) {
    hops.unshift({ channel: channel.id, from, amount: carried })
    if (place === 0) break
    probability *= carried >= channel.capacity ? 0 : Number(channel.capacity - carried) / Number(channel.capacity)
    carried = Msat.make(carried + channel.base + (carried * channel.partsPerMillion) / 1_000_000n)
  }
  return { hops, fee: Msat.make(carried - amount), probability }
}

export type Balances = (channel: string) => Balance

/** Whether a channel's sending end owns enough for this hop. */
const carries =
  (balances: Balances) =>
  (hop: Hop): boolean =>
    balances(hop.channel)[hop.from] >= hop.amount

/**
 * What `source` would try, cheapest first: ways within `feeLimit` that could work as far as it can see, which is every capacity
 * and the balances of its own channels.
 */
export const routes = (balances: Balances, source: string, target: string, amount: Msat.Msat, feeLimit: Msat.Msat): ReadonlyArray<Route> =>
  paths(source, target)
    .map((steps) => price(steps, amount))
    .filter(({ hops, fee, probability }) => fee <= feeLimit && probability > 0 && hops.slice(0, 1).every(carries(balances)))
    .toSorted((one, other) => (one.fee === other.fee ? other.probability - one.probability : one.fee < other.fee ? -1 : 1))

/** The first of them that works, by the balances as they are. */
export const passable = (balances: Balances, candidates: ReadonlyArray<Route>): Route | undefined =>
  candidates.find(({ hops }) => hops.every(carries(balances)))

/** What `node` owns in all of its channels. */
export const funds = (balances: Balances, node: string): Msat.Msat =>
  Msat.sum(...channels.flatMap(({ id, a, b }) => (a === node ? [balances(id).a] : b === node ? [balances(id).b] : [])))

/** What the other ends of its channels own: what it could be paid. */
export const room = (balances: Balances, node: string): Msat.Msat =>
  Msat.sum(...channels.flatMap(({ id, a, b }) => (a === node ? [balances(id).b] : b === node ? [balances(id).a] : [])))

/** How the channels stand in the beginning. `random` gives each channel a number from 0 up to 1. */
export const initial = (random: (channel: string) => number): ReadonlyArray<readonly [channel: string, balance: Balance]> =>
  channels.map(({ id, capacity, share: [least, most] }) => {
    const a = Msat.make((capacity * BigInt(Math.round((least + random(id) * (most - least)) * 10_000))) / 1_000_000n)
    return [id, { a, b: Msat.make(capacity - a) }] as const
  })

/** The other end of a hop. */
export const receiving = (hop: Hop): "a" | "b" => (hop.from === "a" ? "b" : "a")

/** Whether nothing was made or lost: both ends and what is on its way are the capacity. */
export const isWhole = (id: string, balance: Balance, onItsWay: Msat.Msat): boolean =>
  byId.get(id)?.capacity === balance.a + balance.b + onItsWay
