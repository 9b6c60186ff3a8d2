import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as Preimage from "@satrail/bitcoin/Preimage"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import { Companies } from "@satrail/core/accounts/Companies"
import { Domains } from "@satrail/core/accounts/Domains"
import { VoidLinks } from "@satrail/core/accounts/VoidLinks"
import type { Plan } from "@satrail/core/accounts/Plan"
import { type Asked, Prices } from "@satrail/core/nodes/Prices"
import { Invoices } from "@satrail/core/receiving/Invoices"
import type * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import { LightningAddresses } from "@satrail/core/receiving/LightningAddresses"
import { OnChainAddresses } from "@satrail/core/receiving/OnChainAddresses"
import type { Period } from "@satrail/core/reports/Booking"
import { type Asked as BookingsAsked, Bookings } from "@satrail/core/reports/Bookings"
import { Transactions } from "@satrail/core/reports/Transactions"
import { qrOf } from "@satrail/http/resources/LightningAddresses"
import type { Sealer } from "@satrail/http/wire/Seal"
import { Clock, Context, Effect, Option } from "effect"
import * as Features from "./features/index.ts"
import { type Changes, combined, type First, type Id, type Of } from "./Sharing.ts"

type KeyAsk = First<ApiKeys["Service"]["issue"]>
type InvoiceAsk = Extract<First<Invoices["Service"]["create"]>, Asked>
type Booked = Omit<BookingsAsked, keyof Period> & Partial<Period>
type AddressAsk = First<OnChainAddresses["Service"]["create"]>
type DomainRequest = Parameters<Domains["Service"]["verify"]>[2]

const accounts = (of: Of) => {
  const [apiKeys, companies, transactions] = [of(ApiKeys), of(Companies), of(Transactions)]
  return {
    apiKeys: {
      /** Returns a key and its spending within the windows of its limits. */
      get: (companyId: Id, id: string) => apiKeys.get(id, companyId),
      /** Revokes a key. By the time this returns, no process accepts the key. Can also cancel the links that it created. */
      revoke: Effect.fnUntraced(function* (
        companyId: Id,
        id: string,
        { links }: { readonly links?: "void" | null | undefined } = {}
      ) {
        yield* apiKeys.revoke(id, companyId)
        return {
          id,
          revoked: true as const,
          ...(links === "void" && { voidedLinks: yield* of(VoidLinks)(companyId, id) })
        }
      })
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
    bookings: {
      /**
       * Lists the opening balance, each booking with the balance after it, and the closing balance, oldest first.
       * By default, the period begins with the first booking and ends now.
       */
      lines: Effect.fnUntraced(function* (companyId: Id, { fromMillis, untilMillis, ...query }: Booked) {
        const now = yield* Clock.currentTimeMillis
        return yield* of(Bookings).page(companyId, {
          ...query,
          fromMillis: fromMillis ?? 0,
          untilMillis: Math.min(untilMillis ?? Infinity, now + 1)
        })
      })
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
    transactions: {
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
        return yield* addresses.updateSettings(
          companyId,
          id,
          ({ minSendable, maxSendable, successMessage, metadata }) => {
            const { minAmount = minSendable, maxAmount = maxSendable } = given
            const words = {
              successMessage: given.successMessage === undefined ? successMessage : given.successMessage
            }
            const text = given.metadata === undefined ? metadata : (given.metadata ?? {})
            return Effect.succeed({
              minSendable: minAmount,
              maxSendable: maxAmount,
              ...words,
              metadata: text
            })
          }
        )
      }),
      delete: addresses.remove,
      /** Returns the address as text and SVG of a QR code. */
      qr: (companyId: Id, id: string) => Effect.map(addresses.get(companyId, id), qrOf)
    },
    onChainAddresses: {
      create: ({
        addressType,
        ...others
      }: Omit<AddressAsk, "type"> & { readonly addressType: AddressAsk["type"] }) =>
        of(OnChainAddresses).create({ ...others, type: addressType })
    },
    rates: {
      /** Returns the current exchange rates. */
      list: (_company?: Id) => of(Prices).current
    }
  }
}

const own = (of: Of) => ({ ...accounts(of), ...receiving(of) })

/** Methods by service and public name, in the core's types. */
export type Shared = ReturnType<typeof own> & Features.Shared

/** Methods whose arguments or names in the HTTP API differ from those of the core's services. */
export const make = ({
  context,
  links
}: {
  readonly context: Context.Context<never>
  readonly links: Sealer
}) => {
  const of: Of = (key) => Option.getOrThrow(Context.getOption(context, key))
  return combined<unknown>([own(of), ...Features.shared(of, links)])
}
