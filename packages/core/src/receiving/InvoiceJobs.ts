import { Context, Effect, Layer } from "effect"
import type * as Change from "../ledger/Change.ts"
import type { Invoice } from "./Invoice.ts"

/** Returns the jobs that the payment of an invoice begins. */
export type JobsOf = (invoice: Invoice, atMillis: number) => ReadonlyArray<Change.Job>

/** The jobs that the Change which settles an invoice begins, or which claims it for a payment inside the ledger. None unless a layer adds some. */
export class InvoiceJobs extends Context.Reference<JobsOf>("@satrail/core/receiving/InvoiceJobs", { defaultValue: () => () => [] }) {}

/** Adds jobs to those that layers below add. */
export const layer = (more: JobsOf): Layer.Layer<never> =>
  Layer.effect(
    InvoiceJobs,
    Effect.map(InvoiceJobs, (before): JobsOf => (invoice, atMillis) => [...before(invoice, atMillis), ...more(invoice, atMillis)])
  )
