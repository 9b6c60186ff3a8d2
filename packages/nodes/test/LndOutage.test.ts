import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Metric, References, Stream } from "effect"
import { createServer, type AddressInfo, type Socket } from "node:net"
import { once } from "node:events"
import * as NodeState from "../src/NodeState.ts"
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

const quiet = Effect.provideService(References.MinimumLogLevel, "None")

const refusal = (code: number, message: string, status = 500): Answer =>
  json(status, { code, message, details: [] })

/** Messages about lnd's state that lnd returns before it processes a request. */
const gate: Record<string, readonly [answer: Answer, reason: string, remedy: RegExp]> = {
  locked: [refusal(2, "wallet locked, unlock it to enable full RPC access"), "lnd is locked", /lncli unlock/],
  "without a wallet": [
    refusal(2, "wallet not created, create one to enable full RPC access"),
    "lnd has no wallet",
    /lncli create/
  ],
  waiting: [refusal(2, "waiting to start, RPC services not available"), "lnd is starting", /Wait until/],
  starting: [
    refusal(2, "the RPC server is in the process of starting up, but not yet ready to accept calls"),
    "lnd is starting",
    /Wait until/
  ],
  "with a macaroon that does not allow the call": [
    refusal(2, "permission denied"),
    "lnd refuses a macaroon: a permission is missing",
    /OUR_MACAROON/
  ],
  "with a macaroon of another node": [
    refusal(2, "verification failed: signature mismatch after caveat verification"),
    "lnd refuses a macaroon: it is not one of this node's",
    /OUR_MACAROON/
  ],
  "with a macaroon whose root key was deleted": [
    refusal(2, "cannot retrieve macaroon: cannot get macaroon: root key with id 7 doesn't exist"),
    "lnd refuses a macaroon: it is not one of this node's",
    /OUR_MACAROON/
  ]
}

/** Messages about lnd's state that lnd may also return after a payment has begun. */
const later: Record<string, readonly [answer: Answer, reason: string]> = {
  "that stops": [refusal(2, "the server is shutting down"), "lnd is stopping"],
  "whose database fails": [refusal(2, "database is locked"), "lnd has an internal error"],
  "whose gateway lost the connection to it": [
    refusal(14, "transport is closing"),
    "lnd has an internal error"
  ],
  "whose gateway has not connected yet": [refusal(5, "Not Found", 404), "lnd is starting"],
  "whose proxy responds": [{ status: 502, body: "Bad Gateway" }, "the server at lnd's address is not lnd"]
}

const names = { url: "OUR_URL", certificateFile: "OUR_CERTIFICATE", macaroon: "OUR_MACAROON" }

const isUp = Effect.map(Metric.value(NodeState.up("lnd")), ({ value }) => value)

