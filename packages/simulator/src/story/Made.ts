import type * as TxId from "@satrail/bitcoin/TxId"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { ActOf, Tag } from "../plot/Operation.ts"

/** The records a scenario has created so far, oldest first. Later operations refer to them. */
export interface Made {
  readonly invoices: Array<string>
  /** The invoices requested by companies, without those requested by wallets. */
  readonly invoiceIds: Array<{ readonly id: string; readonly bearer: string }>
  readonly addresses: Array<string>
  readonly addressIds: Array<{ readonly id: string; readonly bearer: string }>
  readonly chainAddresses: Array<string>
  readonly offers: Array<string>
  readonly destinations: Array<string>
  /** Withdrawals, with their first status if it is known. */
  readonly withdrawals: Array<{ readonly id: string; readonly bearer: string; readonly status?: string }>
  /** Links that pay the person who claims them. */
  readonly links: Array<{
    readonly id: string
    readonly k1: string
    readonly sats: number
    readonly bearer: string
  }>
  readonly transactions: Array<TxId.TxId>
  /** Hold invoices, each with its preimage if the company chose it. */
  readonly holds: Array<{
    readonly id: string
    readonly bearer: string
    readonly preimage: string | undefined
  }>
  /** Webhook endpoints as their owners see them. `secrets` are all secrets issued so far. */
  readonly endpoints: Array<{
    readonly id: string
    readonly companyId: CompanyId.CompanyId
    readonly bearer: string
    readonly url: string
    readonly types: ReadonlyArray<string>
    readonly secrets: Array<string>
  }>
  /** For each URL, the ids of the events received there, in the order of their first arrival. */
  readonly received: Map<string, Set<string>>
}

export const nothing = (): Made => ({
  invoices: [],
  invoiceIds: [],
  addresses: [],
  addressIds: [],
  chainAddresses: [],
  offers: [],
  destinations: [],
  withdrawals: [],
  links: [],
  transactions: [],
  holds: [],
  endpoints: [],
  received: new Map()
})

/** Returns the item `which` positions before the latest. */
export const latest = <A>(items: ReadonlyArray<A>, which: number): A | undefined =>
  items.length === 0 ? undefined : items.at(-1 - (which % items.length))

/** The implementation of each operation of these kinds. */
export type Acts<T extends Tag> = { readonly [tag in T]: (act: ActOf<tag>) => Promise<void> | void }
