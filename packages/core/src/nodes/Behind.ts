import { Effect, Metric } from "effect"
import * as Measure from "../base/Measure.ts"

/** How far a node has read the chain. */
export interface Progress {
  readonly height: number
  /** Whether the node reports that it has the newest blocks. */
  readonly isSynced: boolean
}

/**
 * Maximum number of blocks by which two sources may differ: a node and the headers announced to it, or a Lightning
 * node and the chain. A block takes a moment to be validated.
 */
export const maxBlocksBehind = 2

const blocksBehind = Measure.gauge(
  "satrail_blocks_behind",
  "Blocks that a node lacks, compared with the blocks announced to it and the last block read",
  ["node"]
)

/** A node, and the heights with which it is compared. */
export interface Standing extends Progress {
  readonly node: "chain" | "lightning"
  /** Greatest height that another source reports; undefined if there is none. The node may lag by `maxBlocksBehind`. */
  readonly announced: number | undefined
  /** Height of the last block read; undefined if none was read. A block source that lacks it can prove nothing. */
  readonly lastRead: number | undefined
}

/** Returns `behind: block N of M` if the node is behind; undefined if it is current. Updates the gauge. */
export const judge = ({
  node,
  height,
  isSynced,
  announced = 0,
  lastRead = 0
}: Standing): Effect.Effect<string | undefined> => {
  const known = Math.max(height, announced, lastRead)
  const isBehind = announced - height > maxBlocksBehind || height < lastRead || !isSynced
  const text = `behind: block ${height} of ${known > height ? known : "an unknown number"}`
  return Effect.as(Metric.update(blocksBehind({ node }), known - height), isBehind ? text : undefined)
}

/**
 * Returns why a Lightning node is behind; undefined if it is current. `known` is the greatest height that the block
 * source reports or that was read; undefined if unknown.
 */
export const lightning = (progress: Progress, known: number | undefined): Effect.Effect<string | undefined> =>
  judge({ node: "lightning", ...progress, announced: known, lastRead: undefined })
