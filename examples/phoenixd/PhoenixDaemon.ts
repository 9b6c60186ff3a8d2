// A simulated phoenixd, according to its documentation and sources, for the calls that Phoenixd.ts makes. The
// network behind it is the sandbox.
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Bolt11, Msat, PaymentHash } from "@satrail/bitcoin"
import { LightningReceiver, LightningSender } from "@satrail/core/ports"
import { Sandbox } from "@satrail/sandbox"
import { Clock, Context, Effect, Layer, Redacted, Schema } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"

/** A running phoenixd, the connection to it, and the simulated network. */
export class PhoenixDaemon extends Context.Service<
  PhoenixDaemon,
  {
    readonly url: string
    readonly password: Redacted.Redacted
    readonly cut: Effect.Effect<void>
    readonly mend: Effect.Effect<void>
    readonly outside: Sandbox.Sandbox["Service"]
  }
>()("example/PhoenixDaemon") {}

interface Incoming {
  readonly paymentHash: PaymentHash.PaymentHash
  readonly invoice: string
  readonly externalId: string
}
interface Outgoing {
  readonly paymentHash: PaymentHash.PaymentHash
  readonly amount: Msat.Msat
  completedAt: number | null
}

const Asked = Schema.Struct({
  amountSat: Schema.optional(Schema.NumberFromString),
  externalId: Schema.String,
  expirySeconds: Schema.NumberFromString,
  description: Schema.optional(Schema.String),
  descriptionHash: Schema.optional(Schema.String)
})
const Paying = Schema.Struct({ invoice: Schema.String, amountSat: Schema.optional(Schema.NumberFromString) })
const Listing = Schema.Struct({
  from: Schema.optional(Schema.NumberFromString),
  externalId: Schema.optional(Schema.String)
})
const Hash = Schema.Struct({ hash: PaymentHash.PaymentHash })

/** Omits null values. */
const present = (body: object): object =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
const json = (body: object) =>
  HttpServerResponse.jsonUnsafe(Array.isArray(body) ? body.map(present) : present(body))
const nothing = HttpServerResponse.text("Unknown endpoint (check api doc)", { status: 404 })
const noHash = HttpServerResponse.text(
  "Request parameter paymentHash couldn't be parsed/converted to hex32",
  { status: 400 }
)
const tariff = (amount: Msat.Msat) =>
  Msat.fromSats(Msat.toSatsCeiling(Msat.make((amount * 4n + 999n) / 1000n)) + 4n)

