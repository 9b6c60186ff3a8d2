import { isObject, plain } from "@satrail/client/Plain"
import type { List } from "@satrail/client/Calls"
import type { Client } from "@satrail/client/Client"
import type { Event } from "@satrail/client/Records"
import type { ApiKey } from "@satrail/core/accounts/ApiKey"
import type { About } from "@satrail/core/events/Notice"
import * as EventBody from "@satrail/service/http/events/EventBody"
import * as Listed from "@satrail/service/http/Transactions"
import * as ApiKeys from "@satrail/http/resources/ApiKeys"
import * as Companies from "@satrail/http/resources/Companies"
import * as Deposits from "@satrail/http/resources/Deposits"
import * as Domains from "@satrail/http/resources/Domains"
import * as Invoices from "@satrail/http/resources/Invoices"
import * as LightningAddresses from "@satrail/http/resources/LightningAddresses"
import * as OnChainAddresses from "@satrail/http/resources/OnChainAddresses"
import * as Rates from "@satrail/http/resources/Rates"
import * as Transactions from "@satrail/http/resources/Transactions"
import * as Withdrawals from "@satrail/http/resources/Withdrawals"
import { type Invoice, shown } from "@satrail/core/receiving/Invoice"
import { Effect } from "effect"
import * as Features from "./features/index.ts"
import { isMoney } from "./Money.ts"
import type { ResultOf, Row, Services } from "./Nouns.ts"
import type { Reply } from "./Reply.ts"
import { combined, made } from "./Sharing.ts"
import type { CoreName } from "./Verbs.ts"

const withdrawal = Withdrawals.view.of
const address = LightningAddresses.view.of

const own = {
  apiKeys: {
    create: ApiKeys.view.of,
    get: ({ apiKey, spent }: ResultOf<Services["apiKeys"]["get"]>) => ApiKeys.show(apiKey, spent),
    list: ApiKeys.keyView.of
  },
  companies: { create: Companies.view.of, update: Companies.view.of, issueKey: ApiKeys.view.of },
  domains: { claim: Domains.own.of, list: Domains.own.of },
  invoices: {
    ...made(Invoices.view.of),
    create: (row: Invoice) => Invoices.view.of(shown(row, row.createdAtMillis)),
    cancel: Invoices.view.of,
    settle: Invoices.view.of
  },
  lightningAddresses: { ...made(address), update: address, delete: address },
  onChainAddresses: made(OnChainAddresses.view.of),
  rates: { list: Rates.view.of },
  transactions: {
    balance: Transactions.balanceView.of,
    deposit: Deposits.view.of,
    list: Listed.view.of,
    payer: Deposits.payer.of,
    withdrawal
  },
  withdrawals: { estimate: Withdrawals.estimated.of, confirm: withdrawal, get: withdrawal }
} as const

type Views = typeof own & Features.Views

/** The views of methods, which must take the results of the core's methods. */
type Possible = {
  readonly [N in keyof Services]?: {
    readonly [V in keyof Services[N] | "create"]?: (
      row: Row<ResultOf<CoreName<N, V> extends infer K extends keyof Services[N] ? Services[N][K] : never>>
    ) => object
  }
}
type View = (row: never) => object | Effect.Effect<object>
const views: Views extends Possible ? Readonly<Record<string, Readonly<Record<string, View>>>> : never =
  combined<View>([own, ...Features.views])

type Called<F> = F extends (...given: never) => infer R
  ? R extends List<infer A>
    ? A
    : Awaited<R> extends ReadonlyArray<infer A>
      ? A
      : Awaited<R>
  : unknown

/** Fields that only this package has. `withdrawals.confirm` takes the key, to apply its limits. */
const added: Readonly<Record<string, ReadonlyArray<string>>> = { "apiKeys.get": ["apiKey"] }
type Added<N, V, M> = [N, V] extends ["apiKeys", "get"] ? { readonly apiKey: Reply<ApiKey, M> } : unknown

/** A record of `@satrail/client`, for a method that has a view. `M` is the type of the metadata. */
export type Seen<N, V, M> = N extends keyof Views & keyof Client<M>
  ? V extends keyof Views[N] & keyof Client<M>[N]
    ? Called<Client<M>[N][V]> & Added<N, V, M>
    : unknown
  : unknown

type DataOf<T, E> = E extends { readonly type: infer Types; readonly data: infer D }
  ? T extends Types
    ? D
    : never
  : never

/** The record of a client's event, unless only the embedded service has events of this type. */
export type SeenEvent<T, M> = [DataOf<T, Event<M>>] extends [never] ? unknown : DataOf<T, Event<M>>

/** The client's record, or the core's record if the client has no such method. */
export type Both<C, V> = unknown extends V ? C : V

/** Returns the view of a record, with the exact amounts of the core, and with the fields `others` of the core. */
const exact = (own: unknown, seen: unknown, others: ReadonlyArray<string> = []): unknown => {
  if (!isObject(own) || !isObject(seen)) return seen
  const fields = Object.entries(seen).map(([name, value]) => [
    name,
    isMoney(value) && isMoney(own[name]) ? own[name] : value
  ])
  return Object.fromEntries([...fields, ...others.map((name) => [name, own[name]])])
}

const isEffect = (seen: object): seen is Effect.Effect<object> => Effect.isEffect(seen)

/** Returns a function that converts a core value, and its plain value, to the method's view. */
export const of = (noun: string, verb: string) => {
  const view = views[noun]?.[verb]
  const others = added[`${noun}.${verb}`]
  return (row: unknown, own: unknown): Effect.Effect<unknown> => {
    if (view === undefined) return Effect.succeed(own)
    // oxlint-disable-next-line typescript/consistent-type-assertions -- the table has the types of the results
    const seen = view(row as never)
    return Effect.map(isEffect(seen) ? seen : Effect.succeed(seen), (data) => exact(own, plain(data), others))
  }
}

/** Returns the HTTP API's view of the record of an event. `own` is the plain record. */
export const ofEvent = (about: About, own: unknown): unknown => exact(own, plain(EventBody.dataOf(about)))
