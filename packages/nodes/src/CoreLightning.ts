import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { type InvoiceState, LightningReceiver, NodeUnavailable, type Settled } from "@satrail/core/nodes/LightningReceiver"
import { type Ask as Sending, type FailureReason, LightningSender, type NotSent, type Payment } from "@satrail/core/nodes/LightningSender"
import { Clock, Data, Deferred, Effect, Layer, Option, Redacted, Result, Schema, SchemaGetter, Stream } from "effect"
import { HttpClientRequest } from "effect/http"
import { createHmac } from "node:crypto"
import * as Https from "./Https.ts"
import { NotLookedAt } from "./NodeState.ts"
import * as Versions from "./Versions.ts"
import { wordsOf } from "./Words.ts"

// Core Lightning v26.06 over its REST plugin (https://docs.corelightning.org/docs/rest): every command is POST /v1/<command>, amounts are numbers of msat.

export interface Options {
  /** Such as https://127.0.0.1:3010. */
  readonly url: string
  /** The plugin's `ca.pem`. */
  readonly certificateFile?: string | undefined
  /** One that allows the commands of its layer, and nothing else. */
  readonly rune: Redacted.Redacted
  /** How long one answer is waited for; 10 s when absent. */
  readonly deadlineMillis?: number
}

export interface ReceiverOptions extends Options {
  /** What the preimages of our invoices are derived from, together with their ids. The same for ever. */
  readonly invoiceSecret: Redacted.Redacted
}

export interface SenderOptions extends Options {
  /** The public key of the node that it must be; of the first that answers when absent. That another has no record of a payment says nothing. */
  readonly nodeId?: string
  /** How long the node may begin new attempts of one payment; 60 s when absent. */
  readonly retrySeconds?: number
}

/** How long the node keeps a question for the next settlement open. */
const waitSeconds = 20
/** How much later than it should a payment command may end. */
const marginMillis = 30_000
/** How long after it is asked for a command may be sent off: what is later than that is not. */
const arrivalMillis = 60_000
/** How many commands that failed are remembered. */
const maxEnded = 10_000
/** How long we stay to see a payment end. The others are looked up. */
const settleMillis = 2000

/** The node itself said no. */
class Refused extends Data.TaggedError("Refused")<{ readonly code: number; readonly words: string }> {}

/** Its error codes (`lightning-invoice`, `lightning-xpay`, `lightning-waitanyinvoice`, `lightning-getroutes`). */
const codes = {
  noRune: new Set([1501, 1502, 1503]),
  timedOut: 904,
  labelTaken: 900,
  preimageTaken: 901,
  noRoute: new Set([205, 206])
} as const

/** With these the payment command is over. What became of its parts is another question. */
const overReasons: ReadonlyMap<number, FailureReason> = new Map([
  [203, "incorrect_payment_details"],
  [204, "no_route"],
  [205, "no_route"],
  [206, "no_route"],
  [207, "error"],
  [209, "error"],
  [210, "timeout"],
  [219, "error"]
])

// What the node answers.

const Amount = Schema.Int.pipe(
  Schema.decodeTo(Msat.Msat, { decode: SchemaGetter.transform(BigInt), encode: SchemaGetter.transform(Number) })
)

const Info = Schema.Struct({
  id: Schema.String,
  version: Schema.String,
  network: Schema.Literals(["bitcoin", "testnet", "testnet4", "signet", "regtest"])
})
const networks = { bitcoin: "mainnet", testnet: "testnet", testnet4: "testnet", signet: "signet", regtest: "regtest" } as const

const Issued = Schema.Struct({ payment_hash: PaymentHash.PaymentHash, bolt11: Schema.String })
const Paid = {
  payment_hash: PaymentHash.PaymentHash,
  payment_preimage: Preimage.Preimage,
  amount_received_msat: Amount,
  pay_index: Schema.Int,
  paid_at: Schema.Int
}
const Invoice = Schema.Union([
  Schema.Struct({ status: Schema.Literal("paid"), label: Schema.String, bolt11: Schema.String, ...Paid }),
  Schema.Struct({
    status: Schema.Literals(["unpaid", "expired"]),
    label: Schema.String,
    bolt11: Schema.String,
    payment_hash: PaymentHash.PaymentHash
  })
])
const Invoices = Schema.Struct({ invoices: Schema.Array(Invoice) })
const Notes = Schema.Struct({ datastore: Schema.Array(Schema.Struct({ string: Schema.String })) })

