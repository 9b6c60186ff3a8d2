import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Events from "@satrail/core/events/Events"
import { EventStore } from "@satrail/core/ledger/EventStore"
import { longestMillis } from "@satrail/testing/Waiting"
import { Deferred, Effect, Redacted } from "effect"
import { vi } from "vitest"
import * as EventIds from "../src/wire/EventIds.ts"
import { streamsPerKey } from "@satrail/service/http/events/EventStream"
import { opening } from "./OpenStream.ts"
import { bad, operatorToken, seen, start } from "./Service.ts"

const closing = Deferred.makeUnsafe<void>()
const service = await start({ http: { closing: Deferred.await(closing) } })
afterAll(() => service.dispose())
const open = opening(service)

/** Timeout for a condition to become true. */
const patience = { timeout: longestMillis, interval: 5 }

const company = await service.company("paid")
const other = await service.company("paid")
await service.fund(company.key, 100_000)

interface Told {
  readonly id: string
  readonly type: string
  readonly event: string
  readonly company_id: string
  readonly api_version: string
  // oxlint-disable-next-line typescript/no-explicit-any -- each test checks its own members
  readonly data: any
}
/** Fetches a page, and the cursor in its `Link` header. The cursor is undefined on the last page. */
const feed = async (
  query = "",
  key = company.key
): Promise<{ readonly data: ReadonlyArray<Told>; readonly next: string | undefined }> => {
  const { headers, body } = await service.ask("GET", `/v1/events${query}`, { key })
  return {
    data: body.data,
    next: /[?&]cursor=(evt_[\w-]{22})>; rel="next"$/.exec(headers.get("link") ?? "")?.[1]
  }
}
const pay = async () => {
  const { destination } = await service.sandbox((sandbox) =>
    sandbox.destination({ type: "lightning_invoice", amount: service.sats(100n) })
  )
  const { body } = await service.ask("POST", "/v1/bitcoin/withdraw/confirm", {
    key: company.key,
    body: { destination }
  })
  return body.data.id
}
const typesOf = (events: ReadonlyArray<{ readonly type: string }>) => events.map(({ type }) => type)

