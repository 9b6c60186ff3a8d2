import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Characters from "@satrail/core/base/Characters"
import * as Destination from "@satrail/core/sending/Destination"
import * as Envelope from "@satrail/http/wire/Envelope"
import { Example } from "@satrail/http/wire/Examples"
import * as Scalars from "@satrail/http/wire/Scalars"
import * as Section from "@satrail/http/api/Section"
import { maxFeeRate } from "@satrail/sandbox/Miner"
import * as SimulatedDns from "@satrail/sandbox/SimulatedDns"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import * as Controls from "../sandbox/Controls.ts"
import { error, may, Playing, refused } from "../sandbox/Controls.ts"
import * as Keys from "../sandbox/Keys.ts"
import * as World from "../sandbox/World.ts"
import { controls } from "./features/Feature.ts"
import { features } from "./features/index.ts"

const Hash = PaymentHash.PaymentHash.check(Schema.isPattern(/^[0-9a-f]{64}$/, { message: "32 bytes in hex" }))
const Blocks = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 })).annotate({ examples: [6] })
const Tip = Schema.Struct({ height: Schema.Int })
const Outcome = Schema.Literals(["settle", "fail"])
const within = ([minimum, maximum]: readonly [number, number]) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum })).annotate({ examples: [Math.min(maximum, 600)] })

/** Limits of a TXT record: the length of a domain name (RFC 1035), and of four of the strings that make up a record. */
const maxNameCharacters = 253
const maxValueCharacters = 1020

const amountOf = (sats: number | null | undefined) =>
  sats === null || sats === undefined ? {} : { amount: Msat.fromSats(sats) }

const pay = Section.company(
  HttpApiEndpoint.post("pay", "/sandbox/pay", {
    payload: Schema.Struct({
      payment_request: Schema.NonEmptyString,
      amount_sats: Scalars.given(Scalars.GivenSats)
    }).annotate({
      identifier: "SandboxPay"
    }),
    success: Envelope.success(
      200,
      Schema.Struct({ payment_hash: Schema.String, preimage: Schema.NullOr(Schema.String) })
    ),
    error
  })
    .annotate(OpenApi.Summary, "Pay an invoice from an outside wallet")
    .annotate(
      OpenApi.Description,
      "Pays an invoice of the service from outside. `amount_sats` can be up to twice the invoice's amount."
    )
    .annotate(Example, ({ asked: { paymentRequest, paymentHash, preimage } }) => ({
      body: { payment_request: paymentRequest },
      message: "Invoice paid",
      data: { payment_hash: paymentHash, preimage }
    })),
  Playing,
  ({ sandbox, simulated }) =>
    Effect.fnUntraced(function* ({ payload: { payment_request, amount_sats }, request }) {
      yield* may(simulated.lightning, request)
      const { paymentHash, preimage } = yield* refused(
        sandbox.pay({ paymentRequest: payment_request, ...amountOf(amount_sats) })
      )
      return Envelope.ok("Invoice paid", { payment_hash: paymentHash, preimage })
    })
)

/** For each destination type, the part that simulates it. */
const partOf = {
  lightning_invoice: "lightning",
  lightning_address: "web",
  lnurl: "web",
  chain_address: "chain",
  bolt12_offer: "lightning"
} as const

