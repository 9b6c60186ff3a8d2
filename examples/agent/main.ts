// An agent pays with a key that may send 20,000 sats a day. Run it: npm run example -- agent
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js"
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import { satrail } from "satrail"
import { tools } from "./Tools.ts"

// The service, with a company and its agent's key.
const pay = await satrail.test()
const company = await pay.companies.create({ name: "Ann" })
await pay.outside.pay(await pay.invoices.create({ company, amount: 100_000 }))
const limits = { day: 20_000 }
const { key } = await pay.companies.issueKey(company.id, { name: "agent", scopes: ["read", "send"], limits })
const server = createServer(pay.handler).listen(0, "127.0.0.1")
await once(server, "listening")
const url = `http://127.0.0.1:${Object(server.address()).port}`

// The agent.
const [near, far] = InMemoryTransport.createLinkedPair()
await tools({ url, key }).connect(far)
const agent = new Client({ name: "agent", version: "1.0.0" })
await agent.connect(near)
const call = async (name: string, given: Record<string, unknown> = {}) => {
  const { content, isError } = await agent.callTool({ name, arguments: given })
  const text = `${isError ? "refused, " : ""}${Object(content)[0].text}`
  console.log(name, JSON.stringify(given), text)
  return text
}
const bill = { id: "bill-1", destination: "settle@wallet.example", sats: 15_000 }
assert.equal(await call("pay", bill), "settled")
assert.equal(await call("pay", bill), "settled") // the same payment
assert.match(await call("pay", { ...bill, id: "bill-2" }), /^refused, limit_exceeded/)
assert.match(await call("balance"), /^8[45]\d\d\d$/)
await agent.close()
server.close()
await pay.close()
