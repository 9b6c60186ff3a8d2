// The quick start: an embedded database in ./.satrail, and a simulated network. Run it: npm run example -- quickstart
import { satrail } from "satrail"

const pay = await satrail()
const shop = await pay.companies.create({ name: "Shop" })
const shipped = Promise.withResolvers<string | undefined>()
pay.on("deposit.settled", (event) => shipped.resolve(event.data.metadata.order), { name: "shipping" })
const metadata = { order: "1042" }
const invoice = await pay.invoices.create({ company: shop, amount: 21_000, description: "Coffee", metadata })
console.log(`please pay ${invoice.paymentRequest}`)
await pay.outside.pay(invoice) // the simulated customer
const order = await shipped.promise
console.log(`ship order ${order}; ${(await pay.transactions.balance(shop)).available.sats} sats available`)
await pay.close()
