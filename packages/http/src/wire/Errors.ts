import * as Msat from "@satrail/bitcoin/Msat"
import type { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import type { Companies } from "@satrail/core/accounts/Companies"
import type { Domains } from "@satrail/core/accounts/Domains"
import { sentence } from "@satrail/core/base/Invalid"
import * as Outage from "@satrail/core/base/Outage"
import type { Feed } from "@satrail/core/events/Feed"
import * as Limit from "@satrail/core/ledger/Limit"
import type { Prices } from "@satrail/core/nodes/Prices"
import type { Stops } from "@satrail/core/accounts/Stops"
import type { Invoices } from "@satrail/core/receiving/Invoices"
import type { LightningAddresses } from "@satrail/core/receiving/LightningAddresses"
import type { OnChainAddresses } from "@satrail/core/receiving/OnChainAddresses"
import type { Suspense } from "@satrail/core/receiving/Suspense"
import type { Transactions } from "@satrail/core/reports/Transactions"
import * as LostResult from "@satrail/core/sending/LostResult"
import type { LostWithdrawals } from "@satrail/core/sending/LostWithdrawals"
import type { Withdrawals } from "@satrail/core/sending/Withdrawals"
import { Effect, Schema, SchemaAST } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { Issue } from "./Envelope.ts"
import { type Catalogue, catalogue, type Code, type Word } from "./ErrorCodes.ts"
import { isObject } from "./Json.ts"
import * as Scalars from "./Scalars.ts"

export { catalogue, type Code } from "./ErrorCodes.ts"

/** Additional fields of some errors. They give programs the values in the message. */
const details = {
  insufficient_balance: {
    available_sats: Schema.optionalKey(
      Scalars.Sats.annotate({
        description:
          "Available balance at the time of the response, in whole satoshis, as in `balance`; absent if it could not be read",
        examples: [21_000]
      })
    ),
    needed_sats: Scalars.Fee.annotate({
      description: "Amount plus fee, in satoshis with up to three decimals",
      examples: [25_035.5]
    })
  },
  fee_changed: {
    fee_sats: Schema.optionalKey(
      Scalars.Fee.annotate({
        description: "Current total fee, in satoshis with up to three decimals, if above `max_fee_sats`",
        examples: [25.5]
      })
    )
  },
  limit_exceeded: {
    limit: Limit.Name.annotate({
      description: "Field of `limits` that would be exceeded",
      examples: ["day_sats"]
    }),
    remaining_sats: Schema.optionalKey(
      Scalars.ExactSats.annotate({
        description:
          "Amount that this limit still allows, including fees; absent if it does not limit amounts",
        examples: [3000]
      })
    ),
    frees_at: Schema.optionalKey(
      Schema.NullOr(Scalars.Instant).annotate({
        description:
          "Time when the requested amount fits the limit again, if nothing else is sent until then; null if never"
      })
    )
  }
} as const satisfies { readonly [C in Code]?: Schema.Struct.Fields }

type Details<C extends Code> = C extends keyof typeof details
  ? Schema.Struct.Type<(typeof details)[C]>
  : unknown

/** Value of the `Retry-After` header in a 503 response, in seconds. */
export const retryAfterSeconds = 1

/** Body of an error response. `code` is stable; `message` is human-readable. */
export type Failure<C extends Code = Code> = C extends Code
  ? {
      readonly status: Catalogue[C]["status"]
      readonly message: string
      readonly data: null
      readonly error: { readonly code: C; readonly issues?: ReadonlyArray<Issue> } & Details<C>
    }
  : never

const failureWith = <C extends Code>(code: C, message: string, more: object): Failure<C> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the compiler does not resolve the conditional type for a generic code
  ({ status: catalogue[code].status, message, data: null, error: { code, ...more } }) as Failure<C>

/** Codes whose errors list issues. */
const itemized = ["malformed", "not_ready"] as const
const isItemized = (code: string): boolean => itemized.some((one) => one === code)

export const failure = <C extends Exclude<Code, keyof typeof details>>(
  code: C,
  message: string,
  issues?: C extends (typeof itemized)[number] ? ReadonlyArray<Issue> : never
): Failure<C> => failureWith(code, message, issues === undefined ? {} : { issues })

const detailed = <C extends keyof typeof details>(
  code: C,
  message: string,
  more: Details<C> & object
): Failure<C> => failureWith(code, message, more)

/** Path of the page that explains each error code. */
export const page = "/docs/errors"

/** Returns whether a value is one of our error envelopes. */
export const isFailure = (value: unknown): value is Failure =>
  isObject(value) &&
  isObject(value["error"]) &&
  typeof value["error"]["code"] === "string" &&
  typeof value["status"] === "number" &&
  value["data"] === null

export const exampleId = "5f0c7d0e-3b1f-4a53-9d0e-0a2b6f1f7c11"

/** Fields that the edge adds to every error when it is sent. The document's introduction explains them. */
const Addressed = {
  doc_url: Schema.optionalKey(Schema.String),
  request_id: Schema.optionalKey(Schema.String)
}

/**
 * Body of an error as sent. This is an interface so that declarations that use it do not each contain the union
 * of all codes.
 */
export interface Sent extends Pick<Failure, "status" | "message" | "data"> {
  readonly error: Failure["error"] & { readonly doc_url: string; readonly request_id: string }
}

/**
 * Adds the request id and a link to the code's explanation. The link is a URL if `publicUrl` is set, and
 * otherwise a path.
 */
export const addressed = <F extends { readonly error: { readonly code: string } }>(
  failed: F,
  requestId: string,
  publicUrl = ""
) => ({
  ...failed,
  error: { ...failed.error, doc_url: `${publicUrl}${page}#${failed.error.code}`, request_id: requestId }
})

/**
 * Limits on the reported issues. `bytes` limits the issues' total length as JSON, not counting the error's
 * `message`, which repeats them.
 */
export const reported = { issues: 20, bytes: 3000, messageCharacters: 300, pathCharacters: 120 } as const

const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`

const bytesOf = (issue: Issue): number => new TextEncoder().encode(JSON.stringify(issue)).length

/** Returns the first issues, followed by one that states how many were omitted. */
const bounded = (issues: ReadonlyArray<Issue>): ReadonlyArray<Issue> => {
  const shown: Array<Issue> = []
  let bytes = 0
  for (const issue of issues.slice(0, reported.issues)) {
    const short = {
      ...issue,
      path: cut(issue.path, reported.pathCharacters),
      message: cut(issue.message, reported.messageCharacters)
    }
    bytes += bytesOf(short)
    if (shown.length > 0 && bytes > reported.bytes) break
    shown.push(short)
  }
  const more = issues.length - shown.length
  return more === 0 ? shown : [...shown, { path: "", message: `and ${more} more` }]
}

const malformed = (all: ReadonlyArray<Issue>) => {
  const issues = bounded(all.map((issue) => ({ ...issue, message: sentence(issue.path, issue.message) })))
  return failure("malformed", issues.map(({ message }) => message).join("; "), issues)
}

const reasons = {
  missing: 'No API key was sent. Send "Authorization: Bearer <API_KEY>".',
  unknown: "This API key is not valid. Check that you copied the whole key.",
  incomplete: "This API key is malformed. A key consists of sr_, the network, 12 characters and the secret.",
  other_network: "This API key belongs to another network.",
  expired: "This API key has expired.",
  revoked: "This API key was revoked.",
  waiting:
    "This API key is not active until a second operator approves it, in the console or with `satrail keys approve`."
} as const

/** Why the result of a payment that the node reports as in flight is not lost. */
const notLost: Record<Exclude<LostResult.Verdict, "lost">, string> = {
  in_flight: `The node reports this payment as in flight, and may still learn its result. Release it at the earliest ${LostResult.marginBlocks} blocks after its time lock.`,
  node_behind: "The node is behind the chain, so its channels prove nothing. Wait until it is synced.",
  in_channel:
    "A channel of the node still holds this payment, so the payee may still be paid. Wait for its final result.",
  channel_closing:
    "A channel of the node is closing, and may still hold this payment. Wait until it is closed."
}

/** Maps each core error to its response. This is the only place where core errors get a status. */
const table = {
  Invalid: ({ path, message }) => malformed([{ path, message }]),
  AmountInvalid: ({ reason, message }) =>
    reason === "price_not_positive"
      ? failure("rate_unavailable", message)
      : malformed([{ path: reason === "unknown_currency" ? "currency" : "amount", message }]),
  DestinationInvalid: ({ code, message }) =>
    code === "wrong_network" || code === "unsupported" || code === "amount_mismatch"
      ? failure(code, message)
      : malformed([{ path: "destination", message }]),
  DestinationRefused: ({ code, message }) => failure(code, message),
  RecipientRefused: ({ reason }) =>
    failure("recipient_refused", `The payee declined the payment: ${reason.replace(/\.$/, "")}.`),
  RecipientUnreachable: ({ reason }) =>
    failure(
      "recipient_unreachable",
      `The payee's server could not be reached: ${reason.replace(/\.$/, "")}.`
    ),
  Unauthorized: ({ reason, networks }) =>
    failure(
      "unauthorized",
      networks === undefined
        ? reasons[reason]
        : `This API key is for ${networks.key}, but this service runs on ${networks.service}. Use a key that begins with sr_${networks.service}_.`
    ),
  PlanRequired: ({ plan, feature }) =>
    failure("plan_required", `The ${plan} plan is required to use ${feature}.`),
  NotFound: ({ what }) => failure("not_found", `No such ${what}. Check the id.`),
  Conflict: () =>
    failure(
      "conflict",
      "Another record has the same id or unique value. Send the request again. If that fails too, change the value."
    ),
  HandleTaken: ({ handle, domain }) =>
    failure("handle_taken", `${handle}@${domain} is taken. Choose another handle.`),
  DomainTaken: ({ domain }) =>
    failure("domain_taken", `${domain} belongs to another company or to the service. Use another domain.`),
  DomainNotVerified: ({ domain }) =>
    failure(
      "domain_not_verified",
      `${domain} is not verified for this company. Verify it with POST /v1/domains.`
    ),
  DomainNotShown: ({ name, value }) =>
    failure(
      "domain_not_shown",
      `The TXT record is missing. Set a TXT record at ${name} with the value ${value}, then repeat the request.`
    ),
  IdempotencyMismatch: () =>
    failure(
      "idempotency_mismatch",
      "This Idempotency-Key was already used for a request with other values, which took effect. To get its response, repeat that request with this key."
    ),
  InsufficientBalance: ({ needed, available }) => {
    const needed_sats = Msat.toDecimalSats(needed)
    const message = `Insufficient balance: the amount plus fee is ${Msat.inSats(needed_sats)}`
    if (available === undefined) return detailed("insufficient_balance", `${message}.`, { needed_sats })
    const available_sats = Number(Msat.toSats(available))
    return detailed(
      "insufficient_balance",
      `${message}, and ${Msat.inSats(available_sats)} ${available_sats === 1 ? "is" : "are"} available.`,
      { needed_sats, available_sats }
    )
  },
  CompanyFrozen: () =>
    failure("company_frozen", "This company is frozen and cannot send. Contact the operator."),
  FeeChanged: ({ fee }) =>
    fee === undefined
      ? detailed("fee_changed", "The company's fees changed during the request. Try again.", {})
      : detailed(
          "fee_changed",
          `The fee is now ${Msat.inSats(Msat.toDecimalSats(fee))}, above max_fee_sats. Request a new estimate.`,
          {
            fee_sats: Msat.toDecimalSats(fee)
          }
        ),
  Paused: ({ what }) => failure("paused", `The operator has paused ${what}. Try again later.`),
  LimitExceeded: ({ limit, of, remaining, freesAtMillis, advice }) =>
    detailed(
      "limit_exceeded",
      `This would exceed ${of === "key" ? "the API key's" : "the company's"} limit "${limit}".${advice === undefined ? "" : ` ${advice}`}`,
      {
        limit,
        ...(remaining !== undefined && { remaining_sats: Msat.toDecimalSats(remaining) }),
        ...(freesAtMillis !== undefined && { frees_at: Scalars.instantOrNull(freesAtMillis) })
      }
    ),
  TooManyKeys: ({ maximum }) =>
    failure(
      "too_many_api_keys",
      `A company can create at most ${maximum} API keys. Revoke one first, or ask the operator.`
    ),
  CursorTooOld: () => failure("cursor_too_old", "Events after this cursor have been deleted."),
  TooManyEstimates: ({ of, perMinute }) =>
    failure(
      "rate_limited",
      of === "company"
        ? `Rate limit reached: ${perMinute} estimates per minute per company for destinations on other servers. Try again in a second.`
        : `Rate limit reached: ${perMinute} estimates per minute for this payee's server. Try again in a second.`
    ),
  InvoiceNotPayable: ({ status }) =>
    failure(
      "invoice_not_open",
      `This invoice is ${status === "claimed" || status === "settling" || status === "accepted" ? "being paid" : status} and cannot be canceled.`
    ),
  TooManyHeld: ({ maximum }) =>
    failure(
      "too_many_held",
      `A company can have at most ${maximum} open hold invoices. Settle or cancel one first.`
    ),
  InvoiceNotHeld: ({ status }) =>
    failure("invoice_not_held", `This invoice is ${status}, so no payment is held for it.`),
  AlreadyAssigned: () =>
    failure("already_assigned", "This payment has already been assigned to another company."),
  WithdrawalNotLost: ({ status, untilMillis, result }) =>
    failure(
      "withdrawal_not_lost",
      status !== "pending"
        ? `This withdrawal is ${status}.`
        : result !== undefined && result !== "lost"
          ? notLost[result]
          : untilMillis === null
            ? "The node has not lost this withdrawal's payment. Wait for its final result."
            : `The payee may claim this payment until ${Scalars.instant(untilMillis)}. Release it after that.`
    ),
  SameOperator: ({ name }) =>
    failure("another_operator_required", `${name} requested this, so another operator must approve it.`),
  RequesterGone: () =>
    failure(
      "requester_gone",
      "The one who requested this has lost their access. Reject it, and request it again."
    ),
  LooseningRefused: () =>
    failure(
      "scope_required",
      "Raising or removing a limit, or releasing waiting payments, requires an operator token with the scope loosen."
    ),
  SecondOperatorRequired: ({ requestedBy, untilMillis }) =>
    failure(
      "second_operator_required",
      `${requestedBy} requested this. It takes effect when another operator sends the same request by ${new Date(untilMillis).toISOString()}.`
    ),
  StoreUnavailable: ({ why }) =>
    why === "overloaded"
      ? failure("overloaded", "The database is overloaded. Try again in a moment.")
      : failure("store_unavailable", "The database cannot be reached. Try again in a moment."),
  NodeUnavailable: () =>
    failure("node_unavailable", "The Lightning node cannot be reached. Try again in a moment."),
  ChainUnavailable: () =>
    failure("chain_unavailable", "The bitcoin node cannot be reached. Try again in a moment."),
  DnsUnavailable: ({ name }) =>
    failure("names_unavailable", `The DNS lookup of ${name} failed. Try again in a moment.`),
  RateUnavailable: ({ currency }) =>
    failure(
      "rate_unavailable",
      `No current exchange rate is available for ${currency}. Try again in a moment, or give the amount in sats or btc.`
    )
} satisfies {
  readonly [Tag in ServiceError["_tag"]]: (error: Extract<ServiceError, { readonly _tag: Tag }>) => Failure
}

