import { assert, it } from "@effect/vitest"
import { Bolt11, Msat, PaymentHash } from "@satrail/bitcoin"
import { LightningSender } from "@satrail/core/ports"
import { Effect, Layer, Redacted, References } from "effect"
import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import { inspect } from "node:util"
import * as PaperNode from "../PaperNode.ts"

// Cases that no contract covers: the server at the node's address is another program and not the node.

const macaroon = "c0ffee11"
const preimage = "ab".repeat(32)
const paymentHash = PaymentHash.make("0f".repeat(32))

/** A server that sends the same response to everything, for as long as the test runs. */
const serving = Effect.fnUntraced(function* (listener: RequestListener) {
  const server = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(listener)
      await once(server.listen(0, "127.0.0.1"), "listening")
      return server
    }),
    (server) =>
      Effect.sync(() => {
        server.close().closeAllConnections()
      })
  )
  const address = server.address()
  const port =
    typeof address === "object" && address !== null ? address.port : assert.fail("it does not listen")
  return { url: `http://127.0.0.1:${port}`, macaroon: Redacted.make(macaroon) }
})

/** The adapter for this server, with errors only in its log. */
const sender = (options: PaperNode.Options) =>
  Layer.merge(PaperNode.layerSender(options), Layer.succeed(References.MinimumLogLevel, "Error"))

const answering =
  (status: number, body: string): RequestListener =>
  (_, response) => {
    response.writeHead(status).end(body)
  }

const lookedUp = (options: PaperNode.Options) =>
  Effect.provide(
    Effect.flatMap(LightningSender.LightningSender, (sender) => sender.lookupPayment(paymentHash)),
    sender(options)
  )

for (const [what, status, body, means] of [
  ["not found, by the node", 404, `{"code":"not_found","message":""}`, { _tag: "notFound" }],
  ["not found, by a proxy", 404, "<html>404</html>", { _tag: "unknown" }],
  ["not found, in JSON by a proxy", 404, `{"code":"no_such_page","message":""}`, { _tag: "unknown" }],
  ["a refusal", 401, `{"code":"unauthorized","message":""}`, { _tag: "unknown" }],
  ["an unknown status", 200, `{"status":"ON_ITS_WAY"}`, { _tag: "unknown" }],
  [
    "settled without a preimage",
    200,
    `{"status":"SUCCEEDED","fee_msat":"1","index":null}`,
    { _tag: "unknown" }
  ],
  [
    "failed, for an unknown reason",
    200,
    `{"status":"FAILED","failure_reason":"MOON"}`,
    { _tag: "failed", reason: "error" }
  ]
] as const) {
  it.live(what, () =>
    Effect.gen(function* () {
      assert.deepStrictEqual<unknown>(yield* lookedUp(yield* serving(answering(status, body))), means)
    })
  )
}

it.live("paper node: the payment's status is unknown after a call times out", () =>
  Effect.gen(function* () {
    const heard: Array<string | undefined> = []
    const silent = yield* serving((request) => heard.push(request.url))
    const draft = {
      network: "regtest",
      timestampSeconds: 0,
      paymentHash,
      paymentSecret: paymentHash,
      description: ""
    } as const
    const paymentRequest = yield* Effect.fromResult(
      Bolt11.encode(draft, Bolt11.signWith(new Uint8Array(32).fill(7)))
    )
    const ask = {
      invoice: yield* Effect.fromResult(Bolt11.decode(paymentRequest)),
      amount: Msat.fromSats(1),
      feeLimit: Msat.zero
    }
    const answer = yield* Effect.provide(
      Effect.flatMap(LightningSender.LightningSender, (sender) => sender.pay(ask)),
      sender({ ...silent, deadlineMillis: 1000 })
    )
    assert.deepStrictEqual<unknown>(answer, { _tag: "unknown" })
    assert.deepStrictEqual(heard, ["/v1/payments"])
  })
)

it.live("paper node: a redirect is not followed", () =>
  Effect.gen(function* () {
    let asked = 0
    const elsewhere = yield* serving((_, response) => {
      asked++
      response.end(`{"status":"IN_FLIGHT"}`)
    })
    const options = yield* serving((_, response) =>
      response.writeHead(307, { location: elsewhere.url }).end()
    )
    assert.deepStrictEqual<unknown>([yield* lookedUp(options), asked], [{ _tag: "unknown" }, 0])
  })
)

it.live("paper node: the error for an outage contains neither our secret nor the node's", () =>
  Effect.gen(function* () {
    for (const [status, body] of [
      [200, `{"node_id":["${preimage}"],"network":"regtest"}`],
      [500, `{"code":"internal","message":"out of order"}`],
      [502, "<html>502</html>"]
    ] as const) {
      const outage = yield* Effect.flip(
        Layer.build(PaperNode.layerReceiver(yield* serving(answering(status, body))))
      )
      assert.strictEqual(outage._tag, "NodeUnavailable")
      const shown = inspect(outage, { depth: Infinity, showHidden: true, customInspect: false })
      assert.notInclude(shown, macaroon)
      assert.notInclude(shown, preimage)
    }
  })
)
