import { client, errors, type Options } from "../../src/index.ts"

export const open = async (options: Options) => client<{ order?: string }>(options)

/** A shop that sells an order, ships it when it is paid, and reads its books. */
export const sell = async (
  pay: Awaited<ReturnType<typeof open>>,
  payFor: (invoice: { readonly paymentRequest: string }) => Promise<unknown>
) => {
  const shop = await pay.companies.create({ name: "Shop" })
  const shipped = Promise.withResolvers<string | undefined>()
  pay.on("deposit.settled", (event) => shipped.resolve(event.data.metadata?.order))
  const invoice = await pay.invoices.create({
    company: shop.id,
    amount: 21_000,
    description: "Two coffees",
    metadata: { order: "1042" },
    idempotencyKey: "order-1042"
  })
  await payFor(invoice)
  const order = await shipped.promise
  const { amount, status, paymentHash, metadata, createdAt } = await pay.invoices.get(shop.id, invoice.id)
  const { available } = await pay.transactions.balance(shop.id)
  const open = await pay.invoices.create({ company: shop, description: "A donation" })
  await pay.invoices.cancel(shop.id, open.id)
  const refused = await pay.withdrawals
    .confirm({
      company: shop.id,
      amount: 1_000_000,
      destination: "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
    })
    .then(String, (error: unknown) => {
      if (error instanceof errors.InsufficientBalance)
        return [error.code, error.isRetryable, error.details.available]
      throw error
    })
  const unknown = await pay.invoices.get(shop.id, shop.id).then(String, (error: unknown) => {
    if (error instanceof errors.NotFound) return error.message
    throw error
  })
  const types: Array<string> = []
  for await (const event of pay.events({ company: shop.id })) {
    types.push(event.type)
    if (event.type === "invoice.canceled" && event.subject === open.id) break
  }
  const { items } = await pay.transactions.list(shop)
  const paid = await pay.invoices.list(shop.id, {
    status: "settled",
    paymentRequest: invoice.paymentRequest,
    limit: 1
  })
  const first = await pay.invoices.list({
    company: shop,
    limit: 1,
    from: createdAt,
    metadataKey: "order",
    metadataValue: "1042"
  })
  const second = await pay.invoices.list(shop, {
    limit: 1,
    cursor: (await pay.invoices.list(shop, { limit: 1 })).next
  })
  const all: Array<bigint | undefined> = []
  for await (const { amount } of pay.invoices.list(shop, { limit: 1, until: undefined }))
    all.push(amount?.sats)
  const [found] = (await pay.companies.list({ search: "sho" })).items
  await pay.close()
  return {
    order,
    amount,
    isPaid: status === "settled",
    hash: paymentHash.length,
    metadata,
    isDate: createdAt instanceof Date,
    available,
    donation: open.amount,
    refused,
    unknown,
    types,
    lists: [
      paid.items.length,
      first.items.length,
      first.next,
      second.items.map(({ id }) => id === invoice.id),
      all
    ],
    found: [found?.name, found?.available],
    rows: items.map(({ type, amount, description, metadata, failure }) => [
      type,
      amount,
      description,
      metadata,
      failure
    ])
  }
}
