import { Context } from "effect"
import type { Invoice } from "./Invoice.ts"

// Schedules node lookups of open invoices: at the ages of 1, 2, 4, 8 … times `invoicePollMillis`, and in sweeps
// over all open invoices.

export class Options extends Context.Service<
  Options,
  {
    /**
     * Age at which an open invoice is first looked up, in case a notification from the node was lost. Later
     * lookups follow at twice that age, four times and so on up to `invoiceSweepMillis`, and then once every
     * `invoiceSweepMillis`. After expiry, lookups happen when 1, 2, 4, 8 … sweeps have passed, and at the end
     * of `expiredGraceMillis`.
     */
    readonly invoicePollMillis: number
    readonly invoiceSweepMillis: number
    /** How long lookups continue after expiry, because a payment accepted in time may settle later. */
    readonly expiredGraceMillis: number
  }
>()("@satrail/core/receiving/LookupSchedule/Options") {}

/**
 * Hold invoices are looked up continually, because a held payment must be settled or returned in time. The
 * interval is `ofAge` times the invoice's age, between `leastMillis` and `mostMillis`. A payment is returned
 * when its HTLCs have `marginBlocks` blocks left or fewer, because the node closes channels on-chain over HTLCs
 * that are not resolved in time (lnd: from 10 blocks on). A company has at most `mostOpen` hold invoices that
 * are not final, because each held payment takes liquidity and one of a channel's 483 HTLC slots.
 */
export const holdInvoices = {
  ofAge: 1 / 20,
  leastMillis: 2000,
  mostMillis: 30_000,
  marginBlocks: 24,
  mostOpen: 200
} as const

/** Returns the time until the next lookup of a hold invoice. */
export const holdAgainMillis = (
  { createdAtMillis }: Pick<Invoice, "createdAtMillis">,
  nowMillis: number
): number =>
  Math.max(
    holdInvoices.leastMillis,
    Math.min(holdInvoices.mostMillis, Math.floor((nowMillis - createdAtMillis) * holdInvoices.ofAge))
  )

const millisOfBlock = 600_000

/** Estimates when a held payment is returned, at the usual block interval. */
export const heldUntilMillis = (blocksLeft: number, nowMillis: number): number =>
  nowMillis + (blocksLeft - holdInvoices.marginBlocks) * millisOfBlock

export const defaults: Options["Service"] = {
  invoicePollMillis: 30_000,
  invoiceSweepMillis: 3600 * 1000,
  expiredGraceMillis: 24 * 3600 * 1000
}

/**
 * Returns whether an invoice is part of the current sweep. An expired invoice is part of it when 1, 2, 4, 8 …
 * sweeps have passed since its expiry, and after its grace period.
 */
export const isSwept = (
  { expiresAtMillis }: Pick<Invoice, "expiresAtMillis">,
  nowMillis: number,
  {
    invoiceSweepMillis,
    expiredGraceMillis
  }: Pick<Options["Service"], "invoiceSweepMillis" | "expiredGraceMillis">
): boolean => {
  const sweeps = (nowMillis - expiresAtMillis) / invoiceSweepMillis
  if (sweeps < 1 || nowMillis > expiresAtMillis + expiredGraceMillis) return true
  return sweeps - 2 ** Math.floor(Math.log2(sweeps)) < 1
}

/** A period of time, including `fromMillis` and excluding `untilMillis`. */
export type Range = readonly [fromMillis: number, untilMillis: number]

/**
 * Returns the creation times of invoices that have reached one of the lookup ages since `sinceMillis`, as
 * sorted, disjoint ranges.
 */
export const madeWithin = (
  sinceMillis: number,
  nowMillis: number,
  {
    invoicePollMillis,
    invoiceSweepMillis
  }: Pick<Options["Service"], "invoicePollMillis" | "invoiceSweepMillis">
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
