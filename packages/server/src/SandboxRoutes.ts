import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Destination from "@satrail/core/sending/Destination"
import { Authentication } from "@satrail/http/Authentication"
import { base } from "@satrail/http/Base"
import { Decoding } from "@satrail/http/Decoding"
import * as Envelope from "@satrail/http/Envelope"
import * as Errors from "@satrail/http/Errors"
import type * as Examples from "@satrail/http/Examples"
import * as Field from "@satrail/http/Field"
import * as Handlers from "@satrail/http/Handlers"
import * as Idempotency from "@satrail/http/Idempotency"
import * as PretendNames from "@satrail/sandbox/PretendNames"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Effect, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import type { Pretended } from "./Pretended.ts"

const Hash = PaymentHash.PaymentHash.check(Schema.isPattern(/^[0-9a-f]{64}$/, { message: "32 bytes in hex" }))
const Blocks = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 })).annotate({ examples: [6] })
const Tip = Schema.Struct({ height: Schema.Int })

/** Of a TXT record: a name of the domain name system (RFC 1035), and four of the strings of which a record is made. */
const maxNameCharacters = 253
const maxValueCharacters = 1020

const error = Errors.of("malformed", "idempotency_not_supported", "not_found", "sandbox_refused")

const pay = HttpApiEndpoint.post("pay", "/sandbox/pay", {
  payload: Schema.Struct({ payment_request: Schema.NonEmptyString, amount_sats: Field.given(Field.Sats) }).annotate({
    identifier: "SandboxPay"
  }),
  success: Envelope.success(200, Schema.Struct({ payment_hash: Schema.String, preimage: Schema.NullOr(Schema.String) })),
  error
})
  .annotate(OpenApi.Summary, "Pay an invoice, as somebody outside")
  .annotate(OpenApi.Description, "What a customer's customer would do. `amount_sats` may be more than the invoice asks for, up to twice.")

const destination = HttpApiEndpoint.post("destination", "/sandbox/destination", {
  payload: Schema.Struct({
    type: Destination.RecipientType,
    amount_sats: Field.given(Field.Sats),
    behaviour: Field.given(Sandbox.Behaviour.annotate({ description: "What the recipient does with payments: `settle` unless given" }))
  }).annotate({ identifier: "SandboxDestination" }),
  success: Envelope.success(201, Schema.Struct({ destination: Schema.String, payment_hash: Schema.optionalKey(Schema.String) })),
  error
})
  .annotate(OpenApi.Summary, "Make up somebody to pay")
  .annotate(
    OpenApi.Description,
    "An invoice, a Lightning address, an LNURL or a bitcoin address of somebody outside. `payment_hash` is there for an invoice."
  )

const release = HttpApiEndpoint.post("release", "/sandbox/release", {
  payload: Schema.Struct({ payment_hash: Hash, outcome: Schema.Literals(["settle", "fail"]) }).annotate({
    identifier: "SandboxRelease"
  }),
  success: Envelope.success(200, Schema.Struct({ payment_hash: Schema.String, outcome: Schema.Literals(["settle", "fail"]) })),
  error
})
  .annotate(OpenApi.Summary, "End a payment that is held")
  .annotate(OpenApi.Description, "A payment to a destination with the behaviour `hold` waits for this.")

const send = HttpApiEndpoint.post("send", "/sandbox/send", {
  payload: Schema.Struct({ address: Schema.NonEmptyString, amount_sats: Field.Sats }).annotate({ identifier: "SandboxSend" }),
  success: Envelope.success(201, Schema.Struct({ chain_tx_id: Schema.String })),
  error
})
  .annotate(OpenApi.Summary, "Pay a bitcoin address, as somebody outside")
  .annotate(OpenApi.Description, "The transaction waits in the mempool until blocks are mined.")

const mine = HttpApiEndpoint.post("mine", "/sandbox/mine", {
  payload: Schema.Struct({ blocks: Blocks }).annotate({ identifier: "SandboxMine" }),
  success: Envelope.success(200, Tip),
  error
})
  .annotate(OpenApi.Summary, "Mine blocks")
  .annotate(OpenApi.Description, "The first has everything in it that waits in the mempool.")

const reorg = HttpApiEndpoint.post("reorg", "/sandbox/reorg", {
  payload: Schema.Struct({ depth: Blocks }).annotate({ identifier: "SandboxReorg" }),
  success: Envelope.success(200, Tip),
  error
})
  .annotate(OpenApi.Summary, "Replace the last blocks by empty ones")
  .annotate(OpenApi.Description, "What was in them waits in the mempool for the next block.")

const txt = HttpApiEndpoint.post("txt", "/sandbox/txt", {
  payload: Schema.Struct({
    name: Schema.NonEmptyString.check(Schema.isMaxLength(maxNameCharacters)),
    value: Schema.String.check(Schema.isMaxLength(maxValueCharacters))
  }).annotate({ identifier: "SandboxTxt" }),
  success: Envelope.success(200, Schema.Struct({ name: Schema.String })),
  error
})
  .annotate(OpenApi.Summary, "Set a TXT record")
  .annotate(
    OpenApi.Description,
    `In the pretend domain name system, instead of whatever was there. An empty value takes it away. ${PretendNames.maxNames} names may have one.`
  )

