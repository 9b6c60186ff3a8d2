import { assert, describe, it } from "@effect/vitest"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Effect, Layer, Redacted, References } from "effect"
import * as CoreLightning from "../src/CoreLightning.ts"
import { type Answer, hash, json, nodeId, payment, server } from "./InLndsPlace.ts"

// What is between us and lightningd, and is not it.

const quiet = Effect.provideService(References.MinimumLogLevel, "None")

const info = (id: string) => json(201, { id, version: "v26.06.10", network: "regtest" })
const none = json(201, { payments: [], invoices: [], datastore: [] })

const ports = Effect.fnUntraced(function* (url: string) {
  const rune = Redacted.make("a rune")
  const built = yield* Layer.build(
    Layer.merge(
      CoreLightning.layerReceiver({ url, rune, invoiceSecret: Redacted.make("of the tests") }),
      CoreLightning.layerSender({ url, rune, retrySeconds: 1 })
    )
  )
  return yield* Effect.provideContext(Effect.all({ receiver: LightningReceiver, sender: LightningSender }), built)
})

const others: Record<string, Answer | undefined> = {
  "a connection that is cut when everything was sent": undefined,
  "a proxy that wants a password": { status: 401, body: "<h1>Unauthorized</h1>" },
  "a proxy that lets nobody in": json(403, { error: "forbidden" }),
  "a proxy that knows no such page": { status: 404, body: "<h1>Not Found</h1>" },
  "a proxy that says not found in the node's form": json(404, { code: 404, message: "Not Found" }),
  "a proxy that breaks": json(500, { message: "Internal Server Error" }),
  "a proxy whose node is away": { status: 502, body: "Bad Gateway" },
  "a proxy that sends us elsewhere": { status: 302, body: "", location: "https://elsewhere.example/" },
  "half of an answer": { status: 201, body: '{"payments":[' },
  "another answer": json(200, {})
}

describe("core lightning, and what is not it", () => {
  for (const [who, answer] of Object.entries(others)) {
    it.live(`C2: core lightning: ${who}: the outcome of a payment or an invoice is unknown`, () =>
      Effect.gen(function* () {
        const { url, paths } = yield* server((path) => (path === "/v1/getinfo" ? info(nodeId) : answer))
        const { receiver, sender } = yield* ports(url)
        assert.deepStrictEqual<unknown>(yield* sender.lookupPayment(hash), { _tag: "unknown" })
        // Before it pays it asks for what is under way: without an answer to that nothing is sent.
        assert.deepStrictEqual<unknown>(yield* sender.pay(payment), { _tag: "notSent" })
        assert.notInclude(paths(), "/v1/xpay")
        assert.strictEqual((yield* Effect.flip(receiver.lookupInvoice(hash)))._tag, "NodeUnavailable")
        assert.strictEqual((yield* Effect.flip(receiver.cancelInvoice(hash)))._tag, "NodeUnavailable")
      }).pipe(Effect.scoped, quiet)
    )

    it.live(`C3: core lightning: ${who} in answer to a call to pay decides nothing, and does not say that it was not sent`, () =>
      Effect.gen(function* () {
        const { url, paths } = yield* server((path) => (path === "/v1/getinfo" ? info(nodeId) : path === "/v1/xpay" ? answer : none))
        const { sender } = yield* ports(url)
        assert.deepStrictEqual<unknown>(yield* sender.pay(payment), { _tag: "unknown" })
        assert.include(paths(), "/v1/xpay")
      }).pipe(Effect.scoped, quiet)
    )
  }

  it.live("C4 C8: core lightning: that there is no record counts from the node that it was, and from no other at its address", () =>
    Effect.gen(function* () {
      let id = nodeId
      const { url } = yield* server((path) => (path === "/v1/getinfo" ? info(id) : none))
      const { sender } = yield* ports(url)
      assert.deepStrictEqual<unknown>(yield* sender.lookupPayment(hash), { _tag: "notFound" })
      id = `03${"22".repeat(32)}`
      assert.deepStrictEqual<unknown>(yield* sender.lookupPayment(hash), { _tag: "unknown" })
    }).pipe(Effect.scoped, quiet)
  )

  it.live("core lightning: a rune that is refused is no word about a payment, and what is to be paid was not sent", () =>
    Effect.gen(function* () {
      const refused = json(401, { code: 1501, message: "Not authorized: Not permitted" })
      const { url } = yield* server((path) => (path === "/v1/getinfo" ? info(nodeId) : path === "/v1/xpay" ? refused : none))
      const { sender } = yield* ports(url)
      assert.deepStrictEqual<unknown>(yield* sender.pay(payment), { _tag: "notSent" })
    }).pipe(Effect.scoped, quiet)
  )

  it.live("core lightning: a refused connection is not sent", () =>
    Effect.gen(function* () {
      const url = yield* Effect.scoped(
        Effect.map(
          server(() => none),
          ({ url }) => url
        )
      )
      const rune = Redacted.make("a rune")
      const built = yield* Layer.build(CoreLightning.layerSender({ url, rune }))
      const sender = yield* Effect.provideContext(LightningSender, built)
      assert.deepStrictEqual<unknown>(yield* sender.pay(payment), { _tag: "notSent" })
    }).pipe(Effect.scoped, quiet)
  )
})
