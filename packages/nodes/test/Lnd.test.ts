import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { Clock, Deferred, Effect, Fiber, Layer, Logger, Metric, Redacted, References, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as LndBooks from "../src/LndBooks.ts"
import * as LndInfo from "../src/LndInfo.ts"
import * as LndRest from "../src/LndRest.ts"
import * as NodeState from "../src/NodeState.ts"
import * as Asleep from "./Asleep.ts"
import {
  type Answer,
  hash,
  info,
  invoiceOf,
  json,
  nodeId,
  noRecord,
  payment,
  ports,
  server
} from "./InLndsPlace.ts"

// Responses that may come from something other than lnd: a gateway whose lnd has not started, or a proxy.

const others: Record<string, Answer | undefined> = {
  "a connection lost after the request was sent": undefined,
  "a gateway whose lnd has not started": json(404, { code: 5, message: "Not Found", details: [] }),
  "a proxy that returns its own 404 page": { status: 404, body: "<h1>Not Found</h1>" },
  "a proxy whose lnd is down": { status: 502, body: "Bad Gateway" },
  "a proxy that redirects": { status: 302, body: "", location: "https://elsewhere.example/" },
  "an unknown state": json(200, { result: { status: "UNKNOWN", failure_reason: "FAILURE_REASON_NONE" } }),
  nothing: { status: 200, body: "" },
  "a proxy that requires a password": { status: 401, body: "<h1>Unauthorized</h1>" },
  "a proxy that denies everyone": json(403, { error: "forbidden" }),
  "a proxy that fails": { status: 500, body: '{"message":"Internal Server Error"}' },
  "a proxy with its own JSON for 404": json(404, { status: 404, error: "Not Found" }),
  "half of a response": { status: 200, body: '{"result":{"status":"SUCC' }
}

describe("lnd", () => {
  for (const [who, answer] of Object.entries(others)) {
    it.live(`C2: lnd: ${who}: the outcome is unknown`, () =>
      Effect.gen(function* () {
        const { url } = yield* server((path) => (path === "/v1/getinfo" ? info(nodeId) : answer))
        const { receiver, sender } = yield* ports(url)
        assert.deepStrictEqual<unknown>(yield* sender.lookupPayment(hash), { _tag: "unknown" })
        assert.deepStrictEqual<unknown>(yield* sender.pay(payment), { _tag: "unknown" })
        assert.strictEqual((yield* Effect.flip(sender.quote(payment)))._tag, "NodeUnavailable")
        assert.strictEqual((yield* Effect.flip(receiver.lookupInvoice(hash)))._tag, "NodeUnavailable")
        assert.strictEqual((yield* Effect.flip(receiver.cancelInvoice(hash)))._tag, "NodeUnavailable")
      }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
    )
  }

  for (const [title, status, htlcs, expiryHeight] of [
    [
      "all of its attempts",
      "IN_FLIGHT",
      [
        ["IN_FLIGHT", 700],
        ["FAILED", 900],
        ["IN_FLIGHT", 800]
      ],
      900
    ],
    ["none: it has no attempt", "IN_FLIGHT", [], undefined],
    [
      "none: the payee claimed a part",
      "IN_FLIGHT",
      [
        ["IN_FLIGHT", 700],
        ["SUCCEEDED", 700]
      ],
      undefined
    ],
    ["none: an attempt's state is unknown", "IN_FLIGHT", [["NEW", 700]], undefined],
    [
      "none: an attempt has no route",
      "IN_FLIGHT",
      [
        ["IN_FLIGHT", null],
        ["IN_FLIGHT", 700]
      ],
      undefined
    ],
    ["none: it has only begun", "INITIATED", [], undefined]
  ] as const) {
    it.live(`lnd: a pending payment reports the last time lock of ${title}`, () =>
      Effect.gen(function* () {
        const tracked = {
          status,
          failure_reason: "FAILURE_REASON_NONE",
          payment_preimage: "0".repeat(64),
          fee_msat: "0",
          payment_index: "1",
          htlcs: htlcs.map(([status, total_time_lock]) => ({
            status,
            route: total_time_lock === null ? null : { total_time_lock }
          }))
        }
        const { url } = yield* server((path) =>
          path === "/v1/getinfo" ? info(nodeId) : json(200, { result: tracked })
        )
        const { sender } = yield* ports(url)
        assert.deepStrictEqual<unknown>(yield* sender.lookupPayment(hash), {
          _tag: "pending",
          ...(expiryHeight !== undefined && { expiryHeight })
        })
      }).pipe(Effect.scoped)
    )
  }

  // A gateway that loses its connection to lnd reports this in lnd's own error format. lnd may already have
  // received the call and may still write a record of it.
  for (const [code, message] of [
    [1, "call was canceled"],
    [4, "took too long"],
    [6, "payment already exists"],
    [13, "stream terminated by RST_STREAM"],
    [14, "transport is closing"]
  ] as const) {
    it.live(
      `C3: lnd: if a payment call ends with gRPC code ${code} (${message}), the payment has not failed, even if lnd has no record of the payment yet`,
      () =>
        Effect.gen(function* () {
          const refusal = json(500, { error: { code, message, details: [] } })
          const { url, paths } = yield* server((path) =>
            path === "/v1/getinfo" ? info(nodeId) : path === "/v2/router/send" ? refusal : noRecord
          )
          const { sender } = yield* ports(url)
          assert.deepStrictEqual<unknown>(yield* sender.pay(payment), { _tag: "unknown" })
          assert.include(paths(), "/v2/router/send")
        }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
    )
  }

  // lnd's reasons for having no route (routing/payment_session.go).
  for (const message of [
    "unable to find a path to destination",
    "insufficient local balance",
    "unknown required feature",
    "missing dependent feature",
    "destination hop doesn't understand payment addresses"
  ]) {
    it.live(`lnd: a quote to a payee that lnd cannot reach (${message}) has no route`, () =>
      Effect.gen(function* () {
        const refusal = json(500, { code: 2, message, details: [] })
        const { url } = yield* server((path) => (path === "/v1/getinfo" ? info(nodeId) : refusal))
        const { sender } = yield* ports(url)
        assert.isUndefined(yield* sender.quote(payment))
      }).pipe(Effect.scoped)
    )
  }

  for (const [code, message] of [
    [2, "self-payments not allowed"],
    [3, "invoice expired"]
  ] as const) {
    it.live(
      `lnd: if lnd itself rejects a payment call (${code}, ${message}) and has no record of the payment, the payment has failed`,
      () =>
        Effect.gen(function* () {
          const refusal = json(500, { error: { code, message, details: [] } })
          const { url } = yield* server((path) =>
            path === "/v1/getinfo" ? info(nodeId) : path === "/v2/router/send" ? refusal : noRecord
          )
          const { sender } = yield* ports(url)
          assert.deepStrictEqual<unknown>(yield* sender.pay(payment), { _tag: "failed", reason: "error" })
        }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
    )
  }

  it.effect(
    "C3: lnd: a payment call that has no response after 2 s and left no record may still arrive, so the outcome is unknown",
    () =>
      Effect.gen(function* () {
        const called = yield* Deferred.make<void>()
        const { url, paths } = yield* server((path) => {
          if (path === "/v1/getinfo") return info(nodeId)
          if (path !== "/v2/router/send") return noRecord
          Deferred.doneUnsafe(called, Effect.void)
          return "silence"
        })
        const { sender } = yield* ports(url)
        const paying = yield* Effect.forkChild(sender.pay(payment), { startImmediately: true })
        yield* Deferred.await(called)
        yield* TestClock.adjust("2 seconds")
        assert.deepStrictEqual<unknown>(yield* Fiber.join(paying), { _tag: "unknown" })
        assert.isTrue(paths().some((path) => path.startsWith("/v2/router/track/")))
      }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live(
    "lnd: after lnd starts, no payment is sent until lnd's channels are active again or 15 s have passed",
    () =>
      Effect.gen(function* () {
        let [sleptMillis, inactive, isAway] = [0, 0, false]
        const sent = (paths: ReadonlyArray<string>) =>
          paths.filter((path) => path === "/v2/router/send").length
        const { url, paths } = yield* server((path) => {
          if (isAway) return undefined
          if (path === "/v1/getinfo") return info(nodeId, undefined, inactive)
          const settled = {
            status: "SUCCEEDED",
            failure_reason: "",
            payment_preimage: hash,
            fee_msat: "0",
            payment_index: "1"
          }
          return path === "/v2/router/send" ? json(200, { result: settled }) : noRecord
        })
        yield* Effect.gen(function* () {
          const { sender } = yield* ports(url)
          yield* sender.pay(payment)
          assert.strictEqual(sent(paths()), 1)
          isAway = true
          yield* sender.lookupPayment(hash)
          ;[isAway, inactive] = [false, 2]
          yield* sender.lookupPayment(hash)
          for (const _ of [1, 2])
            assert.deepStrictEqual<unknown>(yield* sender.pay(payment), { _tag: "notSent" })
          assert.strictEqual(sent(paths()), 1)
          inactive = 0
          yield* sender.pay(payment)
          assert.strictEqual(sent(paths()), 2)
          // The state of the channels is cached, so the next payment makes only one call.
          const asked = paths().length
          yield* sender.pay(payment)
          assert.strictEqual(paths().length, asked + 1)
          isAway = true
          yield* sender.lookupPayment(hash)
          ;[isAway, inactive] = [false, 1]
          yield* sender.lookupPayment(hash)
          assert.deepStrictEqual<unknown>(yield* sender.pay(payment), { _tag: "notSent" })
          sleptMillis = 15_000
          yield* sender.pay(payment)
          assert.strictEqual(sent(paths()), 4)
        }).pipe(
          Effect.provideServiceEffect(
            Clock.Clock,
            Asleep.clock(() => sleptMillis)
          )
        )
      }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live("C4 C8: lnd: a payment counts as not found only if the original node has no record of it", () =>
    Effect.gen(function* () {
      let key = nodeId
      const { url } = yield* server((path) => (path === "/v1/getinfo" ? info(key) : noRecord))
      const { sender } = yield* ports(url)
      assert.deepStrictEqual<unknown>(yield* sender.lookupPayment(hash), { _tag: "notFound" })
      key = `03${"22".repeat(32)}`
      assert.deepStrictEqual<unknown>(yield* sender.lookupPayment(hash), { _tag: "unknown" })
    }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live("C4: lnd: an invoice counts as unknown only if the original node has no record of it", () =>
    Effect.gen(function* () {
      let key = nodeId
      const { url } = yield* server((path) =>
        path === "/v1/getinfo" ? info(key) : json(404, { code: 5, message: "unable to locate invoice" })
      )
      const { receiver } = yield* ports(url)
      assert.deepStrictEqual<unknown>(yield* receiver.lookupInvoice(hash), { _tag: "unknown" })
      key = `03${"22".repeat(32)}`
      assert.strictEqual((yield* Effect.flip(receiver.lookupInvoice(hash)))._tag, "NodeUnavailable")
    }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live("C4: lnd: another node at the original node's address receives no payment calls", () =>
    Effect.gen(function* () {
      const { url, paths } = yield* server(() => info(`03${"22".repeat(32)}`))
      const { sender } = yield* ports(url)
      assert.deepStrictEqual<unknown>(yield* sender.pay(payment), { _tag: "notSent" })
      assert.deepStrictEqual([...new Set(paths())], ["/v1/getinfo"])
    }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live(
    "lnd: settled invoices are reported from the first again if lnd has lost its records, and so numbers them from 1",
    () =>
      Effect.gen(function* () {
        let settled: ReadonlyArray<number> = []
        let searches = 0
        // Like lnd, also in that it reports no settlement up to the given index.
        const { url } = yield* server((path) => {
          const { pathname, searchParams } = new URL(path, "http://lnd")
          const after = Number(searchParams.get("settle_index"))
          const invoices = settled.map((index) => invoiceOf(index, "SETTLED", index))
          if (pathname === "/v1/getinfo") return info(nodeId)
          if (pathname === "/v1/invoices") {
            if (searchParams.has("reversed")) searches++
            const all = [...invoices, ...Array.from({ length: 250 }, () => invoiceOf(1, "OPEN", 0))]
            const until = (Number(searchParams.get("index_offset")) || all.length + 1) - 1
            const page = searchParams.has("reversed")
              ? all.slice(0, until).slice(-Number(searchParams.get("num_max_invoices")))
              : all
            const first_index_offset = String(all.slice(0, until).length - page.length + 1)
            return json(200, { invoices: page, first_index_offset, last_index_offset: String(all.length) })
          }
          const lines = invoices.filter((invoice) => after > 0 && Number(invoice.settle_index) > after)
          return { status: 200, body: lines.map((result) => JSON.stringify({ result })).join("\n") }
        })
        const { receiver } = yield* ports(url)
        const books = yield* Layer.build(
          LndBooks.layer({
            url,
            macaroon: Redacted.make("00"),
            identity: { nodeId, network: "regtest" } as const
          })
        )
        const { taken } = yield* Effect.provideContext(LightningBooks, books)
        const told = Effect.map(Stream.runCollect(receiver.settlements("41")), (all) =>
          all.map(({ cursor }) => cursor)
        )
        assert.deepStrictEqual(yield* taken("0"), { lines: [], cursor: "0" })
        assert.strictEqual(searches, 0, "a node that was never paid has lost nothing")
        settled = [40, 41]
        assert.deepStrictEqual(yield* told, [])
        assert.deepStrictEqual(yield* taken("41"), { lines: [], cursor: "41" })
        settled = [1, 2]
        assert.deepStrictEqual(yield* told, ["1", "2"])
        searches = 0
        const restored = yield* taken("41")
        assert.strictEqual(searches, 2)
        assert.deepStrictEqual(restored.lines, [])
        assert.lengthOf((yield* taken(restored.cursor)).lines, 2)
      }).pipe(Effect.scoped)
  )

  it.live("lnd: a process that slept longer than the call timeout sends no payment", () =>
    Effect.gen(function* () {
      let sleptMillis = 0
      const { url, paths } = yield* server((path) => {
        if (path !== "/v1/getinfo") return noRecord
        sleptMillis = 61_000 // between the request for the node's identity and its response
        return info(nodeId)
      })
      const { sender } = yield* ports(url)
      const pay = Effect.provideServiceEffect(
        sender.pay(payment),
        Clock.Clock,
        Asleep.clock(() => sleptMillis)
      )
      assert.deepStrictEqual<unknown>(yield* pay, { _tag: "notSent" })
      assert.deepStrictEqual(paths(), ["/v1/getinfo"])
      yield* pay
      assert.include(paths(), "/v2/router/send", "it pays after waking up")
    }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live("C25 C26 C28: lnd: the fee limit is sent in millisatoshis, whatever its size", () =>
    Effect.gen(function* () {
      const { url, bodies } = yield* server((path) => (path === "/v1/getinfo" ? info(nodeId) : noRecord))
      const { sender } = yield* ports(url)
      for (const feeLimit of [0n, 1n, 12_345n]) {
        bodies.clear()
        yield* sender.pay({ ...payment, feeLimit: Msat.make(feeLimit) })
        const sent = JSON.parse(bodies.get("/v2/router/send") ?? "")
        assert.deepStrictEqual(sent, {
          payment_request: payment.invoice.paymentRequest,
          amt_msat: "1000",
          fee_limit_msat: String(feeLimit),
          timeout_seconds: 60,
          cancelable: false, // lnd would otherwise cancel the payment when we stop listening
          no_inflight_updates: true
        })
      }
    }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live(
    "lnd: the amount is sent only with an invoice that has none, because lnd refuses it otherwise",
    () =>
      Effect.gen(function* () {
        const { url, bodies } = yield* server((path) => (path === "/v1/getinfo" ? info(nodeId) : noRecord))
        const { sender } = yield* ports(url)
        yield* sender.pay({ ...payment, invoice: { ...payment.invoice, amount: payment.amount } })
        assert.notProperty(JSON.parse(bodies.get("/v2/router/send") ?? ""), "amt_msat")
      }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live(
    "lnd: a quote asks for a route with the amount, the fee limit and the invoice's hints, and states what lnd found",
    () =>
      Effect.gen(function* () {
        const hop = {
          pubkey: nodeId,
          shortChannelId: "700000x1234x5",
          feeBaseMsat: Msat.make(1000n),
          feeProportionalMillionths: 20,
          cltvExpiryDelta: 40
        }
        const path = `/v1/graph/routes/${payment.invoice.payee}/0`
        const found = json(200, {
          routes: [{ total_fees_msat: "1234" }, { total_fees_msat: "9" }],
          success_prob: 0.25
        })
        const { url, bodies } = yield* server((asked) =>
          asked === "/v1/getinfo" ? info(nodeId) : asked === path ? found : noRecord
        )
        const { sender } = yield* ports(url)
        const quoted = yield* sender.quote({
          ...payment,
          invoice: { ...payment.invoice, routes: [[hop]] },
          feeLimit: Msat.make(12_345n)
        })
        assert.deepStrictEqual<unknown>(quoted, { fee: 1234n, probability: 0.25 })
        assert.deepStrictEqual(JSON.parse(bodies.get(path) ?? ""), {
          amt_msat: "1000",
          fee_limit: { fixed_msat: "12345" },
          final_cltv_delta: 80,
          use_mission_control: true,
          route_hints: [
            {
              hop_hints: [
                {
                  node_id: nodeId,
                  chan_id: "769658139524071429", // 700000 * 2^40 + 1234 * 2^16 + 5 (BOLT 7)
                  fee_base_msat: 1000,
                  fee_proportional_millionths: 20,
                  cltv_expiry_delta: 40
                }
              ]
            }
          ]
        })
      }).pipe(Effect.scoped)
  )

  it.live("lnd: a quote that lnd refuses for any other reason does not say that there is no route", () =>
    Effect.gen(function* () {
      const refusal = json(500, { code: 2, message: "invalid route hints", details: [] })
      const { url } = yield* server((path) => (path === "/v1/getinfo" ? info(nodeId) : refusal))
      const { sender } = yield* ports(url)
      assert.strictEqual((yield* Effect.flip(sender.quote(payment)))._tag, "NodeUnavailable")
    }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live("lnd: another node in lnd's place is not asked for a quote", () =>
    Effect.gen(function* () {
      const { url, paths } = yield* server(() => info(`03${"22".repeat(32)}`))
      const { sender } = yield* ports(url)
      assert.strictEqual((yield* Effect.flip(sender.quote(payment)))._tag, "NodeUnavailable")
      assert.deepStrictEqual(paths(), ["/v1/getinfo"])
    }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live("C59: lnd: a version with known bugs is reported to the operator", () =>
    Effect.gen(function* () {
      for (const [version, warnings] of [
        ["0.18.5-beta commit=v0.18.5-beta", 1],
        ["0.19.0-beta commit=v0.19.0-beta", 0]
      ] as const) {
        const logged: Array<unknown> = []
        const logger = Logger.layer([Logger.make(({ message }) => void logged.push(message))])
        const { url } = yield* server(() => info(nodeId, version))
        yield* Effect.provide(LndInfo.identity(LndRest.make({ url, macaroon: Redacted.make("00") })), logger)
        assert.lengthOf(logged, warnings)
        if (warnings > 0) assert.include(JSON.stringify(logged), "0.19.0 or later")
      }
    }).pipe(Effect.scoped)
  )

  it.live("lnd: the metrics count outages and show whether the last call got a response", () =>
    Effect.gen(function* () {
      let isAway = false
      const { url } = yield* server((path) =>
        isAway
          ? { status: 502, body: "Bad Gateway" }
          : path === "/v1/getinfo"
            ? info(nodeId)
            : json(404, { code: 5, message: "unable to locate invoice" })
      )
      const { receiver } = yield* ports(url)
      yield* receiver.lookupInvoice(hash)
      const before = (yield* Metric.value(NodeState.outages("lnd"))).count
      assert.strictEqual((yield* Metric.value(NodeState.up("lnd"))).value, 1)
      isAway = true
      yield* Effect.flip(receiver.lookupInvoice(hash))
      assert.strictEqual((yield* Metric.value(NodeState.up("lnd"))).value, 0)
      assert.strictEqual((yield* Metric.value(NodeState.outages("lnd"))).count, before + 1)
      isAway = false
      yield* receiver.lookupInvoice(hash)
      assert.strictEqual((yield* Metric.value(NodeState.up("lnd"))).value, 1)
    }).pipe(Effect.scoped)
  )
})