const make = Effect.gen(function* () {
  const [receiver, sender] = [
    yield* LightningReceiver.LightningReceiver,
    yield* LightningSender.LightningSender
  ]
  const [outside, server] = [yield* Sandbox.Sandbox, yield* HttpServer.HttpServer]
  const password = Redacted.make("of the tests")
  const incoming = new Map<PaymentHash.PaymentHash, Incoming>()
  const outgoing = new Map<PaymentHash.PaymentHash, Outgoing>()
  const paidAt = new Map<PaymentHash.PaymentHash, number>()
  let isCut = false

  const incomingIn = Effect.fnUntraced(function* ({ paymentHash, invoice, externalId }: Incoming) {
    const state = yield* receiver.lookupInvoice(paymentHash)
    const isPaid = state._tag === "settled"
    // In payment order. Several may share a millisecond.
    if (isPaid && !paidAt.has(paymentHash)) paidAt.set(paymentHash, yield* Clock.currentTimeMillis)
    const receivedSat = isPaid ? Number(Msat.toSats(state.received)) : 0
    const preimage = isPaid ? state.preimage : "00".repeat(32)
    return {
      paymentHash,
      preimage,
      externalId,
      invoice,
      isPaid,
      receivedSat,
      fees: 0,
      completedAt: paidAt.get(paymentHash) ?? null
    }
  })

  const outgoingIn = Effect.fnUntraced(function* (one: Outgoing) {
    const payment = yield* sender.lookupPayment(one.paymentHash)
    const isPaid = payment._tag === "settled"
    if (isPaid || payment._tag === "failed" || payment._tag === "notFound")
      one.completedAt ??= yield* Clock.currentTimeMillis
    const fees = isPaid ? Number(tariff(one.amount)) : 0
    return {
      paymentHash: one.paymentHash,
      preimage: isPaid ? payment.preimage : null,
      isPaid,
      fees,
      completedAt: one.completedAt
    }
  })

  const create = Effect.gen(function* () {
    const {
      amountSat,
      externalId,
      expirySeconds,
      description = "",
      descriptionHash
    } = yield* HttpServerRequest.schemaBodyUrlParams(Asked)
    const what =
      descriptionHash === undefined
        ? ({ _tag: "Text", text: description } as const)
        : ({ _tag: "Hash", sha256: descriptionHash } as const)
    const id = `${externalId} ${incoming.size}` // each call is a new invoice, whatever its externalId
    const amount = amountSat === undefined ? null : Msat.fromSats(amountSat)
    const issued = yield* receiver.createInvoice({ id, amount, description: what, expirySeconds })
    incoming.set(issued.paymentHash, {
      paymentHash: issued.paymentHash,
      invoice: issued.paymentRequest,
      externalId
    })
    return json({ amountSat, paymentHash: issued.paymentHash, serialized: issued.paymentRequest })
  })

  const pay = Effect.gen(function* () {
    const asked = yield* HttpServerRequest.schemaBodyUrlParams(Paying)
    const invoice = yield* Effect.fromResult(Bolt11.decode(asked.invoice))
    const { paymentHash } = invoice
    if (outgoing.has(paymentHash))
      return json({ paymentHash, reason: "this invoice is being paid, or has been" })
    const amount = invoice.amount ?? Msat.fromSats(asked.amountSat ?? 0)
    const record: Outgoing = { paymentHash, amount, completedAt: null }
    outgoing.set(paymentHash, record)
    yield* sender.pay({ invoice, amount, feeLimit: Msat.fromSats(1_000_000) })
    // The call returns when the payment is final.
    const isOver = Effect.map(outgoingIn(record), ({ completedAt }) => completedAt !== null)
    while (!(yield* isOver)) yield* Effect.sleep(20)
    const { isPaid, preimage, fees } = yield* outgoingIn(record)
    if (!isPaid) return json({ paymentHash, reason: "the payment has failed" })
    return json({
      paymentHash,
      paymentPreimage: preimage,
      recipientAmountSat: Number(Msat.toSats(amount)),
      routingFeeSat: fees / 1000
    })
  })

  const list = Effect.gen(function* () {
    const { from, externalId } = yield* HttpServerRequest.schemaSearchParams(Listing)
    const all = yield* Effect.forEach([...incoming.values()], incomingIn)
    return json(
      all.filter((one) =>
        externalId === undefined
          ? one.isPaid && (one.completedAt ?? 0) >= (from ?? 0)
          : one.externalId === externalId
      )
    )
  })

  const found = <A, B extends object, E>(
    records: ReadonlyMap<string, A>,
    show: (one: A) => Effect.Effect<B, E>
  ) =>
    Effect.gen(function* () {
      const { hash } = yield* HttpRouter.schemaPathParams(Hash)
      if (!/^[0-9a-f]{64}$/.test(hash)) return noHash
      const one = records.get(hash)
      return one === undefined ? nothing : json(yield* show(one))
    })

  const routes = Layer.mergeAll(
    HttpRouter.add(
      "GET",
      "/getinfo",
      Effect.succeed(json({ nodeId: receiver.nodeId, chain: receiver.network, version: "0.6.2" }))
    ),
    HttpRouter.add("POST", "/createinvoice", create),
    HttpRouter.add("GET", "/payments/incoming", list),
    HttpRouter.add("GET", "/payments/incoming/:hash", found(incoming, incomingIn)),
    HttpRouter.add("POST", "/payinvoice", pay),
    HttpRouter.add("GET", "/payments/outgoingbyhash/:hash", found(outgoing, outgoingIn))
  )
  const basic = `Basic ${Buffer.from(`:${Redacted.value(password)}`).toString("base64")}`
  const wire = HttpRouter.middleware(
    (answer) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const response =
          request.headers["authorization"] === basic
            ? yield* answer
            : HttpServerResponse.empty({ status: 401 })
        if (isCut) NodeHttpServerRequest.toIncomingMessage(request).socket.destroy()
        return response
      }),
    { global: true }
  )
  yield* Layer.build(
    HttpRouter.serve(Layer.merge(routes, wire), { disableLogger: true, disableListenLog: true })
  )

  const setCut = (is: boolean) =>
    Effect.sync(() => {
      isCut = is
    })
  return PhoenixDaemon.of({
    url: HttpServer.formatAddress(server.address),
    password,
    cut: setCut(true),
    mend: setCut(false),
    outside
  })
})

/** Listens on an unused port of this machine for as long as the scope is open. */
export const layer = Layer.effect(PhoenixDaemon, make).pipe(
  Layer.provide(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })),
  Layer.provide(Sandbox.layer({ seed: "phoenixd", network: "regtest" }))
)
