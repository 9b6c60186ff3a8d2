import type { Effect } from "effect"
import type { BenchFailed } from "./Program.ts"

/** A service that runs, a payer of its own who has money, and a payee. Whole HTTP requests are for the generator. */
export interface Side {
  readonly name: string
  readonly port: number
  /** Of the payer. */
  readonly balance: string
  readonly createInvoice: string
  readonly pay: (invoice: string) => string
  /** Of the payee: an invoice of so many sats, and how many he has. */
  readonly invoice: (sats: number) => Effect.Effect<string, BenchFailed>
  readonly received: Effect.Effect<number, BenchFailed>
}