describe("lnd's state", () => {
  for (const [how, [answer, reason, remedy]] of Object.entries(gate)) {
    it.live(`lnd: ${how}: the outage has a reason and a remedy, and the payment is not sent`, () =>
      Effect.gen(function* () {
        let isItself = true
        const { url } = yield* server((path) =>
          isItself && path === "/v1/getinfo" ? info(nodeId) : isItself ? noRecord : answer
        )
        const { receiver, sender } = yield* ports(url, { names })
        yield* sender.lookupPayment(hash) // now the node's identity is known
        assert.strictEqual(yield* isUp, 1)
        isItself = false
        assert.deepStrictEqual<unknown>(yield* sender.pay(payment), { _tag: "notSent" })
        assert.deepStrictEqual<unknown>(yield* sender.lookupPayment(hash), { _tag: "unknown" })
        const outage = yield* Effect.flip(receiver.lookupInvoice(hash))
        assert.strictEqual(outage.reason, reason)
        assert.match(outage.remedy ?? "", remedy)
        assert.notInclude(outage.reason, url)
        assert.strictEqual(yield* isUp, 0)
      }).pipe(Effect.scoped, quiet)
    )
  }

  for (const [how, [answer, reason]] of Object.entries(later)) {
    it.live(`C2: lnd: ${how}: the outage has a reason, and a payment's outcome is unknown`, () =>
      Effect.gen(function* () {
        const { url } = yield* server((path) => (path === "/v1/getinfo" ? info(nodeId) : answer))
        const { receiver, sender } = yield* ports(url, { names })
        assert.deepStrictEqual<unknown>(yield* sender.pay(payment), { _tag: "unknown" })
        assert.strictEqual((yield* Effect.flip(receiver.lookupInvoice(hash))).reason, reason)
        assert.strictEqual(yield* isUp, 0)
      }).pipe(Effect.scoped, quiet)
    )
  }

  // By the time the payment is looked up, lnd is working again and has no record of it. That does not mean the
  // payment failed.
  for (const words of [
    "wallet locked, unlock it to enable full RPC access",
    "wallet is not ready",
    "permission denied",
    "verification failed: signature mismatch after caveat verification",
    "the RPC server is in the process of starting up, but not yet ready to accept calls",
    "the server is shutting down",
    "context canceled",
    "database is locked"
  ]) {
    it.live(
      `C2: lnd: if a payment call is rejected with "${words}", the payment has not failed, even if lnd has no record of the payment`,
      () =>
        Effect.gen(function* () {
          const { url } = yield* server((path) =>
            path === "/v1/getinfo" ? info(nodeId) : path === "/v2/router/send" ? refusal(2, words) : noRecord
          )
          const { sender } = yield* ports(url)
          assert.include(["unknown", "notSent"], (yield* sender.pay(payment))._tag)
        }).pipe(Effect.scoped, quiet)
    )
  }

  it.live(
    "lnd: a problem that affects several calls is logged once with its remedy when it begins, and once when it ends",
    () =>
      Effect.gen(function* () {
        let isLocked = false
        const logged: Array<string> = []
        const logger = Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])
        const locked = gate["locked"]?.[0]
        const { url } = yield* server((path) =>
          isLocked ? locked : path === "/v1/getinfo" ? info(nodeId) : noRecord
        )
        const state = NodeState.make("lnd")
        yield* Effect.gen(function* () {
          const [one, other] = [yield* ports(url, { names, state }), yield* ports(url, { names, state })]
          yield* one.sender.lookupPayment(hash)
          isLocked = true
          for (let i = 0; i < 50; i++) {
            yield* one.sender.pay(payment)
            yield* one.sender.lookupPayment(hash)
            yield* Effect.flip(other.receiver.lookupInvoice(hash))
          }
          assert.lengthOf(logged, 1)
          assert.match(logged[0] ?? "", /^lnd is locked\. Unlock its wallet with `lncli unlock`/)
          isLocked = false
          for (let i = 0; i < 3; i++) yield* one.sender.lookupPayment(hash)
          assert.deepStrictEqual(logged.slice(1), ["no longer: lnd is locked"])
        }).pipe(Effect.provide(logger))
      }).pipe(Effect.scoped)
  )

  it.live(
    "lnd: a response that cannot be read is reported once, with its call, even if all other calls succeed",
    () =>
      Effect.gen(function* () {
        const logged: Array<string> = []
        const logger = Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])
        const absent = json(404, { code: 5, message: "unable to locate invoice" })
        const { url } = yield* server((path) =>
          path === "/v1/getinfo" ? info(nodeId) : path === "/v1/invoices" ? json(200, {}) : absent
        )
        const { receiver } = yield* ports(url)
        const ask = {
          id: "1",
          amount: null,
          description: { _tag: "Text", text: "" },
          expirySeconds: 60
        } as const
        yield* Effect.gen(function* () {
          for (let n = 0; n < 3; n++) {
            yield* Effect.flip(receiver.createInvoice(ask))
            yield* receiver.lookupInvoice(hash)
          }
        }).pipe(Effect.provide(logger))
        assert.lengthOf(logged, 1)
        assert.match(logged[0] ?? "", /^lnd's response cannot be read\. .*createInvoice/)
      }).pipe(Effect.scoped)
  )

  it.live(
    "lnd: if the macaroon denies one call, the node counts as down until that call is allowed, even if all other calls succeed",
    () =>
      Effect.gen(function* () {
        let isAllowed = false
        const denied = refusal(2, "permission denied")
        const { url } = yield* server((path) =>
          path === "/v1/getinfo"
            ? info(nodeId)
            : path.startsWith("/v1/invoice/") && !isAllowed
              ? denied
              : json(404, { code: 5, message: "unable to locate invoice" })
        )
        const { receiver, sender } = yield* ports(url)
        yield* Effect.flip(receiver.lookupInvoice(hash))
        yield* sender.lookupPayment(hash)
        yield* Effect.flip(receiver.cancelInvoice(hash))
        assert.strictEqual(yield* isUp, 0)
        isAllowed = true
        assert.deepStrictEqual(yield* receiver.lookupInvoice(hash), { _tag: "unknown" })
        yield* Effect.flip(receiver.cancelInvoice(hash))
        assert.strictEqual(yield* isUp, 1)
      }).pipe(Effect.scoped, quiet)
  )
})

