// Serves a shop over HTTP and uses it as a client. released.slow.test.ts runs it on each runtime.
import { once } from "node:events"
import { createServer } from "node:http"
import process from "node:process"
import { satrail } from "satrail"
import { client } from "../src/index.ts"

const pay = await satrail.test<{ order: string }>()
const shop = await pay.companies.create({ name: "Shop" })
const { key } = await pay.apiKeys.create({ company: shop.id, name: "website", scopes: ["read", "receive"] })

const { status } = await pay.handler(
  new Request("http://localhost/v1/account", { headers: { authorization: `Bearer ${key}` } })
)
console.log(`a web request: ${status}`)

const server = createServer(pay.handler)
await once(server.listen(0, "127.0.0.1"), "listening")
const address = server.address()
if (address === null || typeof address === "string") throw new Error("the server has no port")

const remote = client<{ order: string }>({ url: `http://127.0.0.1:${address.port}`, key })
const invoice = await remote.invoices.create({
  amount: 21_000,
  description: "Two coffees",
  metadata: { order: "1042" }
})
await pay.outside.pay(invoice)
for await (const event of remote.events()) {
  if (event.type !== "deposit.settled") continue
  console.log(`${event.data.amount.sats} sats for order ${event.data.metadata?.order}`)
  break
}
const expired = await remote.invoices.create({ amount: 5 })
await pay.clock.advance("2 hours")
console.log(`the other invoice is ${(await remote.invoices.get(expired.id)).status}`)

server.close()
server.closeAllConnections()
await pay.close()
process.stdout.write("closed\n")