const Part = Schema.Struct({
  status: Schema.Literals(["pending", "complete", "failed"]),
  amount_msat: Schema.optionalKey(Amount),
  amount_sent_msat: Amount,
  payment_preimage: Schema.optionalKey(Preimage.Preimage),
  created_at: Schema.Int,
  groupid: Schema.Int,
  partid: Schema.optionalKey(Schema.Int)
})
type Part = typeof Part.Type
const Parts = Schema.Struct({ payments: Schema.Array(Part) })
const Sent = Schema.Struct({ payment_preimage: Preimage.Preimage, amount_msat: Amount, amount_sent_msat: Amount })
const Routes = Schema.Struct({
  probability_ppm: Schema.Int,
  routes: Schema.NonEmptyArray(Schema.Struct({ path: Schema.NonEmptyArray(Schema.Struct({ amount_msat: Amount })) }))
})
const Problem = Schema.Struct({ code: Schema.Int, message: Schema.String })

/** Asks the node, and is the only one here who does. */
const connect = ({ url, certificateFile, rune, deadlineMillis = 10_000 }: Options) => {
  const client = Https.make({ certificateFile })
  return <A, I>(command: string, parameters: object, answer: Schema.Codec<A, I>, waitMillis = deadlineMillis) => {
    const request = HttpClientRequest.post(`${url.replace(/\/$/, "")}/v1/${command}`).pipe(
      HttpClientRequest.setHeader("rune", Redacted.value(rune)),
      HttpClientRequest.bodyJsonUnsafe(parameters)
    )
    return client.execute(request).pipe(
      Effect.flatMap((response) =>
        Effect.flatMap(response.text, (text): Effect.Effect<A, unknown> => {
          if (response.status === 200 || response.status === 201) return Schema.decodeUnknownEffect(Schema.fromJsonString(answer))(text)
          return Effect.flatMap(Schema.decodeUnknownEffect(Schema.fromJsonString(Problem))(text), ({ code, message }) =>
            Effect.fail(new Refused({ code, words: message }))
          )
        })
      ),
      Effect.timeoutOrElse({ duration: waitMillis, orElse: () => Effect.fail(`no answer within ${waitMillis} ms`) }),
      Effect.mapError((problem) => {
        // The rune is looked at before the command is.
        const isTurnedAway = problem instanceof Refused && codes.noRune.has(problem.code)
        if (problem instanceof Refused && !isTurnedAway) return problem
        const Unavailable = isTurnedAway || Https.isNotWritten(problem) ? NotLookedAt : NodeUnavailable
        return new Unavailable({ operation: command, cause: problem instanceof Refused ? problem.words : wordsOf(problem) })
      })
    )
  }
}

const unavailable = (operation: string) => (refused: Refused) =>
  Effect.fail(new NodeUnavailable({ operation, cause: `${refused.code}: ${refused.words}` }))

const who = (ask: ReturnType<typeof connect>) => Effect.catchTag(ask("getinfo", {}, Info), "Refused", unavailable("getinfo"))

/** Asks the node who it is. */
export const identity = (options: Options) =>
  Effect.map(who(connect(options)), ({ id, network, version }) => ({ nodeId: id, network: networks[network], version }))

const settledOf = (paid: Schema.Struct<typeof Paid>["Type"]): Settled => ({
  paymentHash: paid.payment_hash,
  received: paid.amount_received_msat,
  preimage: paid.payment_preimage,
  settledAtMillis: paid.paid_at * 1000,
  cursor: String(paid.pay_index)
})

