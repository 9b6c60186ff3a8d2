// A Lightning backend in one file. It connects satrail to a node over HTTP. The node is simulated
// (PaperDaemon.ts); everything else works as it would with a real node. To write your own for lnd, Core
// Lightning, phoenixd, …, copy this file. Describe your node's responses as Schemas, and translate them in the
// functions below. Keep `connect`, which reports every network or protocol error as an outage. Then run the
// contract tests against it, as test/contract.test.ts does. Omit the layer of a feature that a node lacks: a
// node that only receives payments has no `layerSender`.
import { Msat, Network, PaymentHash, Preimage } from "@satrail/bitcoin"
import { LightningReceiver, LightningSender } from "@satrail/core/ports"
import { Effect, Layer, Option, Redacted, Schema, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"

/** The node's address and credentials. */
export interface Options {
  readonly url: string
  /** Use separate credentials for each layer: a macaroon that allows payments belongs only to `layerSender`. */
  readonly macaroon: Redacted.Redacted
  /** Timeout of one call; 10 s by default. A call that timed out may still take effect. */
  readonly deadlineMillis?: number
}

/** How long the node keeps a request for the next settlement open. */
const waitSeconds = 20

// The node's responses. Amounts are strings, because numbers in JSON are not exact.

const Amount = Schema.BigIntFromString.pipe(Schema.decodeTo(Msat.Msat))

const Info = Schema.Struct({ node_id: Schema.String, network: Network.Network })

const Invoice = Schema.Struct({ payment_hash: PaymentHash.PaymentHash, payment_request: Schema.String })

const State = Schema.Union([
  Schema.Struct({ state: Schema.Literals(["OPEN", "ACCEPTED", "CANCELED"]) }),
  Schema.Struct({ state: Schema.Literal("SETTLED"), preimage: Preimage.Preimage, received_msat: Amount })
])

const Canceled = Schema.Union([
  Schema.Struct({ state: Schema.Literal("CANCELED"), preimage: Preimage.Preimage }),
  Schema.Struct({ state: Schema.Literals(["ACCEPTED", "SETTLED"]) })
])

const Settlements = Schema.Struct({
  settlements: Schema.Array(
    Schema.Struct({
      index: Schema.Int,
      payment_hash: PaymentHash.PaymentHash,
      preimage: Preimage.Preimage,
      received_msat: Amount,
      settled_at: Schema.Int
    })
  )
})

const Sent = Schema.Union([
  Schema.Struct({ status: Schema.Literal("IN_FLIGHT") }),
  Schema.Struct({
    status: Schema.Literal("SUCCEEDED"),
    preimage: Preimage.Preimage,
    fee_msat: Amount,
    index: Schema.NullOr(Schema.String)
  }),
  Schema.Struct({ status: Schema.Literal("FAILED"), failure_reason: Schema.String })
])

const Route = Schema.Struct({ fee_msat: Amount, success_probability: Schema.Finite })

const Problem = Schema.Struct({ code: Schema.String, message: Schema.String })

// Translates the node's responses to satrail's types.

const stateOf = (state: typeof State.Type): LightningReceiver.InvoiceState => {
  switch (state.state) {
    case "OPEN":
      return { _tag: "open" }
    case "ACCEPTED":
      return { _tag: "accepted" }
    case "CANCELED":
      return { _tag: "canceled" }
    case "SETTLED":
      return { _tag: "settled", received: state.received_msat, preimage: state.preimage }
  }
}

const reasons: ReadonlyMap<string, LightningSender.FailureReason> = new Map([
  ["TIMEOUT", "timeout"],
  ["NO_ROUTE", "no_route"],
  ["INCORRECT_PAYMENT_DETAILS", "incorrect_payment_details"],
  ["INSUFFICIENT_BALANCE", "insufficient_balance"],
  ["CANCELED", "canceled"]
])

const paymentOf = (sent: typeof Sent.Type): LightningSender.Payment => {
  switch (sent.status) {
    case "IN_FLIGHT":
      return { _tag: "pending" }
    case "SUCCEEDED":
      return { _tag: "settled", preimage: sent.preimage, fee: sent.fee_msat, index: sent.index }
    case "FAILED":
      // A failure is final even if its reason is unknown.
      return { _tag: "failed", reason: reasons.get(sent.failure_reason) ?? "error" }
  }
}

/** If the node doesn't respond, the payment's status is unknown. */
const orUnknown = <A>(answer: Effect.Effect<A, LightningReceiver.NodeUnavailable>) =>
  Effect.catchTag(answer, "NodeUnavailable", (outage) =>
    Effect.as(Effect.logWarning("node: payment status unavailable", outage), { _tag: "unknown" } as const)
  )

/**
 * Returns the error's message only, because a failed request contains the macaroon, and an invalid response
 * may contain a preimage.
 */
const wordsOf = (problem: unknown): string => {
  if (!(problem instanceof Error)) return String(problem)
  return problem.cause === undefined ? problem.message : `${problem.message}: ${wordsOf(problem.cause)}`
}

/** The only function here that calls the node. */
const connect = Effect.fnUntraced(function* ({ url, macaroon, deadlineMillis = 10_000 }: Options) {
  const client = HttpClient.mapRequest(yield* HttpClient.HttpClient, (request) =>
    request.pipe(
      HttpClientRequest.prependUrl(url),
      HttpClientRequest.setHeader("macaroon", Redacted.value(macaroon))
    )
  )

  /**
   * The node's response, or undefined if it reports not found. Anything else is an outage: a timeout, a
   * broken connection, a refusal, an unknown value, a proxy's 404.
   */
  const find = <A, I>(
    operation: string,
    request: HttpClientRequest.HttpClientRequest,
    schema: Schema.Codec<A, I>,
    extraMillis = 0
  ) => {
    const duration = deadlineMillis + extraMillis
    return client.execute(request).pipe(
      Effect.provideService(FetchHttpClient.RequestInit, { redirect: "error" }), // a redirect would send the macaroon elsewhere
      Effect.flatMap((response): Effect.Effect<A | undefined, unknown> => {
        if (response.status === 200) return HttpClientResponse.schemaBodyJson(schema)(response)
        return Effect.flatMap(HttpClientResponse.schemaBodyJson(Problem)(response), ({ code, message }) =>
          code === "not_found" ? Effect.undefined : Effect.fail(`${code}: ${message}`)
        )
      }),
      Effect.timeoutOrElse({ duration, orElse: () => Effect.fail(`no response within ${duration} ms`) }),
      Effect.mapError(
        (problem) => new LightningReceiver.NodeUnavailable({ operation, cause: wordsOf(problem) })
      )
    )
  }

  /** Like the function above, but for records that the node must have. */
  const ask = <A, I>(
    operation: string,
    request: HttpClientRequest.HttpClientRequest,
    schema: Schema.Codec<A, I>,
    extraMillis?: number
  ) =>
    Effect.flatMap(find(operation, request, schema, extraMillis), (answer) =>
      answer === undefined
        ? Effect.fail(new LightningReceiver.NodeUnavailable({ operation, cause: "not_found" }))
        : Effect.succeed(answer)
    )

  return { find, ask }
})

const get = HttpClientRequest.get
const post = (path: string, body: object) =>
  HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(path), body)

