import { isObject, type Money, plain, withJson } from "@satrail/client/Plain"
import type { List } from "@satrail/client/Calls"
import type { Client } from "@satrail/client/Client"
import type { Event } from "@satrail/client/Records"
import type { About } from "@satrail/core/events/Notice"
import * as EventBody from "@satrail/http/events/EventBody"
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
import { combined, made } from "./Sharing.ts"
import type { CoreName } from "./Verbs.ts"

const withdrawal = Withdrawals.view.of
const address = LightningAddresses.own.of

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
    deposit: Deposits.view.of,
    list: Transactions.view.of,
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
const views: Views extends Possible ? Readonly<Record<string, Readonly<Record<string, View>>>> : never = combined<View>([
  own,
  ...Features.views
])

type Called<F> = F extends (...given: never) => infer R
  ? R extends List<infer A>
    ? A
    : Awaited<R> extends ReadonlyArray<infer A>
      ? A
      : Awaited<R>
  : unknown

/** A record of `@satrail/client`, for a method that has a view. `M` is the type of the metadata. */
export type Seen<N, V, M> = N extends keyof Views & keyof Client<M>
  ? V extends keyof Views[N] & keyof Client<M>[N]
    ? Called<Client<M>[N][V]>
    : unknown
  : unknown

type Told<T, E> = E extends { readonly type: infer Types; readonly data: infer D } ? (T extends Types ? D : never) : never

/** The record of a client's event, unless only the embedded service has events of this type. */
export type SeenEvent<T, M> = [Told<T, Event<M>>] extends [never] ? unknown : Told<T, Event<M>>

/** A record with the fields of the core and of the client. Where they differ, it has the client's. */
export type Both<C, V> = unknown extends V
  ? C
  : C extends undefined
    ? V
    : Omit<C, keyof V> & {
        readonly [K in keyof V]: V[K] extends Money ? (K extends keyof C ? (C[K] extends object ? C[K] & V[K] : V[K]) : V[K]) : V[K]
      }

const both = (own: unknown, seen: unknown): unknown => {
  if (!isObject(own) || !isObject(seen)) return seen
  const fields = Object.entries(seen).map(([name, value]) => {
    const of = own[name]
    if (!isMoney(value) || !isObject(of)) return [name, value]
    // The core's amounts are exact.
    return [name, isMoney(of) ? of : Object.assign(withJson(value), of)]
  })
  return { ...own, ...Object.fromEntries(fields) }
}

const isEffect = (seen: object): seen is Effect.Effect<object> => Effect.isEffect(seen)

/** Returns a function that adds a method's view of a core value to the plain value. */
export const of = (noun: string, verb: string) => {
  const view = views[noun]?.[verb]
  return (row: unknown, own: unknown): Effect.Effect<unknown> => {
    if (view === undefined) return Effect.succeed(own)
    // oxlint-disable-next-line typescript/consistent-type-assertions -- the table has the types of the results
    const seen = view(row as never)
    return Effect.map(isEffect(seen) ? seen : Effect.succeed(seen), (data) => both(own, plain(data)))
  }
}

/** Adds the HTTP API's fields to the plain record of an event. */
export const ofEvent = (about: About, own: unknown): unknown => both(own, plain(EventBody.dataOf(about)))