const receiver = Effect.fnUntraced(function* (options: ReceiverOptions) {
  const ask = connect(options)
  const info = yield* who(ask)
  yield* Versions.warn("Core Lightning", info.version)
  const preimageOf = (id: string) =>
    Preimage.make(createHmac("sha256", Redacted.value(options.invoiceSecret)).update(`cln invoice ${id}`).digest("hex"))
  const find = (by: { readonly label: string } | { readonly payment_hash: PaymentHash.PaymentHash }) =>
    Effect.map(ask("listinvoices", by, Invoices), ({ invoices }) => invoices.at(0))
  // The node knows no canceled invoices: they are deleted, after a note of what they were.
  const noteOf = (paymentHash: PaymentHash.PaymentHash) => ["satrail", "canceled", paymentHash]
  const canceled = (paymentHash: PaymentHash.PaymentHash) =>
    Effect.map(ask("listdatastore", { key: noteOf(paymentHash) }, Notes), ({ datastore }) => datastore.at(0)?.string)

  return LightningReceiver.of({
    nodeId: info.id,
    network: networks[info.network],
    createInvoice: Effect.fnUntraced(
      function* ({ id, amount, description, expirySeconds }) {
        if (description._tag === "Hash") {
          return yield* new NodeUnavailable({ operation: "invoice", cause: "it takes a description, and hashes that itself" })
        }
        const parameters = {
          label: id,
          amount_msat: Number(amount),
          description: description.text,
          expiry: expirySeconds,
          preimage: preimageOf(id)
        }
        return yield* ask("invoice", parameters, Issued).pipe(
          Effect.catchTag("Refused", (refused) =>
            refused.code === codes.labelTaken || refused.code === codes.preimageTaken
              ? Effect.flatMap(find({ label: id }), (known) => (known ? Effect.succeed(known) : Effect.fail(refused)))
              : Effect.fail(refused)
          ),
          Effect.map(({ payment_hash, bolt11 }) => ({ paymentHash: payment_hash, paymentRequest: bolt11 }))
        )
      },
      Effect.catchTag("Refused", unavailable("invoice"))
    ),
    lookupInvoice: Effect.fnUntraced(
      function* (paymentHash): Effect.fn.Return<InvoiceState, NodeUnavailable | Refused> {
        const invoice = yield* find({ payment_hash: paymentHash })
        if (invoice === undefined) return (yield* canceled(paymentHash)) === undefined ? { _tag: "unknown" } : { _tag: "canceled" }
        switch (invoice.status) {
          case "paid":
            return { _tag: "settled", received: invoice.amount_received_msat, preimage: invoice.payment_preimage }
          case "expired":
            return { _tag: "canceled" }
          case "unpaid":
            return { _tag: "open" }
        }
      },
      Effect.catchTag("Refused", unavailable("listinvoices"))
    ),
    cancelInvoice: Effect.fnUntraced(
      function* (paymentHash) {
        const invoice = yield* find({ payment_hash: paymentHash })
        const id = invoice?.label ?? (yield* canceled(paymentHash))
        if (id === undefined) return yield* new NodeUnavailable({ operation: "delinvoice", cause: "there is no such invoice" })
        if (invoice !== undefined && invoice.status !== "paid") {
          yield* ask("datastore", { key: noteOf(paymentHash), string: id, mode: "create-or-replace" }, Schema.Unknown)
          // Refused where it was paid, or expired, a moment ago: what is there now says which.
          yield* Effect.exit(ask("delinvoice", { label: id, status: invoice.status }, Schema.Unknown))
        }
        const now = yield* find({ payment_hash: paymentHash })
        if (now?.status === "paid") return { _tag: "settled" } as const
        if (now === undefined) return { _tag: "canceled", preimage: Redacted.make(preimageOf(id)) } as const
        return yield* new NodeUnavailable({ operation: "delinvoice", cause: `the invoice is ${now.status}` })
      },
      Effect.catchTag("Refused", unavailable("delinvoice"))
    ),
    // One question after another. The node counts what was paid, and forgets nothing.
    settlements: (after) =>
      Stream.paginate(Number(after ?? "0"), (lastpay_index) =>
        ask("waitanyinvoice", { lastpay_index, timeout: waitSeconds }, Schema.Struct(Paid), waitSeconds * 1000 + 10_000).pipe(
          Effect.map((paid) => [[settledOf(paid)], Option.some(paid.pay_index)] as const),
          Effect.catchTag("Refused", (refused) =>
            refused.code === codes.timedOut
              ? Effect.succeed([[], Option.some(lastpay_index)] as const)
              : unavailable("waitanyinvoice")(refused)
          )
        )
      )
  })
})

