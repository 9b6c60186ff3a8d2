import { afterAll, assert, describe, it } from "@effect/vitest"
import { consuming } from "../src/Consumers.ts"
import type { Cursors, Event } from "../src/index.ts"
import { SatrailError } from "../src/Errors.ts"
import { type World, world } from "../src/Transport.ts"
import { start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)

/** Stores consumers' positions as a database would. */
const memory = (): Cursors & { readonly places: Map<string, string> } => {
  const places = new Map<string, string>()
  return { places, load: (name) => places.get(name), save: (name, place) => void places.set(name, place) }
}
const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise(setImmediate)
}
/** Returns the response, and calls `opened` once its reader has handled the stream's first message and reads on. */
const watched = (
  response: Response,
  opened: (stream: ReadableStreamDefaultController<Uint8Array>) => void
): Response => {
  const reader = response.body?.getReader() ?? assert.fail()
  let reads = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        if (reads++ === 1) opened(controller)
        const { value } = await reader.read()
        if (value === undefined) controller.close()
        else controller.enqueue(value)
      },
      cancel: () => reader.cancel()
    },
    { highWaterMark: 0 }
  )
  return new Response(body, response)
}
const subjects = (events: ReadonlyArray<Event>) => events.map(({ subject, type }) => `${type} ${subject}`)