/** The other side of the wire, for whoever tries the service. Open to any key, whatever its scopes. */
export class Group extends HttpApiGroup.make("sandbox")
  .add(pay, destination, release, send, mine, reorg, txt)
  .middleware(Decoding)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Sandbox")
  .annotate(OpenApi.Description, "Everybody outside, in a pretend network. Not there on a real one") {}

/** What is sent and answered, told of the world that all examples are of. */
export const examples = ({ invoice, preimage, onChainAddress, paid, domain, company }: Examples.World): Examples.Table => {
  const { paymentHash: payment_hash } = paid
  return {
    "POST /sandbox/pay": {
      body: { payment_request: invoice.open.paymentRequest },
      message: "Invoice paid",
      data: { payment_hash: invoice.open.paymentHash, preimage }
    },
    "POST /sandbox/destination": {
      body: { type: "lightning_invoice", amount_sats: 3000, behaviour: "hold" },
      message: "Destination made up",
      data: { destination: paid.paymentRequest, payment_hash }
    },
    "POST /sandbox/release": {
      body: { payment_hash, outcome: "settle" },
      message: "Payment released",
      data: { payment_hash, outcome: "settle" }
    },
    "POST /sandbox/send": {
      body: { address: onChainAddress.address, amount_sats: 50_000 },
      message: "Transaction sent",
      data: { chain_tx_id: "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b" }
    },
    "POST /sandbox/mine": { body: { blocks: 6 }, message: "Blocks mined", data: { height: 806 } },
    "POST /sandbox/reorg": { body: { depth: 1 }, message: "Blocks replaced", data: { height: 807 } },
    "POST /sandbox/txt": {
      body: { name: `_satrail-verify.${domain}`, value: `satrail-verify=${company.id}` },
      message: "Record set",
      data: { name: `_satrail-verify.${domain}` }
    }
  }
}

const refused = <A>(effect: Effect.Effect<A, Sandbox.SandboxRefused>) =>
  Effect.mapError(effect, ({ message }) => Errors.failure("sandbox_refused", message))

/** Pretend events happen each time they are asked for. */
const noKey = (request: HttpServerRequest.HttpServerRequest) => Idempotency.refused(request, "The sandbox keeps no answers")

const amountOf = (sats: number | null | undefined) => (sats === null || sats === undefined ? {} : { amount: Msat.fromSats(sats) })

/** What is not pretended here is not played with. */
const only = (isPretended: boolean) =>
  isPretended ? Effect.void : Effect.fail(Errors.failure("not_found", "That part of the network is real here: it is not the sandbox's"))

/** Which part makes up a recipient of this kind. */
const partOf = { lightning_invoice: "lightning", lightning_address: "web", lnurl: "web", chain_address: "chain" } as const

export interface Controls {
  readonly sandbox: Sandbox.Sandbox["Service"]
  readonly names: PretendNames.PretendNames["Service"]
}

/** Plays with what is pretended, and answers 404 about the rest. */
export const layer = ({ sandbox, names }: Controls, pretended: Pretended) =>
  Handlers.layer(base.add(Group), "sandbox", (handlers) =>
    handlers.handleAll({
      pay: Effect.fnUntraced(function* ({ payload: { payment_request, amount_sats }, request }) {
        yield* only(pretended.lightning)
        yield* noKey(request)
        const { paymentHash, preimage } = yield* refused(sandbox.pay({ paymentRequest: payment_request, ...amountOf(amount_sats) }))
        return Envelope.ok("Invoice paid", { payment_hash: paymentHash, preimage })
      }),
      destination: Effect.fnUntraced(function* ({ payload: { type, amount_sats, behaviour }, request }) {
        yield* only(pretended[partOf[type]])
        yield* noKey(request)
        const made = yield* refused(sandbox.destination({ type, ...amountOf(amount_sats), behaviour: behaviour ?? undefined }))
        return Envelope.created("Destination made up", {
          destination: made.destination,
          ...(made.paymentHash !== undefined && { payment_hash: made.paymentHash })
        })
      }),
      release: Effect.fnUntraced(function* ({ payload: { payment_hash, outcome }, request }) {
        yield* only(pretended.lightning)
        yield* noKey(request)
        yield* refused(sandbox.release({ paymentHash: payment_hash, outcome }))
        return Envelope.ok("Payment released", { payment_hash, outcome })
      }),
      send: Effect.fnUntraced(function* ({ payload: { address, amount_sats }, request }) {
        yield* only(pretended.chain)
        yield* noKey(request)
        return Envelope.created("Transaction sent", {
          chain_tx_id: yield* refused(sandbox.send({ address, amount: Msat.fromSats(amount_sats) }))
        })
      }),
      txt: Effect.fnUntraced(function* ({ payload: { name, value }, request }) {
        yield* only(pretended.web)
        yield* noKey(request)
        yield* refused(names.set(name, value === "" ? [] : [value]))
        return Envelope.ok("Record set", { name })
      }),
      mine: Effect.fnUntraced(function* ({ payload: { blocks }, request }) {
        yield* only(pretended.chain)
        yield* noKey(request)
        const { height } = yield* refused(sandbox.mine(blocks))
        return Envelope.ok("Blocks mined", { height })
      }),
      reorg: Effect.fnUntraced(function* ({ payload: { depth }, request }) {
        yield* only(pretended.chain)
        yield* noKey(request)
        const { height } = yield* refused(sandbox.reorg(depth))
        return Envelope.ok("Blocks replaced", { height })
      })
    })
  )