/** To hear nothing of a payment says nothing about it. */
const orUnknown = <A>(answer: Effect.Effect<A, NodeUnavailable | Refused>) =>
  Effect.matchEffect(answer, {
    onSuccess: Effect.succeed,
    onFailure: (outage) => Effect.as(Effect.logWarning("node: payment status unavailable", outage), { _tag: "unknown" } as const)
  })

const sender = Effect.fnUntraced(function* (options: SenderOptions) {
  const ask = connect(options)
  const scope = yield* Effect.scope
  const retrySeconds = options.retrySeconds ?? 60
  const commandMillis = retrySeconds * 1000 + marginMillis
  // Commands of ours that are not over: each hash has one.
  const running = new Map<PaymentHash.PaymentHash, Deferred.Deferred<Payment | NotSent>>()
  // Commands of ours that ended without success, which the node itself forgets. What is forgotten here is only asked about for longer.
  const ended = new Map<PaymentHash.PaymentHash, FailureReason>()
  const remember = (paymentHash: PaymentHash.PaymentHash, reason: FailureReason) => {
    for (const oldest of ended.keys()) if (ended.size >= maxEnded) ended.delete(oldest)
    ended.set(paymentHash, reason)
  }

  let ours = options.nodeId
  const recognised = Effect.flatMap(ask("getinfo", {}, Info), ({ id }) => {
    ours ??= id
    return id === ours
      ? Effect.void
      : Effect.fail(new NodeUnavailable({ operation: "getinfo", cause: `it is another node: ${id}, and was ${ours}` }))
  })

  const partsOf = (paymentHash: PaymentHash.PaymentHash) =>
    Effect.map(ask("listsendpays", { payment_hash: paymentHash }, Parts), ({ payments }) => payments)

  /** Why a part failed: the node tells it again to whoever waits for the part. */
  const reasonOf = (paymentHash: PaymentHash.PaymentHash, { groupid, partid }: Part) =>
    Effect.matchEffect(ask("waitsendpay", { payment_hash: paymentHash, groupid, partid: partid ?? 0, timeout: 1 }, Schema.Unknown), {
      onFailure: (error) => Effect.succeed(error._tag === "Refused" ? overReasons.get(error.code) : undefined),
      onSuccess: () => Effect.undefined
    })

  /** What its parts say of a payment. Only when no command can add another does it mean anything that all have failed. */
  const judge = Effect.fnUntraced(function* (paymentHash: PaymentHash.PaymentHash) {
    const parts = yield* partsOf(paymentHash)
    const complete = parts.filter(({ status }) => status === "complete")
    const preimage = complete.find(({ payment_preimage }) => payment_preimage !== undefined)?.payment_preimage
    if (parts.some(({ status }) => status === "pending")) return { _tag: "pending" } as const
    if (preimage !== undefined) {
      const fee = complete.reduce((sum, part) => sum + part.amount_sent_msat - (part.amount_msat ?? part.amount_sent_msat), 0n)
      return { _tag: "settled", preimage, fee: Msat.make(fee), index: null } as const
    }
    const reason = ended.get(paymentHash)
    const last = parts.at(-1)
    if (last === undefined) {
      if (reason !== undefined) return { _tag: "failed", reason } as const
      return yield* Effect.as(recognised, { _tag: "notFound" } as const) // it has to be this very node that has none
    }
    const nowMillis = yield* Clock.currentTimeMillis
    // While a command runs all its parts can have failed and another one be tried, and it lives on in the node when whoever began it is dead.
    const isOver = reason !== undefined || parts.every(({ created_at }) => nowMillis > created_at * 1000 + commandMillis)
    if (!isOver) return { _tag: "pending" } as const
    return { _tag: "failed", reason: (yield* reasonOf(paymentHash, last)) ?? reason ?? "error" } as const
  })

  /** The command to its end, which may be long after anybody waits for it. */
  const command = Effect.fnUntraced(function* ({ invoice, amount, feeLimit }: Sending) {
    const parameters = {
      invstring: invoice.paymentRequest,
      ...(invoice.amount === undefined && { amount_msat: Number(amount) }),
      maxfee: Number(feeLimit), // always said: without one it is a share of the amount
      retry_for: retrySeconds
    }
    const sent = yield* Effect.result(ask("xpay", parameters, Sent, commandMillis))
    if (Result.isSuccess(sent)) {
      const { payment_preimage, amount_msat, amount_sent_msat } = sent.success
      return { _tag: "settled", preimage: payment_preimage, fee: Msat.make(amount_sent_msat - amount_msat), index: null } as const
    }
    // An error is the end of the command, and says nothing about parts that are still under way.
    const reason = sent.failure._tag === "Refused" ? overReasons.get(sent.failure.code) : undefined
    if (reason === undefined) return yield* sent.failure
    remember(invoice.paymentHash, reason)
    return undefined
  })

  const known = (judged: Effect.Success<ReturnType<typeof judge>>): Payment => (judged._tag === "notFound" ? { _tag: "unknown" } : judged)

  const begin = Effect.fnUntraced(function* (payment: Sending, done: Deferred.Deferred<Payment | NotSent>) {
    const { paymentHash } = payment.invoice
    // The node would pay a hash again that it is paying, in parts that nobody asked for: it is asked first.
    const run = Effect.gen(function* (): Effect.fn.Return<Payment | NotSent | undefined, NodeUnavailable | Refused> {
      const parts = yield* Effect.result(Effect.andThen(ours === undefined ? recognised : Effect.void, partsOf(paymentHash)))
      if (Result.isFailure(parts)) return { _tag: "notSent" }
      if (!parts.success.every(({ status }) => status === "failed")) return undefined
      return yield* command(payment).pipe(
        Effect.catch((problem) => (problem instanceof NotLookedAt ? Effect.succeed({ _tag: "notSent" } as const) : Effect.fail(problem)))
      )
    }).pipe(
      Effect.provideService(Https.NotAfter, (yield* Clock.currentTimeMillis) + arrivalMillis),
      Effect.ensuring(Effect.sync(() => running.delete(paymentHash)))
    )
    const outcome = Effect.gen(function* (): Effect.fn.Return<Payment | NotSent, NodeUnavailable | Refused> {
      return (yield* run) ?? known(yield* judge(paymentHash))
    })
    yield* Deferred.succeed(done, yield* orUnknown(outcome))
  })

  const pay = Effect.fnUntraced(function* (payment: Sending) {
    const { paymentHash } = payment.invoice
    let done = running.get(paymentHash)
    if (done === undefined) {
      done = Deferred.makeUnsafe<Payment | NotSent>()
      running.set(paymentHash, done)
      yield* Effect.forkIn(begin(payment, done), scope)
    }
    const outcome = yield* Effect.timeoutOption(Deferred.await(done), settleMillis)
    return Option.getOrElse(outcome, () => ({ _tag: "pending" }) as const)
  })

  return LightningSender.of({
    graceMillis: commandMillis + arrivalMillis,
    pay,
    lookupPayment: (paymentHash) => orUnknown(judge(paymentHash)),
    // Its REST interface tells of nothing by itself.
    ends: Stream.empty,
    quote: ({ invoice, amount, feeLimit }) =>
      Effect.flatMap(ask("getinfo", {}, Info), ({ id }) =>
        ask(
          "getroutes",
          {
            source: id,
            destination: invoice.payee,
            amount_msat: Number(amount),
            // What our own channels hold, and that we do not charge ourselves.
            layers: ["auto.localchans", "auto.sourcefree"],
            maxfee_msat: Number(feeLimit),
            final_cltv: invoice.minFinalCltvExpiry
          },
          Routes
        )
      ).pipe(
        Effect.map(({ probability_ppm, routes }) => ({
          fee: Msat.make(routes.reduce((sum, { path: [first] }) => sum + first.amount_msat, 0n) - amount),
          probability: probability_ppm / 1_000_000
        })),
        Effect.catchTag("Refused", (refused) => (codes.noRoute.has(refused.code) ? Effect.undefined : unavailable("getroutes")(refused)))
      )
  })
})

/** Core Lightning takes payments for us. Fails when it does not answer at the start, since nobody could say then whose invoices these are. */
export const layerReceiver = (options: ReceiverOptions): Layer.Layer<LightningReceiver, NodeUnavailable> =>
  Layer.effect(LightningReceiver, receiver(options))

/** Core Lightning pays for us. */
export const layerSender = (options: SenderOptions): Layer.Layer<LightningSender> => Layer.effect(LightningSender, sender(options))
