import { assert, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { eventually } from "@satrail/contracts/Eventually"
import * as Id from "@satrail/core/base/Id"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Network } from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Process from "@satrail/regtest/Process"
import * as Real from "@satrail/regtest/Real"
import { Effect, Layer, Metric, Option, Redacted, References, Result, Schema, Stream } from "effect"
import { HttpClientRequest } from "effect/http"
import { copyFileSync, readFileSync } from "node:fs"
import path from "node:path"
import * as Lnd from "../src/Lnd.ts"
import * as LndBooks from "../src/LndBooks.ts"
import * as LndOutage from "../src/LndOutage.ts"
import * as LndRest from "../src/LndRest.ts"
import * as NodeState from "../src/NodeState.ts"

// Details of lnd that no contract covers, such as its error messages.

const alices = Effect.gen(function* () {
  const { alice } = yield* Network
  const identity = { nodeId: alice.nodeId, network: "regtest" } as const
  return {
    url: alice.url,
    certificateFile: alice.certificateFile,
    identity,
    macaroon: Redacted.make(readFileSync(alice.macaroonFile, "hex")),
    deadlineMillis: 5000
  }
})

const senderOf = (options: Lnd.Options) =>
  Effect.flatMap(Layer.build(Lnd.layerSender(options)), (context) =>
    Effect.provideContext(LightningSender, context)
  )

const receiverOf = (options: Lnd.Options) =>
  Effect.flatMap(
    Layer.build(Lnd.layerReceiver({ ...options, invoiceSecret: Redacted.make("of the tests") })),
    (context) => Effect.provideContext(LightningReceiver, context)
  )

const asking = (paymentRequest: string, amount = Msat.fromSats(1000)) => ({
  invoice: Result.getOrThrow(Bolt11.decode(paymentRequest)),
  amount,
  feeLimit: Msat.fromSats(10)
})

const quietly = Effect.provideService(References.MinimumLogLevel, "None")

