import { all as plots } from "../features/plots.ts"
import type { To } from "../plot/Operation.ts"
import type { Customers } from "./Customers.ts"
import { text } from "./Json.ts"
import { type Acts, latest, type Made } from "./Made.ts"
import { amountOf, type Outsiders } from "./Outsiders.ts"

export const paths = {
  invoice: "/v1/bitcoin/deposit/lightning-invoice",
  address: "/v1/bitcoin/deposit/lightning-address",
  chain: "/v1/bitcoin/deposit/on-chain",
  withdraw: ["/v1/bitcoin/withdraw/confirm", "/v1/bitcoin/send/confirm"]
} as const

const lists = [
  "/v1/transactions/balance",
  "/v1/transactions",
  ...plots.flatMap(({ lists = [] }) => lists),
  "/v1/transactions?limit=3&type=deposit"
]

/** Invalid bodies of every kind. */
const malformed: ReadonlyArray<readonly [path: string, body: string]> = [
  [paths.invoice, "{"],
  [paths.invoice, '{"amount": -1, "currency": "sats"}'],
  [paths.invoice, '{"amount": 1e400, "currency": "sats"}'],
  [paths.invoice, '{"amount": 1, "currency": "doubloons"}'],
  [paths.invoice, '{"amount": 1, "currency": "sats", "metdata": {}}'],
  [paths.invoice, '{"amount": 1, "currency": "sats", "expiry_seconds": 1}'],
  [paths.withdraw[0], '{"destination": ""}'],
  [paths.withdraw[0], '{"destination": "lnbc1pvjluez", "amount": 1, "currency": "sats"}'],
  [paths.withdraw[0], '{"destination": "nobody@nowhere.example", "amount": 1, "currency": "sats"}'],
  [paths.withdraw[1], '{"amount": 1, "currency": "sats"}'],
  [paths.withdraw[1], '{"destination": "settle@wallet.example", "amount": 99999999999, "currency": "sats"}'],
  [paths.withdraw[1], '{"destination": "settle@wallet.example", "amount": 0, "currency": "sats"}'],
  ...plots.flatMap(({ malformed = [] }) => malformed),
  [paths.address, '{"handle": "Not A Handle"}'],
  [paths.chain, '{"address_type": "legacy"}']
]

export const sats = (amount: number) => ({ amount, currency: "sats" })

/** Returns a destination, and whether the payer chooses the amount. */
export const destinationOf = (
  { named, recipient }: Outsiders,
  made: Made,
  to: To,
  amount: number
): { readonly destination: string | undefined; readonly isOpen: boolean } => {
  switch (to._tag) {
    case "Invoice":
      return { destination: recipient("lightning_invoice", to.behaviour, amount), isOpen: false }
    case "OpenInvoice":
      return { destination: recipient("lightning_invoice", to.behaviour), isOpen: true }
    case "Address":
      return { destination: recipient("lightning_address", to.behaviour), isOpen: true }
    case "Lnurl":
      return { destination: recipient("lnurl", to.behaviour), isOpen: true }
    case "Offer":
      return { destination: recipient("bolt12_offer", to.behaviour), isOpen: true }
    case "Chain": {
      const destination = recipient("chain_address", "settle")
      // Some payees are paid by name. The amount determines which ones, so that existing plots don't change.
      return {
        destination: destination !== undefined && amount % 2000 === 0 ? named(destination) : destination,
        isOpen: true
      }
    }
    case "OwnInvoice":
    case "OwnAddress": {
      const own = to._tag === "OwnInvoice" ? made.invoices : made.addresses
      const destination = latest(own, to.which)
      return {
        destination,
        isOpen: destination !== undefined && (destination.includes("@") || amountOf(destination) === 0n)
      }
    }
    case "OwnOffer":
      return { destination: latest(made.offers, to.which), isOpen: true }
    case "OwnChain":
      return { destination: latest(made.chainAddresses, to.which), isOpen: true }
    case "Again": {
      const destination = latest(made.destinations, to.which)
      return {
        destination,
        isOpen: destination?.startsWith("ln") !== true || /^ln(?:url|o1)/.test(destination)
      }
    }
  }
}

/**
 * Returns a function that sends a company's POST request. An Idempotency-Key, if any, is also stored in the
 * metadata.
 */
export const posting =
  (customers: Customers) =>
  (
    { slot, company, isOnce }: { readonly slot: number; readonly company: number; readonly isOnce: boolean },
    path: string,
    body: object,
    succeeded?: (data: unknown, bearer: string) => void
  ): void => {
    const asker = latest(customers.companies, company)
    if (asker === undefined) return
    const once = isOnce ? customers.freshKey() : undefined
    const { bearer } = asker
    const metadata = once === undefined ? {} : { once }
    customers.ask(
      { slot, method: "POST", path, bearer, once, body: JSON.stringify({ ...body, metadata }) },
      (data) => succeeded?.(data, bearer)
    )
  }

/** Requests by companies. */
export const make = (
  customers: Customers,
  outsiders: Outsiders,
  made: Made
): Acts<
  | "CreateInvoice"
  | "CancelInvoice"
  | "CreateAddress"
  | "CreateChainAddress"
  | "Withdraw"
  | "Repeat"
  | "Malformed"
  | "Look"
> => {
  const post = posting(customers)

  return {
    CreateInvoice: (act) =>
      post(
        act,
        paths.invoice,
        {
          ...(act.sats === null ? { amount: null } : sats(act.sats)),
          description: "tea",
          expiry_seconds: act.expirySeconds
        },
        (data, bearer) => {
          made.invoices.push(text(data, "payment_request"))
          made.invoiceIds.push({ id: text(data, "id"), bearer })
        }
      ),
    CancelInvoice: ({ slot, which }) => {
      const invoice = latest(made.invoiceIds, which)
      if (invoice === undefined) return
      customers.ask({
        slot,
        method: "POST",
        path: `${paths.invoice}/${invoice.id}/cancel`,
        bearer: invoice.bearer
      })
    },
    CreateAddress: (act) =>
      post(act, paths.address, {}, (data, bearer) => {
        made.addresses.push(text(data, "address"))
        made.addressIds.push({ id: text(data, "id"), bearer })
      }),
    CreateChainAddress: (act) =>
      post(
        act,
        paths.chain,
        { address_type: act.type },
        (data) => void made.chainAddresses.push(text(data, "address", "address"))
      ),
    Withdraw: (act) => {
      const { destination, isOpen } = destinationOf(outsiders, made, act.to, act.sats)
      if (destination === undefined) return
      made.destinations.push(destination)
      post(
        act,
        paths.withdraw[act.sats % 2] ?? paths.withdraw[0],
        { destination, ...(isOpen && sats(act.sats)) },
        (data, bearer) => {
          made.withdrawals.push({ id: text(data, "id"), bearer, status: text(data, "status") })
        }
      )
    },
    Repeat: ({ slot, which, isOther }) => {
      const request = latest(customers.requests, which)
      if (request === undefined) return
      if (!isOther || request.ask.once === undefined) customers.repeat(request, slot)
      else customers.misuse(request, slot)
    },
    Malformed: ({ slot, company, which }) => {
      const [path, body] = latest(malformed, which) ?? [paths.invoice, ""]
      const bearer = latest(customers.companies, company)?.bearer
      customers.ask({ slot, method: "POST", path, body, bearer: which % 7 === 0 ? "nobody's" : bearer })
    },
    Look: ({ slot, company, which }) =>
      customers.ask({
        slot,
        method: "GET",
        path: latest(lists, which) ?? "",
        bearer: latest(customers.companies, company)?.bearer
      })
  }
}
