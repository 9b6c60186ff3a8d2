import { Context } from "effect"
import type { Invoice } from "./Invoice.ts"

// When open invoices are looked up at the node: at the ages 1, 2, 4, 8 … times `invoicePollMillis`, and in sweeps over all of them.

export class Options extends Context.Service<
  Options,
  {
    /**
     * When an open invoice is looked up, in case a notice of the node was lost: at this age, at twice this age, and so on, until `invoiceSweepMillis`; from
     * then on once in every `invoiceSweepMillis`. After it expired: when 1, 2, 4, 8 … of those have passed, and at the end of `expiredGraceMillis`.
     */
    readonly invoicePollMillis: number
    readonly invoiceSweepMillis: number
    /** How long after its expiry an invoice is still looked up: a payment accepted in time may settle later. */
    readonly expiredGraceMillis: number
  }
>()("@satrail/core/receiving/LookUps/Options") {}

/**
 * Hold invoices are looked up all the time: what is held waits for a decision. One is looked up again after `ofAge` of its age, from `leastMillis` to `mostMillis`.
 * What has this many blocks left before its HTLCs end, or fewer, is sent back: a node closes channels on the chain over what is not ended in time (lnd: from 10 on).
 * A company has at most `mostOpen` that have not ended: what is held takes one of the 483 places of a channel, and liquidity, until it is decided.
 */
export const holds = { ofAge: 1 / 20, leastMillis: 2000, mostMillis: 30_000, marginBlocks: 24, mostOpen: 200 } as const

/** How long until a hold invoice is looked up again. */
export const holdAgainMillis = ({ createdAtMillis }: Pick<Invoice, "createdAtMillis">, nowMillis: number): number =>
  Math.max(holds.leastMillis, Math.min(holds.mostMillis, Math.floor((nowMillis - createdAtMillis) * holds.ofAge)))

const millisOfBlock = 600_000

/** When what is held is sent back, if blocks come as they usually do. */
export const heldUntilMillis = (blocksLeft: number, nowMillis: number): number =>
  nowMillis + (blocksLeft - holds.marginBlocks) * millisOfBlock

export const defaults: Options["Service"] = {
  invoicePollMillis: 30_000,
  invoiceSweepMillis: 3600 * 1000,
  expiredGraceMillis: 24 * 3600 * 1000
}

/** Whether an invoice is looked up in the sweep of this moment. One that expired is, when 1, 2, 4, 8 … sweeps have passed since, and when its grace is over. */
export const isSwept = (
  { expiresAtMillis }: Pick<Invoice, "expiresAtMillis">,
  nowMillis: number,
  { invoiceSweepMillis, expiredGraceMillis }: Pick<Options["Service"], "invoiceSweepMillis" | "expiredGraceMillis">
): boolean => {
  const sweeps = (nowMillis - expiresAtMillis) / invoiceSweepMillis
  if (sweeps < 1 || nowMillis > expiresAtMillis + expiredGraceMillis) return true
  return sweeps - 2 ** Math.floor(Math.log2(sweeps)) < 1
}

/** From which moment until which. */
export type Range = readonly [fromMillis: number, untilMillis: number]

/** The times, in order and apart, at which an invoice was made that reached one of the ages at which it is looked up, since `sinceMillis`. */
export const madeWithin = (
  sinceMillis: number,
  nowMillis: number,
  { invoicePollMillis, invoiceSweepMillis }: Pick<Options["Service"], "invoicePollMillis" | "invoiceSweepMillis">
): ReadonlyArray<Range> => {
  const ranges: Array<Range> = []
  for (let age = invoicePollMillis; age <= invoiceSweepMillis; age *= 2) {
    const [from, until] = [sinceMillis - age, nowMillis - age]
    const later = ranges.at(-1)
    if (later !== undefined && until >= later[0]) ranges[ranges.length - 1] = [from, later[1]]
    else ranges.push([from, until])
  }
  return ranges.toReversed()
}
