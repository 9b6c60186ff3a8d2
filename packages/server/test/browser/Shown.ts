import type { Page } from "playwright-core"
import * as Customer from "../Customer.ts"
import type { Company } from "../Service.ts"
import * as Whole from "../Whole.ts"
import * as Overseen from "./Overseen.ts"

// A company that traded for a day, for screenshots of the console.

const hourSeconds = 3600
const hours = 25

/** The amounts received and sent in this hour, which are the same in every run. */
const trade = (hour: number): readonly [came: number, went: number] => [
  Math.round(11_000 + 7500 * Math.sin((hour - 5) / 4) + 1700 * ((hour * 7) % 5)),
  hour % 4 === 3 ? 12_000 + 900 * (hour % 7) : 0
]

const send = async (shop: Company, sats: number) => {
  const { destination } = await Customer.outside(shop, "lightning_address")
  const { id } = await Customer.data(201, Customer.confirm(shop, destination, sats))
  await Customer.ends(shop, id, "settled")
}

/**
 * Fills a company with records. Returns the detail pages of the company and of an operator, and the service's
 * time, which is now ahead of the machine's.
 */
export const fill = async ({ whole, shop }: { readonly whole: Whole.Whole; readonly shop: Company }) => {
  for (let hour = 0; hour < hours; hour++) {
    const [came, went] = trade(hour)
    await Customer.fund(shop, came)
    if (went > 0) await send(shop, went)
    await Customer.data(200, shop.post("/sandbox/clock", { advance_seconds: hourSeconds }))
  }
  const [, , keyId = ""] = shop.key.split("_")
  const create = (path: string, body: object) => Customer.data(201, shop.post(path, body))
  const address = await create("/v1/bitcoin/deposit/lightning-address", { handle: "counter" })
  const offer = await create("/v1/bitcoin/deposit/offer", {
    description: "Donations",
    lightning_address_id: address.id
  })
  const { address: chain } = await create("/v1/bitcoin/deposit/on-chain", {})
  const voucher = await create("/v1/vouchers", {
    amount: 1000,
    currency: "sats",
    description: "A coffee on us"
  })
  await create("/v1/api-keys", { name: "till 3", scopes: ["receive", "read"] })
  const endpoint = await create("/v1/webhook-endpoints", {
    url: "http://127.0.0.1:9/orders",
    types: ["deposit.*"]
  })
  const checkout = await create("/v1/checkouts", {
    amount: 12.5,
    currency: "eur",
    description: "Two bags of coffee"
  })
  await Customer.fund(shop, 2500)
  const [deposit] = await Customer.transactions(shop, "type=deposit&limit=1")
  const [withdrawal] = await Customer.transactions(shop, "type=withdrawal&limit=1")
  const invoice = await create("/v1/bitcoin/deposit/lightning-invoice", {
    amount: 2500,
    currency: "sats",
    description: "Two coffees"
  })
  const limits = { day_sats: 500_000, approval_above_sats: 200_000 }
  await whole.ask("PUT", `/operator/companies/${shop.id}/limits`, { key: Whole.operatorToken, body: limits })
  return {
    now: () => new Date(Date.now() + hours * hourSeconds * 1000),
    ofCompany: {
      checkout: `checkouts/${checkout.id}`,
      "payment-received": `payments/in/${deposit.id}`,
      refund: `payments/in/${deposit.id}/refund`,
      "payment-sent": `payments/out/${withdrawal.id}`,
      webhook: `webhooks/${endpoint.id}`,
      "webhook-settings": `webhooks/${endpoint.id}/settings`,
      invoice: `invoices/${invoice.id}`,
      offer: `offers/${offer.id}`,
      address: `addresses/${address.id}`,
      "bitcoin-address": `addresses/on-chain/${chain.id}`,
      voucher: `vouchers/${voucher.id}`,
      key: `keys/${keyId}`
    },
    ofOperator: await Overseen.records({ whole, shop })
  }
}

export const settled = (page: Page) => page.getByRole("heading", { level: 1 }).waitFor()