const destination = Section.company(
  HttpApiEndpoint.post("destination", "/sandbox/destination", {
    payload: Schema.Struct({
      type: Destination.RecipientType,
      amount_sats: Scalars.given(Scalars.GivenSats),
      behaviour: Scalars.given(
        Sandbox.Behaviour.annotate({
          description: "The outcome of payments to the destination. Default: `settle`"
        })
      ),
      expiry_seconds: Scalars.given(
        within(Sandbox.expiryBounds).annotate({ description: "The lifetime of an invoice. Default: 3600" })
      ),
      final_cltv_expiry: Scalars.given(
        within(Sandbox.finalCltvBounds).annotate({
          description: "The number of blocks for which an invoice's payee can hold the payment"
        })
      )
    }).annotate({ identifier: "SandboxDestination" }),
    success: Envelope.success(
      201,
      Schema.Struct({ destination: Schema.String, payment_hash: Schema.optionalKey(Schema.String) })
    ),
    error
  })
    .annotate(OpenApi.Summary, "Create an outside destination")
    .annotate(
      OpenApi.Description,
      "Creates an invoice, Lightning address, LNURL, BOLT 12 offer or bitcoin address of an outside payee. `payment_hash` is set only for an invoice."
    )
    .annotate(Example, ({ paid }) => ({
      body: { type: "lightning_invoice", amount_sats: 3000, behaviour: "hold" },
      message: "Destination created",
      data: { destination: paid.paymentRequest, payment_hash: paid.paymentHash }
    })),
  Playing,
  ({ sandbox, simulated }) =>
    Effect.fnUntraced(function* ({
      payload: { type, amount_sats, behaviour, expiry_seconds, final_cltv_expiry },
      request
    }) {
      yield* may(simulated[partOf[type]], request)
      const made = yield* refused(
        sandbox.destination({
          type,
          ...amountOf(amount_sats),
          behaviour: behaviour ?? undefined,
          expirySeconds: expiry_seconds ?? undefined,
          minFinalCltvExpiry: final_cltv_expiry ?? undefined
        })
      )
      return Envelope.created("Destination created", {
        destination: made.destination,
        ...(made.paymentHash !== undefined && { payment_hash: made.paymentHash })
      })
    })
)

const release = Section.company(
  HttpApiEndpoint.post("release", "/sandbox/release", {
    payload: Schema.Struct({ payment_hash: Hash, outcome: Outcome }).annotate({
      identifier: "SandboxRelease"
    }),
    success: Envelope.success(200, Schema.Struct({ payment_hash: Schema.String, outcome: Outcome })),
    error
  })
    .annotate(OpenApi.Summary, "End a held payment")
    .annotate(OpenApi.Description, "Settles or fails a payment to a destination with the behavior `hold`.")
    .annotate(Example, ({ paid }) => {
      const ended = { payment_hash: paid.paymentHash, outcome: "settle" }
      return { body: ended, message: "Payment released", data: ended }
    }),
  Playing,
  ({ sandbox, simulated }) =>
    Effect.fnUntraced(function* ({ payload: { payment_hash, outcome }, request }) {
      yield* may(simulated.lightning, request)
      yield* refused(sandbox.release({ paymentHash: payment_hash, outcome }))
      return Envelope.ok("Payment released", { payment_hash, outcome })
    })
)

const send = Section.company(
  HttpApiEndpoint.post("send", "/sandbox/send", {
    payload: Schema.Struct({ address: Schema.NonEmptyString, amount_sats: Scalars.GivenSats }).annotate({
      identifier: "SandboxSend"
    }),
    success: Envelope.success(201, Schema.Struct({ chain_tx_id: Schema.String })),
    error
  })
    .annotate(OpenApi.Summary, "Pay a bitcoin address from an outside wallet")
    .annotate(
      OpenApi.Description,
      "Sends bitcoin to the address. The transaction stays in the mempool until a block is mined."
    )
    .annotate(Example, ({ address }) => ({
      body: { address: address.address, amount_sats: 50_000 },
      message: "Transaction sent",
      data: { chain_tx_id: "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b" }
    })),
  Playing,
  ({ sandbox, simulated }) =>
    Effect.fnUntraced(function* ({ payload: { address, amount_sats }, request }) {
      yield* may(simulated.chain, request)
      const txId = yield* refused(sandbox.send({ address, amount: Msat.fromSats(amount_sats) }))
      return Envelope.created("Transaction sent", { chain_tx_id: txId })
    })
)

const mine = Section.company(
  HttpApiEndpoint.post("mine", "/sandbox/mine", {
    payload: Schema.Struct({ blocks: Blocks }).annotate({ identifier: "SandboxMine" }),
    success: Envelope.success(200, Tip),
    error
  })
    .annotate(OpenApi.Summary, "Mine blocks")
    .annotate(OpenApi.Description, "Mines blocks. The first one contains everything in the mempool.")
    .annotate(Example, () => ({ body: { blocks: 6 }, message: "Blocks mined", data: { height: 806 } })),
  Playing,
  ({ sandbox, simulated }) =>
    Effect.fnUntraced(function* ({ payload: { blocks }, request }) {
      yield* may(simulated.chain, request)
      const { height } = yield* refused(sandbox.mine(blocks))
      return Envelope.ok("Blocks mined", { height })
    })
)

