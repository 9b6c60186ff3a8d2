import * as Customer from "../Customer.ts"
import { type Company, eventually } from "../Service.ts"
import * as Whole from "../Whole.ts"

/** The fields of a company's checkout that these tests use. */
export interface Made {
  readonly id: string
  readonly url: string
  readonly address: string
  readonly payment_request: string
  readonly amount_sats: number
  readonly status: string
  readonly tip_sats: number | null
  readonly payer_email: string | null
}

/** Submits answers to the seller's questions, as the page's form does. */
export const answer = async (page: string, answers: Readonly<Record<string, string>>): Promise<void> => {
  const { status } = await fetch(`${page}/answer`, {
    method: "POST",
    body: new URLSearchParams(answers),
    redirect: "manual"
  })
  if (status !== 303) throw new Error(`${page}: answered ${status}`)
}

const stateOf = async (page: string) => JSON.parse(await (await fetch(`${page}/state`)).text())

/** Waits until the page offers a new quote, then requests it as the page's form does. */
export const renew = async (page: string): Promise<void> => {
  await eventually(
    "a page that offers a new quote",
    () => stateOf(page),
    ({ isRenewable }) => isRenewable
  )
  const { status } = await fetch(`${page}/renew`, { method: "POST", redirect: "manual" })
  if (status !== 303) throw new Error(`${page}: renewed ${status}`)
}

/** The whole service on a port, and a company with checkouts. */
export const start = async () => {
  const whole = await Whole.start({ SATRAIL_EXPLORER_URL: "https://explorer.example/tx/{txid}" })
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
  /** The URL of the checkout's page on this service's port. */
  const page = ({ url }: Pick<Made, "url">): string => whole.url + new URL(url).pathname
  return {
    whole,
    shop,
    make,
    page,
    ...paying(shop),
    refund: refunding(shop),
    payTo: () => payingTo(whole, shop),
    advance: advancing(shop)
  }
}
export type Started = Awaited<ReturnType<typeof start>>

const advancing = (shop: Company) => (seconds: number) =>
  Customer.data(200, shop.post("/sandbox/clock", { advance_seconds: seconds }))

/** Refunds part of an on-chain payment toward a checkout. Sends a refund link if no destination is given. */
const refunding = (shop: Company) => async (made: Made, sats: number, destination?: string) => {
  const deposits: ReadonlyArray<{ readonly id: string; readonly recipient: string }> = await Customer.data(
    200,
    shop.get("/v1/transactions?type=deposit&limit=100")
  )
  const deposit_id = deposits.find(({ recipient }) => recipient === made.address)?.id
  const refund: { readonly id: string; readonly lnurl: string | null } = await Customer.data(
    201,
    shop.post("/v1/refunds", {
      deposit_id,
      amount: sats,
      currency: "sats",
      ...(destination !== undefined && { destination })
    })
  )
  return refund
}

/** A Lightning address's payment form, and the pages for amounts entered there. */
const payingTo = async ({ url }: Whole.Whole, shop: Company) => {
  const { handle } = await Customer.data(
    201,
    shop.post("/v1/bitcoin/deposit/lightning-address", { handle: "coffee" })
  )
  const form = `${url}/pay/to/${handle}`
  const entered = async (sats: number): Promise<string> => {
    const { headers } = await fetch(form, {
      method: "POST",
      body: new URLSearchParams({ amount: String(sats), unit: "sats" }),
      redirect: "manual"
    })
    return new URL(headers.get("location") ?? "", form).href
  }
  const paid = async (sats: number): Promise<string> => {
    const page = await entered(sats)
    await Customer.data(
      200,
      shop.post("/sandbox/pay", { payment_request: (await stateOf(page)).asking.invoice })
    )
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
  const fetched = ({
    id
  }: Pick<Made, "id">): Promise<Made & { readonly received_sats: number; readonly pending_sats: number }> =>
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
        shop.post("/sandbox/pay", {
          payment_request: made.payment_request,
          ...(sats !== undefined && { amount_sats: sats })
        })
      ),
    /** Pays a part on-chain, confirms it, and waits for the invoice for the rest. */
    part: async (made: Made, sats: number) => {
      await send(made, sats)
      await mine(6)
      await is(
        made,
        "underpaid",
        ({ status, payment_request }) => status !== "open" && payment_request !== made.payment_request
      )
    },
    cancel: (made: Made) => Customer.data(200, shop.post(`/v1/checkouts/${made.id}/cancel`, {}))
  }
}

