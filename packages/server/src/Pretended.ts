import type { Environment } from "./Environment.ts"

/** Which parts of the outside are pretended: the Lightning node, the chain with its wallet, and other people's servers. */
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

/** Whether there is pretend money: a sandbox that is kept, and that one database belongs to. */
export const hasMoney = ({ lightning, chain }: Pretended): boolean => lightning || chain

/** Whether there is no real money at all. */
export const isSandbox = ({ lightning, chain }: Pretended): boolean => lightning && chain
