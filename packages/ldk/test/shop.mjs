// A shop on the installed packages. Each line of its input asks for an invoice; the end of the input closes the shop.
import { ldk } from "@satrail/ldk"
import { satrail } from "satrail"
import { createInterface } from "node:readline"

/** @param {object} value */
const print = (value) => console.log(JSON.stringify(value))

const { BITCOIND: bitcoind, LISTEN: listen } = process.env
const pay = await satrail({
  directory: "data",
  lightning: ldk({ directory: "node", bitcoind, listen, alias: "shop" })
})
const shop = await pay.companies.create({ name: "Shop", plan: "paid" })
pay.on("deposit.settled", async () =>
  print({ available: String((await pay.transactions.balance(shop.id)).available.sats) })
)
print({ ready: true })
for await (const line of createInterface({ input: process.stdin })) {
  const { paymentRequest } = await pay.invoices.create({ company: shop, amount: Number(line) })
  print({ paymentRequest })
}
await pay.close()
