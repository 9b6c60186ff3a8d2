import type { Environment } from "./Environment.ts"

/** Which parts of the outside are simulated: the Lightning node, the chain with its wallet, payees' servers, and exchange rates. */
export interface Pretended {
  readonly lightning: boolean
  readonly chain: boolean
  readonly web: boolean
  readonly rates: boolean
}

export const of = ({ node, chainNode, resolver, rates }: Pick<Environment, "node" | "chainNode" | "resolver" | "rates">): Pretended => ({
  lightning: node === undefined,
  chain: chainNode === undefined,
  web: resolver === "sandbox",
  rates: rates === "fixed"
})

/** Whether nothing at all is real: only then the clock moves, the database has faults, and everything can be begun anew. */
export const isWhole = ({ lightning, chain, web, rates }: Pretended): boolean => lightning && chain && web && rates

/** Whether there is a sandbox. Rates that never move need none. */
export const isAny = ({ lightning, chain, web }: Pretended): boolean => lightning || chain || web

/** Whether there is simulated money: a sandbox with a state, to which one database belongs. */
export const hasMoney = ({ lightning, chain }: Pretended): boolean => lightning || chain

/** Whether there is no real money at all. */
export const isSandbox = ({ lightning, chain }: Pretended): boolean => lightning && chain
