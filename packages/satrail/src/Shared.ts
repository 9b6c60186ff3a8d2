import { wireTypes } from "@satrail/client/Plain"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as Preimage from "@satrail/bitcoin/Preimage"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import { Companies } from "@satrail/core/accounts/Companies"
import { Domains } from "@satrail/core/accounts/Domains"
import type { Plan } from "@satrail/core/accounts/Plan"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Invalid } from "@satrail/core/base/Invalid"
import { cursorOf, placeOf } from "@satrail/core/events/Events"
import * as Notice from "@satrail/core/events/Notice"
import { Adjustments } from "@satrail/core/features/adjustments/Adjustments"
import { AuditLog, type Query } from "@satrail/core/features/audit/AuditLog"
import { Offers } from "@satrail/core/features/offers/Offers"
import { Refunds } from "@satrail/core/features/refunds/Refunds"
import { Statements } from "@satrail/core/features/statements/Statements"
import type { Delivery } from "@satrail/core/features/webhooks/records/Delivery"
import type { Settings } from "@satrail/core/features/webhooks/records/Endpoint"
import * as Core from "@satrail/core/features/webhooks/Webhooks"
import type * as Page from "@satrail/core/ledger/Page"
import { type Asked, Prices } from "@satrail/core/nodes/Prices"
import { Invoices } from "@satrail/core/receiving/Invoices"
import type * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import { LightningAddresses } from "@satrail/core/receiving/LightningAddresses"
import { OnChainAddresses } from "@satrail/core/receiving/OnChainAddresses"
import { Transactions } from "@satrail/core/reports/Transactions"
import { filterIssue } from "@satrail/http/events/Feed"
import { qrOf } from "@satrail/http/resources/LightningAddresses"
import type { Sealer } from "@satrail/http/wire/Seal"
import { Context, Effect, Option, Redacted } from "effect"

type First<F> = F extends (ask: infer A, ...others: never) => unknown ? A : never
type KeyAsk = First<ApiKeys["Service"]["issue"]>
type InvoiceAsk = Extract<First<Invoices["Service"]["create"]>, Asked>
type OfferAsk = First<Offers["Service"]["create"]>
type AddressAsk = First<OnChainAddresses["Service"]["create"]>
type EndpointAsk = First<Core.Webhooks["Service"]["create"]>
type RefundAsk = First<Refunds["Service"]["create"]>
type DomainRequest = Parameters<Domains["Service"]["verify"]>[2]

/** Changes of a record. Fields that are undefined stay, and null clears a field. */
type Changes<T> = { readonly [K in keyof T]?: T[K] | null | undefined }

const placeFrom = (event: string) => {
  const place = placeOf(event)
  return place === undefined
    ? Effect.fail(new Invalid({ path: "replayFrom", message: "must be the id of an event" }))
    : Effect.succeed(place)
}

const settingsOf = (given: Changes<Settings>, now: Settings) => {
  const types = given.types === undefined ? now.types : (given.types ?? []).flatMap(wireTypes)
  for (const type of types) {
    const issue = filterIssue(type)
    if (issue !== undefined) return Effect.fail(new Invalid({ path: "types", message: issue }))
  }
  return Effect.succeed({
    url: given.url ?? now.url,
    description: given.description === undefined ? now.description : (given.description ?? ""),
    signatureHeader: given.signatureHeader === undefined ? now.signatureHeader : given.signatureHeader,
    types
  })
}

const noSettings: Settings = { url: "", description: "", types: [], signatureHeader: null }

const withEvent = (row: Delivery) => ({ ...row, eventId: cursorOf(placeOf(row.place) ?? Notice.first) })

type Id = CompanyId.CompanyId

/** Returns a service. */
type Of = <I, S>(key: Context.Key<I, S>) => S

