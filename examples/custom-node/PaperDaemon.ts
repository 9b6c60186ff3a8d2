// A minimal node program for the backend to call. It takes the place of lnd or Core Lightning, and sends JSON
// over HTTP in its own format. Its network is the sandbox. Your backend needs nothing from this file.
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Bolt11, Msat, PaymentHash } from "@satrail/bitcoin"
import { LightningReceiver, LightningSender } from "@satrail/core/ports"
import { Sandbox } from "@satrail/sandbox"
import { Context, Effect, Layer, Option, Redacted, Schema, Stream } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"

/** A running node. */
export class PaperDaemon extends Context.Service<
  PaperDaemon,
  {
    readonly url: string
    readonly macaroon: Redacted.Redacted
    /** From now on, requests arrive but responses don't, which is the worst way for a connection to break. */
    readonly cut: Effect.Effect<void>
    readonly mend: Effect.Effect<void>
    /** All other nodes on the network. */
    readonly outside: Sandbox.Sandbox["Service"]
  }
>()("example/PaperDaemon") {}

const Amount = Schema.BigIntFromString.pipe(Schema.decodeTo(Msat.Msat))
const Hash = Schema.Struct({ hash: PaymentHash.PaymentHash })
const After = Schema.Struct({ after: Schema.String, wait_seconds: Schema.NumberFromString })
const InvoiceAsk = Schema.Struct({
  label: Schema.String,
  amount_msat: Schema.NullOr(Amount),
  expiry_seconds: Schema.Int,
  description: Schema.optional(Schema.String),
  description_hash: Schema.optional(Schema.String)
})
const PaymentAsk = Schema.Struct({
  payment_request: Schema.String,
  amount_msat: Amount,
  fee_limit_msat: Amount
})

const ok = (body: object) => HttpServerResponse.jsonUnsafe(body)
const problem = (status: number, code: string) =>
  HttpServerResponse.jsonUnsafe({ code, message: `It is ${status}` }, { status })
const notFound = problem(404, "not_found")

const invoiceIn = (state: LightningReceiver.InvoiceState) => {
  if (state._tag === "unknown") return notFound
  if (state._tag === "settled")
    return ok({ state: "SETTLED", preimage: state.preimage, received_msat: `${state.received}` })
  return ok({ state: state._tag.toUpperCase() })
}

const paymentIn = (
  payment: LightningSender.Payment | LightningSender.NotSent | { readonly _tag: "notFound" }
) => {
  switch (payment._tag) {
    case "settled":
      return ok({
        status: "SUCCEEDED",
        preimage: payment.preimage,
        fee_msat: `${payment.fee}`,
        index: payment.index
      })
    case "failed":
      return ok({ status: "FAILED", failure_reason: payment.reason.toUpperCase() })
    case "pending":
      return ok({ status: "IN_FLIGHT" })
    case "unknown":
    case "notSent":
      return problem(503, "starting")
    case "notFound":
      return notFound
  }
}

const route = <E, R>(
  method: "GET" | "POST",
  path: `/${string}`,
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) =>
  HttpRouter.add(
    method,
    path,
    Effect.catchCause(answer, (cause) => Effect.as(Effect.logError(cause), problem(500, "internal")))
  )

const hash = Effect.map(HttpRouter.schemaPathParams(Hash), ({ hash }) => hash)

const paymentAsk = Effect.gen(function* () {
  const { payment_request, amount_msat, fee_limit_msat } = yield* HttpServerRequest.schemaBodyJson(PaymentAsk)
  return {
    invoice: yield* Effect.fromResult(Bolt11.decode(payment_request)),
    amount: amount_msat,
    feeLimit: fee_limit_msat
  }
})