/**
 * Every state that a payer can see: its name and the URL of a page in that state. Expired states are created
 * first, because advancing the clock would affect all existing checkouts.
 */
export const states = async (started: Started): Promise<ReadonlyMap<string, string>> => {
  const { make, page, pay, send, mine, part, cancel, refund, is, advance, shop, payTo } = started
  const price = { amount: 42.5, currency: "eur" }
  const contact = "help@shop.example"
  const [expired, partly, late, refundOpen, refundPaid] = [
    await make({ expiry_seconds: 60 }),
    await make({ expiry_seconds: 60, contact }),
    await make({ expiry_seconds: 60, contact }),
    await make({ expiry_seconds: 60 }),
    await make({ expiry_seconds: 60 })
  ]
  const fiatExpired = await make({ expiry_seconds: 60, ...price })
  const [renewable, arabicRenewable] = [
    await make({ expiry_seconds: 60, ...price, options: ["new_quote"], contact }),
    await make({
      expiry_seconds: 60,
      ...price,
      options: ["new_quote"],
      contact,
      locale: "ar",
      description: "كيسان من القهوة"
    })
  ]
  for (const one of [partly, refundOpen, refundPaid]) await part(one, 6000)
  await advance(61)
  await Promise.all(
    [expired, fiatExpired, renewable, arabicRenewable, partly, late, refundOpen, refundPaid].map((one) =>
      is(one, "expired", ({ status }) => status === "expired")
    )
  )
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
  const [fiatOpen, german, fiatPartly, fiatPaid, change] = [
    await make(price),
    await make({
      ...price,
      amount: 1249.9,
      locale: "de",
      description: "Lastenfahrradanhänger mit Regenschutzverdeck"
    }),
    await make(price),
    await make(price),
    await make(price)
  ]
  await part(fiatPartly, 20_000)
  await pay(fiatPaid)
  await send(change, change.amount_sats + 12_000)
  await mine(6)
  await is(change, "paid", ({ status }) => status === "paid")
  await refund(change, 12_000)
  const [paid, overpaid, underpaid, canceled] = [
    await make(),
    await make({ contact }),
    await make(),
    await make()
  ]
  const asking = { ...price, options: ["tip", "email"] }
  const [questions, arabicQuestions, tipped] = [
    await make(asking),
    await make({ ...asking, locale: "ar", description: "كيسان من القهوة" }),
    await make(asking)
  ]
  await answer(page(tipped), { tip: "10", email: "ann@example.com" })
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
    canceled,
    "fiat-open": fiatOpen,
    german,
    "fiat-underpaid": fiatPartly,
    "fiat-paid": fiatPaid,
    "fiat-expired": fiatExpired,
    change,
    renewable,
    "arabic-renewable": arabicRenewable,
    questions,
    "arabic-questions": arabicQuestions,
    tipped
  }
  const to = await payTo()
  return new Map([
    ...Object.entries(made).map(([name, one]) => [name, page(one)] as const),
    ["address-only", `${page(fiatOpen)}?way=chain`],
    ["framed", `${page(fiatOpen)}?frame=`],
    ["to-amount", to.form],
    ["to-open", await to.entered(2100)],
    ["to-paid", await to.paid(2100)],
    ["to-unknown", `${started.whole.url}/pay/to/nobody`],
    ["unknown", `${started.whole.url}/pay/0`]
  ])
}
