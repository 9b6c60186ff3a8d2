import { afterAll, assert, describe, it } from "@effect/vitest"
import { SatrailError, type Event } from "../src/index.ts"
import { start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)

/** Reads the next `count` events. */
const take = async (events: AsyncGenerator<Event>, count: number): Promise<ReadonlyArray<Event>> => {
  const all: Array<Event> = []
  while (all.length < count) {
    const { value, done } = await events.next()
    if (done === true) return all
    all.push(value)
  }
  return all
}

/** Returns the response with its body cut after `chunks` chunks, by an error or a regular close. */
const cut = (response: Response, chunks: number, end: "error" | "close"): Response => {
  const reader = response.body?.getReader() ?? assert.fail()
  let left = chunks
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { value, done } = left-- > 0 ? await reader.read() : { value: undefined, done: true }
      if (value !== undefined) return controller.enqueue(value)
      await reader.cancel()
      if (end === "error" && !done) controller.error(new TypeError("terminated"))
      else if (end === "error") controller.error(new TypeError("terminated"))
      else controller.close()
    },
    cancel: () => reader.cancel()
  })
  return new Response(body, response)
}

describe("events", () => {
  it("client: events are listed page by page, with records in the client's format", async () => {
    const { pay } = service.clientOf({ key: (await service.company()).key })
    const invoice = await pay.invoices.create({ amount: 21 })
    await service.payFor(invoice)
    const events: Array<Event> = []
    for await (const event of pay.events.list({ limit: 1 })) events.push(event)
    assert.deepStrictEqual(
      events.map(({ type }) => type),
      ["invoice.created", "deposit.settled", "invoice.settled"]
    )
    const [, , settled] = events
    assert.instanceOf(settled?.at, Date)
    assert.strictEqual(settled?.subject, invoice.id)
    if (settled?.type !== "invoice.settled") return assert.fail()
    assert.deepStrictEqual(settled.data, await pay.invoices.get(invoice.id))
    assert.deepStrictEqual(await pay.events.get(settled.id), settled)
  })

  it("client: a stream resumes after the last event read, however it ends", async () => {
    const { key } = await service.company()
    const ends = ["error", "close"] as const
    let connections = 0
    const opened = Promise.withResolvers<void>()
    const { pay, requests } = service.clientOf({ key }, async (request, pass) => {
      const response = await pass()
      if (!request.url.includes("/events/stream")) return response
      const end = ends[connections++]
      opened.resolve()
      return end === undefined ? response : cut(response, 2, end)
    })
    const events = pay.events({ types: ["invoice.*"], after: "now" })
    const first = events.next()
    await opened.promise
    const made = [
      await pay.invoices.create({ amount: 1 }),
      await pay.invoices.create({ amount: 2 }),
      await pay.invoices.create({ amount: 3 })
    ]
    const one = await first
    assert.isFalse(one.done)
    const others = await take(events, 2)
    const ids = [one.value as Event, ...others].map((event) =>
      event.type === "invoice.created" ? event.data.id : event.type
    )
    assert.deepStrictEqual(
      ids,
      made.map(({ id }) => id)
    )
    assert.isAtLeast(connections, 3)
    const [begun, ...again] = requests
      .filter(({ url }) => url.includes("/events/stream"))
      .map(({ headers }) => headers.get("last-event-id"))
    assert.isNull(begun)
    for (const id of again) assert.match(id ?? "", /^evt_/)
    await events.return()
  })

  it("client: a stream that disconnects before its first event misses no event", async () => {
    const { key } = await service.company()
    let connections = 0
    const lost = Promise.withResolvers<void>()
    const { pay } = service.clientOf({ key }, async (request, pass) => {
      if (!request.url.includes("/events/stream") || connections++ > 0) return pass()
      const response = cut(await pass(), 1, "error")
      lost.resolve()
      return response
    })
    const events = pay.events({ after: "now" })
    const first = events.next()
    await lost.promise
    const { id } = await pay.invoices.create({ amount: 1 })
    const { value } = await first
    assert.strictEqual(value?.type === "invoice.created" && value.data.id, id)
    await events.return()
  })

  it("client: a stream starts at the oldest event, and one event type covers both rails", async () => {
    const { key } = await service.company()
    const { pay } = service.clientOf({ key })
    await service.payFor(await pay.invoices.create({ amount: 5000 }))
    const { destination } = await service.destination()
    const sent = await pay.withdrawals.confirm({ amount: 1000, destination })
    await service.work()
    const events = pay.events({ types: ["deposit.settled", "withdrawal.settled"] })
    const [deposit, withdrawal] = await take(events, 2)
    await events.return()
    if (deposit?.type !== "deposit.settled" || withdrawal?.type !== "withdrawal.settled") return assert.fail()
    assert.deepStrictEqual([deposit.data.amount.sats, deposit.data.rail], [5000n, "lightning"])
    assert.strictEqual(withdrawal.subject, sent.id)
    const { items } = await pay.events.list({ types: ["withdrawal.settled"] })
    assert.deepStrictEqual(items, [withdrawal])
  })

  it("client: with `after` a stream starts after that event, and a signal ends the stream", async () => {
    const { key } = await service.company()
    const { pay } = service.clientOf({ key })
    const [one, two] = [await pay.invoices.create({ amount: 1 }), await pay.invoices.create({ amount: 2 })]
    const { items } = await pay.events.list({ limit: 1 })
    const controller = new AbortController()
    const events = pay.events({ after: items[0]?.id, signal: controller.signal })
    const [event] = await take(events, 1)
    assert.strictEqual(items[0]?.type === "invoice.created" && items[0].data.id, one.id)
    assert.strictEqual(event?.type === "invoice.created" && event.data.id, two.id)
    const next = events.next()
    controller.abort()
    assert.isTrue((await next).done)
  })

  it("client: a rejected request ends the stream, and a busy service is retried", async () => {
    const wrong = service.clientOf({ key: "sr_wrong" }).pay.events()
    const error: unknown = await wrong.next().catch((error: unknown) => error)
    assert.strictEqual(error instanceof SatrailError && error.status, 401)
    const { key } = await service.company()
    const busy = [503, 429].map((status) =>
      Response.json(
        { message: "", error: { code: "overloaded" } },
        { status, headers: { "retry-after": "3" } }
      )
    )
    const opened = Promise.withResolvers<void>()
    const { pay, slept } = service.clientOf({ key }, async (request, pass) => {
      if (!request.url.includes("/events/stream")) return pass()
      const response = busy.shift() ?? (await pass())
      if (response.ok) opened.resolve()
      return response
    })
    const { id } = await pay.invoices.create({ amount: 1 })
    const events = pay.events({ subject: id, after: "now" })
    const next = events.next()
    await opened.promise
    assert.deepStrictEqual(slept, [3000, 3000])
    await pay.invoices.cancel(id)
    const { value } = await next
    assert.strictEqual(value?.type, "invoice.canceled")
    await events.return()
  })
})
