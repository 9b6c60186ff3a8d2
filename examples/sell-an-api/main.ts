// Sells an answer for 10 sats: a request gets 402 and an invoice, then the answer. Run it: npm run example -- sell-an-api
import { fetchWithMpp } from "@getalby/lightning-tools/402/mpp"
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import { satrail } from "satrail"
import { weather } from "./Weather.ts"

const pay = await satrail.test() // on mainnet, satrail({ … })
const shop = await pay.companies.create({ name: "Weather" })
let runs = 0
const server = createServer(weather(pay, shop.id, async () => `sunny, says run ${++runs}`))
server.listen(0, "127.0.0.1")
await once(server, "listening")

// The buyer has a wallet that pays invoices.
const payInvoice = async ({ invoice }: { invoice: string }) => {
  const { preimage } = await pay.outside.pay(invoice)
  return { preimage: preimage ?? "" }
}
const wallet = { payInvoice }
const url = `http://127.0.0.1:${Object(server.address()).port}`
const bought = await fetchWithMpp(url, {}, { wallet })
const credentials = bought.payment?.credentials
assert(credentials)
console.log(bought.status, await bought.text())

// A proof of payment that is sent again gets the same answer.
const again = () => fetchWithMpp(url, {}, { wallet, credentials }).then((answer) => answer.text())
assert.deepEqual([...new Set(await Promise.all(Array.from({ length: 64 }, again)))], ["sunny, says run 1"])
console.log(`sold for ${(await pay.transactions.balance(shop.id)).available.sats} sats, in ${runs} run`)
server.close()
await pay.close()
