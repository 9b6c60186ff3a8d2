import type { Bolt11 } from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { type InvoiceState, LightningReceiver, NodeUnavailable, type Settled } from "@satrail/core/nodes/LightningReceiver"
import { type Ask as Sending, type FailureReason, LightningSender, type Payment } from "@satrail/core/nodes/LightningSender"
import { Clock, Deferred, Effect, Layer, Redacted, Schema, SchemaGetter, Stream } from "effect"
import { createHmac } from "node:crypto"
import { NotAfter } from "./Https.ts"
import * as LndInfo from "./LndInfo.ts"
import { get, type LndRest, make as connect, type Options as RestOptions, post, type Refused, code as statusCode } from "./LndRest.ts"
import type * as Macaroon from "./Macaroon.ts"
import { NotLookedAt } from "./NodeState.ts"

// lnd v0.21 over its REST interface (https://lightning.engineering/api-docs/api/lnd/): bytes in base64, 64-bit numbers as texts.

export interface Options extends RestOptions {
  /** Which node it must be; asked of the node itself with `LndInfo.identity`, once. */
  readonly identity: LndInfo.Identity
  /** How long after it was asked for, or our process died, a call to pay may still reach the node; 60 s when absent, which is far longer than a request is under way. */
  readonly graceMillis?: number
}

export interface ReceiverOptions extends Options {
  /**
   * What the preimages of our invoices are derived from, together with their ids: with the same secret an invoice that is asked for again is the same one.
   * Whoever knows it can take payments that are on their way to us.
   */
  readonly invoiceSecret: Redacted.Redacted
}

/** How long lnd may begin new attempts of one payment. What is under way then goes on; only its end is an end. */
const attemptSeconds = 60
/** How long we stay to see a payment end. Most do within a second; the others are looked up. */
const settleMillis = 2000
/** How long after its last word lnd may take to end the answer. Read to its end, its connection serves the next payment; else that one begins with a handshake. */
const endMillis = 100
/** Invoices on one page when all are read. */
const pageSize = 1000
/** How often a node that has never been paid is asked whether it has. */
const firstMillis = 1000

/** What taking payments asks lnd for: a macaroon for these calls and no others. */
export const receiverCalls = [
  { uri: "/lnrpc.Lightning/GetInfo", entity: "info", action: "read" },
  { uri: "/lnrpc.Lightning/AddInvoice", entity: "invoices", action: "write" },
  { uri: "/lnrpc.Lightning/LookupInvoice", entity: "invoices", action: "read" },
  { uri: "/lnrpc.Lightning/ListInvoices", entity: "invoices", action: "read" },
  { uri: "/lnrpc.Lightning/SubscribeInvoices", entity: "invoices", action: "read" },
  { uri: "/invoicesrpc.Invoices/CancelInvoice", entity: "invoices", action: "write" }
] as const satisfies ReadonlyArray<Macaroon.Call>

/** What paying asks lnd for. */
export const senderCalls = [
  { uri: "/lnrpc.Lightning/GetInfo", entity: "info", action: "read" },
  { uri: "/lnrpc.Lightning/QueryRoutes", entity: "info", action: "read" },
  { uri: "/routerrpc.Router/SendPaymentV2", entity: "offchain", action: "write" },
  { uri: "/routerrpc.Router/TrackPaymentV2", entity: "offchain", action: "read" },
  { uri: "/routerrpc.Router/TrackPayments", entity: "offchain", action: "read" }
] as const satisfies ReadonlyArray<Macaroon.Call>

// What lnd answers.

const hex = <A extends string>(text: Schema.Codec<A, string>) =>
  Schema.Uint8ArrayFromBase64.pipe(Schema.decodeTo(text, { decode: SchemaGetter.encodeHex(), encode: SchemaGetter.decodeHex() }))

const Added = Schema.Struct({ r_hash: hex(PaymentHash.PaymentHash), payment_request: Schema.String })

