import { afterAll, assert, describe, it } from "@effect/vitest"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import { made } from "@satrail/core/ledger/Answer"
import { EventStore } from "@satrail/core/ledger/EventStore"
import type { Published } from "@satrail/core/ledger/LedgerReads"
import * as Memory from "../../src/memory/Memory.ts"
import { longestMillis } from "@satrail/testing/Waiting"
import { Clock, Context, Duration, Effect, Layer, Redacted } from "effect"
import { vi } from "vitest"
import { type InLane, Lanes } from "@satrail/http/edge/Lanes"
import { streamsPerCompany, streamsPerKey } from "../../src/http/events/EventStream.ts"
import { opening } from "../../../http/test/OpenStream.ts"
import { operatorToken, showing, skippingTime, start } from "../../../http/test/Service.ts"

/** Timeout for a condition to become true. */
const patience = { timeout: longestMillis, interval: 5 }

/** The lane in which an effect runs. */
const Lane = Context.Reference<string | undefined>("test/Lane", { defaultValue: () => undefined })
const lanes: InLane = (name) => (work) => Effect.provideService(work, Lane, name)

/** Reads of a company's events: the company, and the lane of the read. */
const reads: Array<readonly [companyId: string, lane: string | undefined]> = []

/** An event that appears as a newer version's, and becomes ten minutes old in a second: the first invoice of a company. */
const newer: { companyId?: string; id?: bigint } = {}
const aged = (event: Published): Published => {
  if (event.companyId !== newer.companyId || event.type !== "invoice.created") return event
  newer.id ??= event.id
  return event.id === newer.id
    ? { ...event, type: "invoice.newer", atMillis: event.atMillis - 599_000 }
    : event
}

const storage = Layer.effect(
  EventStore,
  Effect.map(EventStore, (store) =>
    EventStore.of({
      ...store,
      eventsOf: (companyId, after, limit) =>
        Effect.flatMap(Lane, (lane) => {
          if (companyId !== null) reads.push([companyId, lane])
          return Effect.map(store.eventsOf(companyId, after, limit), (events) => events.map(aged))
        })
    })
  )
).pipe(Layer.provideMerge(Memory.layer))

const hourMillis = 3_600_000

/** Sleeps of more than half an hour and less than two days end, an hour later, when the test ends them. */
const hours: Array<() => void> = []
const hourly = Layer.effect(
  Clock.Clock,
  Effect.map(Clock.Clock, (clock): Clock.Clock => {
    let aheadMillis = 0
    return {
      ...showing(clock, () => clock.currentTimeMillisUnsafe() + aheadMillis),
      sleep: (duration) => {
        const millis = Duration.toMillis(duration)
        if (millis < hourMillis / 2 || millis > 48 * hourMillis) return clock.sleep(duration)
        return Effect.callback((resume) => {
          hours.push(() => {
            aheadMillis += hourMillis
            resume(Effect.void)
          })
        })
      }
    }
  })
).pipe(Layer.provide(skippingTime))

const service = await start({ storage, instead: Context.make(Lanes, lanes), around: hourly })
afterAll(service.dispose)
const open = opening(service)

