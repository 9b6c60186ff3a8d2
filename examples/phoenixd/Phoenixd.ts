// phoenixd (https://phoenix.acinq.co/server/api) as a backend. phoenixd cannot cancel invoices, accepts no fee
// limit, stores no failure reasons and supports only whole satoshis. The backend declares these limitations. It
// was written from phoenixd's documentation and sources (Api.kt, JsonSerializers.kt) and tested with a
// simulated phoenixd (PhoenixDaemon.ts). It has never run against a real phoenixd.
import { Msat, type Network, PaymentHash, Preimage } from "@satrail/bitcoin"
import { LightningReceiver, LightningSender } from "@satrail/core/ports"
import { Deferred, Effect, Layer, Option, type Redacted, Schema, Semaphore, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"

export interface Options {
  readonly url: string
  /** `http-password` allows payments; `http-password-limited-access` is enough to receive. */
  readonly password: Redacted.Redacted
  readonly network: Network.Network
  /** Response timeout; 10 s by default. */
  readonly deadlineMillis?: number
}

/**
 * phoenixd's fee for a payment: 0.4 % and 4 sats, in whole satoshis. It accepts no limit, so a payment whose
 * fee exceeds our limit is not sent.
 */
const tariff = (amount: Msat.Msat) =>
  Msat.fromSats(Msat.toSatsCeiling(Msat.make((amount * 4n + 999n) / 1000n)) + 4n)

/** How long `pay` waits for a payment to complete, and how long a call may take to reach phoenixd. */
const [settleMillis, arrivalMillis] = [2_000, 60_000]
const [pollMillis, pageSize] = [1_000, 100]

/** phoenixd omits missing values; its first versions sent null. */
const orNull = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
const Sats = Schema.Int.pipe(Schema.check(Schema.isGreaterThanOrEqualTo(0)))
const Info = Schema.Struct({ nodeId: Schema.String })
const Issued = Schema.Struct({ paymentHash: PaymentHash.PaymentHash, serialized: Schema.String })
const Incoming = Schema.Struct({
  paymentHash: PaymentHash.PaymentHash,
  preimage: Preimage.Preimage,
  invoice: orNull(Schema.String),
  isPaid: Schema.Boolean,
  receivedSat: Sats,
  completedAt: orNull(Schema.Int)
})
/** Chooses among several attempts: the paid one if there is one, otherwise a pending one. */
const Outgoing = Schema.Struct({
  paymentHash: PaymentHash.PaymentHash,
  preimage: orNull(Preimage.Preimage),
  isPaid: Schema.Boolean,
  fees: Sats, // millisatoshis
  completedAt: orNull(Schema.Int)
})
/**
 * The response to a call to pay. The record has the outcome. If there is no record and the response has a
 * `reason`, there never will be one.
 */
const Ended = Schema.Struct({
  paymentHash: PaymentHash.PaymentHash,
  reason: Schema.optionalKey(Schema.String)
})

/** The cursor orders payments by time, and by hash within a millisecond. */
const settledOf = ({
  paymentHash,
  preimage,
  receivedSat,
  completedAt
}: typeof Incoming.Type): ReadonlyArray<LightningReceiver.Settled> =>
  completedAt === undefined || completedAt === null
    ? []
    : [
        {
          paymentHash,
          preimage,
          received: Msat.fromSats(receivedSat),
          settledAtMillis: completedAt,
          cursor: `${completedAt}:${paymentHash}`
        }
      ]

const strange = "Unknown endpoint (check api doc)"

const get = (path: string, urlParams: Readonly<Record<string, string>> = {}) =>
  HttpClientRequest.get(path, { urlParams })
const post = (path: string, form: Readonly<Record<string, string>>) =>
  HttpClientRequest.bodyUrlParams(HttpClientRequest.post(path), form)

const outage = (operation: string, cause: string) =>
  new LightningReceiver.NodeUnavailable({ operation, cause })

/** The only function here that calls phoenixd. */
const connect = Effect.fnUntraced(function* ({ url, password, deadlineMillis = 10_000 }: Options) {
  const client = HttpClient.mapRequest(yield* HttpClient.HttpClient, (request) =>
    request.pipe(HttpClientRequest.prependUrl(url), HttpClientRequest.basicAuth("", password))
  )
  let ours: string | undefined
  const send = (
    operation: string,
    request: HttpClientRequest.HttpClientRequest,
    withinMillis = deadlineMillis
  ) =>
    client.execute(request).pipe(
      Effect.provideService(FetchHttpClient.RequestInit, { redirect: "error" }),
      Effect.flatMap((response) => Effect.map(response.text, (text) => ({ status: response.status, text }))),
      Effect.timeout(withinMillis),
      Effect.mapError(({ _tag }) => outage(operation, _tag)) // only the tag, because the failed request contains the password
    )
  const read =
    <A, I>(operation: string, schema: Schema.Codec<A, I>) =>
    ({ status, text }: { readonly status: number; readonly text: string }) =>
      status === 200
        ? Effect.mapError(Schema.decodeEffect(Schema.fromJsonString(schema))(text), () =>
            outage(operation, "not a response of phoenixd")
          )
        : Effect.fail(outage(operation, `status ${status}`))
  const ask = <A, I>(
    operation: string,
    request: HttpClientRequest.HttpClientRequest,
    schema: Schema.Codec<A, I>,
    withinMillis?: number
  ) => Effect.flatMap(send(operation, request, withinMillis), read(operation, schema))
  const info = ask("getinfo", get("/getinfo"), Info)
  /**
   * Returns undefined if phoenixd has no such record. phoenixd returns the same 404 for an unknown path. So
   * does a version too old for lookups by hash, and so may any other server at the address. So a 404 counts
   * only if a request right after it rejects an invalid hash, and the node's id is still the same.
   */
  const find = <A, I>(
    operation: string,
    path: string,
    hash: PaymentHash.PaymentHash,
    schema: Schema.Codec<A, I>
  ) =>
    Effect.gen(function* (): Effect.fn.Return<A | undefined, LightningReceiver.NodeUnavailable> {
      const answer = yield* send(operation, get(`${path}/${hash}`))
      if (answer.status !== 404 || (answer.text !== "" && answer.text !== strange))
        return yield* read(operation, schema)(answer)
      const { status } = yield* send(operation, get(`${path}/none`))
      if (status !== 400)
        return yield* outage(operation, "this phoenixd is too old to look up payments by hash")
      const { nodeId } = yield* info
      ours ??= nodeId
      return nodeId === ours ? undefined : yield* outage(operation, "another node responds at its address")
    })
  return { ask, find, info: Effect.tap(info, ({ nodeId }) => Effect.sync(() => (ours ??= nodeId))) }
})

const receiver = Effect.fnUntraced(function* (options: Options) {
  const { ask, find, info } = yield* connect(options)
  const { nodeId } = yield* info
  const creating = yield* Semaphore.make(1)
  const state = (hash: PaymentHash.PaymentHash) =>
    Effect.map(
      find("lookupInvoice", "/payments/incoming", hash, Incoming),
      (found): LightningReceiver.InvoiceState => {
        if (found === undefined) return { _tag: "unknown" }
        return found.isPaid
          ? { _tag: "settled", received: Msat.fromSats(found.receivedSat), preimage: found.preimage }
          : { _tag: "open" }
      }
    )

  return LightningReceiver.LightningReceiver.of({
    nodeId,
    network: options.network,
    lacks: new Set(["cancel", "millisatoshis"]),
    // `externalId` is our id. phoenixd does not require it to be unique, so look it up first, with one creation at a time.
    createInvoice: ({ id, amount, description, expirySeconds }) => {
      if (amount !== null && amount % 1000n !== 0n)
        return Effect.fail(outage("createInvoice", "phoenixd supports whole satoshis only"))
      const text =
        description._tag === "Text"
          ? { description: description.text }
          : { descriptionHash: description.sha256 }
      const asked = amount === null ? {} : { amountSat: String(Msat.toSats(amount)) } // without an amount, the payer decides
      const form = { ...asked, expirySeconds: String(expirySeconds), externalId: id, ...text }
      const known = ask(
        "createInvoice",
        get("/payments/incoming", { externalId: id, all: "true" }),
        Schema.Array(Incoming)
      )
      return Effect.gen(function* () {
        const [earlier] = yield* known
        if (typeof earlier?.invoice === "string")
          return { paymentHash: earlier.paymentHash, paymentRequest: earlier.invoice }
        const { paymentHash, serialized } = yield* ask("createInvoice", post("/createinvoice", form), Issued)
        return { paymentHash, paymentRequest: serialized }
      }).pipe(creating.withPermit)
    },
    lookupInvoice: state,
    cancelInvoice: (hash) =>
      Effect.flatMap(state(hash), ({ _tag }) =>
        _tag === "settled"
          ? Effect.succeed({ _tag } as const)
          : Effect.fail(outage("cancelInvoice", "phoenixd cannot cancel an invoice"))
      ),
    // `from` is the time of the last payment, which the page includes again.
    settlements: (after) =>
      Stream.paginate(after ?? "0:", (cursor) => {
        const from = cursor.split(":")[0] ?? "0"
        const page = ask(
          "settlements",
          get("/payments/incoming", { from, limit: String(pageSize) }),
          Schema.Array(Incoming)
        )
        return Effect.gen(function* () {
          const told = (yield* page)
            .flatMap(settledOf)
            .filter(
              (one) =>
                one.settledAtMillis > Number(from) ||
                (one.settledAtMillis === Number(from) && one.cursor > cursor)
            )
            .toSorted((a, b) => a.settledAtMillis - b.settledAtMillis || (a.cursor < b.cursor ? -1 : 1))
          if (told.length === 0) yield* Effect.sleep(pollMillis)
          return [told, Option.some(told.at(-1)?.cursor ?? cursor)] as const
        })
      })
  })
})

const sender = Effect.fnUntraced(function* (options: Options) {
  const { ask, find } = yield* connect(options)
  const scope = yield* Effect.scope
  const running = new Map<
    PaymentHash.PaymentHash,
    Deferred.Deferred<LightningSender.Payment | LightningSender.NotSent>
  >()

  type Judged = LightningSender.Payment | { readonly _tag: "notFound" }
  const judge = (hash: PaymentHash.PaymentHash) =>
    Effect.map(find("lookupPayment", "/payments/outgoingbyhash", hash, Outgoing), (found): Judged => {
      if (found === undefined) return { _tag: "notFound" }
      if (typeof found.completedAt !== "number") return { _tag: "pending" }
      if (!found.isPaid) return { _tag: "failed", reason: "error" }
      // phoenixd's first versions report a failed payment as paid, without a preimage.
      return typeof found.preimage !== "string"
        ? { _tag: "unknown" }
        : { _tag: "settled", preimage: found.preimage, fee: Msat.make(BigInt(found.fees)), index: null }
    })
  const unknown = { _tag: "unknown" } as const
  const orUnknown = <A>(answer: Effect.Effect<A, LightningReceiver.NodeUnavailable>) =>
    Effect.catchTag(answer, "NodeUnavailable", (outage) =>
      Effect.as(Effect.logWarning("phoenixd: payment status unavailable", outage), unknown)
    )

  /** Reads the record before and after the call, because phoenixd pays again if the call is repeated. */
  const run = ({ invoice, amount, feeLimit }: LightningSender.Ask) =>
    Effect.gen(function* (): Effect.fn.Return<LightningSender.Payment | LightningSender.NotSent> {
      const before = yield* Effect.option(judge(invoice.paymentHash))
      if (Option.isNone(before)) return { _tag: "notSent" }
      if (before.value._tag !== "notFound") return before.value
      if (tariff(amount) > feeLimit) return { _tag: "failed", reason: "no_route" }
      const form = {
        invoice: invoice.paymentRequest,
        ...(invoice.amount === undefined && { amountSat: String(Msat.toSats(amount)) })
      }
      const ended = yield* Effect.option(ask("pay", post("/payinvoice", form), Ended, arrivalMillis))
      const after = yield* orUnknown(judge(invoice.paymentHash))
      if (after._tag !== "notFound") return after
      const isRefused = Option.exists(
        ended,
        (end) => end.paymentHash === invoice.paymentHash && end.reason !== undefined
      )
      return isRefused ? { _tag: "failed", reason: "error" } : unknown
    })

  return LightningSender.LightningSender.of({
    lacks: new Set(["fee_limit", "reason"]),
    graceMillis: 2 * arrivalMillis,
    pay: Effect.fnUntraced(function* (payment) {
      const { paymentHash } = payment.invoice
      let done = running.get(paymentHash)
      if (done === undefined) {
        const begun = Deferred.makeUnsafe<LightningSender.Payment | LightningSender.NotSent>()
        running.set(paymentHash, (done = begun))
        // Removed before the result is returned, so a call after that starts a new attempt.
        const over = Effect.sync(() => running.delete(paymentHash))
        const ended = Effect.flatMap(Effect.ensuring(run(payment), over), (answer) =>
          Deferred.succeed(begun, answer)
        )
        yield* Effect.forkIn(ended, scope)
      }
      return Option.getOrElse(
        yield* Effect.timeoutOption(Deferred.await(done), settleMillis),
        () => ({ _tag: "pending" }) as const
      )
    }),
    lookupPayment: (paymentHash) => orUnknown(judge(paymentHash)),
    ends: Stream.empty,
    // phoenixd does not report whether a route exists, so the quote contains only its fixed fee. The call
    // verifies that phoenixd responds.
    quote: ({ amount, feeLimit }) =>
      Effect.map(ask("quote", get("/getinfo"), Info), () =>
        tariff(amount) > feeLimit ? undefined : { fee: tariff(amount), probability: 0.9 }
      )
  })
})

/**
 * Receives payments with phoenixd. Fails if phoenixd doesn't respond at startup, because the backend needs its
 * node id.
 */
export const layerReceiver = (
  options: Options
): Layer.Layer<LightningReceiver.LightningReceiver, LightningReceiver.NodeUnavailable> =>
  Layer.effect(LightningReceiver.LightningReceiver, receiver(options)).pipe(
    Layer.provide(FetchHttpClient.layer)
  )

/** Sends payments with phoenixd. */
export const layerSender = (options: Options): Layer.Layer<LightningSender.LightningSender> =>
  Layer.effect(LightningSender.LightningSender, sender(options)).pipe(Layer.provide(FetchHttpClient.layer))