/** An invoice as lnd lists and tells it. */
export const Invoice = Schema.Struct({
  r_hash: hex(PaymentHash.PaymentHash),
  r_preimage: hex(Preimage.Preimage),
  payment_request: Schema.String,
  state: Schema.Literals(["OPEN", "SETTLED", "CANCELED", "ACCEPTED"]),
  amt_paid_msat: Msat.FromString,
  settle_date: Schema.NumberFromString,
  settle_index: Schema.BigIntFromString
})
export type Invoice = typeof Invoice.Type

/** A page of them, by the order in which they were made. */
export const Page = Schema.Struct({ invoices: Schema.Array(Invoice), last_index_offset: Schema.BigIntFromString })

const Sent = Schema.Struct({
  // UNKNOWN is never sent; a word that is not here is an outage, not a guess.
  status: Schema.Literals(["INITIATED", "IN_FLIGHT", "SUCCEEDED", "FAILED"]),
  failure_reason: Schema.String,
  payment_preimage: Preimage.Preimage,
  fee_msat: Msat.FromString,
  payment_index: Schema.String
})

/** A payment as `TrackPayments` tells it. */
const Tracked = Schema.Struct({ payment_hash: PaymentHash.PaymentHash, status: Sent.fields.status })

const Routes = Schema.Struct({
  routes: Schema.NonEmptyArray(Schema.Struct({ total_fees_msat: Msat.FromString })),
  success_prob: Schema.Finite
})

const Nothing = Schema.Struct({})

// What it means.

const stateOf = (invoice: Invoice): InvoiceState => {
  switch (invoice.state) {
    case "OPEN":
      return { _tag: "open" }
    case "ACCEPTED":
      return { _tag: "accepted" }
    case "CANCELED":
      return { _tag: "canceled" }
    case "SETTLED":
      return { _tag: "settled", received: invoice.amt_paid_msat, preimage: invoice.r_preimage }
  }
}

const settledOf = (invoice: Invoice): Settled => ({
  paymentHash: invoice.r_hash,
  received: invoice.amt_paid_msat,
  preimage: invoice.r_preimage,
  settledAtMillis: invoice.settle_date * 1000,
  cursor: String(invoice.settle_index)
})

const reasons: ReadonlyMap<string, FailureReason> = new Map([
  ["FAILURE_REASON_TIMEOUT", "timeout"],
  ["FAILURE_REASON_NO_ROUTE", "no_route"],
  ["FAILURE_REASON_INCORRECT_PAYMENT_DETAILS", "incorrect_payment_details"],
  ["FAILURE_REASON_INSUFFICIENT_BALANCE", "insufficient_balance"],
  ["FAILURE_REASON_CANCELED", "canceled"]
])

const isFinal = ({ status }: Pick<typeof Sent.Type, "status">) => status === "SUCCEEDED" || status === "FAILED"

const paymentOf = (sent: typeof Sent.Type): Payment => {
  switch (sent.status) {
    case "INITIATED":
    case "IN_FLIGHT":
      return { _tag: "pending" }
    case "SUCCEEDED":
      return { _tag: "settled", preimage: sent.payment_preimage, fee: sent.fee_msat, index: sent.payment_index }
    case "FAILED":
      // Every attempt is resolved and lnd has given up: its last word, also for a reason that nobody here has heard of.
      return { _tag: "failed", reason: reasons.get(sent.failure_reason) ?? "error" }
  }
}

/** Of a record that lnd looked for and has not. A gateway in front of a node that is still starting says 404 in the same form and other words. */
const isAbsent = ({ code, words }: Refused): boolean =>
  code === statusCode.notFound && /unable to locate invoice|no existing invoices|payment isn't initiated/.test(words)

/**
 * Whether lnd has looked at the request and will not do it. A call that was canceled, took too long, or lost its connection inside ends in the same
 * form with another code, and may have reached lnd: its record is then still to be written.
 */
const isRefusal = (refused: Refused): boolean =>
  [statusCode.unknown, statusCode.invalidArgument, statusCode.failedPrecondition].some((code) => code === refused.code)

const isNoRoute = ({ words }: Refused): boolean => /unable to find a path to destination|insufficient local balance/.test(words)

const unavailable = (operation: string) => (refused: Refused) => Effect.fail(new NodeUnavailable({ operation, cause: refused.words }))