type ErrorOf<Member> = Member extends (...args: never) => Effect.Effect<unknown, infer E, unknown>
  ? E
  : Member extends Effect.Effect<unknown, infer E, unknown>
    ? E
    : never
type ErrorsOf<Service> = { readonly [Method in keyof Service]: ErrorOf<Service[Method]> }[keyof Service]

/** All errors of the core's services. An error that is missing from the table is a compile error. */
export type ServiceError =
  | ErrorsOf<ApiKeys["Service"]>
  | ErrorsOf<Companies["Service"]>
  | ErrorsOf<Domains["Service"]>
  | ErrorsOf<Feed["Service"]>
  | ErrorsOf<Invoices["Service"]>
  | ErrorsOf<LightningAddresses["Service"]>
  | ErrorsOf<OnChainAddresses["Service"]>
  | ErrorsOf<Prices["Service"]>
  | ErrorsOf<Stops["Service"]>
  | ErrorsOf<Transactions["Service"]>
  | ErrorsOf<Suspense["Service"]>
  | ErrorsOf<LostWithdrawals["Service"]>
  | ErrorsOf<Withdrawals["Service"]>

/** Returns whether the table has a row for this error. */
export const isServiceError = (error: { readonly _tag: string }): error is ServiceError =>
  Object.hasOwn(table, error._tag)

