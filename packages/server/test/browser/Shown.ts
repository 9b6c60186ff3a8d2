import type { Page } from "playwright-core"
import * as Customer from "../Customer.ts"
import type { Company } from "../Service.ts"
import * as Whole from "../Whole.ts"

// A company that has traded for a day, for who looks at pictures of the console.

const hourSeconds = 3600
const hours = 25

/** What came in and what went out in an hour: the same every time. */
const trade = (hour: number): readonly [came: number, went: number] => [
  Math.round(11_000 + 7500 * Math.sin((hour - 5) / 4) + 1700 * ((hour * 7) % 5)),
  hour % 4 === 3 ? 12_000 + 900 * (hour % 7) : 0
]

const send = async (shop: Company, sats: number) => {
  const { destination } = await Customer.outside(shop, "lightning_address")
  const { id } = await Customer.data(201, Customer.confirm(shop, destination, sats))
  await Customer.ends(shop, id, "settled")
}

/** Fills a company. Answers the service's time, which is ahead of the machine's by then, and the pages of one thing each: of the company, and of an operator. */
export const fill = async ({ whole, shop }: { readonly whole: Whole.Whole; readonly shop: Company }) => {
  for (let hour = 0; hour < hours; hour++) {
    const [came, went] = trade(hour)
    await Customer.fund(shop, came)
    if (went > 0) await send(shop, went)
    await Customer.data(200, shop.post("/sandbox/clock", { advance_seconds: hourSeconds }))
  }
  const [, , keyId = ""] = shop.key.split("_")
  const create = (path: string, body: object) => Customer.data(201, shop.post(path, body))
  await create("/v1/bitcoin/deposit/lightning-address", { handle: "counter" })
  await create("/v1/vouchers", { amount: 1000, currency: "sats", description: "A coffee on us" })
  await create("/v1/api-keys", { name: "till 3", scopes: ["receive", "read"] })
  const endpoint = await create("/v1/webhook-endpoints", { url: "http://127.0.0.1:9/orders", types: ["deposit.*"] })
  const checkout = await create("/v1/checkouts", { amount: 12.5, currency: "eur", description: "Two bags of coffee" })
  await Customer.fund(shop, 2500)
  const [deposit] = await Customer.transactions(shop, "type=deposit&limit=1")
  const [withdrawal] = await Customer.transactions(shop, "type=withdrawal&limit=1")
  const [invoice] = await Customer.data(200, shop.get("/v1/bitcoin/deposit/lightning-invoice?limit=1"))
  const limits = { day_sats: 500_000, approval_above_sats: 200_000 }
  await whole.ask("PUT", `/operator/companies/${shop.id}/limits`, { key: Whole.operatorToken, body: limits })
  return {
    now: () => new Date(Date.now() + hours * hourSeconds * 1000),
    ofCompany: {
      invoice: `invoice/${invoice.id}`,
      checkout: `checkout/${checkout.id}`,
      deposit: `deposit/${deposit.id}`,
      withdrawal: `withdrawal/${withdrawal.id}`,
      webhook: `webhook/${endpoint.id}`,
      key: `key/${keyId}`
    },
    ofOperator: { company: `company/${shop.id}`, "operator-key": `key/${keyId}` }
  }
}

/** Once a page shows what there is. */
export const settled = async (page: Page) => {
  await page.getByRole("heading", { level: 1 }).waitFor()
  await page.getByText("Loading …").first().waitFor({ state: "hidden" })
}