const notSent = { _tag: "notSent" } as const

/** To hear nothing of a payment says nothing about it. What is wrong with the node is in the log already. */
const orUnknown = <A>(answer: Effect.Effect<A, NodeUnavailable>) =>
  Effect.catchTag(answer, "NodeUnavailable", (outage) =>
    Effect.as(Effect.logDebug("node: payment status unavailable", outage), { _tag: "unknown" } as const)
  )

const toBase64 = (text: string) => Buffer.from(text, "hex").toString("base64")
/** For a path. lnd wants the padding that Node's own base64url leaves out. */
const toBase64Url = (text: string) => toBase64(text).replaceAll("+", "-").replaceAll("/", "_")

/** Whoever answers is the node that it was at first: asked until it says so once, since a node may be away when we start. */
export const recognise = (rest: LndRest, identity: LndInfo.Identity): Effect.Effect<void, NodeUnavailable> => {
  let isRecognised = false
  const confirm = Effect.tap(LndInfo.confirm(rest, identity), () => Effect.sync(() => (isRecognised = true)))
  return Effect.suspend(() => (isRecognised ? Effect.void : confirm))
}

const receiver = (options: ReceiverOptions): LightningReceiver["Service"] => {
  const rest = connect(options)
  const recognised = recognise(rest, options.identity)
  const preimageOf = (id: string) =>
    Preimage.make(createHmac("sha256", Redacted.value(options.invoiceSecret)).update(`lnd invoice ${id}`).digest("hex"))

  const find = (operation: string, paymentHash: PaymentHash.PaymentHash): Effect.Effect<Invoice | undefined, NodeUnavailable> =>
    Effect.andThen(recognised, rest.ask(operation, get(`/v1/invoice/${paymentHash}`), Invoice)).pipe(
      Effect.catchTag("Refused", (refused) =>
        // As of a payment: it has to be this very node that has no record.
        isAbsent(refused) ? Effect.as(LndInfo.confirm(rest, options.identity), undefined) : unavailable(operation)(refused)
      )
    )

  /** Pages through all invoices for the one that was settled first. Only a node that nobody has resumed from yet is asked for it. */
  const firstSettled = Effect.gen(function* () {
    let first: Invoice | undefined
    for (let offset = 0n; ;) {
      const request = get("/v1/invoices", { urlParams: { index_offset: String(offset), num_max_invoices: pageSize } })
      const { invoices, last_index_offset } = yield* rest.ask("settlements", request, Page)
      for (const invoice of invoices) {
        if (invoice.state === "SETTLED" && (first === undefined || invoice.settle_index < first.settle_index)) first = invoice
      }
      if (invoices.length < pageSize) return first
      offset = last_index_offset
    }
  })

  // "Everything after 0" means "only new ones" to lnd: the first has to be found otherwise.
  const settledFirst: Effect.Effect<Invoice, NodeUnavailable | Refused> = Effect.flatMap(firstSettled, (first) =>
    first === undefined ? Effect.andThen(Effect.sleep(firstMillis), settledFirst) : Effect.succeed(first)
  )

  const settledAfter = (index: string) =>
    rest.listen("settlements", get("/v1/invoices/subscribe", { urlParams: { settle_index: index } }), Invoice).pipe(
      // New invoices are told as well.
      Stream.filter(({ state }) => state === "SETTLED"),
      Stream.map(settledOf)
    )

  return LightningReceiver.of({
    ...options.identity,
    createInvoice: ({ id, amount, description, expirySeconds }) => {
      const preimage = preimageOf(id)
      const about = description._tag === "Text" ? { memo: description.text } : { description_hash: toBase64(description.sha256) }
      const body = { r_preimage: toBase64(preimage), value_msat: String(amount), expiry: String(expirySeconds), private: true, ...about }
      return Effect.andThen(recognised, rest.ask("createInvoice", post("/v1/invoices", body), Added)).pipe(
        // A second one with its preimage is refused: then it is there.
        Effect.catchTag("Refused", (refused) =>
          Effect.flatMap(find("createInvoice", Preimage.hashOf(preimage)), (known) =>
            known ? Effect.succeed(known) : unavailable("createInvoice")(refused)
          )
        ),
        Effect.map(({ r_hash, payment_request }) => ({ paymentHash: r_hash, paymentRequest: payment_request }))
      )
    },
    lookupInvoice: (paymentHash) =>
      Effect.map(find("lookupInvoice", paymentHash), (invoice) => (invoice ? stateOf(invoice) : { _tag: "unknown" })),
    cancelInvoice: Effect.fnUntraced(function* (paymentHash) {
      yield* recognised
      // Refused or not, how it stands now is the answer; that it is still open is none.
      yield* Effect.exit(rest.ask("cancelInvoice", post("/v2/invoices/cancel", { payment_hash: toBase64(paymentHash) }), Nothing))
      const invoice = yield* find("cancelInvoice", paymentHash)
      switch (invoice?.state) {
        case "CANCELED":
          return { _tag: "canceled", preimage: Redacted.make(invoice.r_preimage) } as const
        case "ACCEPTED":
          return { _tag: "accepted" } as const
        case "SETTLED":
          return { _tag: "settled" } as const
        case "OPEN":
        case undefined:
          return yield* new NodeUnavailable({ operation: "cancelInvoice", cause: `the invoice is ${invoice?.state ?? "not there"}` })
      }
    }),
    settlements: (after) =>
      Stream.unwrap(
        Effect.gen(function* () {
          yield* recognised
          if (after !== null) return settledAfter(after)
          const first = settledOf(yield* settledFirst)
          return Stream.concat(Stream.make(first), settledAfter(first.cursor))
        })
      ).pipe(Stream.catchTag("Refused", (refused) => Stream.fromEffect(unavailable("settlements")(refused))))
  })
}