describe("the list of events", () => {
  it("events: each event contains its record exactly as a fetch returns it, with the fields in the same order", async () => {
    const { data, next } = await feed()
    assert.deepStrictEqual(typesOf(data), [
      "invoice.created",
      "deposit.lightning.completed",
      "invoice.settled"
    ])
    const [created = assert.fail(), deposit = assert.fail(), settled = assert.fail()] = data
    assert.deepStrictEqual(await feed(`?cursor=${next}`), { data: [], next: undefined })
    assert.deepStrictEqual((await feed(`?cursor=${settled.id}`)).data, [])
    assert.deepStrictEqual(Object.keys(deposit), [
      "id",
      "type",
      "event",
      "timestamp",
      "company_id",
      "api_version",
      "data"
    ])
    assert.deepStrictEqual(
      [deposit.event, deposit.company_id, deposit.api_version],
      [deposit.type, company.id, "v1"]
    )
    const fetched = await service.ask("GET", `/v1/transactions/deposits/${deposit.data.id}`, {
      key: company.key
    })
    assert.deepStrictEqual(deposit.data, fetched.body.data)
    const invoice = await service.ask("GET", `/v1/bitcoin/deposit/lightning-invoice/${settled.data.id}`, {
      key: company.key
    })
    assert.deepStrictEqual(settled.data, invoice.body.data)
    assert.deepStrictEqual(
      [created.data.settled, created.data.r_preimage],
      [false, ""],
      "the event has the invoice as created"
    )
    const { text } = await service.ask("GET", `/v1/events/${deposit.id}`, { key: company.key })
    assert.include(text, JSON.stringify(deposit))
    assert.include(
      (await service.ask("GET", "/v1/events", { key: company.key })).text,
      JSON.stringify(deposit)
    )
  })

  it("events: an event's bytes never change", async () => {
    const id = await pay()
    const [pending = assert.fail()] = (await feed(`?subject=${id}`)).data
    assert.deepStrictEqual([pending.type, pending.data.status], ["withdrawal.lightning.pending", "pending"])
    await service.work()
    const [first, completed = assert.fail()] = (await feed(`?subject=${id}`)).data
    assert.deepStrictEqual(first, pending)
    assert.deepStrictEqual(
      [completed.type, completed.data.status],
      ["withdrawal.lightning.completed", "settled"]
    )
    const late = await pay()
    await service.work()
    const [begun = assert.fail()] = (await feed(`?subject=${late.toUpperCase()}`)).data
    assert.deepStrictEqual(
      [begun.data.status, begun.data.lightning_payment],
      ["pending", null],
      "read only after it has settled"
    )
  })

  it("events: the Link header repeats the filters, and the last page has none", async () => {
    const link = async (query: string) =>
      (await service.ask("GET", `/v1/events?${query}`, { key: company.key })).headers.get("link")
    const [first = assert.fail()] = (await feed("?types=invoice.*&limit=1")).data
    assert.strictEqual(
      await link("types=invoice.*&limit=1"),
      `</v1/events?limit=1&types=invoice.*&cursor=${first.id}>; rel="next"`
    )
    const { next } = await feed()
    assert.isNull(await link(`cursor=${next}`))
    const { headers } = await service.ask("GET", `/operator/companies/${company.id}/events?limit=1`, {
      key: operatorToken
    })
    assert.match(
      headers.get("link") ?? "",
      new RegExp(`^</operator/companies/${company.id}/events\\?limit=1&cursor=evt_`)
    )
  })

  it("events: filters by type or by a prefix of types work, even if few events match", async () => {
    assert.deepStrictEqual(
      [...new Set(typesOf((await feed("?types=invoice.*")).data))],
      ["invoice.created", "invoice.settled"]
    )
    assert.deepStrictEqual(typesOf((await feed("?types=deposit.lightning.completed")).data), [
      "deposit.lightning.completed"
    ])
    const { data, next } = await feed("?types=voucher.*")
    assert.deepStrictEqual([data, next], [[], (await feed()).next])
    const wrong = await service.ask("GET", "/v1/events?types=invoice.paid", { key: company.key })
    assert.deepStrictEqual(seen(wrong), bad(400, "malformed"))
    assert.match(
      wrong.body.message,
      /^unknown event type "invoice\.paid"\. Known types: deposit\.lightning\.completed/
    )
  })

  it("events: a company sees only its own events, and another company's event id is rejected", async () => {
    const [first = assert.fail()] = (await feed()).data
    assert.deepStrictEqual((await feed("", other.key)).data, [])
    assert.deepStrictEqual(
      seen(await service.ask("GET", `/v1/events/${first.id}`, { key: other.key })),
      bad(404, "not_found")
    )
    const stolen = await service.ask("GET", `/v1/events?cursor=${first.id}`, { key: other.key })
    assert.deepStrictEqual(seen(stolen), bad(400, "malformed"))
    for (const id of ["evt_", "evt_AAAAAAAAAAAAAAAAAAAAAA", `${first.id}A`, "1"])
      assert.strictEqual((await service.ask("GET", `/v1/events/${id}`, { key: company.key })).status, 404, id)
    const receives = await service.keyFor(company.id, "receive")
    assert.deepStrictEqual(
      seen(await service.ask("GET", "/v1/events", { key: receives })),
      bad(403, "scope_required")
    )
  })

  it("event ids: an id is one encrypted block that reveals nothing without the key", () => {
    const [one, two] = [EventIds.make(Redacted.make("one")), EventIds.make(Redacted.make("two"))]
    const place = { event: 2n ** 62n, part: 2 }
    const id = one.write(place, company.id)
    assert.match(id, /^evt_[\w-]{22}$/)
    assert.deepStrictEqual(one.read(id, company.id), place)
    assert.isUndefined(one.read(id, other.id))
    assert.isUndefined(two.read(id, company.id))
    // The last letter has spare bits, so another letter there encodes the same bytes.
    assert.isUndefined(
      one.read(`${id.slice(0, -1)}${String.fromCharCode(id.charCodeAt(id.length - 1) + 1)}`, company.id)
    )
  })

  it("events: a record with large metadata is sent without the metadata", async () => {
    const key = (i: number) => `${i}`.padStart(40, "k")
    const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [key(i), "ü".repeat(450)]))
    const created = await service.ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
      key: company.key,
      body: { amount: 1, currency: "sats", metadata }
    })
    const { text, body } = await service.ask("GET", `/v1/events?subject=${created.body.data.id}`, {
      key: company.key
    })
    assert.isAtMost(Buffer.byteLength(text), 21_000)
    assert.deepStrictEqual(body.data[0].data.metadata, {})
    const small = await service.ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
      key: company.key,
      body: { amount: 1, currency: "sats", metadata: { z: "1", "10": "a", "2": "b" } }
    })
    const told = await service.ask("GET", `/v1/events?subject=${small.body.data.id}`, { key: company.key })
    assert.include(told.text, `"metadata":{"2":"b","10":"a","z":"1"}`, "the keys have JSON.parse's order")
  })
})

