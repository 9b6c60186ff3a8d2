import { afterEach, assert, beforeEach, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import path from "node:path"
import { setImmediate } from "node:timers/promises"
import { satrail, type SimulatedPay } from "../src/index.ts"

let pay: SimulatedPay<{ readonly order: string }>
let shop: string

beforeEach(async () => {
  pay = await satrail.test({ settings: { SATRAIL_LOG_LEVEL: "error" } })
  const { id } = await pay.companies.create({ name: "Shop" })
  shop = id
})
afterEach(() => pay.close())

const paid = async (order: string) => {
  const invoice = await pay.invoices.create({ company: shop, amount: 1000, metadata: { order } })
  await pay.outside.pay(invoice)
}

/** Counts down, and resolves at 0. */
const countdown = (from: number) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let left = from
  return { promise, count: () => --left === 0 && resolve() }
}

const noted = ({ count }: ReturnType<typeof countdown>, seen: Array<string>, order: string) => {
  seen.push(order)
  count()
}

it("events: a handler gets each event of its type, with the invoice's metadata", async () => {
  const orders: Array<string> = []
  const all = countdown(3)
  pay.on("deposit.settled", async (event) => {
    orders.push(event.data.metadata.order)
    assert.strictEqual(event.type, "deposit.settled")
    assert.strictEqual(event.company, shop)
    assert.strictEqual(event.data.amount.sats, 1000n)
    assert.instanceOf(event.at, Date)
    all.count()
  })
  for (const order of ["1", "2", "3"]) await paid(order)
  await all.promise
  assert.sameMembers(orders, ["1", "2", "3"])
})

it("events: a handler of one company gets only that company's events", async () => {
  const other = await pay.companies.create({ name: "Another shop" })
  const orders: Array<string> = []
  const all = countdown(1)
  pay.on("deposit.settled", ({ data }) => noted(all, orders, data.metadata.order), { company: shop })
  await pay.outside.pay(
    await pay.invoices.create({ company: other, amount: 1000, metadata: { order: "other" } })
  )
  await paid("own")
  await all.promise
  assert.deepStrictEqual(orders, ["own"])
})

it("events: a handler that starts late begins with the oldest event or, if requested, with the next event", async () => {
  await paid("before")
  const [everything, later] = [countdown(2), countdown(1)]
  const seen: Record<"all" | "new", Array<string>> = { all: [], new: [] }
  pay.on("deposit.settled", ({ data }) => noted(everything, seen.all, data.metadata.order))
  pay.on("deposit.settled", ({ data }) => noted(later, seen.new, data.metadata.order), {
    name: "new",
    after: "now"
  })
  await pay.transactions.balance(shop)
  await paid("after")
  await Promise.all([everything.promise, later.promise])
  assert.deepStrictEqual(seen, { all: ["before", "after"], new: ["after"] })
})

it("events: a handler that throws is called again and does not delay other records or handlers", async () => {
  const calls: Array<string> = []
  const [others, again] = [countdown(3), countdown(1)]
  pay.on("deposit.settled", ({ data: { metadata } }) => {
    calls.push(metadata.order)
    if (metadata.order !== "bad") return others.count()
    if (calls.filter((order) => order === "bad").length < 3) throw new Error("not now")
    return again.count()
  })
  pay.on("deposit.settled", () => others.count(), { name: "another" })
  await paid("bad")
  await paid("good")
  await others.promise
  assert.include(calls, "good")
  // The pauses of 1 and 2 seconds have passed.
  while (calls.filter((order) => order === "bad").length < 3) {
    await pay.clock.advance("3 seconds")
    await setImmediate()
  }
  await again.promise
  assert.lengthOf(calls, 4)
})

it("events: the events of one record are handled in order, even while the first fails", async () => {
  const seen: Array<string> = []
  const all = countdown(2)
  let isDown = true
  pay.on(["invoice.created", "invoice.settled"], (event) => {
    if (isDown) throw new Error("down")
    seen.push(event.type)
    all.count()
  })
  await paid("1")
  isDown = false
  await pay.clock.advance("1 minute")
  await all.promise
  assert.deepStrictEqual(seen, ["invoice.created", "invoice.settled"])
})

it("events: a stopped handler resumes where it stopped", async () => {
  const seen: Array<string> = []
  const first = countdown(1)
  const consumer = pay.on("deposit.settled", ({ data }) => noted(first, seen, data.metadata.order))
  assert.throws(() => pay.on("deposit.settled", () => undefined), /give this one a name/)
  await paid("1")
  await first.promise
  await consumer.stop()
  await paid("2")
  const second = countdown(1)
  pay.on("deposit.settled", ({ data }) => noted(second, seen, data.metadata.order))
  await second.promise
  assert.deepStrictEqual(seen, ["1", "2"])
})

it("events: a `for await` loop starts after the given event, and ends when the service closes", async () => {
  await paid("1")
  await paid("2")
  const ids: Array<string> = []
  for await (const event of pay.events()) {
    if (event.type === "deposit.settled") ids.push(event.id)
    if (ids.length === 2) break
  }
  const after = ids[0]
  assert.isDefined(after)
  for await (const event of pay.events({ after, company: shop })) {
    if (event.type !== "deposit.settled") continue
    assert.strictEqual(event.id, ids[1])
    assert.strictEqual(event.data.metadata.order, "2")
    break
  }
  const ended = (async () => {
    for await (const event of pay.events({ after: "now" })) assert.fail(event.id)
  })()
  await pay.close()
  await ended
})

it("events: an event has the same id over HTTP, and any other text is rejected as a position", async () => {
  await paid("1")
  const { key } = await pay.apiKeys.create({ company: shop, name: "reader", scopes: ["read"] })
  const response = await pay.handler(
    new Request("http://pay.test/v1/events", { headers: { authorization: `Bearer ${key}` } })
  )
  assert.strictEqual(response.status, 200)
  const served: { readonly data: ReadonlyArray<{ readonly id: string }> } = JSON.parse(await response.text())
  const ids: Array<string> = []
  for await (const { id } of pay.events({ company: shop })) if (ids.push(id) === 2) break
  assert.deepStrictEqual(
    served.data.slice(0, 2).map(({ id }) => id),
    ids
  )
  for (const after of ["12.1", ids[0]?.toUpperCase(), 12]) {
    const reading = async () => {
      for await (const { id } of pay.events({ after } as never)) assert.fail(id)
    }
    const error: unknown = await reading().catch((error: unknown) => error)
    assert.match(String(error), /after must be the id of an event, or "now"/)
    assert.throws(
      () => pay.on("deposit.settled", () => {}, { after } as never),
      /after must be the id of an event, or "now"/
    )
  }
})

it("events: the README's transaction example matches the tested code", () => {
  const read = (file: string) => readFileSync(path.join(import.meta.dirname, file), "utf8")
  const [, recipe] = /```ts orders\.ts\n(.*?)```/s.exec(read("../README.md")) ?? []
  assert.strictEqual(recipe, read("orders.ts").replace("../src/index.ts", "satrail"))
})
