import { client, type Received } from "@satrail/client"

export const pay = client({
  url: process.env["SATRAIL_URL"] ?? "",
  key: process.env["SATRAIL_API_KEY"] ?? ""
})

/** Returns the page where an order is paid. A second click returns the same page. */
export const checkout = async (order: string): Promise<string> => {
  const { url } = await pay.checkouts.create({
    amount: "4.50 eur",
    description: "Two coffees",
    orderId: order,
    idempotencyKey: order
  })
  return url
}

const handled = new Set<string>() // use your database

/** Returns the status of the response to a webhook. */
export const receive = async (request: Received): Promise<number> => {
  const event = await pay.webhooks.verify(request, process.env["WEBHOOK_SECRET"] ?? "").catch(console.error)
  if (event === undefined) return 400
  if (event.type === "checkout.paid" && !handled.has(event.id))
    console.log(event.data.late ? "paid late" : "ship order", event.data.orderId)
  handled.add(event.id)
  return 204
}