/** Listens on a free port and passes each connection to `take`. */
const listener = (take: (socket: Socket) => void) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const sockets = new Set<Socket>()
      const server = createServer((socket) => {
        sockets.add(socket)
        socket.on("error", () => {})
        take(socket)
      }).listen(0, "127.0.0.1")
      await once(server, "listening")
      const { port } = server.address() as AddressInfo
      return {
        port,
        end: () => {
          for (const socket of sockets) socket.destroy()
          server.close()
        }
      }
    }),
    ({ end }) => Effect.sync(end)
  )

/** A port without a listener. */
const nobody = Effect.scoped(
  Effect.map(
    listener(() => {}),
    ({ port }) => port
  )
)

describe("a connection to lnd", () => {
  it.live("lnd: a payment is reported as not sent if the connection is refused", () =>
    Effect.gen(function* () {
      const url = `http://127.0.0.1:${yield* nobody}`
      const { receiver, sender } = yield* ports(url, { names })
      assert.deepStrictEqual<unknown>(yield* sender.pay(payment), { _tag: "notSent" })
      const outage = yield* Effect.flip(receiver.lookupInvoice(hash))
      assert.strictEqual(outage.reason, "lnd refuses the connection")
      assert.include(outage.remedy, url)
      assert.include(outage.remedy, "OUR_URL")
    }).pipe(Effect.scoped, quiet)
  )

  it.live(
    "lnd: a payment is reported as not sent if the connection is refused after the node was identified",
    () =>
      Effect.gen(function* () {
        const port = yield* Effect.scoped(
          Effect.gen(function* () {
            const { url } = yield* server((path) => (path === "/v1/getinfo" ? info(nodeId) : noRecord))
            return url
          })
        )
        const { sender } = yield* ports(port)
        assert.deepStrictEqual<unknown>(yield* sender.pay(payment), { _tag: "notSent" })
      }).pipe(Effect.scoped, quiet)
  )

  it.live("lnd: a payment is reported as not sent if lnd's host is unknown", () =>
    Effect.gen(function* () {
      const { receiver, sender } = yield* ports("https://lnd.invalid:8080", { names })
      assert.deepStrictEqual<unknown>(yield* sender.pay(payment), { _tag: "notSent" })
      assert.strictEqual(
        (yield* Effect.flip(receiver.lookupInvoice(hash))).reason,
        "lnd's host name cannot be resolved"
      )
    }).pipe(Effect.scoped, quiet)
  )

  it.live("lnd: a server without TLS is reported, and the payment is not sent", () =>
    Effect.gen(function* () {
      const { port } = yield* listener((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))
      const { receiver, sender } = yield* ports(`https://127.0.0.1:${port}`, { names })
      assert.deepStrictEqual<unknown>(yield* sender.pay(payment), { _tag: "notSent" })
      assert.strictEqual(
        (yield* Effect.flip(receiver.lookupInvoice(hash))).reason,
        "the server at lnd's address does not speak TLS"
      )
    }).pipe(Effect.scoped, quiet)
  )

  it.live(
    "C3: lnd: if a reused connection is reset during a payment call, the outcome is unknown, because the request may have been written",
    () =>
      Effect.gen(function* () {
        let isReset = false
        const { url, paths } = yield* server((path) =>
          isReset ? undefined : path === "/v1/getinfo" ? info(nodeId) : noRecord
        )
        const { sender } = yield* ports(url)
        yield* sender.pay(payment) // now its channels are known to be active
        const before = paths().length
        isReset = true
        assert.deepStrictEqual<unknown>(yield* sender.pay(payment), { _tag: "unknown" })
        assert.include(paths().slice(before), "/v2/router/send")
      }).pipe(Effect.scoped, quiet)
  )

  it.live(
    "lnd: a call is repeated on a new connection if lnd has closed the reused ones, and only then",
    () =>
      Effect.gen(function* () {
        let resets = 0
        const issued = json(200, {
          r_hash: Buffer.from(hash, "hex").toString("base64"),
          payment_request: "lnbcrt1"
        })
        const absent = json(404, { code: 5, message: "unable to locate invoice" })
        const { url, paths } = yield* server((path) =>
          resets > 0
            ? void resets--
            : path === "/v1/getinfo"
              ? info(nodeId)
              : path === "/v1/invoices"
                ? issued
                : absent
        )
        const { receiver } = yield* ports(url)
        yield* Effect.all([receiver.lookupInvoice(hash), receiver.lookupInvoice(hash)], { concurrency: 2 })
        resets = 2
        const ask = {
          id: "1",
          amount: null,
          description: { _tag: "Text", text: "" },
          expirySeconds: 60
        } as const
        assert.strictEqual((yield* receiver.createInvoice(ask)).paymentRequest, "lnbcrt1")
        const before = paths().length
        resets = 3
        assert.strictEqual((yield* Effect.flip(receiver.createInvoice(ask)))._tag, "NodeUnavailable")
        assert.deepStrictEqual(paths().slice(before), ["/v1/invoices", "/v1/invoices"])
      }).pipe(Effect.scoped, quiet)
  )

  it.live(
    "C3: lnd: if a node never responds to a payment call, the outcome is unknown and the node counts as down",
    () =>
      Effect.gen(function* () {
        let isSilent = false
        const { port } = yield* listener((socket) => {
          socket.on("data", (data) => {
            if (isSilent || String(data).includes("/v2/router")) return
            const { body } = info(nodeId)
            socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
          })
        })
        const { sender } = yield* ports(`http://127.0.0.1:${port}`, { deadlineMillis: 300 })
        assert.deepStrictEqual<unknown>(yield* sender.pay(payment), { _tag: "unknown" })
        assert.strictEqual(yield* isUp, 0)
        isSilent = true
        assert.deepStrictEqual<unknown>(yield* sender.lookupPayment(hash), { _tag: "unknown" })
      }).pipe(Effect.scoped, quiet)
  )
})

