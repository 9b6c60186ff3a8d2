import * as Msat from "@satrail/bitcoin/Msat"
import type { Unauthorized } from "@satrail/core/accounts/ApiKey"
import type { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import type { Companies } from "@satrail/core/accounts/Companies"
import type { DomainTaken } from "@satrail/core/accounts/Domain"
import type { DomainNotShown, Domains } from "@satrail/core/accounts/Domains"
import type { AmountInvalid } from "@satrail/core/base/Amount"
import type { Invalid } from "@satrail/core/base/Invalid"
import type { NamesUnavailable } from "@satrail/core/base/Names"
import type { InsufficientBalance } from "@satrail/core/ledger/Balance"
import type { Conflict, IdempotencyMismatch, NotFound, StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import type { RateUnavailable } from "@satrail/core/nodes/ExchangeRates"
import type { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import type { Prices } from "@satrail/core/nodes/Prices"
import type { RecipientRefused, RecipientUnreachable } from "@satrail/core/nodes/Resolver"
import type { PlanRequired } from "@satrail/core/policy/Plan"
import type { Invoices } from "@satrail/core/receiving/Invoices"
import type { HandleTaken } from "@satrail/core/receiving/LightningAddress"
import type { DomainNotVerified, LightningAddresses } from "@satrail/core/receiving/LightningAddresses"
import type { OnChainAddresses } from "@satrail/core/receiving/OnChainAddresses"
import type { Transactions } from "@satrail/core/reports/Transactions"
import type { DestinationInvalid } from "@satrail/core/sending/Destination"
import type { DestinationRefused } from "@satrail/core/sending/Recipient"
import type { VoucherNotOpen } from "@satrail/core/sending/Voucher"
import type { Vouchers } from "@satrail/core/sending/Vouchers"
import type { Withdrawals } from "@satrail/core/sending/Withdrawals"
import { Effect, Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { Issue } from "./Envelope.ts"

/** Every `error.code` there is, with the status it travels with. `meaning` and `remedy` are the words of the reference page. */
export const catalogue = {
  malformed: {
    status: 400,
    meaning: "The request does not have the endpoint's format. `error.issues` names every invalid member.",
    remedy: "Correct the named members. The same request again gets the same response."
  },
  idempotency_not_supported: {
    status: 400,
    meaning:
      "This endpoint's response is not stored, so it cannot be repeated: that of a new API key has a secret that is shown once. So has that of a voucher, in an embedding program without a secret to seal stored responses with.",
    remedy: "Leave the `Idempotency-Key` header out. An API key made twice by accident can be revoked, and a voucher canceled."
  },
  unauthorized: {
    status: 401,
    meaning: "The key is missing, unknown, expired or revoked.",
    remedy: "Send `Authorization: Bearer <API_KEY>` with a valid key."
  },
  scope_required: {
    status: 403,
    meaning: "The key is valid, but lacks the scope that the message names.",
    remedy: "Use a key with that scope, or with `admin`."
  },
  plan_required: {
    status: 403,
    meaning: "The company's plan does not include this.",
    remedy: "Leave `handle` and `domain` out for a random handle, or move to a paid plan."
  },
  not_found: {
    status: 404,
    meaning: "There is no such route or record, or the record belongs to another company: the response is the same.",
    remedy: "Check the path and the id."
  },
  method_not_allowed: {
    status: 405,
    meaning: "The route does not have this method. The `Allow` header lists its methods.",
    remedy: "Use one of the methods in `Allow`."
  },
  request_timeout: {
    status: 408,
    meaning: "The request did not arrive completely in time. It had no effect.",
    remedy: "Send the request again, without pauses."
  },
  conflict: {
    status: 409,
    meaning: "Something else was recorded under the same id. Nothing was changed.",
    remedy: "Send the request again."
  },
  answer_not_readable: {
    status: 409,
    meaning:
      "A request with this `Idempotency-Key` took effect before. Its stored response contains a secret, and was sealed with a key that has changed since, or stored by a version that did not seal.",
    remedy: "Find the created record in the list. A voucher whose link is lost can be canceled; then create another one with a new key."
  },
  handle_taken: { status: 409, meaning: "This Lightning address is taken, or was before.", remedy: "Choose another handle." },
  domain_taken: { status: 409, meaning: "The domain belongs to another company, or to the service.", remedy: "Use another domain." },
  voucher_not_open: {
    status: 409,
    meaning: "The voucher was claimed: it is a withdrawal now, and cannot be canceled.",
    remedy: "See its withdrawal, `withdrawal_id`."
  },
  body_too_large: {
    status: 413,
    meaning: "The body is larger than the limit.",
    remedy: "Send a smaller body: 65 536 bytes by default."
  },
  unsupported_media_type: {
    status: 415,
    meaning: "The body is declared as something other than JSON in UTF-8, or as compressed.",
    remedy: "Send `Content-Type: application/json`, and no `Content-Encoding`."
  },
  expectation_failed: {
    status: 417,
    meaning: "The `Expect` header is something other than `100-continue`.",
    remedy: "Leave the `Expect` header out."
  },
  insufficient_balance: {
    status: 422,
    meaning: "The balance does not cover amount and fee. Nothing was held.",
    remedy: "Send less, or wait for a deposit or for a pending withdrawal to end."
  },
  idempotency_mismatch: {
    status: 422,
    meaning: "The `Idempotency-Key` was used before for another request.",
    remedy: "Use a new key for a new request, and the old key for the very same one only."
  },
  domain_not_verified: {
    status: 422,
    meaning: "The domain is not verified as this company's.",
    remedy: "Verify the domain with `POST /v1/domains`, or check in `GET /v1/domains` whether it was lost."
  },
  domain_not_shown: {
    status: 422,
    meaning: "The domain's DNS does not have this company's TXT record.",
    remedy: "Set the TXT record that the message names, and repeat the request: DNS changes may take a while."
  },
  wrong_network: {
    status: 422,
    meaning: "The destination is of another bitcoin network than the service's.",
    remedy: "Get a destination on this network from the payee."
  },
  unsupported: {
    status: 422,
    meaning: "The destination is valid, but of a kind that is not supported.",
    remedy: "Get a destination of the kind that the message names from the payee."
  },
  amount_mismatch: {
    status: 422,
    meaning: "The destination has another amount than the request.",
    remedy: "Leave `amount` out, or give the destination's own."
  },
  amount_required: {
    status: 422,
    meaning: "Neither the request nor the destination has an amount.",
    remedy: "Give `amount` and `currency`."
  },
  amount_out_of_range: {
    status: 422,
    meaning: "The amount is outside the payee's limits.",
    remedy: "Stay within the range in the message."
  },
  dust: {
    status: 422,
    meaning: "The bitcoin network does not relay an output this small.",
    remedy: "Send at least what the message names, or pay over Lightning."
  },
  invoice_expired: { status: 422, meaning: "The invoice has expired, or is about to.", remedy: "Get a new invoice from the payee." },
  invoice_not_payable: {
    status: 422,
    meaning: "The invoice was paid already, or is being paid.",
    remedy: "Get a new invoice from the payee, if another payment is meant."
  },
  payment_hash_used: {
    status: 422,
    meaning: "Another withdrawal of the company was made for this invoice. An invoice belongs to one withdrawal.",
    remedy: "See that withdrawal, or get a new invoice from the payee."
  },
  recipient_not_found: {
    status: 422,
    meaning: "The destination points to this service, but does not exist here.",
    remedy: "Check the destination with the payee."
  },
  final_cltv_too_long: {
    status: 422,
    meaning: "The invoice lets its payee hold the payment for longer than the service allows.",
    remedy: "Get an invoice with a shorter final expiry (min_final_cltv_expiry) from the payee."
  },
  recipient_refused: {
    status: 422,
    meaning: "The payee's server refused the payment, or its response is invalid.",
    remedy: "Check the destination with the payee. The message has the reason."
  },
  sandbox_refused: {
    status: 422,
    meaning: "The simulated network cannot do this. Only the sandbox has this error.",
    remedy: "The message has the reason."
  },
  headers_too_large: {
    status: 431,
    meaning: "The headers are larger than the limit.",
    remedy: "Send fewer and shorter headers."
  },
  internal: {
    status: 500,
    meaning: "An error of the service. The message has a reference for the operator.",
    remedy: "Send a creation again with the same `Idempotency-Key` only: it may have taken effect."
  },
  store_unavailable: {
    status: 503,
    meaning: "The database could not be reached. The request may or may not have taken effect.",
    remedy: "Wait for `Retry-After` seconds and send the same request with the same `Idempotency-Key`."
  },
  overloaded: {
    status: 503,
    meaning: "There are more requests than the database keeps up with. Nothing was recorded.",
    remedy: "Wait for `Retry-After` seconds and send the same request again, less often."
  },
  node_unavailable: {
    status: 503,
    meaning: "The Lightning node could not be reached.",
    remedy: "Wait for `Retry-After` seconds and send the request again."
  },
  chain_unavailable: {
    status: 503,
    meaning: "The bitcoin chain could not be read.",
    remedy: "Wait for `Retry-After` seconds and send the request again."
  },
  names_unavailable: {
    status: 503,
    meaning: "The domain's name servers did not respond.",
    remedy: "Wait for `Retry-After` seconds and send the request again, or check the name servers."
  },
  rate_unavailable: {
    status: 503,
    meaning: "There is no current exchange rate.",
    remedy: "Wait for `Retry-After` seconds and send the request again, or give the amount in sats or btc."
  },
  recipient_unreachable: {
    status: 503,
    meaning: "The payee's server could not be reached.",
    remedy: "Wait for `Retry-After` seconds and send the request again, or check the destination."
  },
  timeout: {
    status: 503,
    meaning: "The request was not completed in time. It may or may not have taken effect.",
    remedy: "Wait for `Retry-After` seconds and send the same request with the same `Idempotency-Key`."
  },
  stopping: {
    status: 503,
    meaning: "The process is being stopped. The request may or may not have taken effect.",
    remedy: "Wait for `Retry-After` seconds and send the same request with the same `Idempotency-Key`."
  },
  not_ready: {
    status: 503,
    meaning: "The process is up but not ready. `error.issues` names the failed checks.",
    remedy: "Send requests to another process, or wait."
  }
} as const satisfies Record<string, { readonly status: number; readonly meaning: string; readonly remedy: string }>

type Catalogue = typeof catalogue
export type Code = keyof Catalogue

/** After how many seconds a 503 is worth another try: what its `Retry-After` header says. */
export const retryAfterSeconds = 1

/** The body of a bad answer. `code` is stable; `message` is for people. */
export type Failure<C extends Code = Code> = C extends Code
  ? {
      readonly status: Catalogue[C]["status"]
      readonly message: string
      readonly data: null
      readonly error: { readonly code: C; readonly issues?: ReadonlyArray<Issue> }
    }
  : never

export const failure = <C extends Code>(code: C, message: string, issues?: ReadonlyArray<Issue>): Failure<C> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the compiler does not see that the status of a code is that code's status
  ({ status: catalogue[code].status, message, data: null, error: issues === undefined ? { code } : { code, issues } }) as Failure<C>

const malformed = (issues: ReadonlyArray<Issue>) =>
  failure("malformed", issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; "), issues)

const reasons = {
  missing: "An API key is needed: Authorization: Bearer <API_KEY>",
  unknown: "The API key is unknown",
  expired: "The API key has expired",
  revoked: "The API key was revoked"
} as const

/** How each refusal and each outage travels: the only place where an error of the core meets a status. */
const table = {
  Invalid: ({ path, message }: Invalid) => malformed([{ path, message }]),
  AmountInvalid: ({ reason, message }: AmountInvalid) =>
    reason === "price_not_positive"
      ? failure("rate_unavailable", message)
      : malformed([{ path: reason === "unknown_currency" ? "currency" : "amount", message }]),
  DestinationInvalid: ({ code, message }: DestinationInvalid) =>
    code === "wrong_network" || code === "unsupported" || code === "amount_mismatch"
      ? failure(code, message)
      : malformed([{ path: "destination", message }]),
  DestinationRefused: ({ code, message }: DestinationRefused) => failure(code, message),
  RecipientRefused: ({ reason }: RecipientRefused) => failure("recipient_refused", `The recipient does not take the payment: ${reason}`),
  RecipientUnreachable: ({ reason }: RecipientUnreachable) =>
    failure("recipient_unreachable", `The recipient's server could not be reached: ${reason}`),
  Unauthorized: ({ reason }: Unauthorized) => failure("unauthorized", reasons[reason]),
  PlanRequired: ({ plan, feature }: PlanRequired) => failure("plan_required", `The ${plan} plan is needed for ${feature}`),
  NotFound: ({ what }: NotFound) => failure("not_found", `There is no ${what} with this id`),
  Conflict: (_: Conflict) => failure("conflict", "Something else was recorded under the same id: send the request again"),
  HandleTaken: ({ handle, domain }: HandleTaken) => failure("handle_taken", `${handle}@${domain} is taken: choose another handle`),
  DomainTaken: ({ domain }: DomainTaken) => failure("domain_taken", `${domain} belongs to another company, or to the service`),
  DomainNotVerified: ({ domain }: DomainNotVerified) =>
    failure("domain_not_verified", `${domain} is not verified as this company's domain`),
  DomainNotShown: ({ name, value }: DomainNotShown) =>
    failure("domain_not_shown", `Set a TXT record at ${name} with the value ${value}, and repeat the request`),
  IdempotencyMismatch: (_: IdempotencyMismatch) =>
    failure("idempotency_mismatch", "This Idempotency-Key was used for another request: use a new one, or send the same request"),
  InsufficientBalance: ({ needed }: InsufficientBalance) =>
    failure("insufficient_balance", `The balance does not cover the ${Msat.toSatsCeiling(needed)} sats that amount and fee come to`),
  VoucherNotOpen: ({ status }: VoucherNotOpen) => failure("voucher_not_open", `The voucher is ${status} and cannot be canceled`),
  StoreUnavailable: ({ why }: StoreUnavailable) =>
    why === "overloaded"
      ? failure("overloaded", "Too many requests are waiting for the database: try again in a moment")
      : failure("store_unavailable", "The database cannot be reached: try again in a moment"),
  NodeUnavailable: (_: NodeUnavailable) => failure("node_unavailable", "The Lightning node cannot be reached: try again in a moment"),
  ChainUnavailable: (_: ChainUnavailable) => failure("chain_unavailable", "The bitcoin chain cannot be read: try again in a moment"),
  NamesUnavailable: ({ name }: NamesUnavailable) =>
    failure("names_unavailable", `The name servers gave no answer about ${name}: try again in a moment`),
  RateUnavailable: ({ currency }: RateUnavailable) =>
    failure("rate_unavailable", `There is no current exchange rate for ${currency}: try again in a moment`)
} satisfies { readonly [Tag in ServiceError["_tag"]]: (error: Extract<ServiceError, { readonly _tag: Tag }>) => Failure }

type ErrorOf<Member> = Member extends (...args: never) => Effect.Effect<unknown, infer E, unknown>
  ? E
  : Member extends Effect.Effect<unknown, infer E, unknown>
    ? E
    : never
type ErrorsOf<Service> = { readonly [Method in keyof Service]: ErrorOf<Service[Method]> }[keyof Service]

/** Whatever the core's services can fail with. One that is missing in the table does not compile. */
export type ServiceError =
  | ErrorsOf<ApiKeys["Service"]>
  | ErrorsOf<Companies["Service"]>
  | ErrorsOf<Domains["Service"]>
  | ErrorsOf<Invoices["Service"]>
  | ErrorsOf<LightningAddresses["Service"]>
  | ErrorsOf<OnChainAddresses["Service"]>
  | ErrorsOf<Prices["Service"]>
  | ErrorsOf<Transactions["Service"]>
  | ErrorsOf<Omit<Vouchers["Service"], "offer" | "claim">>
  | ErrorsOf<Withdrawals["Service"]>

type Table = typeof table

/** How an error travels, to the code. */
export type FailureFor<E extends ServiceError> = ReturnType<Table[E["_tag"]]>

/** The body that answers an error. */
export const failureFor = <E extends ServiceError>(error: E): FailureFor<E> => {
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the row was found by the error's own tag, so it is the one that takes it
  const row = table[error._tag] as unknown as (error: E) => FailureFor<E>
  return row(error)
}

/** An effect of the core, failing with what will be answered. The cause of an outage is logged here, since it is not in the response. */
export const answered = <A, E extends ServiceError, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, FailureFor<E>, R> =>
  effect.pipe(
    Effect.catch((error) => {
      const failed = Effect.fail(failureFor(error))
      const isCounted = error._tag === "StoreUnavailable" && error.why === "overloaded" // a line for each would be more load
      return "cause" in error && !isCounted ? Effect.andThen(Effect.logWarning("request: answered 503", error), failed) : failed
    })
  )

/** The request is not what the endpoint reads: every issue, each in the message as well. */
export const malformedRequest = malformed

/** `insufficient_balance` is the component `InsufficientBalance`. */
const componentOf = (code: string): string =>
  code
    .split("_")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("")

/** An answer with this code, as it may look. */
const exampleOf = (code: Code): Failure =>
  code === "malformed"
    ? malformed([{ path: "amount", message: "The amount must be more than 0" }])
    : failure(code, catalogue[code].meaning.replaceAll("`", ""))

const schemaOf = (code: Code) =>
  Schema.Struct({
    status: Schema.Literal(catalogue[code].status),
    message: Schema.String.annotate({ description: "What was wrong and what would be right, for people" }),
    data: Schema.Null,
    error: Schema.Struct({ code: Schema.Literal(code), issues: Schema.optionalKey(Schema.Array(Issue)) })
  })
    .annotate({ identifier: componentOf(code), description: catalogue[code].meaning, examples: [exampleOf(code)] })
    .pipe(HttpApiSchema.status(catalogue[code].status))

// One schema a code, for all endpoints: so each is one component of the document.
const schemas = new Map<Code, ReturnType<typeof schemaOf>>()
const cached = (code: Code) => {
  const schema = schemas.get(code) ?? schemaOf(code)
  schemas.set(code, schema)
  return schema
}

/** A store that may be away may be overloaded too. */
type Told<C extends Code> = C | (C extends "store_unavailable" ? "overloaded" : never)

/** How the answers with these codes look. An endpoint names all of its codes here: a handler with another one does not compile. */
export const of = <const Codes extends ReadonlyArray<Code>>(...codes: Codes): ReadonlyArray<Schema.Codec<Failure<Told<Codes[number]>>>> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- in a list that is mapped, the compiler does not know which code each schema is for
  codes.flatMap((code) =>
    code === "store_unavailable" ? [cached(code), cached("overloaded")] : [cached(code)]
  ) as unknown as ReadonlyArray<Schema.Codec<Failure<Told<Codes[number]>>>>
