import type { ApiKey } from "../accounts/ApiKey.ts"
import type { Domain } from "../accounts/Domain.ts"
import type * as CompanyId from "../base/CompanyId.ts"
import type * as Deposit from "../receiving/Deposit.ts"
import type * as Invoice from "../receiving/Invoice.ts"
import type { LightningAddress } from "../receiving/LightningAddress.ts"
import type { OnChainAddress } from "../receiving/OnChainAddress.ts"
import type { AboutOf, Feature, Notices } from "../ledger/Feature.ts"
import type { Registered } from "../ledger/Registry.ts"
import type { Withdrawal } from "../sending/Withdrawal.ts"
import * as WithdrawalNotices from "../sending/WithdrawalNotices.ts"

const own = {
  deposit: [
    "deposit.lightning.completed",
    "deposit.on_chain.pending",
    "deposit.on_chain.completed",
    "deposit.on_chain.failed",
    "deposit.on_chain.reversed"
  ],
  withdrawal: WithdrawalNotices.types,
  invoice: ["invoice.created", "invoice.held", "invoice.settled", "invoice.expired", "invoice.canceled"],
  unmatched: ["payment.unmatched"],
  apiKey: ["api_key.requested", "api_key.approved"],
  lightningAddress: ["lightning_address.created", "lightning_address.updated", "lightning_address.deleted"],
  onChainAddress: ["on_chain_address.created"],
  domain: ["domain.verified", "domain.lost"]
} as const

type NoticesOf<F> = F extends { readonly notices: infer N extends Required<Notices> } ? N : never

type Types = typeof own & { readonly [N in NoticesOf<Registered> as N["kind"]]: N["types"] }

/** Returns the kinds of records that have events, with the types of those events. A published type is never removed. */
export const typesOf = (features: ReadonlyArray<Feature>): Types => {
  const ofFeatures = features.flatMap(({ notices }) =>
    notices?.kind === undefined ? [] : [[notices.kind, notices.types] as const]
  )
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the compiler does not infer members from a list of entries
  return { ...own, ...Object.fromEntries(ofFeatures) } as Types
}

/** A kind of record that has events. */
export type Kind = keyof Types
export type TypeOf<K extends Kind> = Types[K][number]
export type Type = TypeOf<Kind>

interface Rows {
  readonly deposit: Deposit.Deposit
  readonly withdrawal: Withdrawal
  readonly invoice: Invoice.Shown
  readonly unmatched: Invoice.Unmatched
  readonly apiKey: ApiKey
  readonly lightningAddress: LightningAddress
  readonly onChainAddress: OnChainAddress
  readonly domain: Domain
}

/** A record as an event shows it: in its state at the time of the event, regardless of later changes. */
export type About =
  | {
      readonly [K in keyof Rows]: { readonly kind: K; readonly type: TypeOf<K>; readonly record: Rows[K] }
    }[keyof Rows]
  | AboutOf<Registered>

/** Position of an event: the number of the committed event, and its part if it is published as several. */
export interface Place {
  readonly event: bigint
  readonly part: number
}

/** The position before all events. */
export const first: Place = { event: 0n, part: 0 }

/** An event as published to a company. */
export type Notice = About & {
  readonly place: Place
  readonly companyId: CompanyId.CompanyId
  readonly atMillis: number
  /** The record's id; for a domain, its name. */
  readonly subject: string
}

/**
 * Returns the types that match a filter: a single type, or a prefix such as `deposit.*`. Returns an empty list
 * if none match. `Feed.types` also has the types of the host's features.
 */
export const matching = <T extends string = Type>(
  filter: string,
  types: ReadonlyArray<T | Type>
): ReadonlyArray<T | Type> =>
  types.filter((type) => type === filter || (filter.endsWith(".*") && type.startsWith(filter.slice(0, -1))))

/** Returns the problem with a filter that matches none of the known types, or undefined. */
export const filterIssue = (filter: string, types: ReadonlyArray<string>): string | undefined =>
  matching<string>(filter, types).length > 0
    ? undefined
    : `unknown event type "${filter.slice(0, 100)}". Known types: ${types.join(", ")}. A prefix such as deposit.* matches several`

/** Returns whether `a` is after `b`. */
export const isAfter = (a: Place, b: Place): boolean =>
  a.event > b.event || (a.event === b.event && a.part > b.part)
