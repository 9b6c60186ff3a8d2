import type * as TxId from "@satrail/bitcoin/TxId"
import type { ActOf, Tag } from "../plot/Operation.ts"

/** What came of a story so far, the oldest first: later operations are about it. */
export interface Made {
  readonly invoices: Array<string>
  /** Those of them that companies asked for, not wallets. */
  readonly invoiceIds: Array<{ readonly id: string; readonly bearer: string }>
  readonly addresses: Array<string>
  readonly addressIds: Array<{ readonly id: string; readonly bearer: string }>
  readonly chainAddresses: Array<string>
  readonly offers: Array<string>
  readonly destinations: Array<string>
  /** Withdrawals that wait for another key, or did. */
  readonly awaiting: Array<{ readonly id: string; readonly bearer: string }>
  /** Links that pay whoever claims them. */
  readonly links: Array<{ readonly id: string; readonly k1: string; readonly sats: number; readonly bearer: string }>
  readonly transactions: Array<TxId.TxId>
  /** Hold invoices, each with its preimage where that is its company's. */
  readonly holds: Array<{ readonly id: string; readonly bearer: string; readonly preimage: string | undefined }>
}

export const nothing = (): Made => ({
  invoices: [],
  invoiceIds: [],
  addresses: [],
  addressIds: [],
  chainAddresses: [],
  offers: [],
  destinations: [],
  awaiting: [],
  links: [],
  transactions: [],
  holds: []
})

/** The one that is `which` places before the latest. */
export const latest = <A>(items: ReadonlyArray<A>, which: number): A | undefined =>
  items.length === 0 ? undefined : items.at(-1 - (which % items.length))

/** What is done for each operation of these kinds. */
export type Acts<T extends Tag> = { readonly [tag in T]: (act: ActOf<tag>) => Promise<void> | void }