const receiver = Effect.fnUntraced(function* (options: Options) {
  const { find, ask } = yield* connect(options)
  const info = yield* ask("info", get("/v1/info"), Info)

  return LightningReceiver.LightningReceiver.of({
    nodeId: info.node_id,
    network: info.network,
    // The label is our id, so a repeated call returns the existing invoice. If your node responds with "exists"
    // instead, look the invoice up by its label.
    createInvoice: ({ id, amount, description, expirySeconds }) => {
      const text =
        description._tag === "Text"
          ? { description: description.text }
          : { description_hash: description.sha256 }
      const request = post("/v1/invoices", {
        label: id,
        amount_msat: amount && `${amount}`,
        expiry_seconds: expirySeconds,
        ...text
      })
      return Effect.map(ask("createInvoice", request, Invoice), ({ payment_hash, payment_request }) => ({
        paymentHash: payment_hash,
        paymentRequest: payment_request
      }))
    },
    lookupInvoice: (paymentHash) =>
      Effect.map(find("lookupInvoice", get(`/v1/invoices/${paymentHash}`), State), (state) =>
        state ? stateOf(state) : { _tag: "unknown" }
      ),
    cancelInvoice: (paymentHash) =>
      Effect.map(ask("cancelInvoice", post(`/v1/invoices/${paymentHash}/cancel`, {}), Canceled), (answer) => {
        if (answer.state === "CANCELED")
          return { _tag: "canceled", preimage: Redacted.make(answer.preimage) } as const
        return { _tag: answer.state === "SETTLED" ? "settled" : "accepted" } as const
      }),
    // Each request continues where the last response ended. The cursor is a number assigned by the node, so it
    // stays valid if either side restarts.
    settlements: (after) =>
      Stream.paginate(after ?? "0", (cursor) => {
        const request = get("/v1/settlements", { urlParams: { after: cursor, wait_seconds: waitSeconds } })
        return Effect.map(ask("settlements", request, Settlements, waitSeconds * 1000), ({ settlements }) => {
          const told = settlements.map((one) => ({
            paymentHash: one.payment_hash,
            received: one.received_msat,
            preimage: one.preimage,
            settledAtMillis: one.settled_at * 1000,
            cursor: String(one.index)
          }))
          return [told, Option.some(told.at(-1)?.cursor ?? cursor)] as const
        })
      })
  })
})

