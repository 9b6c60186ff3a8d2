import { isObject, type Money, plain, withJson } from "@satrail/client/Plain"
import type { List } from "@satrail/client/Calls"
import type { Client } from "@satrail/client/Client"
import type { Event } from "@satrail/client/Records"
import type { About } from "@satrail/core/events/Notice"
import * as EventBody from "@satrail/http/events/EventBody"
import * as Adjustments from "@satrail/http/features/adjustments/Adjustments"
import * as Audit from "@satrail/http/features/audit/Audit"
import * as Checkouts from "@satrail/http/features/checkouts/Checkouts"
import * as Offers from "@satrail/http/features/offers/Offers"
import * as Refunds from "@satrail/http/features/refunds/Refunds"
import * as Statements from "@satrail/http/features/statements/Statements"
import * as Vouchers from "@satrail/http/features/vouchers/Vouchers"
import * as Deliveries from "@satrail/http/features/webhooks/WebhookDeliveries"
import * as Endpoints from "@satrail/http/features/webhooks/WebhookEndpoints"
import * as Webhooks from "@satrail/http/features/webhooks/records/WebhookView"
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
import { shown } from "@satrail/core/receiving/Invoice"
import { Effect } from "effect"
import { isMoney } from "./Money.ts"
import type { ResultOf, Row, Services } from "./Nouns.ts"
import type { CoreName } from "./Verbs.ts"

const made = <View>(of: View) => ({ create: of, get: of, list: of })
const withdrawal = Withdrawals.view.of
const endpoint = Webhooks.view.of
const address = LightningAddresses.own.of

/** The HTTP API's views of the core's results. A program can then replace `satrail()` with `client()`. */
export const views = {
  apiKeys: {
    create: ApiKeys.view.of,
    get: ({ apiKey, spent }) => ApiKeys.show(apiKey, spent),
    list: ApiKeys.keyView.of
  },
  audit: { list: Audit.view.of },
  checkouts: { ...made(Checkouts.view.of), cancel: Checkouts.view.of },
  companies: { create: Companies.view.of, update: Companies.view.of, issueKey: ApiKeys.view.of },
  domains: { claim: Domains.own.of, list: Domains.own.of },
  invoices: {
    ...made(Invoices.view.of),
    create: (row) => Invoices.view.of(shown(row, row.createdAtMillis)),
    cancel: Invoices.view.of,
    settle: Invoices.view.of
  },
  lightningAddresses: { ...made(address), update: address, delete: address },
  offers: made(Offers.view.of),
  onChainAddresses: made(OnChainAddresses.view.of),
  rates: { list: Rates.view.of },
  refunds: { create: Refunds.made.of },
  statements: { get: Statements.view.of },
  transactions: {
    adjustment: Adjustments.own.of,
    deposit: Deposits.view.of,
    list: Transactions.view.of,
    payer: Deposits.payer.of,
    withdrawal
  },
  vouchers: { create: Vouchers.issued.of, get: Vouchers.view.of, list: Vouchers.view.of, cancel: Vouchers.view.of },
  webhooks: {
    create: Endpoints.issued.of,
    update: endpoint,
    delete: endpoint,
    enable: endpoint,
    replay: endpoint,
    rotateSecret: Endpoints.issued.of,
    deliveries: Deliveries.view.of,
    resend: Deliveries.view.of
  },
  withdrawals: { estimate: Withdrawals.estimated.of, confirm: withdrawal, get: withdrawal }
} as const satisfies {
  readonly [N in keyof Services]?: {
    readonly [V in keyof Services[N] | "create"]?: (
      row: Row<ResultOf<CoreName<N, V> extends infer K extends keyof Services[N] ? Services[N][K] : never>>
    ) => object
  }
}

type Called<F> = F extends (...given: never) => infer R
  ? R extends List<infer A>
    ? A
    : Awaited<R> extends ReadonlyArray<infer A>
      ? A
      : Awaited<R>
  : unknown

/** A record of `@satrail/client`, for a method that has a view. `M` is the type of the metadata. */
export type Seen<N, V, M> = N extends keyof typeof views & keyof Client<M>
  ? V extends keyof (typeof views)[N] & keyof Client<M>[N]
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

const table: Readonly<Record<string, Readonly<Record<string, (row: never) => object | Effect.Effect<object>>>>> = views

/** Returns a function that adds a method's view of a core value to the plain value. */
export const of = (noun: string, verb: string) => {
  const view = table[noun]?.[verb]
  return (row: unknown, own: unknown): Effect.Effect<unknown> => {
    if (view === undefined) return Effect.succeed(own)
    // oxlint-disable-next-line typescript/consistent-type-assertions -- the table has the types of the results
    const seen = view(row as never)
    return Effect.map(isEffect(seen) ? seen : Effect.succeed(seen), (data) => both(own, plain(data)))
  }
}

/** Adds the HTTP API's fields to the plain record of an event. */
export const ofEvent = (about: About, own: unknown): unknown => both(own, plain(EventBody.dataOf(about)))
