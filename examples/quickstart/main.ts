// The quick start: an embedded database in ./.satrail, and a simulated network. Run it: npm run example -- quickstart
import { satrail } from "satrail"

const pay = await satrail()
const shop = await pay.companies.create({ name: "Shop" })
const shipped = Promise.withResolvers<string | undefined>()
pay.on("deposit.settled", (event) => shipped.resolve(event.data.metadata.order), { name: "shipping" })
const metadata = { order: "1042" }
const invoice = await pay.invoices.create({
  company: shop.id,
  amount: 21_000,
  description: "Two coffees",
  metadata
})
console.log(`please pay ${invoice.paymentRequest}`)
await pay.outside.pay(invoice) // the simulated customer
console.log(
  `ship order ${await shipped.promise}; ${(await pay.transactions.balance(shop.id)).available.sats} sats are available`
)
await pay.close()
