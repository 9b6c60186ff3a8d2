import type { Environment } from "./Environment.ts"

/** The parts that are simulated: the Lightning node, the chain and its wallet, payees' servers, exchange rates. */
export interface Simulated {
  readonly lightning: boolean
  readonly chain: boolean
  readonly web: boolean
  readonly rates: boolean
}

export const of = ({ node, chainNode, resolver, rates }: Pick<Environment, "node" | "chainNode" | "resolver" | "rates">): Simulated => ({
  lightning: node === undefined,
  chain: chainNode === undefined,
  web: resolver === "sandbox",
  rates: rates === "fixed"
})

/**
 * Whether every part is simulated. Only then can users advance the clock, make the database unavailable and
 * reset the sandbox.
 */
export const isFullySimulated = ({ lightning, chain, web, rates }: Simulated): boolean => lightning && chain && web && rates

/** Whether the server runs a sandbox. Fixed rates alone don't need one. */
export const isPartlySimulated = ({ lightning, chain, web }: Simulated): boolean => lightning || chain || web

/** Whether there is simulated money, so that the sandbox has stored state and is tied to one database. */
export const hasMoney = ({ lightning, chain }: Simulated): boolean => lightning || chain

/** Whether there is no real money at all. */
export const isSandbox = ({ lightning, chain }: Simulated): boolean => lightning && chain