describe("an invoice at lnd", () => {
  for (const [state, tag] of [
    ["ACCEPTED", "accepted"],
    ["SETTLED", "settled"],
    ["CANCELED", "canceled"]
  ] as const) {
    it.live(`lnd: canceling an invoice that is ${state} returns exactly ${tag}`, () =>
      Effect.gen(function* () {
        const { url } = yield* server((path) =>
          path === "/v1/getinfo"
            ? info(nodeId)
            : path === "/v2/invoices/cancel"
              ? refusal(2, "invoice already settled")
              : json(200, invoiceOf(1, state, 1))
        )
        const { receiver } = yield* ports(url)
        assert.strictEqual((yield* receiver.cancelInvoice(hash))._tag, tag)
      }).pipe(Effect.scoped, quiet)
    )
  }

  it.live(
    "C60: lnd: only settled invoices are reported, in the order in which they were settled, not created",
    () =>
      Effect.gen(function* () {
        const asked: Array<string> = []
        const lines = [
          invoiceOf(5, "OPEN", 0),
          invoiceOf(2, "SETTLED", 2),
          invoiceOf(6, "ACCEPTED", 0),
          invoiceOf(3, "SETTLED", 3),
          invoiceOf(7, "CANCELED", 0)
        ]
        const { url } = yield* server((path) => {
          if (path === "/v1/getinfo") return info(nodeId)
          if (path.startsWith("/v1/invoices/subscribe")) {
            asked.push(path)
            return { status: 200, body: lines.map((result) => JSON.stringify({ result })).join("\n") }
          }
          const invoices = [
            invoiceOf(3, "SETTLED", 3),
            invoiceOf(9, "OPEN", 0),
            invoiceOf(1, "SETTLED", 1),
            invoiceOf(2, "SETTLED", 2)
          ]
          return json(200, { invoices, first_index_offset: "1", last_index_offset: "4" })
        })
        const { receiver } = yield* ports(url)
        const told = yield* Stream.runCollect(Stream.take(receiver.settlements(null), 3))
        assert.deepStrictEqual(
          told.map(({ cursor, received }) => [cursor, received]),
          [
            ["1", 1000n],
            ["2", 2000n],
            ["3", 3000n]
          ]
        )
        assert.deepStrictEqual(asked, ["/v1/invoices/subscribe?settle_index=1"])
      }).pipe(Effect.scoped, quiet)
  )

  it.live(
    "C4: lnd: another node at the same address counts as an outage, even if an invoice lookup is the first call",
    () =>
      Effect.gen(function* () {
        const { url } = yield* server((path) =>
          path === "/v1/getinfo"
            ? info(`03${"22".repeat(32)}`)
            : json(404, { code: 5, message: "unable to locate invoice" })
        )
        const { receiver } = yield* ports(url)
        assert.strictEqual(
          (yield* Effect.flip(receiver.lookupInvoice(hash))).reason,
          "a different node answers at lnd's address"
        )
      }).pipe(Effect.scoped, quiet)
  )
})