/** Opens a stream of events, and reads it line by line. */
const follow = async (headers: Record<string, string> = {}, query = "", key = company.key) => {
  const stream = await open(key, query, headers)
  const lines = () => stream.text().split("\n")
  const values = (name: string) =>
    lines().flatMap((line) => (line.startsWith(`${name}: `) ? [line.slice(name.length + 2)] : []))
  return { ...stream, lines, values }
}

describe("the event stream", () => {
  it("stream: each event is sent immediately, with the same bytes as in the list, and a client that reconnects misses none", async () => {
    const stream = await follow()
    assert.strictEqual(stream.response.headers.get("content-type"), "text/event-stream")
    await vi.waitFor(() => assert.include(stream.lines(), "retry: 3000"), patience)
    const id = await pay()
    await vi.waitFor(
      () => assert.deepStrictEqual(stream.values("event"), ["withdrawal.lightning.pending"]),
      patience
    )
    await service.work()
    await vi.waitFor(() => assert.lengthOf(stream.values("event"), 2), patience)
    const told = (await feed(`?subject=${id}`)).data
    assert.deepStrictEqual(
      stream.values("data"),
      told.map((event) => JSON.stringify(event))
    )
    assert.deepStrictEqual(
      stream.values("id").slice(1),
      told.map(({ id }) => id)
    )
    await stream.end()
    const [first = assert.fail()] = told
    const again = await follow({ "last-event-id": first.id }, "?cursor=evt_AAAAAAAAAAAAAAAAAAAAAA")
    await vi.waitFor(
      () => assert.deepStrictEqual(again.values("event"), ["withdrawal.lightning.completed"]),
      patience
    )
    await again.end()
    const filtered = await follow(
      {},
      `?cursor=${first.id}&types=withdrawal.*,invoice.settled&subject=${id.toUpperCase()}`
    )
    await vi.waitFor(
      () => assert.deepStrictEqual(filtered.values("event"), ["withdrawal.lightning.completed"]),
      patience
    )
    await filtered.end()
  })

  it("stream: the stream starts with a cursor, so that a client disconnected before the first event misses none", async () => {
    const lost = await follow()
    await vi.waitFor(() => assert.lengthOf(lost.values("id"), 1), patience)
    assert.deepStrictEqual(lost.lines().slice(0, 3), ["retry: 3000", `id: ${lost.values("id")[0]}`, ""])
    await lost.end()
    await pay()
    const again = await follow({ "last-event-id": lost.values("id")[0] ?? "" })
    await vi.waitFor(
      () => assert.deepStrictEqual(again.values("event"), ["withdrawal.lightning.pending"]),
      patience
    )
    await again.end()
    await service.work()
  })

  it("stream: a stream with cursor=oldest starts at the oldest event, and can be resumed like any other stream", async () => {
    const all = (await feed("?limit=1000")).data.map(({ id }) => id)
    const stream = await follow({}, "?cursor=oldest")
    await vi.waitFor(() => assert.deepStrictEqual(stream.values("id").slice(1), all), patience)
    await stream.end()
    const again = await follow({ "last-event-id": stream.values("id")[0] ?? "" }, "?cursor=oldest")
    await vi.waitFor(() => assert.deepStrictEqual(again.values("id").slice(1), all), patience)
    await again.end()
    assert.deepStrictEqual(
      seen(await service.ask("GET", "/v1/events?cursor=oldest", { key: company.key })),
      bad(400, "malformed")
    )
  })

  it("stream: too many parameters or types are rejected as by the feed", async () => {
    const many = `cursor=a${"&cursor=a".repeat(32)}`
    for (const query of [many, `types=${"deposit.*,".repeat(64)}deposit.*`, "types=,"]) {
      const [stream, feed] = await Promise.all(
        ["/v1/events/stream", "/v1/events"].map((path) =>
          service.ask("GET", `${path}?${query}`, { key: company.key })
        )
      )
      assert.strictEqual(stream?.status, 400)
      assert.deepStrictEqual(stream?.body.error?.issues, feed?.body.error?.issues)
    }
  })

  it("stream: an error about the position names the header or the parameter it came from", async () => {
    for (const [path, query, headers] of [
      ["cursor", "?cursor=evt_1", {}],
      ["last-event-id", "?cursor=oldest", { "last-event-id": "evt_1" }]
    ] as const) {
      const { body } = await service.ask("GET", `/v1/events/stream${query}`, { key: company.key, headers })
      assert.deepStrictEqual(body.error?.issues, [
        {
          path,
          message: `${path} must be the id of an event of this company, or a cursor from a Link header`
        }
      ])
    }
  })

  it("stream: a key may have five open streams, however many it requests at the same time, and may open another after one ends", async () => {
    const key = await service.keyFor(company.id, "read")
    const streams = await Promise.all(Array.from({ length: 3 * streamsPerKey }, () => follow({}, "", key)))
    const open = streams.filter(({ response }) => response.status === 200)
    assert.lengthOf(open, streamsPerKey)
    assert.isTrue(streams.every((one) => open.includes(one) || one.response.status === 503))
    await open[0]?.end()
    await vi.waitFor(async () => {
      const next = await follow({}, "", key)
      await next.end()
      assert.strictEqual(next.response.status, 200)
    }, patience)
    await Promise.all(streams.map(({ end }) => end()))
  })

  it("stream: a stream of a key that was revoked sends no further event, and ends", async () => {
    const key = await service.keyFor(company.id, "read")
    const [stream, witness] = [
      await follow({}, "?types=withdrawal.*", key),
      await follow({}, "?types=withdrawal.*")
    ]
    const revoked = await service.ask("DELETE", `/operator/api-keys/${key.split("_")[2]}`, {
      key: operatorToken
    })
    assert.strictEqual(revoked.status, 200)
    await pay()
    await vi.waitFor(() => assert.lengthOf(witness.values("event"), 1), patience)
    await vi.waitFor(() => assert.isTrue(stream.isOver()), patience)
    assert.deepStrictEqual(stream.values("event"), [])
    await witness.end()
    await service.work()
  })

  it("stream: a repeated parameter is rejected, because only one of its values would count", async () => {
    const { body } = await service.ask(
      "GET",
      "/v1/events/stream?types=invoice.settled&types=deposit.completed",
      { key: company.key }
    )
    assert.deepStrictEqual(body.error?.issues, [{ path: "types", message: "types must be sent only once" }])
  })

  it("stream: the endpoint requires a key with the read scope in the header, and rejects unknown parameters", async () => {
    const ask = (query: string, key?: string) =>
      service.ask("GET", `/v1/events/stream${query}`, key === undefined ? {} : { key })
    assert.deepStrictEqual(seen(await ask("")), bad(401, "unauthorized"))
    assert.deepStrictEqual(seen(await ask(`?key=${company.key}`)), bad(401, "unauthorized"))
    assert.deepStrictEqual(
      seen(await ask("", await service.keyFor(company.id, "send"))),
      bad(403, "scope_required")
    )
    for (const query of ["?since=1", "?types=nothing.*", "?cursor=evt_"])
      assert.deepStrictEqual(seen(await ask(query, company.key)), bad(400, "malformed"), query)
  })

  it("stream: the stream ends properly when the service closes", async () => {
    const stream = await follow()
    await vi.waitFor(() => assert.include(stream.lines(), "retry: 3000"), patience)
    await service.run(Deferred.succeed(closing, undefined))
    await vi.waitFor(() => assert.isTrue(stream.isOver()), patience)
  })
})

