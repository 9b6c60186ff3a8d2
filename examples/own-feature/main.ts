// An application's own feature that holds money, in a running service: a company puts sats into boxes over HTTP, takes one
// out, and the other opens at its time. Run it: npm run example -- own-feature
import assert from "node:assert/strict"
import { setTimeout } from "node:timers/promises"
import { satrail } from "satrail"
import { feature } from "./Feature.ts"

const pay = await satrail.test({ features: [feature] })
const company = await pay.companies.create({ name: "Corner Café" })
await pay.outside.pay(await pay.invoices.create({ company, amount: 1000, description: "Beans" })) // the simulated customer
await pay.clock.advance("1 second")
const { key } = await pay.companies.issueKey(company.id, { name: "till", scopes: ["admin"] })

interface Shown {
  readonly id: string
  readonly label: string
  readonly status: string
}
const ask = async <A>(
  path: string,
  body?: object,
  idempotencyKey: string = crypto.randomUUID()
): Promise<A> => {
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "idempotency-key": idempotencyKey
  }
  const request = new Request(`http://service${path}`, {
    headers,
    ...(body && { method: "POST", body: JSON.stringify(body) })
  })
  const response = await pay.handler(request)
  const { data, message }: { readonly data: A; readonly message: string } = JSON.parse(await response.text())
  assert.ok(response.ok, message)
  return data
}
const balance = async () => {
  const { balance, held_sats } = await ask<{ readonly balance: number; readonly held_sats: number }>(
    "/v1/transactions/balance"
  )
  return `${balance} sats available, ${held_sats} in boxes`
}

const rent = {
  amount_sats: 600,
  label: "Rent",
  opens_at: new Date(pay.clock.now().getTime() + 3_600_000).toISOString()
}
const first = await ask<Shown>("/v1/boxes", rent, "rent-may")
assert.deepEqual(await ask("/v1/boxes", rent, "rent-may"), first) // has the same idempotency key, so it returns the same box
const second = await ask<Shown>("/v1/boxes", {
  amount_sats: 300,
  label: "Holiday",
  opens_at: "2100-01-01T00:00:00Z"
})
console.log(`put in     ${await balance()}`)
await ask(`/v1/boxes/${second.id}/open`, {})
console.log(`take out   ${await balance()}`)
await pay.clock.advance("1 hour")
let events: ReadonlyArray<{ readonly data: Shown }> = []
while (events.length < 2) {
  await setTimeout(20) // until the worker has opened the box
  events = await ask("/v1/events?types=box.*")
}
console.log(`events     ${events.map(({ data }) => `box.opened: ${data.label}`).join(", ")}`)
console.log(`at last    ${await balance()}`)
await pay.close()
