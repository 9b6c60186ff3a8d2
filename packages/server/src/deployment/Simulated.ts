import type { Environment } from "./Environment.ts"

/**
 * The parts that can be simulated: the Lightning node, the chain and its wallet, payees' servers, and exchange
 * rates. A part is true if it is simulated.
 */
export interface Simulated {
  readonly lightning: boolean
  readonly chain: boolean
  readonly web: boolean
  readonly rates: boolean
}

export const of = ({
  node,
  chainNode,
  resolver,
  rates
}: Pick<Environment, "node" | "chainNode" | "resolver" | "rates">): Simulated => ({
  lightning: node === undefined,
  chain: chainNode === undefined,
  web: resolver === "sandbox",
  rates: rates === "fixed"
})

/**
 * Returns whether every part is simulated. Only then can users advance the clock, make the database unavailable
 * and reset the sandbox.
 */
export const isFullySimulated = ({ lightning, chain, web, rates }: Simulated): boolean =>
  lightning && chain && web && rates

/** Returns whether the server runs a sandbox. Fixed rates alone don't need one. */
export const isPartlySimulated = ({ lightning, chain, web }: Simulated): boolean => lightning || chain || web

/** Returns whether any money is simulated. If so, the sandbox has stored state and is tied to one database. */
export const hasMoney = ({ lightning, chain }: Simulated): boolean => lightning || chain

/** Returns whether all money is simulated. */
export const isSandbox = ({ lightning, chain }: Simulated): boolean => lightning && chain