const sender = Effect.fnUntraced(function* (options: Options) {
  const { find, ask } = yield* connect(options)
  const bodyOf = ({ invoice, amount, feeLimit }: LightningSender.Ask) => ({
    payment_request: invoice.paymentRequest,
    amount_msat: `${amount}`,
    fee_limit_msat: `${feeLimit}` // always sent, because the default differs between nodes
  })

  return LightningSender.LightningSender.of({
    graceMillis: 60_000,
    // If the node refuses the call, the result is unknown too. `lookupPayment` decides whether there is a
    // payment.
    pay: (payment) =>
      orUnknown(Effect.map(ask("pay", post("/v1/payments", bodyOf(payment)), Sent), paymentOf)),
    lookupPayment: (paymentHash) =>
      orUnknown(
        Effect.map(find("lookupPayment", get(`/v1/payments/${paymentHash}`), Sent), (sent) =>
          sent ? paymentOf(sent) : ({ _tag: "notFound" } as const)
        )
      ),
    ends: Stream.empty, // this node sends no notifications, so payments are polled
    quote: (payment) =>
      Effect.map(
        find("quote", post("/v1/routes", bodyOf(payment)), Route),
        (route) => route && { fee: route.fee_msat, probability: route.success_probability }
      )
  })
})

/**
 * Receives payments with the node. Fails if the node doesn't respond at startup, because the backend needs its
 * public key.
 */
export const layerReceiver = (
  options: Options
): Layer.Layer<LightningReceiver.LightningReceiver, LightningReceiver.NodeUnavailable> =>
  Layer.effect(LightningReceiver.LightningReceiver, receiver(options)).pipe(
    Layer.provide(FetchHttpClient.layer)
  )

/** Sends payments with the node. */
export const layerSender = (options: Options): Layer.Layer<LightningSender.LightningSender> =>
  Layer.effect(LightningSender.LightningSender, sender(options)).pipe(Layer.provide(FetchHttpClient.layer))