describe("the event streams of one company", () => {
  it("stream: a company may have a hundred open streams, however many keys it has, and other companies can still open theirs", async () => {
    const [company, other] = [await service.company(), await service.company()]
    const streams: Array<Awaited<ReturnType<typeof open>>> = []
    while (streams.length < streamsPerCompany) {
      const key = await service.keyFor(company.id, "read")
      streams.push(...(await Promise.all(Array.from({ length: streamsPerKey }, () => open(key)))))
    }
    assert.deepStrictEqual([...new Set(streams.map(({ response }) => response.status))], [200])
    const key = await service.keyFor(company.id, "read")
    const refused = await open(key)
    await vi.waitFor(
      () => assert.include(refused.text(), `company already has ${streamsPerCompany} open streams`),
      patience
    )
    assert.strictEqual(refused.response.status, 503)
    const theirs = await open(other.key)
    assert.strictEqual(theirs.response.status, 200)
    await streams[0]?.end()
    await vi.waitFor(async () => {
      const next = await open(key)
      await next.end()
      assert.strictEqual(next.response.status, 200)
    }, patience)
    await Promise.all([theirs, ...streams].map(({ end }) => end()))
  })

  it("stream: a reader whose filter matches no event receives newer positions, so that it need not read the same events again", async () => {
    const { key } = await service.company()
    const types = "domain.lost"
    const stream = await open(key, `?types=${types}`)
    await vi.waitFor(() => assert.include(stream.text(), "retry:"), patience)
    const invoice = () =>
      service.ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
        key,
        body: { amount: 1, currency: "sats" }
      })
    await invoice()
    const positions = () => Array.from(stream.text().matchAll(/^id: (\S+)$/gm), ([, id = ""]) => id)
    await vi.waitFor(() => assert.lengthOf(positions(), 2), patience)
    assert.notInclude(stream.text(), "data:")
    const events = async (cursor = "") =>
      (await service.ask("GET", `/v1/events?cursor=${cursor}`, { key })).body.data.length
    assert.deepStrictEqual([await events(positions()[0]), await events(positions()[1])], [1, 0])
    await stream.end()
  })

  it("stream: events after a newer version's event arrive once that is ten minutes old, even if no other event follows", async () => {
    const { id, key } = await service.company()
    const stream = await open(key)
    await vi.waitFor(() => assert.include(stream.text(), "retry:"), patience)
    newer.companyId = id
    const invoice = () =>
      service.ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
        key,
        body: { amount: 1, currency: "sats" }
      })
    await invoice()
    await invoice()
    await vi.waitFor(() => assert.include(stream.text(), "data:"), patience)
    await stream.end()
  })

  it("stream: the stream of a revoked key ends soon, even if its filter matches no event", async () => {
    const { id } = await service.company()
    const key = await service.keyFor(id, "read")
    const stream = await open(key, "?types=domain.lost")
    await vi.waitFor(() => assert.include(stream.text(), "retry:"), patience)
    await service.ask("DELETE", `/operator/api-keys/${key.split("_")[2]}`, { key: operatorToken })
    await vi.waitFor(() => assert.isTrue(stream.isOver()), patience)
  })

  it("stream: the stream of a key that expires, or was replaced while it was open, ends when the key does, even without an event", async () => {
    const { id } = await service.company()
    const keys = await service.run(ApiKeys)
    const asked = { companyId: id, name: "test", scopes: ["read"], expiresAtMillis: null } as const
    const issue = async (given: Partial<Parameters<typeof keys.issue>[0]> = {}) => {
      const { apiKey, text } = await service.run(Effect.flatMap(keys.issue({ ...asked, ...given }), made))
      const stream = await open(Redacted.value(text))
      await vi.waitFor(() => assert.include(stream.text(), "retry:"), patience)
      return { apiKey, stream }
    }
    const expiresAtMillis = await service.run(Effect.map(Clock.currentTimeMillis, (now) => now + hourMillis))
    const [other, replaced] = [await issue(), await issue()]
    hours.length = 0
    const expiring = await issue({ expiresAtMillis })
    const rotated = service.run(
      keys.rotate(replaced.apiKey.id, hourMillis / 1000, undefined, { id: "01", name: "Ada" })
    )
    await rotated
    await vi.waitFor(() => assert.isAtLeast(hours.length, 2), patience)
    assert.deepStrictEqual(
      [other, replaced, expiring].map(({ stream }) => stream.isOver()),
      [false, false, false]
    )
    for (const end of hours.splice(0)) end()
    await vi.waitFor(() => assert.isTrue(expiring.stream.isOver() && replaced.stream.isOver()), patience)
    assert.isFalse(other.stream.isOver())
    await other.stream.end()
  })

  it("stream: a stream reads events in its company's lane, so that other companies do not wait for it", async () => {
    const { id, key } = await service.company()
    const stream = await open(key)
    await vi.waitFor(() => assert.include(stream.text(), "retry:"), patience)
    await service.ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
      key,
      body: { amount: 1, currency: "sats" }
    })
    await vi.waitFor(() => assert.include(stream.text(), "event: invoice.created"), patience)
    await stream.end()
    const own = reads.filter(([companyId]) => companyId === id)
    assert.isAtLeast(own.length, 2)
    assert.deepStrictEqual([...new Set(own.map(([, lane]) => lane))], [id])
  })
})