describe("on", () => {
  it("client: a consumer handles each event in order, and resumes after a restart", async () => {
    const { key } = await service.company()
    const cursors = memory()
    const { pay } = service.clientOf({ key, cursors })
    const [one, two] = [await pay.invoices.create({ amount: 1 }), await pay.invoices.create({ amount: 2 })]
    await service.payFor(one)
    const first: Array<Event> = []
    const consumer = pay.on(["invoice.created", "invoice.settled"], (event) => void first.push(event))
    assert.strictEqual(consumer.name, "invoice.created, invoice.settled")
    await until(() => first.length === 3)
    await consumer.stop()
    assert.deepStrictEqual(subjects(first), [
      `invoice.created ${one.id}`,
      `invoice.created ${two.id}`,
      `invoice.settled ${one.id}`
    ])
    await service.payFor(two)
    const next: Array<Event> = []
    const again = service
      .clientOf({ key, cursors })
      .pay.on(["invoice.created", "invoice.settled"], (event) => void next.push(event))
    await until(() => next.length === 1)
    await again.stop()
    assert.deepStrictEqual(subjects(next), [`invoice.settled ${two.id}`])
  })

  it("client: a handler that throws is called again, in order, while other records continue, even after a restart", async () => {
    const { key } = await service.company()
    const cursors = memory()
    const errors: Array<unknown> = []
    const { pay, slept } = service.clientOf({ key, cursors, onError: (error) => errors.push(error) })
    const [bad, good] = [await pay.invoices.create({ amount: 1 }), await pay.invoices.create({ amount: 2 })]
    await service.payFor(bad)
    await service.payFor(good)
    const refuse = new Error("the shop's database is away")
    const handled: Array<Event> = []
    const consumer = pay.on(
      ["invoice.created", "invoice.settled"],
      (event) => {
        if (event.subject === bad.id) throw refuse
        handled.push(event)
      },
      { name: "shop" }
    )
    await until(() => handled.length === 2 && slept.length >= 3)
    await consumer.stop()
    assert.deepStrictEqual(subjects(handled), [`invoice.created ${good.id}`, `invoice.settled ${good.id}`])
    assert.deepStrictEqual(slept.slice(0, 3), [1000, 2000, 4000])
    assert.isTrue(errors.every((error) => error === refuse))
    const later: Array<Event> = []
    const again = service
      .clientOf({ key, cursors })
      .pay.on(["invoice.created", "invoice.settled"], (event) => void later.push(event), { name: "shop" })
    await until(() => later.length === 2)
    await again.stop()
    assert.deepStrictEqual(subjects(later), [`invoice.created ${bad.id}`, `invoice.settled ${bad.id}`])
    assert.deepStrictEqual(JSON.parse(cursors.places.get("shop") ?? "").open, [])
  })

  it("client: if a cursor cannot be loaded or saved, the client retries that, and no event is missed", async () => {
    const { key } = await service.company()
    const { load, save, places } = memory()
    const away = new Set(["load", "save"])
    /** The store fails the first time. */
    const once = <A>(what: string, work: () => A): A => {
      if (away.delete(what)) throw new Error(what)
      return work()
    }
    const errors: Array<unknown> = []
    const cursors: Cursors = {
      load: (name) => once("load", () => load(name)),
      save: (name, place) => once("save", () => save(name, place))
    }
    const { pay } = service.clientOf({ key, cursors, onError: (error) => errors.push(error) })
    const { id } = await pay.invoices.create({ amount: 1 })
    const handled: Array<Event> = []
    const consumer = pay.on("invoice.created", (event) => void handled.push(event))
    await until(() => handled.length === 1)
    await consumer.stop()
    assert.deepStrictEqual(subjects(handled), [`invoice.created ${id}`])
    assert.strictEqual(places.size, 1)
    assert.deepStrictEqual(errors.map(String), ["Error: load", "Error: save"])
  })

  it("client: no cursor is lost while the service is unavailable", async () => {
    const { key } = await service.company()
    const cursors = memory()
    const errors: Array<unknown> = []
    let isAway = false
    const { pay } = service.clientOf(
      { key, cursors, onError: (error) => errors.push(error) },
      async (_, pass) => (isAway ? new Response("<html>", { status: 404 }) : pass())
    )
    const handled: Array<Event> = []
    const begin = () => pay.on("invoice.created", (event) => void handled.push(event))
    await pay.invoices.create({ amount: 1 })
    let consumer = begin()
    await until(() => handled.length === 1)
    await consumer.stop()
    isAway = true
    consumer = begin()
    await until(() => errors.length > 2)
    isAway = false
    await pay.invoices.create({ amount: 2 })
    await until(() => handled.length === 2)
    await consumer.stop()
    assert.lengthOf(new Set(handled.map(({ id }) => id)), 2)
    assert.lengthOf(handled, 2)
  })

  it("client: a consumer that begins now and is stopped before its first event misses no event until its next start", async () => {
    const { key } = await service.company()
    let opened = () => {}
    const { pay } = service.clientOf({ key, cursors: memory() }, async (request, pass) =>
      request.url.includes("/events/stream") ? watched(await pass(), () => opened()) : pass()
    )
    const handled: Array<Event> = []
    const begin = async () => {
      const isOpen = new Promise<void>((resolve) => {
        opened = resolve
      })
      const consumer = pay.on("invoice.created", (event) => void handled.push(event), { after: "now" })
      await isOpen
      return consumer
    }
    await pay.invoices.create({ amount: 1 })
    await (await begin()).stop()
    const missed = await pay.invoices.create({ amount: 2 })
    const consumer = await begin()
    const { id } = await pay.invoices.create({ amount: 3 })
    await until(() => handled.at(-1)?.subject === id)
    await consumer.stop()
    assert.deepStrictEqual(subjects(handled), [`invoice.created ${missed.id}`, `invoice.created ${id}`])
  })

  it("client: a consumer that begins now misses no event if the service rejects it once when it reconnects", async () => {
    const { key } = await service.company()
    const { pay: shop } = service.clientOf({ key })
    const [missed, reopened] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()]
    let connections = 0
    const { pay } = service.clientOf({ key, cursors: memory(), onError: () => {} }, async (request, pass) => {
      if (!request.url.includes("/events/stream")) return pass()
      connections++
      if (connections === 1)
        return watched(await pass(), (stream) => stream.error(new TypeError("terminated")))
      if (connections === 3) return watched(await pass(), () => reopened.resolve())
      missed.resolve((await shop.invoices.create({ amount: 1 })).id)
      return new Response("<html>", { status: 404 })
    })
    const handled: Array<Event> = []
    const consumer = pay.on("invoice.created", (event) => void handled.push(event), { after: "now" })
    await reopened.promise
    const { id } = await shop.invoices.create({ amount: 2 })
    await until(() => handled.at(-1)?.subject === id)
    await consumer.stop()
    assert.deepStrictEqual(subjects(handled), [
      `invoice.created ${await missed.promise}`,
      `invoice.created ${id}`
    ])
  })

  it("client: many records are handled concurrently, and each event is handled once", async () => {
    const { key } = await service.company()
    const { pay } = service.clientOf({ key, cursors: memory() })
    const made = new Set<string>()
    for (let i = 0; i < 40; i++) made.add((await pay.invoices.create({ amount: 1 })).id)
    const handled: Array<string> = []
    let [running, most] = [0, 0]
    const consumer = pay.on("invoice.created", async ({ subject }) => {
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
      handled.push(subject)
    })
    await until(() => handled.length >= 40)
    await consumer.stop()
    assert.sameMembers(handled, [...made])
    assert.isAbove(most, 1)
    assert.isAtMost(most, 16)
  })

  it("client: failing records with further events do not keep a consumer from handling other records", async () => {
    const { key } = await service.company()
    const { pay } = service.clientOf({ key, cursors: memory(), onError: () => {} })
    const bad = new Set<string>()
    const paid = async () => {
      const invoice = await pay.invoices.create({ amount: 1 })
      await service.payFor(invoice)
      return invoice.id
    }
    for (let i = 0; i < 16; i++) bad.add(await paid())
    const good = await paid()
    const handled: Array<Event> = []
    const consumer = pay.on(["invoice.created", "invoice.settled"], (event) => {
      if (bad.has(event.subject)) throw new Error("the shop does not know this order")
      handled.push(event)
    })
    await until(() => handled.length === 2)
    await consumer.stop()
    assert.deepStrictEqual(subjects(handled), [`invoice.created ${good}`, `invoice.settled ${good}`])
  })

  it("client: a consumer reads no further while 1000 of its events are not handled", async () => {
    const events = Array.from({ length: 1200 }, (_, n) => ({ id: `evt_${n}`, subject: `${n % 10}` }) as Event)
    const [places, tried] = [memory(), new Set<string>()]
    let read = 0
    const slept = Promise.withResolvers<void>()
    const world: World = {
      sleep: async (_, signal) => {
        if (tried.size === 10) slept.resolve()
        await new Promise<void>((resolve) => {
          signal?.addEventListener("abort", () => resolve())
        })
      },
      random: () => 0
    }
    const source = {
      events: async function* () {
        for (const event of events) {
          read++
          yield event
        }
      },
      get: () => assert.fail()
    }
    const consumer = consuming(
      { url: "", cursors: places, onError: () => {} },
      world,
      source
    )("invoice.created", ({ subject }) => {
      tried.add(subject)
      throw new Error("the shop does not know this order")
    })
    await slept.promise
    await new Promise(setImmediate)
    await consumer.stop()
    assert.strictEqual(read, 1001)
    assert.lengthOf(JSON.parse(places.places.get("invoice.created") ?? "").open, 1000)
  })

  it("client: an event that was deleted before it was handled is reported, and the consumer continues", async () => {
    const cursors = memory()
    cursors.places.set("shop", JSON.stringify({ after: "evt_2", open: ["evt_1"] }))
    const gone = new SatrailError({ status: 404, code: "not_found", message: "There is no event evt_1" })
    const reported: Array<unknown> = []
    const handled = Promise.withResolvers<Event>()
    const source = {
      events: async function* () {
        yield { id: "evt_3", subject: "1" } as Event
      },
      get: () => Promise.reject(gone)
    }
    const on = consuming(
      { url: "", cursors, onError: (error, name) => void reported.push([name, error]) },
      world,
      source
    )
    const consumer = on("invoice.created", handled.resolve, { name: "shop" })
    assert.strictEqual((await handled.promise).id, "evt_3")
    await consumer.stop()
    assert.deepStrictEqual(reported, [["shop", gone]])
    assert.deepStrictEqual(JSON.parse(cursors.places.get("shop") ?? ""), { after: "evt_3", open: [] })
  })

  it("client: a consumer without a cursor store, or with a name in use, is rejected", async () => {
    const { key } = await service.company()
    assert.throws(() => service.clientOf({ key }).pay.on("invoice.created", () => {}), /cursors/)
    const { pay } = service.clientOf({ key, cursors: memory() })
    const consumer = pay.on("invoice.created", () => {}, { after: "now" })
    assert.throws(() => pay.on("invoice.created", () => {}), /is already running/)
    await consumer.stop()
    await pay.on("invoice.created", () => {}).stop()
  })

  it("client: a stopped consumer releases its name even if its position cannot be saved, and a second stop does not end the next one", async () => {
    let isAway = true
    const cursors = {
      load: () => undefined,
      save: () => (isAway ? Promise.reject(new Error("away")) : undefined)
    }
    const source = {
      events: async function* ({
        signal
      }: {
        readonly signal?: AbortSignal | undefined
      }): AsyncGenerator<Event | string> {
        yield "evt_1"
        if (signal?.aborted) return
        await new Promise((resolve) => {
          signal?.addEventListener("abort", resolve)
        })
      },
      get: () => Promise.reject(new Error("unused"))
    }
    const on = consuming({ url: "", cursors, onError: () => {} }, world, source)
    const first = on("invoice.created", () => {})
    await new Promise(setImmediate)
    assert.strictEqual(String(await first.stop().catch((error: unknown) => error)), "Error: away")
    isAway = false
    const second = on("invoice.created", () => {})
    await first.stop().catch(() => {})
    assert.throws(() => on("invoice.created", () => {}), /is already running/)
    await second.stop()
  })
})