type Table = typeof table

/** Type of the response body to which the table maps an error. */
export type FailureFor<E extends ServiceError> = ReturnType<Table[E["_tag"]]>

/** Returns the response body of an error. */
export const failureFor = <E extends ServiceError>(error: E): FailureFor<E> => {
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the row was found by the error's tag, so it accepts this error
  const row = table[error._tag] as unknown as (error: E) => FailureFor<E>
  return row(error)
}

/**
 * Runs a core effect and maps its errors to error responses. Logs the cause of an outage, which the response
 * does not contain.
 */
export const answered = <A, E extends ServiceError, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, FailureFor<E>, R> =>
  effect.pipe(
    Effect.catch((error) => {
      const failed = Effect.fail(failureFor(error))
      const outage: ServiceError = error
      const isCounted = error._tag === "StoreUnavailable" && error.why === "overloaded" // a log line for each would increase the load
      if (!("operation" in outage) || isCounted) return failed
      const words = Outage.text(outage) // without the cause, because an outage logs this line for each request
      const said =
        words === undefined
          ? ["request: answered 503", outage]
          : [`request: answered 503: ${outage.operation}: ${words}`]
      return Effect.andThen(Effect.logWarning(...said), failed)
    })
  )

/** Returns the error for an invalid request. It lists the issues, and its message repeats them. */
export const malformedRequest = malformed

