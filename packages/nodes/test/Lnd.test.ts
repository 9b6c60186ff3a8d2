import { assert, describe, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/core/Bolt11"
import { LightningReceiver } from "@satrail/core/LightningReceiver"
import { LightningSender } from "@satrail/core/LightningSender"
import * as Msat from "@satrail/core/Msat"
import { Effect, Layer, Metric, Redacted, References, Result } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import * as Lnd from "../src/Lnd.ts"
import * as LndRest from "../src/LndRest.ts"

// Who answers is not always lnd, nor always the same: a gateway before it has started, a proxy, another node at the old address.

const nodeId = `02${"11".repeat(32)}`
const hash = "0f".repeat(32)

interface Answer {
  readonly status: number
  readonly body: string
  readonly location?: string
}

const info = (key: string): Answer => ({
  status: 200,
  body: JSON.stringify({ identity_pubkey: key, chains: [{ chain: "bitcoin", network: "regtest" }] })
})

const json = (status: number, body: object): Answer => ({ status, body: JSON.stringify(body) })

const noRecord = json(404, { error: { code: 5, message: "payment isn't initiated", details: [] } })

/** Answers every call with what `say` has for its path, and remembers the paths. */
const server = (say: (path: string) => Answer) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      let paths: ReadonlyArray<string> = []
      const server = createServer((request, response) => {
        const path = request.url ?? ""
        paths = [...paths, path]
        const { status, body, location } = say(path)
        response.writeHead(status, location === undefined ? {} : { location }).end(body)
      }).listen(0, "127.0.0.1")
      await once(server, "listening")
      const address = server.address()
      const url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
      return { url, paths: () => paths, end: () => server.close() }
    }),
    ({ end }) => Effect.sync(end)
  )

const ports = Effect.fnUntraced(function* (url: string) {
  const options = { url, macaroon: Redacted.make("00"), identity: { nodeId, network: "regtest" } as const, deadlineMillis: 2000 }
  const built = yield* Layer.build(
    Layer.merge(Lnd.layerReceiver({ ...options, invoiceSecret: Redacted.make("of the tests") }), Lnd.layerSender(options))
  )
  return yield* Effect.provideContext(Effect.all({ receiver: LightningReceiver, sender: LightningSender }), built)
})

const payment = {
  invoice: Result.getOrThrow(
    Bolt11.decode(
      Result.getOrThrow(
        Bolt11.encode(
          {
            network: "regtest",
            timestampSeconds: 1_700_000_000,
            paymentHash: hash,
            paymentSecret: hash,
            description: "",
            expirySeconds: 3600,
            minFinalCltvExpiry: 80
          },
          Bolt11.signWith(new Uint8Array(32).fill(3))
        )
      )
    )
  ),
  amount: Msat.fromSats(1),
  feeLimit: Msat.zero
}

const others: Record<string, Answer> = {
  "a gateway whose lnd has not started": json(404, { code: 5, message: "Not Found", details: [] }),
  "a proxy that knows no such page": { status: 404, body: "<h1>Not Found</h1>" },
  "a proxy whose lnd is away": { status: 502, body: "Bad Gateway" },
  "a proxy that sends us elsewhere": { status: 302, body: "", location: "https://elsewhere.example/" },
  "a state that nobody has heard of": json(200, { result: { status: "UNKNOWN", failure_reason: "FAILURE_REASON_NONE" } }),
  nothing: { status: 200, body: "" },
  "half of an answer": { status: 200, body: '{"result":{"status":"SUCC' }
}

describe("lnd", () => {
  for (const [who, answer] of Object.entries(others)) {
    it.live(`${who}: nothing is known, and nothing is decided`, () =>
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

  // A gateway whose connection to lnd breaks tells so in lnd's own form, and the call may have reached lnd before: its record may yet be written.
  for (const [code, message] of [
    [1, "call was canceled"],
    [4, "took too long"],
    [6, "payment already exists"],
    [13, "stream terminated by RST_STREAM"],
    [14, "transport is closing"]
  ] as const) {
    it.live(`a call to pay that ends in gRPC's ${code} (${message}) has failed nothing, though there is no record of it yet`, () =>
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

  for (const [code, message] of [
    [2, "self-payments not allowed"],
    [3, "invoice expired"]
  ] as const) {
    it.live(`a call to pay that lnd itself refuses (${code}, ${message}), and has no record of, has failed`, () =>
      Effect.gen(function* () {
        const refusal = json(500, { error: { code, message, details: [] } })
        const { url } = yield* server((path) => (path === "/v1/getinfo" ? info(nodeId) : path === "/v2/router/send" ? refusal : noRecord))
        const { sender } = yield* ports(url)
        assert.deepStrictEqual<unknown>(yield* sender.pay(payment), { _tag: "failed", reason: "error" })
      }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
    )
  }

  it.live("that a payment has no record counts from the node that it was, and from no other at its address", () =>
    Effect.gen(function* () {
      let key = nodeId
      const { url } = yield* server((path) => (path === "/v1/getinfo" ? info(key) : noRecord))
      const { sender } = yield* ports(url)
      assert.deepStrictEqual<unknown>(yield* sender.lookupPayment(hash), { _tag: "notFound" })
      key = `03${"22".repeat(32)}`
      assert.deepStrictEqual<unknown>(yield* sender.lookupPayment(hash), { _tag: "unknown" })
    }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live("nothing is asked of another node than the one that it was", () =>
    Effect.gen(function* () {
      const { url, paths } = yield* server(() => info(`03${"22".repeat(32)}`))
      const { sender } = yield* ports(url)
      assert.deepStrictEqual<unknown>(yield* sender.pay(payment), { _tag: "unknown" })
      assert.deepStrictEqual([...new Set(paths())], ["/v1/getinfo"])
    }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live("whether it answered is measured", () =>
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
      const before = (yield* Metric.value(LndRest.outages)).count
      assert.strictEqual((yield* Metric.value(LndRest.up)).value, 1)
      isAway = true
      yield* Effect.flip(receiver.lookupInvoice(hash))
      assert.strictEqual((yield* Metric.value(LndRest.up)).value, 0)
      assert.strictEqual((yield* Metric.value(LndRest.outages)).count, before + 1)
      isAway = false
      yield* receiver.lookupInvoice(hash)
      assert.strictEqual((yield* Metric.value(LndRest.up)).value, 1)
    }).pipe(Effect.scoped)
  )
})