const routes = (
  receiver: LightningReceiver.LightningReceiver["Service"],
  sender: LightningSender.LightningSender["Service"]
) =>
  Layer.mergeAll(
    route("GET", "/v1/info", Effect.succeed(ok({ node_id: receiver.nodeId, network: receiver.network }))),
    route(
      "POST",
      "/v1/invoices",
      Effect.gen(function* () {
        const {
          label,
          amount_msat,
          expiry_seconds,
          description = "",
          description_hash
        } = yield* HttpServerRequest.schemaBodyJson(InvoiceAsk)
        const what =
          description_hash === undefined
            ? ({ _tag: "Text", text: description } as const)
            : ({ _tag: "Hash", sha256: description_hash } as const)
        const issued = yield* receiver.createInvoice({
          id: label,
          amount: amount_msat,
          description: what,
          expirySeconds: expiry_seconds
        })
        return ok({ payment_hash: issued.paymentHash, payment_request: issued.paymentRequest })
      })
    ),
    route("GET", "/v1/invoices/:hash", Effect.map(Effect.flatMap(hash, receiver.lookupInvoice), invoiceIn)),
    route(
      "POST",
      "/v1/invoices/:hash/cancel",
      Effect.map(Effect.flatMap(hash, receiver.cancelInvoice), (answer) =>
        ok({
          state: answer._tag.toUpperCase(),
          ...(answer._tag === "canceled" && { preimage: Redacted.value(answer.preimage) })
        })
      )
    ),
    route(
      "GET",
      "/v1/settlements",
      Effect.gen(function* () {
        const { after, wait_seconds } = yield* HttpRouter.schemaParams(After)
        const next = yield* Effect.timeoutOption(
          Stream.runHead(receiver.settlements(after)),
          wait_seconds * 1000
        )
        const settlements = Option.toArray(Option.flatten(next)).map(
          ({ cursor, paymentHash, preimage, received, settledAtMillis }) => ({
            index: Number(cursor),
            payment_hash: paymentHash,
            preimage,
            received_msat: `${received}`,
            settled_at: Math.floor(settledAtMillis / 1000)
          })
        )
        return ok({ settlements })
      })
    ),
    route("POST", "/v1/payments", Effect.map(Effect.flatMap(paymentAsk, sender.pay), paymentIn)),
    route("GET", "/v1/payments/:hash", Effect.map(Effect.flatMap(hash, sender.lookupPayment), paymentIn)),
    route(
      "POST",
      "/v1/routes",
      Effect.map(Effect.flatMap(paymentAsk, sender.quote), (found) =>
        found === undefined
          ? notFound
          : ok({ fee_msat: `${found.fee}`, success_probability: found.probability })
      )
    )
  )

/** Closes the connection without a response. */
const hangUp = Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
  NodeHttpServerRequest.toIncomingMessage(request).socket.destroy()
  return HttpServerResponse.empty()
})

const make = Effect.gen(function* () {
  const [receiver, sender, outside, server] = [
    yield* LightningReceiver.LightningReceiver,
    yield* LightningSender.LightningSender,
    yield* Sandbox.Sandbox,
    yield* HttpServer.HttpServer
  ]
  const macaroon = Redacted.make("0201036c6e64", { label: "macaroon" })
  let isCut = false

  const wire = HttpRouter.middleware(
    (answer) =>
      Effect.gen(function* () {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const response =
          headers["macaroon"] === Redacted.value(macaroon) ? yield* answer : problem(401, "unauthorized")
        return isCut ? yield* hangUp : response
      }),
    { global: true }
  )
  yield* Layer.build(
    HttpRouter.serve(Layer.merge(routes(receiver, sender), wire), {
      disableLogger: true,
      disableListenLog: true
    })
  )

  return PaperDaemon.of({
    url: HttpServer.formatAddress(server.address),
    macaroon,
    cut: Effect.sync(() => {
      isCut = true
    }),
    mend: Effect.sync(() => {
      isCut = false
    }),
    outside
  })
})

/** The node, listening on an unused port of this machine for as long as the scope is open. */
export const layer = Layer.effect(PaperDaemon, make).pipe(
  Layer.provide(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })),
  Layer.provide(Sandbox.layer({ seed: "paper", network: "regtest" }))
)