/** Returns the component name of a code: `InsufficientBalance` for `insufficient_balance`. */
const componentOf = (code: string): string =>
  code
    .split("_")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("")

export const exampleOf = (code: Code): Sent => {
  const meaning = catalogue[code].meaning.replaceAll("`", "")
  const failed =
    code === "malformed"
      ? malformed([{ path: "amount", message: "must be greater than 0" }])
      : code === "insufficient_balance"
        ? detailed(code, meaning, { available_sats: 21_000, needed_sats: 25_035.5 })
        : code === "limit_exceeded"
          ? detailed(code, meaning, {
              limit: "day_sats",
              remaining_sats: 3000,
              frees_at: "2026-01-31T12:00:00.000Z"
            })
          : code === "fee_changed"
            ? detailed(code, meaning, { fee_sats: 25.5 })
            : failure(code, meaning)
  return addressed(failed, exampleId)
}

const isDetailed = (code: string): code is Code & keyof typeof details => code in details
const moreOf = (code: string): Schema.Struct.Fields => (isDetailed(code) ? details[code] : {})

export const schemaOf = (code: string, { status, meaning }: Word, example: object) =>
  Schema.Struct({
    status: Schema.Literal(status),
    message: Schema.String,
    data: Schema.Null,
    error: Schema.Struct({
      code: Schema.Literal(code),
      ...(isItemized(code) && { issues: Schema.optionalKey(Schema.Array(Issue)) }),
      ...moreOf(code),
      ...Addressed
    })
  })
    // oxlint-disable-next-line typescript/consistent-type-assertions -- an example has the fields of its code
    .annotate({ identifier: componentOf(code), description: meaning, examples: [example as never] })
    .pipe(HttpApiSchema.status(status))