const reorg = Section.company(
  HttpApiEndpoint.post("reorg", "/sandbox/reorg", {
    payload: Schema.Struct({ depth: Blocks }).annotate({ identifier: "SandboxReorg" }),
    success: Envelope.success(200, Tip),
    error
  })
    .annotate(OpenApi.Summary, "Replace the latest blocks with empty ones")
    .annotate(
      OpenApi.Description,
      "Replaces the latest blocks. Their transactions return to the mempool and wait for the next block."
    )
    .annotate(Example, () => ({ body: { depth: 1 }, message: "Blocks replaced", data: { height: 807 } })),
  Playing,
  ({ sandbox, simulated }) =>
    Effect.fnUntraced(function* ({ payload: { depth }, request }) {
      yield* may(simulated.chain, request)
      const { height } = yield* refused(sandbox.reorg(depth))
      return Envelope.ok("Blocks replaced", { height })
    })
)

const feeRate = Section.company(
  HttpApiEndpoint.post("setFeeRate", "/sandbox/fee-rate", {
    payload: Schema.Struct({
      sats_per_virtual_byte: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxFeeRate })).annotate(
        { examples: [10] }
      )
    }).annotate({ identifier: "SandboxFeeRate" }),
    success: Envelope.success(200, Schema.Struct({ sats_per_virtual_byte: Schema.Int })),
    error
  })
    .annotate(OpenApi.Summary, "Set the chain's fee rate")
    .annotate(
      OpenApi.Description,
      "Sets the fee rate that estimates report for fast confirmation. The next block still includes all waiting transactions, whatever their fee rate."
    )
    .annotate(Example, () => ({
      body: { sats_per_virtual_byte: 10 },
      message: "Fee rate set",
      data: { sats_per_virtual_byte: 10 }
    })),
  Playing,
  ({ sandbox, simulated }) =>
    Effect.fnUntraced(function* ({ payload, request }) {
      yield* may(simulated.chain, request)
      yield* refused(sandbox.setFeeRate(payload.sats_per_virtual_byte))
      return Envelope.ok("Fee rate set", payload)
    })
)

const txt = Section.company(
  HttpApiEndpoint.post("txt", "/sandbox/txt", {
    payload: Schema.Struct({
      name: Schema.NonEmptyString.check(Characters.atMost(maxNameCharacters)),
      value: Schema.String.check(Characters.atMost(maxValueCharacters))
    }).annotate({ identifier: "SandboxTxt" }),
    success: Envelope.success(200, Schema.Struct({ name: Schema.String })),
    error
  })
    .annotate(OpenApi.Summary, "Set a TXT record")
    .annotate(
      OpenApi.Description,
      `Replaces the name's record in the simulated DNS. An empty value removes it. At most ${SimulatedDns.maxNames} names can have one.`
    )
    .annotate(Example, ({ domain, companyId }) => ({
      body: { name: `_satrail-verify.${domain}`, value: `satrail-verify=${companyId}` },
      message: "Record set",
      data: { name: `_satrail-verify.${domain}` }
    })),
  Playing,
  ({ names, simulated }) =>
    Effect.fnUntraced(function* ({ payload: { name, value }, request }) {
      yield* may(simulated.web, request)
      yield* refused(names.set(name, value === "" ? [] : [value]))
      return Envelope.ok("Record set", { name })
    })
)

/** The simulated outside world. Any key can use it, whatever its scopes, but only the operator can reset it. */
export const section = Section.make(
  "sandbox",
  { title: "Sandbox", description: "The simulated outside world. Not available on a real network" },
  [pay, destination, release, send, mine, reorg, feeRate, txt, ...World.operations, ...controls(features)]
)

/** Handles these routes for the simulated parts, and returns 404 for real parts. */
export const layer = (given: Controls.Given) =>
  Layer.provide(section.layer, [Controls.layer(given), Keys.layer(given.database)])