const hintsOf = ({ routes }: Bolt11) =>
  routes.map((hops) => ({
    hop_hints: hops.map((hop) => {
      const [block = 0n, transaction = 0n, output = 0n] = hop.shortChannelId.split("x").map(BigInt)
      return {
        node_id: hop.pubkey,
        chan_id: String((block << 40n) | (transaction << 16n) | output),
        fee_base_msat: Number(hop.feeBaseMsat),
        fee_proportional_millionths: hop.feeProportionalMillionths,
        cltv_expiry_delta: hop.cltvExpiryDelta
      }
    })
  }))

const sender = (options: Options): LightningSender["Service"] => {
  const rest = connect(options)
  const recognised = recognise(rest, options.identity)
  const channelsBack = LndInfo.channelsBack(rest).pipe(Effect.catchTag("Refused", unavailable("pay")))

  const lookup = (paymentHash: PaymentHash.PaymentHash) =>
    Effect.andThen(
      recognised,
      // The first line is how it stands; the others would be what becomes of it.
      Stream.runHead(rest.listen("lookupPayment", get(`/v2/router/track/${toBase64Url(paymentHash)}`), Sent))
    ).pipe(
      Effect.timeoutOrElse({
        duration: rest.deadlineMillis,
        orElse: () => rest.noAnswer("lookupPayment")
      }),
      Effect.flatMap((first) =>
        first._tag === "Some"
          ? Effect.succeed(paymentOf(first.value))
          : Effect.fail(new NodeUnavailable({ operation: "lookupPayment", cause: "it ended without an answer" }))
      ),
      Effect.catchTag("Refused", (refused) =>
        // That there is no record weighs more than any other answer: it has to be this very node that has none.
        isAbsent(refused)
          ? Effect.as(LndInfo.confirm(rest, options.identity), { _tag: "notFound" } as const)
          : unavailable("lookupPayment")(refused)
      )
    )

  /** lnd did not take the payment on. What that means only its record can say. */
  const refused = Effect.fnUntraced(function* (
    paymentHash: PaymentHash.PaymentHash,
    refusal: Refused
  ): Effect.fn.Return<Payment, NodeUnavailable> {
    const known = yield* lookup(paymentHash)
    if (known._tag !== "notFound") return known
    yield* Effect.logWarning("lnd: payment refused", { paymentHash, words: refusal.words })
    return isRefusal(refusal) ? { _tag: "failed", reason: "error" } : { _tag: "unknown" }
  })

  /** Sends, and stays for a moment. To leave changes nothing: the payment goes on without us. */
  const send = Effect.fnUntraced(function* ({ invoice, amount, feeLimit }: Sending) {
    const ended = yield* Deferred.make<void>()
    let seen: typeof Sent.Type | undefined
    const body = {
      payment_request: invoice.paymentRequest,
      // Said only where the invoice leaves it open: otherwise lnd refuses.
      ...(invoice.amount === undefined && { amt_msat: String(amount) }),
      fee_limit_msat: String(feeLimit), // always said: without one lnd takes free routes only
      timeout_seconds: attemptSeconds,
      cancelable: false,
      no_inflight_updates: true // each would be all of the payment again
    }
    const watch = rest.listen("pay", post("/v2/router/send", body), Sent).pipe(
      Stream.runForEach((sent) => {
        seen = sent
        return Deferred.succeed(ended, undefined)
      })
    )
    const patience = Effect.raceFirst(Effect.sleep(settleMillis), Effect.andThen(Deferred.await(ended), Effect.sleep(endMillis)))
    const broken = yield* Effect.raceFirst(
      Effect.matchEffect(watch, { onFailure: Effect.succeed, onSuccess: () => Effect.undefined }),
      Effect.as(patience, undefined)
    )
    if (seen !== undefined) return paymentOf(seen)
    if (broken instanceof NotLookedAt) return notSent
    if (broken?._tag === "Refused") return yield* refused(invoice.paymentHash, broken)
    if (broken !== undefined) return yield* broken
    // It goes on, or has not begun: a record says that it has. That there is none says nothing while the call may still be under way.
    const known = yield* lookup(invoice.paymentHash)
    return known._tag === "notFound" ? ({ _tag: "unknown" } as const) : known
  })

  const graceMillis = options.graceMillis ?? 60_000
  return LightningSender.of({
    graceMillis,
    pay: (payment) =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMillis) =>
        Effect.matchEffect(Effect.andThen(recognised, channelsBack), {
          onFailure: () => Effect.succeed(notSent),
          onSuccess: (isReady) => (isReady ? orUnknown(send(payment)) : Effect.succeed(notSent))
        }).pipe(Effect.provideService(NotAfter, nowMillis + graceMillis))
      ),
    lookupPayment: (paymentHash) => orUnknown(lookup(paymentHash)),
    ends: Stream.unwrap(
      Effect.as(recognised, rest.listen("ends", get("/v2/router/payments", { urlParams: { no_inflight_updates: true } }), Tracked))
    ).pipe(
      Stream.filter(isFinal),
      Stream.map(({ payment_hash }) => payment_hash),
      Stream.catchTag("Refused", (refused) => Stream.fromEffect(unavailable("ends")(refused)))
    ),
    // By what lnd has learned of the network. To try a route with a payment that must fail would cost other nodes money and us seconds.
    quote: ({ invoice, amount, feeLimit }) => {
      const body = {
        amt_msat: String(amount),
        fee_limit: { fixed_msat: String(feeLimit) },
        final_cltv_delta: invoice.minFinalCltvExpiry,
        use_mission_control: true,
        route_hints: hintsOf(invoice)
      }
      return Effect.andThen(recognised, rest.ask("quote", post(`/v1/graph/routes/${invoice.payee}/0`, body), Routes)).pipe(
        Effect.map(({ routes: [route], success_prob }) => ({ fee: route.total_fees_msat, probability: success_prob })),
        Effect.catchTag("Refused", (refused) => (isNoRoute(refused) ? Effect.undefined : unavailable("quote")(refused)))
      )
    }
  })
}

/** lnd takes payments for us. */
export const layerReceiver = (options: ReceiverOptions): Layer.Layer<LightningReceiver> =>
  Layer.sync(LightningReceiver, () => receiver(options))

/** lnd pays for us. */
export const layerSender = (options: Options): Layer.Layer<LightningSender> => Layer.sync(LightningSender, () => sender(options))