describe("old events", () => {
  it("events: the cursor of a deleted event returns 410, and the error names the cursor with which none of the remaining events is missed", async () => {
    const { data: before, next } = await feed()
    const inStore = <A, E>(use: (store: EventStore["Service"]) => Effect.Effect<A, E>) =>
      service.run(Effect.flatMap(EventStore, use))
    await inStore(({ forgetEvents }) => forgetEvents(Number.MAX_SAFE_INTEGER, 1000))
    await pay()
    const [oldest = assert.fail()] = (await feed()).data
    const answer = await service.ask("GET", `/v1/events?cursor=${before[0]?.id}`, { key: company.key })
    assert.deepStrictEqual(seen(answer), bad(410, "cursor_too_old"))
    const [cursor] = /evt_[\w-]{22}/.exec(answer.body.message) ?? []
    assert.strictEqual((await feed(`?cursor=${cursor}`)).data[0]?.id, oldest.id)
    assert.deepStrictEqual(
      seen(await service.ask("GET", `/v1/events/stream?cursor=${before[0]?.id}`, { key: company.key })),
      bad(410, "cursor_too_old")
    )
    assert.strictEqual(
      (await feed(`?cursor=${next}`)).data[0]?.id,
      oldest.id,
      "no event after the last cursor was missed"
    )
    assert.strictEqual(Events.keptMillis, 90 * 86_400_000)
  })
})