const accounts = (of: Of) => {
  const [apiKeys, companies, transactions] = [of(ApiKeys), of(Companies), of(Transactions)]
  return {
    apiKeys: {
      /** Returns a key and its spending within the windows of its limits. */
      get: (companyId: Id, id: string) => apiKeys.get(id, companyId),
      /** Revokes a key. By the time this returns, no process accepts the key. */
      revoke: (companyId: Id, id: string) => Effect.as(apiKeys.revoke(id, companyId), { id, revoked: true as const })
    },
    audit: {
      /** Returns a page of a company's audit log, newest first. */
      list: (companyId: Id, query: Query) => of(AuditLog).list(companyId, query)
    },
    companies: {
      get: companies.overview,
      /** Changes a company's plan. By the time this returns, every process applies the new plan. */
      update: (id: Id, { plan }: { readonly plan?: Plan | undefined }) =>
        plan === undefined ? companies.get(id) : companies.changePlan(id, plan),
      /** Allows a frozen company to send again. */
      unfreeze: (id: Id) => companies.unfreeze(id),
      /** Issues an API key, as `apiKeys.create` does. */
      issueKey: (id: Id, ask: Omit<KeyAsk, "companyId" | "by">) => apiKeys.issue({ ...ask, companyId: id })
    },
    domains: {
      /** Verifies a domain by its DNS record. Requires a paid plan. */
      claim: ({
        company,
        domain,
        request
      }: {
        readonly company: Parameters<Domains["Service"]["verify"]>[0]
        readonly domain: string
        readonly request?: DomainRequest
      }) => of(Domains).verify(company, domain, request)
    },
    statements: {
      get: (companyId: Id, month: string) =>
        Effect.all({ month: of(Statements).get(companyId, month), company: companies.get(companyId) }).pipe(
          Effect.map(({ month, company }) => ({ ...month, company }))
        )
    },
    transactions: {
      /** Returns a booked adjustment of this company. */
      adjustment: (companyId: Id, id: string) => of(Adjustments).ofCompany(companyId, id),
      /** Returns the payer's comment and data of a deposit. */
      payer: transactions.callback
    },
    withdrawals: { get: transactions.withdrawal }
  }
}

const receiving = (of: Of) => {
  const [invoices, addresses] = [of(Invoices), of(LightningAddresses)]
  return {
    invoices: {
      create: ({
        asked,
        hold,
        paymentHash,
        ...others
      }: Omit<InvoiceAsk, keyof Asked | "hold" | "apiKeyId"> & {
        readonly asked: Asked | null
        readonly minAmount: LightningAddress.Settings["minSendable"]
        readonly maxAmount: LightningAddress.Settings["maxSendable"]
        /** Holds payments until the invoice is settled or canceled. */
        readonly hold?: boolean
        readonly paymentHash?: PaymentHash.PaymentHash | null
      }) =>
        invoices.create({
          ...others,
          ...(asked ?? { amount: null }),
          ...(hold === true && { hold: { paymentHash: paymentHash ?? null } })
        }),
      cancel: (companyId: Id, id: string) => invoices.cancel(companyId, id),
      settle: (companyId: Id, id: string, { preimage }: { readonly preimage: Preimage.Preimage | null }) =>
        invoices.settle(companyId, id, preimage)
    },
    lightningAddresses: {
      /** Changes the given settings of an address. Once this returns, every process uses the new settings. */
      update: Effect.fnUntraced(function* (
        companyId: Id,
        id: string,
        given: Changes<Omit<LightningAddress.Settings, "minSendable" | "maxSendable">> & {
          readonly minAmount?: LightningAddress.Settings["minSendable"] | undefined
          readonly maxAmount?: LightningAddress.Settings["maxSendable"] | undefined
        }
      ) {
        const { minSendable, maxSendable, successMessage, metadata } = yield* addresses.get(companyId, id)
        const { minAmount = minSendable, maxAmount = maxSendable } = given
        const words = { successMessage: given.successMessage === undefined ? successMessage : given.successMessage }
        const text = given.metadata === undefined ? metadata : (given.metadata ?? {})
        return yield* addresses.change(companyId, id, { minSendable: minAmount, maxSendable: maxAmount, ...words, metadata: text })
      }),
      delete: addresses.remove,
      /** Returns the address as text and SVG of a QR code. */
      qr: (companyId: Id, id: string) => Effect.map(addresses.get(companyId, id), qrOf)
    },
    offers: {
      /** Creates an offer, whose payments must have at least `amount`. Without an amount, the payer decides. */
      create: Effect.fnUntraced(function* ({
        asked,
        description,
        ...others
      }: Omit<OfferAsk, "amount" | "memo"> & { readonly asked: Asked | null; readonly description: string }) {
        const amount = asked === null ? null : (yield* of(Prices).price(asked)).amount
        return yield* of(Offers).create({ ...others, memo: description, amount })
      })
    },
    onChainAddresses: {
      create: ({ addressType, ...others }: Omit<AddressAsk, "type"> & { readonly addressType: AddressAsk["type"] }) =>
        of(OnChainAddresses).create({ ...others, type: addressType })
    },
    rates: {
      /** Returns the current exchange rates. */
      list: (_company?: Id) => of(Prices).current
    }
  }
}

