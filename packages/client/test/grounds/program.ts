import { type Client, errors } from "../../src/index.ts"

/** A shop that sells an order, a wallet with two accounts, and a payout. `payFor` pays an invoice from outside. */
export const day = async (
  pay: Client<{ order?: string }>,
  payFor: (paymentRequest: string) => Promise<unknown>
) => {
  // The shop.
  const shop = await pay.companies.create({ name: "Shop" })
  const shipped = Promise.withResolvers<string | undefined>()
  const shipping = { name: "shipping", company: shop }
  pay.on("deposit.settled", (event) => shipped.resolve(event.data.metadata?.order), shipping)
  const order = { amount: 21_000, description: "Two coffees", metadata: { order: "1042" } }
  const sold = await pay.invoices.create({ company: shop, ...order, idempotencyKey: "order-1042" })
  const again = await pay.invoices.create({ company: shop, ...order, idempotencyKey: "order-1042" })
  await payFor(sold.paymentRequest)
  const { amount, status, metadata, createdAt } = await pay.invoices.get(shop.id, sold.id)
  const donation = await pay.invoices.create({ company: shop, description: "A donation" })
  await pay.invoices.cancel(shop.id, donation.id)
  const types: Array<string> = []
  for await (const event of pay.events({ company: shop.id })) {
    types.push(event.type)
    if (event.type === "invoice.canceled" && event.subject === donation.id) break
  }
  const isOrder = { from: createdAt, metadataKey: "order", metadataValue: "1042" }
  const found = (await pay.invoices.list({ company: shop, limit: 1, ...isOrder })).items
  const all: Array<bigint | undefined> = []
  for await (const invoice of pay.invoices.list(shop, { limit: 1 })) all.push(invoice.amount?.sats)

  // The wallet: accounts are companies, and payments between them need no node.
  const ann = await pay.companies.create({ name: "Ann", plan: "paid" })
  const { address } = await pay.lightningAddresses.create({ company: ann, handle: "ann" })
  const gift = { company: shop, amount: 5_000, destination: address, idempotencyKey: "gift-1" }
  const given = await pay.withdrawals.settled(shop, (await pay.withdrawals.confirm(gift)).id)

  // A payout, and two refusals.
  const payout = { company: ann, amount: 1_000, destination: "settle@wallet.example" }
  const { fee } = await pay.withdrawals.estimate(payout)
  const sent = await pay.withdrawals.confirm({ ...payout, maxFee: fee, idempotencyKey: "payout-7" })
  const paid = await pay.withdrawals.settled(ann, sent.id)
  const refusal = await pay.withdrawals.confirm({ ...payout, amount: 1_000_000 }).then(String, (error) => {
    if (error instanceof errors.InsufficientBalance) return [error.code, error.details.available]
    throw error
  })
  const unknown = await pay.invoices.get(shop.id, shop.id).then(String, (error) => {
    if (error instanceof errors.NotFound) return error.message
    throw error
  })
  const rows: Array<unknown> = []
  for await (const { type, amount, description, failure } of pay.transactions.list(ann))
    rows.push([type, amount, description, failure])
  return {
    shop: [amount, status, metadata, await shipped.promise, again.id === sold.id, donation.amount],
    lists: [types, found.map(({ id }) => id === sold.id), all, rows],
    wallet: [address, given.status, (await pay.transactions.balance(shop)).available],
    payouts: [
      fee,
      paid.status,
      paid.amount,
      (await pay.transactions.balance(ann.id)).available,
      createdAt instanceof Date
    ],
    refusals: [refusal, unknown]
  }
}
