import type { Environment } from "./Environment.ts"

/** Which parts of the outside are simulated: the Lightning node, the chain with its wallet, and payees' servers. */
export interface Pretended {
  readonly lightning: boolean
  readonly chain: boolean
  readonly web: boolean
}

export const of = ({ node, chainNode, resolver }: Pick<Environment, "node" | "chainNode" | "resolver">): Pretended => ({
  lightning: node === undefined,
  chain: chainNode === undefined,
  web: resolver === "sandbox"
})

export const isAny = ({ lightning, chain, web }: Pretended): boolean => lightning || chain || web

/** Whether there is simulated money: a sandbox with a state, to which one database belongs. */
export const hasMoney = ({ lightning, chain }: Pretended): boolean => lightning || chain

/** Whether there is no real money at all. */
export const isSandbox = ({ lightning, chain }: Pretended): boolean => lightning && chain