Real.suite("lnd", ["btcd", "lnd"], () => {
  it.layer(Real.network, { excludeTestServices: true })((it) => {
    it.effect(
      "lnd: a payment to an expired invoice or to lnd's own invoice is rejected before it begins, and counts as failed",
      () =>
        Effect.gen(function* () {
          const { alice, carol } = yield* Network
          const sender = yield* senderOf(yield* alices)
          const amount = Msat.fromSats(1000)
          const expiring = asking(
            yield* Peer.invoice(carol, { amount, behaviour: "settle", expirySeconds: 1 })
          )
          yield* eventually(
            Effect.sync(() => Date.now()),
            (nowMillis) => nowMillis > (expiring.invoice.timestampSeconds + 2) * 1000
          )
          const failed = { _tag: "failed", reason: "error" }
          assert.deepStrictEqual<unknown>(yield* sender.pay(expiring), failed)
          assert.deepStrictEqual<unknown>(
            yield* sender.pay(asking(yield* Peer.invoice(alice, { amount, behaviour: "settle" }))),
            failed
          )
        }).pipe(Effect.scoped, quietly)
    )

    it.effect(
      "lnd: if the macaroon does not allow payments, the payment is reported as not sent, not as failed",
      () =>
        Effect.gen(function* () {
          const { alice, carol } = yield* Network
          // The macaroon allows payment lookups, so "no record" could be mistaken for a failure.
          const macaroon = yield* alice.bake(
            Lnd.senderCalls.map(({ uri }) => uri).filter((uri) => !uri.endsWith("/SendPaymentV2"))
          )
          const asked = asking(
            yield* Peer.invoice(carol, { amount: Msat.fromSats(1000), behaviour: "settle" })
          )
          const sender = yield* senderOf({ ...(yield* alices), macaroon })
          assert.deepStrictEqual<unknown>(yield* sender.lookupPayment(asked.invoice.paymentHash), {
            _tag: "notFound"
          })
          assert.deepStrictEqual<unknown>(yield* sender.pay(asked), { _tag: "notSent" })
        }).pipe(Effect.scoped, quietly)
    )

    it.effect(
      "lnd: a macaroon whose root key was deleted is reported as the reason for an outage, and the payment is not sent",
      () =>
        Effect.gen(function* () {
          const { alice, carol } = yield* Network
          const Baked = Schema.Struct({ macaroon: Schema.String })
          const permissions = Lnd.senderCalls.map(({ uri: action }) => ({ entity: "uri", action }))
          const { macaroon } = yield* alice.rest.ask(
            "bake",
            LndRest.post("/v1/macaroon", { permissions, root_key_id: "7" }),
            Baked
          )
          const options = {
            ...(yield* alices),
            macaroon: Redacted.make(macaroon),
            names: { url: "U", certificateFile: "C", macaroon: "M" }
          }
          const sender = yield* senderOf(options)
          const asked = asking(
            yield* Peer.invoice(carol, { amount: Msat.fromSats(1000), behaviour: "settle" })
          )
          assert.deepStrictEqual<unknown>(yield* sender.lookupPayment(asked.invoice.paymentHash), {
            _tag: "notFound"
          })
          yield* alice.rest.ask("delete", HttpClientRequest.make("DELETE")("/v1/macaroon/7"), Schema.Unknown)
          assert.deepStrictEqual<unknown>(yield* sender.pay(asked), { _tag: "notSent" })
          const outage = yield* Effect.flip(sender.quote(asked))
          assert.strictEqual(outage.reason, LndOutage.reasons.foreign)
          assert.match(outage.remedy ?? "", / refuses M: /)
          assert.strictEqual((yield* Metric.value(NodeState.up("lnd"))).value, 0)
        }).pipe(Effect.scoped, quietly)
    )

    it.effect(
      "lnd: payments of AMP invoices, which are never ours, neither stop nor reset the list of received payments",
      () =>
        Effect.gen(function* () {
          const { alice, bob } = yield* Network
          const options = yield* alices
          const receiver = yield* receiverOf(options)
          const { taken } = yield* Effect.flatMap(Layer.build(LndBooks.layer(options)), (books) =>
            Effect.provideContext(LightningBooks, books)
          )
          const paid = Effect.gen(function* () {
            const ask = {
              amount: Msat.fromSats(5),
              description: { _tag: "Text", text: "" },
              expirySeconds: 600
            } as const
            const issued = yield* receiver.createInvoice({ id: yield* Id.make, ...ask })
            yield* Peer.pay(bob, issued.paymentRequest)
            return issued.paymentHash
          })
          yield* paid
          const { cursor: before } = yield* taken(null)
          const amp = LndRest.post("/v1/invoices", { value: "5", is_amp: true })
          const added = yield* alice.rest.ask("add", amp, Schema.Struct({ payment_request: Schema.String }))
          const uninvited = { dest: Buffer.from(alice.nodeId, "hex").toString("base64"), amt: "5" }
          for (const what of [added, uninvited]) {
            const ask = {
              ...what,
              amp: true,
              fee_limit_sat: "5",
              timeout_seconds: 30,
              no_inflight_updates: true
            }
            const sent = yield* Stream.runLast(
              bob.rest.listen(
                "pay",
                LndRest.post("/v2/router/send", ask),
                Schema.Struct({ status: Schema.String })
              )
            )
            assert.strictEqual(Option.getOrThrow(sent).status, "SUCCEEDED")
          }
          const ours = yield* paid
          const [index = ""] = before.split(" ")
          const settled = yield* Stream.runCollect(
            Stream.takeUntil(receiver.settlements(index), ({ paymentHash }) => paymentHash === ours)
          )
          const lists = [settled, (yield* taken(before)).lines, (yield* taken("0")).lines]
          for (const lines of lists) assert.strictEqual(lines.at(-1)?.paymentHash, ours)
          assert.notInclude(
            settled.map(({ cursor }) => cursor),
            "0"
          )
        }).pipe(Effect.scoped, quietly)
    )

    it.effect("lnd: a renewed certificate is read from its file, without a restart", () =>
      Effect.gen(function* () {
        const { carol } = yield* Network
        const options = yield* alices
        const certificateFile = path.join(yield* Process.folder, "tls.cert")
        copyFileSync(carol.certificateFile, certificateFile)
        const receiver = yield* receiverOf({ ...options, certificateFile })
        const lookup = receiver.lookupInvoice(PaymentHash.make("0f".repeat(32)))
        assert.strictEqual((yield* Effect.flip(lookup))._tag, "NodeUnavailable")
        copyFileSync(options.certificateFile, certificateFile)
        assert.deepStrictEqual(yield* lookup, { _tag: "unknown" })
      }).pipe(Effect.scoped)
    )

    it.effect("C56: lnd: the reason for an outage contains no macaroon", () =>
      Effect.gen(function* () {
        const options = yield* alices
        const receiver = yield* receiverOf({
          ...options,
          url: `https://127.0.0.1:${yield* Process.freePort}`
        })
        const error = yield* Effect.flip(receiver.lookupInvoice(PaymentHash.make("0f".repeat(32))))
        assert.notInclude(JSON.stringify(error) + String(error.stack), Redacted.value(options.macaroon))
        assert.include(String(error.cause), "ECONNREFUSED")
      }).pipe(Effect.scoped)
    )
  })
})
