import * as Customer from "../Customer.ts"
import { type Company, eventually } from "../Service.ts"
import * as Whole from "../Whole.ts"

/** What a company sees of a checkout, as far as it matters here. */
export interface Made {
  readonly id: string
  readonly url: string
  readonly address: string
  readonly payment_request: string
  readonly status: string
}

/** The whole service on a port, and a company with checkouts. */
export const start = async () => {
  const whole = await Whole.start()
  const shop = await whole.companyWith("paid")
  const make = async (body: Readonly<Record<string, unknown>> = {}): Promise<Made> => {
    const asked = {
      amount: 21_000,
      currency: "sats",
      description: "Two bags of coffee",
      order_id: "1042",
      return_url: "https://shop.example/thanks",
      cancel_url: "https://shop.example/cart",
      ...body
    }
    return Customer.data(201, shop.post("/v1/checkouts", asked))
  }
  /** Its page, at the port that this service has. */
  const page = ({ url }: Pick<Made, "url">): string => whole.url + new URL(url).pathname
  return { whole, shop, make, page, ...paying(shop), refund: refunding(shop), payTo: () => payingTo(whole, shop), advance: advancing(shop) }
}
export type Started = Awaited<ReturnType<typeof start>>

const advancing = (shop: Company) => (seconds: number) => Customer.data(200, shop.post("/sandbox/clock", { advance_seconds: seconds }))

/** Gives a part of what came on-chain for a checkout back: by a link, unless there is a destination. */
const refunding = (shop: Company) => async (made: Made, sats: number, destination?: string) => {
  const deposits: ReadonlyArray<{ readonly id: string; readonly recipient: string }> = await Customer.data(
    200,
    shop.get("/v1/transactions?type=deposit&limit=100")
  )
  const deposit_id = deposits.find(({ recipient }) => recipient === made.address)?.id
  const refund: { readonly id: string; readonly lnurl: string | null } = await Customer.data(
    201,
    shop.post("/v1/refunds", { deposit_id, amount: sats, currency: "sats", ...(destination !== undefined && { destination }) })
  )
  return refund
}

/** The page of a Lightning address: its form, and the pages of amounts that were entered there. */
const payingTo = async ({ url }: Whole.Whole, shop: Company) => {
  const { handle } = await Customer.data(201, shop.post("/v1/bitcoin/deposit/lightning-address", { handle: "coffee" }))
  const form = `${url}/pay/to/${handle}`
  const entered = async (sats: number): Promise<string> => {
    const { headers } = await fetch(form, { method: "POST", body: new URLSearchParams({ sats: String(sats) }), redirect: "manual" })
    return new URL(headers.get("location") ?? "", form).href
  }
  const stateOf = async (page: string) => JSON.parse(await (await fetch(`${page}/state`)).text())
  const paid = async (sats: number): Promise<string> => {
    const page = await entered(sats)
    await Customer.data(200, shop.post("/sandbox/pay", { payment_request: (await stateOf(page)).asking.invoice }))
    await eventually(
      "a page that is paid",
      () => stateOf(page),
      ({ status }) => status === "paid"
    )
    return page
  }
  return { form, entered, paid }
}

const paying = (shop: Company) => {
  const fetched = ({ id }: Pick<Made, "id">): Promise<Made & { readonly received_sats: number; readonly pending_sats: number }> =>
    Customer.data(200, shop.get(`/v1/checkouts/${id}`))
  const is = (made: Made, what: string, isSo: (seen: Awaited<ReturnType<typeof fetched>>) => boolean) =>
    eventually(`a checkout that is ${what}`, () => fetched(made), isSo)
  const send = async (made: Made, sats: number) => {
    await Customer.data(201, shop.post("/sandbox/send", { address: made.address, amount_sats: sats }))
    await is(made, "seen", ({ pending_sats }) => pending_sats >= sats)
  }
  const mine = (blocks: number) => Customer.data(200, shop.post("/sandbox/mine", { blocks }))
  return {
    is,
    send,
    mine,
    pay: (made: Made, sats?: number) =>
      Customer.data(
        200,
        shop.post("/sandbox/pay", { payment_request: made.payment_request, ...(sats !== undefined && { amount_sats: sats }) })
      ),
    /** A part, deep enough, and what is asked for the rest. */
    part: async (made: Made, sats: number) => {
      await send(made, sats)
      await mine(6)
      await is(made, "underpaid", ({ status, payment_request }) => status !== "open" && payment_request !== made.payment_request)
    },
    cancel: (made: Made) => Customer.data(200, shop.post(`/v1/checkouts/${made.id}/cancel`, {}))
  }
}

/** Every state that a payer can see, by name, with where its page is. Those whose time is over first: the clock goes on for all. */
export const states = async (started: Started): Promise<ReadonlyMap<string, string>> => {
  const { make, page, pay, send, mine, part, cancel, refund, is, advance, shop, payTo } = started
  const [expired, partly, late, refundOpen, refundPaid] = [
    await make({ expiry_seconds: 60 }),
    await make({ expiry_seconds: 60 }),
    await make({ expiry_seconds: 60 }),
    await make({ expiry_seconds: 60 }),
    await make({ expiry_seconds: 60 })
  ]
  for (const one of [partly, refundOpen, refundPaid]) await part(one, 6000)
  await advance(61)
  await Promise.all([expired, partly, late, refundOpen, refundPaid].map((one) => is(one, "expired", ({ status }) => status === "expired")))
  await send(late, 21_000)
  await mine(6)
  await is(late, "paid", ({ status }) => status === "paid")

  await refund(refundOpen, 5000)
  const outside = await Customer.outside(shop, "lightning_invoice", { amount_sats: 5000 })
  await refund(refundPaid, 5000, outside.destination)

  const [open, arabic, anyAmount, fiat] = [
    await make(),
    await make({ locale: "ar", description: "كيسان من القهوة" }),
    await make({ amount: null, currency: null, locale: "de" }),
    await make({ amount: 12.5, currency: "eur", locale: "fr" })
  ]
  const [paid, overpaid, underpaid, canceled] = [await make(), await make(), await make(), await make()]
  await pay(paid)
  await pay(overpaid, 30_000)
  await part(underpaid, 6000)
  await cancel(canceled)
  const seen = await make()
  await send(seen, 21_000)
  await mine(1)
  await Promise.all([paid, overpaid].map((one) => is(one, "paid", ({ status }) => status === "paid")))
  const made = {
    open,
    arabic,
    "any-amount": anyAmount,
    fiat,
    seen,
    underpaid,
    paid,
    overpaid,
    late,
    expired,
    "expired-partly": partly,
    "refund-open": refundOpen,
    "refund-paid": refundPaid,
    canceled
  }
  const to = await payTo()
  return new Map([
    ...Object.entries(made).map(([name, one]) => [name, page(one)] as const),
    ["to-amount", to.form],
    ["to-open", await to.entered(2100)],
    ["to-paid", await to.paid(2100)],
    ["to-unknown", `${started.whole.url}/pay/to/nobody`],
    ["unknown", `${started.whole.url}/pay/0`]
  ])
}
