import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type { Behaviour } from "@satrail/contracts/nodes/LightningSender"
import { toBase64Url } from "@satrail/nodes/LndBytes"
import * as LndRest from "@satrail/nodes/LndRest"
import { Clock, Effect, Result, Schema, Stream } from "effect"
import { createHash, randomBytes } from "node:crypto"
import * as Lnd from "./Lnd.ts"
import * as Process from "./Process.ts"

// Actions of a node's owner: paying and issuing invoices.

const { get, post } = LndRest

const Request = Schema.Struct({ payment_request: Schema.String })
const State = Schema.Struct({
  state: Schema.String,
  amt_paid_msat: Msat.FromString
})
const Sent = Schema.Struct({ status: Schema.String, failure_reason: Schema.String })
const Balance = Schema.Struct({
  local_balance: Schema.Struct({ msat: Schema.BigIntFromString }),
  unsettled_local_balance: Schema.Struct({ msat: Schema.BigIntFromString }),
  unsettled_remote_balance: Schema.Struct({ msat: Schema.BigIntFromString })
})

const base64 = (hex: string) => Buffer.from(hex, "hex").toString("base64")

/**
 * Features that a paying wallet must support (BOLT 9): variable-length onions, payment secrets and multi-part
 * payments.
 */
const features = [9, 15, 17]

const feeLimitMsat = String(Msat.fromSats(10_000))

const said = (error: { readonly words: string } | { readonly cause: unknown }) =>
  new Process.RegtestFailed({ message: "words" in error ? error.words : String(error.cause) })

const isAbsent = (error: { readonly _tag: string }): error is LndRest.Refused =>
  error instanceof LndRest.Refused && LndRest.isAbsent(error)

/** Pays an invoice and waits until it is settled. `amount` overrides the invoice's own amount. */
export const pay = (
  node: Lnd.Lnd,
  paymentRequest: string,
  amount?: Msat.Msat
): Effect.Effect<void, Process.RegtestFailed> =>
  Effect.gen(function* () {
    const invoice = Result.getOrThrow(Bolt11.decode(paymentRequest))
    const what =
      amount === undefined
        ? { payment_request: paymentRequest }
        : {
            // lnd pays an invoice only with the invoice's own amount, so pass the fields of the invoice instead
            // of the invoice.
            dest: base64(invoice.payee),
            payment_hash: base64(invoice.paymentHash),
            payment_addr: base64(invoice.paymentSecret),
            final_cltv_delta: invoice.minFinalCltvExpiry,
            dest_features: features,
            amt_msat: String(amount)
          }
    const request = post("/v2/router/send", {
      ...what,
      fee_limit_msat: feeLimitMsat,
      timeout_seconds: 30,
      no_inflight_updates: true
    })
    const track = get(`/v2/router/track/${toBase64Url(invoice.paymentHash)}`)
    const last = yield* Stream.runLast(node.rest.listen("pay", request, Sent)).pipe(
      // A busy lnd can say that it has no such payment although it has begun the payment.
      Effect.catchIf(isAbsent, () => Stream.runLast(node.rest.listen("track", track, Sent))),
      Effect.mapError(
        (error) => new Process.RegtestFailed({ message: `${node.name} pays: ${said(error).message}` })
      )
    )
    if (last._tag === "None" || last.value.status !== "SUCCEEDED") {
      return yield* new Process.RegtestFailed({
        message: last._tag === "None" ? "no answer" : last.value.failure_reason
      })
    }
  })

/** The preimages of hold invoices, by payment hash. */
const preimages = new Map<PaymentHash.PaymentHash, string>()

/** Issues an invoice. With `fail`, the invoice is canceled before anyone can pay it. */
export const invoice = (
  node: Lnd.Lnd,
  {
    amount,
    behaviour,
    expirySeconds = 3600
  }: {
    readonly amount?: Msat.Msat | undefined
    readonly behaviour: Behaviour
    readonly expirySeconds?: number
  }
): Effect.Effect<string, Process.RegtestFailed> =>
  Effect.gen(function* () {
    const ask = { value_msat: String(amount ?? 0), expiry: String(expirySeconds) }
    if (behaviour === "settle")
      return (yield* Lnd.ask(node, post("/v1/invoices", ask), Request)).payment_request
    const preimage = randomBytes(32)
    const hash = PaymentHash.make(createHash("sha256").update(preimage).digest("hex"))
    preimages.set(hash, preimage.toString("base64"))
    const { payment_request } = yield* Lnd.ask(
      node,
      post("/v2/invoices/hodl", { ...ask, hash: base64(hash) }),
      Request
    )
    if (behaviour === "fail")
      yield* Lnd.ask(node, post("/v2/invoices/cancel", { payment_hash: base64(hash) }), Schema.Struct({}))
    return payment_request
  })

const state = (node: Lnd.Lnd, paymentHash: PaymentHash.PaymentHash) =>
  Lnd.ask(node, get(`/v1/invoice/${paymentHash}`), State)

/** Signs invoices as a node that has no channels. */
const hermit = Bolt11.signWith(new Uint8Array(32).fill(7))
const hermitHashes = new Set<PaymentHash.PaymentHash>()

