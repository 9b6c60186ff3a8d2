import { Context, Effect, Layer } from "effect"
import type * as Change from "../ledger/Change.ts"
import type { Invoice } from "./Invoice.ts"

/** Returns the jobs to enqueue when an invoice is paid. */
export type JobsOf = (invoice: Invoice, atMillis: number) => ReadonlyArray<Change.Job>

/**
 * Jobs enqueued by the Change that settles an invoice, or that claims it for an internal payment. There are
 * none unless a layer adds some.
 */
export class InvoiceJobs extends Context.Reference<JobsOf>("@satrail/core/receiving/InvoiceJobs", {
  defaultValue: () => () => []
}) {}

/** Adds jobs to those of lower layers. */
export const layer = (more: JobsOf): Layer.Layer<never> =>
  Layer.effect(
    InvoiceJobs,
    Effect.map(InvoiceJobs, (before): JobsOf => (invoice, atMillis) => [
      ...before(invoice, atMillis),
      ...more(invoice, atMillis)
    ])
  )