const webhooksOf = (of: Of) => {
  const webhooks = of(Core.Webhooks)
  return {
    webhooks: {
      create: Effect.fnUntraced(function* ({ companyId, request, ...settings }: Omit<EndpointAsk, "settings"> & Settings) {
        return yield* webhooks.create({ companyId, settings: yield* settingsOf(settings, noSettings), ...(request && { request }) })
      }),
      /** Changes the given settings of an endpoint. */
      update: Effect.fnUntraced(function* (companyId: Id, id: string, given: Changes<Settings>) {
        return yield* webhooks.change(companyId, id, yield* settingsOf(given, yield* webhooks.get(companyId, id)))
      }),
      delete: webhooks.remove,
      /** Replaces the secret. The previous one also signs for `overlapSeconds`. */
      rotateSecret: (companyId: Id, id: string, { overlapSeconds }: { readonly overlapSeconds: number }) =>
        webhooks.rotate(companyId, id, overlapSeconds),
      /** Enables the endpoint. Events are sent after the event `replayFrom`, or from where sending stopped. */
      enable: Effect.fnUntraced(function* (companyId: Id, id: string, { replayFrom }: { readonly replayFrom: string | null }) {
        return yield* webhooks.enable(companyId, id, replayFrom === null ? undefined : yield* placeFrom(replayFrom))
      }),
      /** Sends every event after `replayFrom` again, including events already delivered. */
      replay: Effect.fnUntraced(function* (companyId: Id, id: string, { replayFrom }: { readonly replayFrom: string }) {
        return yield* webhooks.replay(companyId, id, yield* placeFrom(replayFrom))
      }),
      deliveries: (companyId: Id, id: string, query: Page.Asked) =>
        Effect.map(webhooks.deliveries(companyId, id, query), ({ rows, next }) => ({ rows: rows.map(withEvent), next })),
      resend: (companyId: Id, id: string) => Effect.map(webhooks.resend(companyId, id), withEvent)
    }
  }
}

const refundsOf = (of: Of, links: Sealer) => ({
  refunds: {
    create: ({ onCheckout, ...others }: Omit<RefundAsk, "onCheckout"> & { readonly onCheckout: boolean }) => {
      const seal = (url: Redacted.Redacted) => links.seal(Redacted.value(url), others.company.id)
      return of(Refunds).create({ ...others, ...(onCheckout && { onCheckout: { seal } }) })
    }
  }
})

/** Methods whose arguments or names in the HTTP API differ from those of the core's services. */
export const make = ({ context, links }: { readonly context: Context.Context<never>; readonly links: Sealer }) => {
  const of: Of = (key) => Option.getOrThrow(Context.getOption(context, key))
  return { ...accounts(of), ...receiving(of), ...webhooksOf(of), ...refundsOf(of, links) }
}

/** Methods by service and public name, in the core's types. */
export type Shared = ReturnType<typeof make>