/** Returns a valid invoice of a node to which no route exists. */
export const unreachable = (
  amount: Msat.Msat,
  paymentHash = PaymentHash.make(randomBytes(32).toString("hex"))
): Effect.Effect<string> =>
  Effect.map(Clock.currentTimeMillis, (nowMillis) => {
    hermitHashes.add(paymentHash)
    const [timestampSeconds, paymentSecret] = [Math.floor(nowMillis / 1000), randomBytes(32).toString("hex")]
    const invoice = {
      paymentHash,
      paymentSecret,
      timestampSeconds,
      amount,
      description: "",
      expirySeconds: 3600,
      minFinalCltvExpiry: 80
    }
    return Result.getOrThrow(Bolt11.encode({ network: "regtest", ...invoice }, hermit))
  })

/** Returns the amount received for an invoice. */
export const received = (
  node: Lnd.Lnd,
  paymentHash: PaymentHash.PaymentHash
): Effect.Effect<Msat.Msat, Process.RegtestFailed> =>
  hermitHashes.has(paymentHash)
    ? Effect.succeed(Msat.zero)
    : Effect.map(state(node, paymentHash), (invoice) =>
        invoice.state === "SETTLED" ? invoice.amt_paid_msat : Msat.zero
      )

/** Returns what a node says of a payment that it sends, such as `IN_FLIGHT`; undefined if it has no record of it. */
export const sent = (
  node: Lnd.Lnd,
  paymentHash: PaymentHash.PaymentHash
): Effect.Effect<string | undefined, Process.RegtestFailed> =>
  // The first message is the current state.
  Stream.runHead(node.rest.listen("track", get(`/v2/router/track/${toBase64Url(paymentHash)}`), Sent)).pipe(
    Effect.map((first) => (first._tag === "Some" ? first.value.status : undefined)),
    Effect.catchIf(isAbsent, () => Effect.undefined),
    Effect.mapError(said)
  )

/** Waits until a payment for a hold invoice is held. */
export const arrived = (
  node: Lnd.Lnd,
  paymentHash: PaymentHash.PaymentHash
): Effect.Effect<void, Process.RegtestFailed> =>
  Effect.asVoid(
    Process.until(
      `a payment arrives at ${node.name}`,
      Effect.map(state(node, paymentHash), (invoice) => (invoice.state === "ACCEPTED" ? true : undefined))
    )
  )

/** Waits until a payment is held, and then settles or fails it. */
export const release = (
  node: Lnd.Lnd,
  paymentHash: PaymentHash.PaymentHash,
  outcome: "settle" | "fail"
): Effect.Effect<void, Process.RegtestFailed> =>
  Effect.andThen(
    arrived(node, paymentHash),
    outcome === "settle"
      ? Lnd.ask(
          node,
          post("/v2/invoices/settle", { preimage: preimages.get(paymentHash) ?? "" }),
          Schema.Struct({})
        )
      : Lnd.ask(node, post("/v2/invoices/cancel", { payment_hash: base64(paymentHash) }), Schema.Struct({}))
  )

/** Returns a node's funds in its channels, including outgoing payments in flight. */
export const balance = (node: Lnd.Lnd): Effect.Effect<bigint, Process.RegtestFailed> =>
  Effect.map(
    Lnd.ask(node, get("/v1/balance/channels"), Balance),
    ({ local_balance, unsettled_local_balance }) => local_balance.msat + unsettled_local_balance.msat
  )

/**
 * Returns a node's funds in its channels once nothing is in flight. (A payer gets the preimage before its own
 * channel is updated.)
 */
export const restingBalance = (node: Lnd.Lnd): Effect.Effect<bigint, Process.RegtestFailed> =>
  Process.until(
    `nothing is in flight to or from ${node.name}`,
    Effect.map(Lnd.ask(node, get("/v1/balance/channels"), Balance), (has) =>
      has.unsettled_local_balance.msat + has.unsettled_remote_balance.msat === 0n
        ? has.local_balance.msat
        : undefined
    )
  )

/** Changes a node's forwarding fee, and waits until the other nodes have learned of it. */
export const charges = (
  node: Lnd.Lnd,
  base: Msat.Msat,
  heardBy: ReadonlyArray<Lnd.Lnd>
): Effect.Effect<void, Process.RegtestFailed> =>
  Effect.gen(function* () {
    const policy = { global: true, base_fee_msat: String(base), fee_rate_ppm: 100, time_lock_delta: 80 }
    yield* Lnd.ask(node, post("/v1/chanpolicy", policy), Schema.Unknown)
    const Policy = Schema.NullOr(Schema.Struct({ fee_base_msat: Schema.BigIntFromString }))
    const Edge = Schema.Struct({ node1_pub: Schema.String, node1_policy: Policy, node2_policy: Policy })
    const Graph = Schema.Struct({ edges: Schema.Array(Edge) })
    for (const other of heardBy) {
      yield* Process.until(
        `${other.name} learns the fee of ${node.name}`,
        Effect.map(Lnd.ask(other, get("/v1/graph"), Graph), ({ edges }) => {
          const policies = edges.map((edge) =>
            edge.node1_pub === node.nodeId ? edge.node1_policy : edge.node2_policy
          )
          // The node is the middle one of three in a row, so every channel in the graph is one of its channels.
          return policies.every((policy) => policy?.fee_base_msat === base) ? true : undefined
        })
      )
    }
  })
