import { Context, Effect, Layer } from "effect"
import type * as Change from "../ledger/Change.ts"
import type { Deposit } from "./Deposit.ts"

export type JobsOf = (deposit: Deposit, atMillis: number) => ReadonlyArray<Change.Job>

/**
 * Jobs enqueued when a deposit is first recorded, and again when it is credited, its credit is reversed or an amount of
 * it becomes refundable again, in the same commit. There are none unless a layer adds some.
 */
export class DepositJobs extends Context.Reference<JobsOf>("@satrail/core/receiving/DepositJobs", {
  defaultValue: () => () => []
}) {}

/** Adds jobs to those of lower layers. */
export const layer = (more: JobsOf): Layer.Layer<never> =>
  Layer.effect(
    DepositJobs,
    Effect.map(DepositJobs, (before): JobsOf => (deposit, atMillis) => [
      ...before(deposit, atMillis),
      ...more(deposit, atMillis)
    ])
  )
