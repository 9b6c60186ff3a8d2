// phoenixd (https://phoenix.acinq.co/server/api) as a backend: a node that cannot cancel invoices, takes no fee limit, keeps no reasons and counts in whole
// satoshis, and says so. Written from its documentation and its sources (Api.kt, JsonSerializers.kt) and tried on a pretend one (PhoenixDaemon.ts): it has never
// run against a real phoenixd.
import { Msat, type Network, PaymentHash, Preimage } from "@satrail/bitcoin"
import { LightningReceiver, LightningSender } from "@satrail/core/ports"
import { Deferred, Effect, Layer, Option, type Redacted, Schema, Semaphore, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"

export interface Options {
  readonly url: string
  /** `http-password` pays; `http-password-limited-access` is enough to take payments. */
  readonly password: Redacted.Redacted
  readonly network: Network.Network
  /** How long one answer is waited for; 10 s when absent. */
  readonly deadlineMillis?: number
}

/** What phoenixd takes for a payment: 0.4 % and 4 sats, in whole satoshis. It takes no limit, so that what is more than ours is not sent. */
const tariff = (amount: Msat.Msat) => Msat.fromSats(Msat.toSatsCeiling(Msat.make((amount * 4n + 999n) / 1000n)) + 4n)

/** How long `pay` waits for the end of a payment, and a call may take to reach phoenixd. */
const [settleMillis, arrivalMillis] = [2_000, 60_000]
const [pollMillis, pageSize] = [1_000, 100]

/** What phoenixd leaves out where it has none; its first versions said null. */
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
/** Of several attempts the one that was paid, else one that is pending. */
const Outgoing = Schema.Struct({
  paymentHash: PaymentHash.PaymentHash,
  preimage: orNull(Preimage.Preimage),
  isPaid: Schema.Boolean,
  fees: Sats, // millisatoshis
  completedAt: orNull(Schema.Int)
})
/** The end of a call to pay. What became of the payment is in the record; where there is none, a reason says that there will be none. */
const Ended = Schema.Struct({ paymentHash: PaymentHash.PaymentHash, reason: Schema.optionalKey(Schema.String) })

/** By when it was paid, and by its hash among those of the same millisecond. */
const settledOf = ({ paymentHash, preimage, receivedSat, completedAt }: typeof Incoming.Type): ReadonlyArray<LightningReceiver.Settled> =>
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

const get = (path: string, urlParams: Readonly<Record<string, string>> = {}) => HttpClientRequest.get(path, { urlParams })
const post = (path: string, form: Readonly<Record<string, string>>) => HttpClientRequest.bodyUrlParams(HttpClientRequest.post(path), form)

const outage = (operation: string, cause: string) => new LightningReceiver.NodeUnavailable({ operation, cause })

/** Asks phoenixd, and is the only one here who does. */
const connect = Effect.fnUntraced(function* ({ url, password, deadlineMillis = 10_000 }: Options) {
  const client = HttpClient.mapRequest(yield* HttpClient.HttpClient, (request) =>
    request.pipe(HttpClientRequest.prependUrl(url), HttpClientRequest.basicAuth("", password))
  )
  let ours: string | undefined
  const send = (operation: string, request: HttpClientRequest.HttpClientRequest, withinMillis = deadlineMillis) =>
    client.execute(request).pipe(
      Effect.provideService(FetchHttpClient.RequestInit, { redirect: "error" }),
      Effect.flatMap((response) => Effect.map(response.text, (text) => ({ status: response.status, text }))),
      Effect.timeout(withinMillis),
      Effect.mapError(({ _tag }) => outage(operation, _tag)) // in words alone: the failed request has the password in it
    )
  const read =
    <A, I>(operation: string, schema: Schema.Codec<A, I>) =>
    ({ status, text }: { readonly status: number; readonly text: string }) =>
      status === 200
        ? Effect.mapError(Schema.decodeEffect(Schema.fromJsonString(schema))(text), () => outage(operation, "not what phoenixd answers"))
        : Effect.fail(outage(operation, `status ${status}`))
  const ask = <A, I>(operation: string, request: HttpClientRequest.HttpClientRequest, schema: Schema.Codec<A, I>, withinMillis?: number) =>
    Effect.flatMap(send(operation, request, withinMillis), read(operation, schema))
  const info = ask("getinfo", get("/getinfo"), Info)
  /**
   * Undefined where phoenixd has no such record. It says so by a 404, in the words in which it says that it does not know a path, as a version does that is too old to be asked
   * by hash; and anybody in its place could. So only a phoenixd is believed that refuses a hash which is none, and is the very node that it was, asked right after.
   */
  const find = <A, I>(operation: string, path: string, hash: PaymentHash.PaymentHash, schema: Schema.Codec<A, I>) =>
    Effect.gen(function* (): Effect.fn.Return<A | undefined, LightningReceiver.NodeUnavailable> {
      const answer = yield* send(operation, get(`${path}/${hash}`))
      if (answer.status !== 404 || (answer.text !== "" && answer.text !== strange)) return yield* read(operation, schema)(answer)
      const { status } = yield* send(operation, get(`${path}/none`))
      if (status !== 400) return yield* outage(operation, "this phoenixd does not know the path: it is too old")
      const { nodeId } = yield* info
      ours ??= nodeId
      return nodeId === ours ? undefined : yield* outage(operation, "another node is in its place")
    })
  return { ask, find, info: Effect.tap(info, ({ nodeId }) => Effect.sync(() => (ours ??= nodeId))) }
})

const receiver = Effect.fnUntraced(function* (options: Options) {
  const { ask, find, info } = yield* connect(options)
  const { nodeId } = yield* info
  const creating = yield* Semaphore.make(1)
  const state = (hash: PaymentHash.PaymentHash) =>
    Effect.map(find("lookupInvoice", "/payments/incoming", hash, Incoming), (found): LightningReceiver.InvoiceState => {
      if (found === undefined) return { _tag: "unknown" }
      return found.isPaid ? { _tag: "settled", received: Msat.fromSats(found.receivedSat), preimage: found.preimage } : { _tag: "open" }
    })

  return LightningReceiver.LightningReceiver.of({
    nodeId,
    network: options.network,
    lacks: new Set(["cancel", "millisatoshis"]),
    // `externalId` is our id, which phoenixd does not hold to be unique: it is looked for first, one creation at a time.
    createInvoice: ({ id, amount, description, expirySeconds }) => {
      if (amount !== null && amount % 1000n !== 0n) return Effect.fail(outage("createInvoice", "phoenixd knows whole satoshis only"))
      const text = description._tag === "Text" ? { description: description.text } : { descriptionHash: description.sha256 }
      const asked = amount === null ? {} : { amountSat: String(Msat.toSats(amount)) } // without one the payer decides
      const form = { ...asked, expirySeconds: String(expirySeconds), externalId: id, ...text }
      const known = ask("createInvoice", get("/payments/incoming", { externalId: id, all: "true" }), Schema.Array(Incoming))
      return Effect.gen(function* () {
        const [earlier] = yield* known
        if (typeof earlier?.invoice === "string") return { paymentHash: earlier.paymentHash, paymentRequest: earlier.invoice }
        const { paymentHash, serialized } = yield* ask("createInvoice", post("/createinvoice", form), Issued)
        return { paymentHash, paymentRequest: serialized }
      }).pipe(creating.withPermit)
    },
    lookupInvoice: state,
    cancelInvoice: (hash) =>
      Effect.flatMap(state(hash), ({ _tag }) =>
        _tag === "settled" ? Effect.succeed({ _tag } as const) : Effect.fail(outage("cancelInvoice", "phoenixd cannot cancel an invoice"))
      ),
    // `from` is the time of the last one, and includes it.
    settlements: (after) =>
      Stream.paginate(after ?? "0:", (cursor) => {
        const from = cursor.split(":")[0] ?? "0"
        const page = ask("settlements", get("/payments/incoming", { from, limit: String(pageSize) }), Schema.Array(Incoming))
        return Effect.gen(function* () {
          const told = (yield* page)
            .flatMap(settledOf)
            .filter((one) => one.settledAtMillis > Number(from) || (one.settledAtMillis === Number(from) && one.cursor > cursor))
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
  const running = new Map<PaymentHash.PaymentHash, Deferred.Deferred<LightningSender.Payment | LightningSender.NotSent>>()

  type Judged = LightningSender.Payment | { readonly _tag: "notFound" }
  const judge = (hash: PaymentHash.PaymentHash) =>
    Effect.map(find("lookupPayment", "/payments/outgoingbyhash", hash, Outgoing), (found): Judged => {
      if (found === undefined) return { _tag: "notFound" }
      if (typeof found.completedAt !== "number") return { _tag: "pending" }
      if (!found.isPaid) return { _tag: "failed", reason: "error" }
      // Its first versions say of a payment that has failed that it is paid, without a preimage.
      return typeof found.preimage !== "string"
        ? { _tag: "unknown" }
        : { _tag: "settled", preimage: found.preimage, fee: Msat.make(BigInt(found.fees)), index: null }
    })
  const unknown = { _tag: "unknown" } as const
  const orUnknown = <A>(answer: Effect.Effect<A, LightningReceiver.NodeUnavailable>) =>
    Effect.catchTag(answer, "NodeUnavailable", (outage) =>
      Effect.as(Effect.logWarning("phoenixd: payment status unavailable", outage), unknown)
    )

  /** What phoenixd would pay again, it is not asked for again: what its record says comes first, and last. */
  const run = ({ invoice, amount, feeLimit }: LightningSender.Ask) =>
    Effect.gen(function* (): Effect.fn.Return<LightningSender.Payment | LightningSender.NotSent> {
      const before = yield* Effect.option(judge(invoice.paymentHash))
      if (Option.isNone(before)) return { _tag: "notSent" }
      if (before.value._tag !== "notFound") return before.value
      if (tariff(amount) > feeLimit) return { _tag: "failed", reason: "no_route" }
      const form = { invoice: invoice.paymentRequest, ...(invoice.amount === undefined && { amountSat: String(Msat.toSats(amount)) }) }
      const ended = yield* Effect.option(ask("pay", post("/payinvoice", form), Ended, arrivalMillis))
      const after = yield* orUnknown(judge(invoice.paymentHash))
      if (after._tag !== "notFound") return after
      const isRefused = Option.exists(ended, (end) => end.paymentHash === invoice.paymentHash && end.reason !== undefined)
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
        // Forgotten before it is answered: who asks again after an answer begins anew.
        const over = Effect.sync(() => running.delete(paymentHash))
        const ended = Effect.flatMap(Effect.ensuring(run(payment), over), (answer) => Deferred.succeed(begun, answer))
        yield* Effect.forkIn(ended, scope)
      }
      return Option.getOrElse(yield* Effect.timeoutOption(Deferred.await(done), settleMillis), () => ({ _tag: "pending" }) as const)
    }),
    lookupPayment: (paymentHash) => orUnknown(judge(paymentHash)),
    ends: Stream.empty,
    // Whether there is a route phoenixd does not tell: what it takes is known, and that the node is there.
    quote: ({ amount, feeLimit }) =>
      Effect.map(ask("quote", get("/getinfo"), Info), () =>
        tariff(amount) > feeLimit ? undefined : { fee: tariff(amount), probability: 0.9 }
      )
  })
})

/** phoenixd takes payments for us. Fails when it does not answer at the start, since nobody could say then whose invoices these are. */
export const layerReceiver = (options: Options): Layer.Layer<LightningReceiver.LightningReceiver, LightningReceiver.NodeUnavailable> =>
  Layer.effect(LightningReceiver.LightningReceiver, receiver(options)).pipe(Layer.provide(FetchHttpClient.layer))

/** phoenixd pays for us. */
export const layerSender = (options: Options): Layer.Layer<LightningSender.LightningSender> =>
  Layer.effect(LightningSender.LightningSender, sender(options)).pipe(Layer.provide(FetchHttpClient.layer))
