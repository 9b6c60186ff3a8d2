import { Effect } from "effect"

/**
 * Below these a node's own money can be taken by a peer, and what it then says of our payments is no help: lnd's 0.19.0 ended the last known
 * ways to do so (0.17.0 those to stop it with one packet, CVE-2024-38359), Core Lightning's 26.06.10 a series of them.
 */
const oldest = { lnd: [0, 19, 0], "Core Lightning": [26, 6, 10] } as const

const partsOf = (version: string): ReadonlyArray<number> | undefined => /(\d+)\.(\d+)\.?(\d*)/.exec(version)?.slice(1).map(Number)

const isBelow = (parts: ReadonlyArray<number>, least: ReadonlyArray<number>): boolean => {
  const at = least.findIndex((part, at) => parts[at] !== part)
  return (parts[at] ?? 0) < (least[at] ?? 0)
}

/** Why this version of a node should not hold money, in a sentence; undefined where nothing is known against it, or it is no version. */
export const warning = (node: keyof typeof oldest, version: string): string | undefined => {
  const parts = partsOf(version)
  if (parts === undefined || !isBelow(parts, oldest[node])) return undefined
  return `${node} ${version} has faults by which others can take its money. Update it to ${oldest[node].join(".")} or later.`
}

/** Says so in the log. */
export const warn = (node: keyof typeof oldest, version: string): Effect.Effect<void> => {
  const message = warning(node, version)
  return message === undefined ? Effect.void : Effect.logWarning(message)
}