// All endpoints share one schema per code, so that each code is a single component of the OpenAPI document.
const schemas = new Map<string, ReturnType<typeof schemaOf>>()
/** Returns the shared schema of a code, and makes it on first use. */
export const kept = (code: string, make: () => ReturnType<typeof schemaOf>) => {
  const schema = schemas.get(code) ?? make()
  schemas.set(code, schema)
  return schema
}
const cached = (code: Code) => kept(code, () => schemaOf(code, catalogue[code], exampleOf(code)))

export const isCode = (code: string): code is Code => Object.hasOwn(catalogue, code)

/** Adds `overloaded` to `store_unavailable`, because a store that can be unavailable can also be overloaded. */
export type WithOverloaded<C extends Code> = C | (C extends "store_unavailable" ? "overloaded" : never)

/**
 * Returns the schemas of these codes. An endpoint must name all of its codes here; a handler that returns
 * another code does not compile.
 */
export const of = <const Codes extends ReadonlyArray<Code>>(
  ...codes: Codes
): ReadonlyArray<Schema.Codec<Failure<WithOverloaded<Codes[number]>>>> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the compiler does not know which code each schema in the mapped list belongs to
  codes.flatMap((code) =>
    code === "store_unavailable" ? [cached(code), cached("overloaded")] : [cached(code)]
  ) as unknown as ReadonlyArray<Schema.Codec<Failure<WithOverloaded<Codes[number]>>>>

/**
 * Returns the schemas that `of` returned for an endpoint's declared errors. The framework stores them encoded,
 * so the document would otherwise list each error of a derived endpoint twice.
 */
export const among = (errors: Iterable<Schema.Constraint>): ReadonlyArray<Schema.Top> => {
  const names = new Set(Array.from(errors, ({ ast }) => SchemaAST.resolveIdentifier(ast)))
  return Array.from(schemas).flatMap(([code, schema]) => (names.has(componentOf(code)) ? [schema] : []))
}
