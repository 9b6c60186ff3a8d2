import * as Msat from "@satrail/bitcoin/Msat"
import type { Unauthorized } from "@satrail/core/accounts/ApiKey"
import type { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import type { Companies } from "@satrail/core/accounts/Companies"
import type { DomainTaken } from "@satrail/core/accounts/Domain"
import type { DomainNotShown, Domains } from "@satrail/core/accounts/Domains"
import type { AmountInvalid } from "@satrail/core/base/Amount"
import type { Invalid } from "@satrail/core/base/Invalid"
import type { NamesUnavailable } from "@satrail/core/base/Names"
import type { CursorTooOld } from "@satrail/core/events/Events"
import type { Feed } from "@satrail/core/events/Feed"
import type { InsufficientBalance } from "@satrail/core/ledger/Balance"
import * as Limit from "@satrail/core/ledger/Limit"
import type { Conflict, IdempotencyMismatch, NotFound, StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import type { RateUnavailable } from "@satrail/core/nodes/ExchangeRates"
import type { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import type { Prices } from "@satrail/core/nodes/Prices"
import type { RecipientRefused, RecipientUnreachable } from "@satrail/core/nodes/Resolver"
import type { PlanRequired } from "@satrail/core/accounts/Plan"
import type { SecondOperatorRequired } from "@satrail/core/accounts/Loosening"
import type { SameOperator } from "@satrail/core/accounts/SecondOperator"
import type { AlreadyAssigned } from "@satrail/core/receiving/Assignment"
import type { InvoiceNotHeld, InvoiceNotPayable, TooManyHeld } from "@satrail/core/receiving/Invoice"
import type { Paused, Stops } from "@satrail/core/accounts/Stops"
import type { FeeChanged } from "@satrail/core/accounts/Fees"
import type { CompanyFrozen } from "@satrail/core/ledger/Freeze"
import type { Invoices } from "@satrail/core/receiving/Invoices"
import type { HandleTaken } from "@satrail/core/receiving/LightningAddress"
import type { DomainNotVerified, LightningAddresses } from "@satrail/core/receiving/LightningAddresses"
import type { OnChainAddresses } from "@satrail/core/receiving/OnChainAddresses"
import type { Suspense } from "@satrail/core/receiving/Suspense"
import type { Transactions } from "@satrail/core/reports/Transactions"
import type { DestinationInvalid } from "@satrail/core/sending/Destination"
import type { DestinationRefused } from "@satrail/core/sending/Recipient"
import type { TooManyEstimates, Withdrawals } from "@satrail/core/sending/Withdrawals"
import type { TooManyKeys } from "@satrail/core/accounts/OwnKeys"
import { Effect, Schema, SchemaAST } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { Issue } from "./Envelope.ts"
import { type Catalogue, catalogue, type Code, type Word } from "./ErrorCodes.ts"
import * as Scalars from "./Scalars.ts"

export { catalogue, type Code } from "./ErrorCodes.ts"

/** What the error of some codes has in it besides: the numbers of its message, for programs. */
const details = {
  insufficient_balance: {
    available_sats: Schema.optionalKey(
      Schema.Int.annotate({
        description: "What could be withdrawn when this was answered, in whole satoshis, as `balance`; absent if it could not be read",
        examples: [21_000]
      })
    ),
    needed_sats: Schema.Finite.annotate({ description: "What amount and fee come to, to three decimals", examples: [25_035.5] })
  },
  fee_changed: {
    fee_sats: Schema.optionalKey(
      Schema.Finite.annotate({
        description: "The whole fee as it is now, in satoshis to three decimals, where it is more than `max_fee_sats`",
        examples: [25.5]
      })
    )
  },
  limit_exceeded: {
    limit: Limit.Name.annotate({ description: "Which member of `limits` was in the way", examples: ["day_sats"] }),
    remaining_sats: Schema.optionalKey(
      Schema.Finite.annotate({
        description: "What this limit would still let through, with fees; absent where it limits no amount",
        examples: [3000]
      })
    ),
    frees_at: Schema.optionalKey(
      Schema.NullOr(Scalars.Instant).annotate({
        description: "When as much as was asked for is free again, if nothing else is sent by then; null if never"
      })
    )
  }
} as const satisfies { readonly [C in Code]?: Schema.Struct.Fields }

type Details<C extends Code> = C extends keyof typeof details ? Schema.Struct.Type<(typeof details)[C]> : unknown

/** After how many seconds a 503 is worth another try: what its `Retry-After` header says. */
export const retryAfterSeconds = 1

/** The body of a bad answer. `code` is stable; `message` is for people. */
export type Failure<C extends Code = Code> = C extends Code
  ? {
      readonly status: Catalogue[C]["status"]
      readonly message: string
      readonly data: null
      readonly error: { readonly code: C; readonly issues?: ReadonlyArray<Issue> } & Details<C>
    }
  : never

const failureWith = <C extends Code>(code: C, message: string, more: object): Failure<C> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the compiler does not see that the status of a code is that code's status
  ({ status: catalogue[code].status, message, data: null, error: { code, ...more } }) as Failure<C>

/** The codes whose errors list issues. */
const itemized = ["malformed", "not_ready"] as const
const isItemized = (code: string): boolean => itemized.some((one) => one === code)

export const failure = <C extends Exclude<Code, keyof typeof details>>(
  code: C,
  message: string,
  issues?: C extends (typeof itemized)[number] ? ReadonlyArray<Issue> : never
): Failure<C> => failureWith(code, message, issues === undefined ? {} : { issues })

/** Of a code that has details. */
const detailed = <C extends keyof typeof details>(code: C, message: string, more: Details<C> & object): Failure<C> =>
  failureWith(code, message, more)

/** Where the page of errors is, which explains each at its code. */
export const page = "/docs/errors"

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null

/** Whether this is the envelope of one of our errors. */
export const isFailure = (value: unknown): value is Failure =>
  isObject(value) &&
  isObject(value["error"]) &&
  typeof value["error"]["code"] === "string" &&
  typeof value["status"] === "number" &&
  value["data"] === null

export const exampleId = "5f0c7d0e-3b1f-4a53-9d0e-0a2b6f1f7c11"

/** What every error has when it is sent. The edge fills it in, which knows the request. The document's introduction says what they are. */
const Addressed = { doc_url: Schema.optionalKey(Schema.String), request_id: Schema.optionalKey(Schema.String) }

/** An error's body as it is sent. The type is written out: inferred, it is a union of every code with every code, in each declaration that names it. */
export interface Sent extends Pick<Failure, "status" | "message" | "data"> {
  readonly error: Failure["error"] & { readonly doc_url: string; readonly request_id: string }
}

/** As it is sent: with the id of its request, and the place of its explanation. That is a path, or a URL where `publicUrl` is known. */
export const addressed = <F extends { readonly error: { readonly code: string } }>(failed: F, requestId: string, publicUrl = "") => ({
  ...failed,
  error: { ...failed.error, doc_url: `${publicUrl}${page}#${failed.error.code}`, request_id: requestId }
})

/** How much of what is wrong with a request its refusal reports. The bytes are those of the issues as JSON, which stand in `message` as well. */
export const reported = { issues: 20, bytes: 3000, messageCharacters: 300, pathCharacters: 120 } as const

const cut = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`)

const bytesOf = (issue: Issue): number => new TextEncoder().encode(JSON.stringify(issue)).length

/** The first issues, and how many more there are. */
const bounded = (issues: ReadonlyArray<Issue>): ReadonlyArray<Issue> => {
  const shown: Array<Issue> = []
  let bytes = 0
  for (const issue of issues.slice(0, reported.issues)) {
    const short = { ...issue, path: cut(issue.path, reported.pathCharacters), message: cut(issue.message, reported.messageCharacters) }
    bytes += bytesOf(short)
    if (shown.length > 0 && bytes > reported.bytes) break
    shown.push(short)
  }
  const more = issues.length - shown.length
  return more === 0 ? shown : [...shown, { path: "", message: `and ${more} more` }]
}

const malformed = (all: ReadonlyArray<Issue>) => {
  const issues = bounded(all)
  return failure("malformed", issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; "), issues)
}

const reasons = {
  missing: "An API key is needed: Authorization: Bearer <API_KEY>",
  unknown: "The API key is unknown",
  incomplete: "The API key is not complete, or has a typing error: sr_, the network, 12 characters, and the secret",
  other_network: "The API key is another network's",
  expired: "The API key has expired",
  revoked: "The API key was revoked",
  waiting: "The API key waits for the approval of a second operator"
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
  Unauthorized: ({ reason, networks }: Unauthorized) =>
    failure(
      "unauthorized",
      networks === undefined
        ? reasons[reason]
        : `The API key is for ${networks.key}, and this service is on ${networks.service}: use a key that begins with sr_${networks.service}_`
    ),
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
  InsufficientBalance: ({ needed, available }: InsufficientBalance) => {
    const needed_sats = Msat.toDecimalSats(needed)
    const message = `The balance does not cover the ${needed_sats} sats that amount and fee come to`
    if (available === undefined) return detailed("insufficient_balance", message, { needed_sats })
    const available_sats = Number(Msat.toSats(available))
    return detailed("insufficient_balance", `${message}: ${available_sats} sats are available`, { needed_sats, available_sats })
  },
  CompanyFrozen: (_: CompanyFrozen) => failure("company_frozen", "The company is frozen: it cannot send. Ask the operator"),
  FeeChanged: ({ fee }: FeeChanged) =>
    fee === undefined
      ? detailed("fee_changed", "The company's fees were changed meanwhile: try again", {})
      : detailed("fee_changed", `The fee is ${Msat.toDecimalSats(fee)} sats by now, more than max_fee_sats`, {
          fee_sats: Msat.toDecimalSats(fee)
        }),
  Paused: ({ what }: Paused) => failure("paused", `The operator has paused ${what}: try again later`),
  LimitExceeded: ({ limit, of, remaining, freesAtMillis }: Limit.LimitExceeded) =>
    detailed("limit_exceeded", `This is more than ${of === "key" ? "the API key's" : "the company's"} limit ${limit} allows`, {
      limit,
      ...(remaining !== undefined && { remaining_sats: Msat.toDecimalSats(remaining) }),
      ...(freesAtMillis !== undefined && { frees_at: Scalars.instantOrNull(freesAtMillis) })
    }),
  TooManyKeys: ({ maximum }: TooManyKeys) =>
    failure("too_many_api_keys", `The company has ${maximum} API keys, which is as many as it may make: revoke one, or ask the operator`),
  CursorTooOld: (_: CursorTooOld) => failure("cursor_too_old", "Events after this one have been deleted"),
  TooManyEstimates: ({ of, perMinute }: TooManyEstimates) =>
    failure(
      "rate_limited",
      of === "company"
        ? `Too many estimates that ask recipients' servers: ${perMinute} a minute for a company. Try again in a second`
        : `Too many estimates that ask this recipient's server: ${perMinute} a minute in all. Try again in a second`
    ),
  InvoiceNotPayable: ({ status }: InvoiceNotPayable) =>
    failure(
      "invoice_not_open",
      `The invoice is ${status === "claimed" || status === "settling" || status === "accepted" ? "being paid" : status} and cannot be canceled`
    ),
  TooManyHeld: ({ maximum }: TooManyHeld) =>
    failure("too_many_held", `There are ${maximum} hold invoices that have not ended, which is as many as a company has`),
  InvoiceNotHeld: ({ status }: InvoiceNotHeld) => failure("invoice_not_held", `The invoice is ${status}, and nothing is held for it`),
  AlreadyAssigned: (_: AlreadyAssigned) => failure("already_assigned", "The payment belongs to another company by now"),
  SameOperator: ({ name }: SameOperator) =>
    failure("another_operator_required", `${name} requested this, so another operator must approve it`),
  SecondOperatorRequired: ({ requestedBy, untilMillis }: SecondOperatorRequired) =>
    failure(
      "second_operator_required",
      `${requestedBy} requested this. It takes effect when another operator sends the same request by ${new Date(untilMillis).toISOString()}`
    ),
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
  | ErrorsOf<Feed["Service"]>
  | ErrorsOf<Invoices["Service"]>
  | ErrorsOf<LightningAddresses["Service"]>
  | ErrorsOf<OnChainAddresses["Service"]>
  | ErrorsOf<Prices["Service"]>
  | ErrorsOf<Stops["Service"]>
  | ErrorsOf<Transactions["Service"]>
  | ErrorsOf<Suspense["Service"]>
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
export const exampleOf = (code: Code): Sent => {
  const meaning = catalogue[code].meaning.replaceAll("`", "")
  const failed =
    code === "malformed"
      ? malformed([{ path: "amount", message: "The amount must be more than 0" }])
      : code === "insufficient_balance"
        ? detailed(code, meaning, { available_sats: 21_000, needed_sats: 25_035.5 })
        : code === "limit_exceeded"
          ? detailed(code, meaning, { limit: "day_sats", remaining_sats: 3000, frees_at: "2026-01-31T12:00:00.000Z" })
          : code === "fee_changed"
            ? detailed(code, meaning, { fee_sats: 25.5 })
            : failure(code, meaning)
  return addressed(failed, exampleId)
}

const isDetailed = (code: string): code is Code & keyof typeof details => code in details
const moreOf = (code: string): Schema.Struct.Fields => (isDetailed(code) ? details[code] : {})

/** The schema of an error's body. */
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
    // oxlint-disable-next-line typescript/consistent-type-assertions -- an example has the members that its code has
    .annotate({ identifier: componentOf(code), description: meaning, examples: [example as never] })
    .pipe(HttpApiSchema.status(status))

// One schema a code, for all endpoints: so each is one component of the document.
const schemas = new Map<string, ReturnType<typeof schemaOf>>()
/** One schema of each code, whoever asks for it. */
export const kept = (code: string, make: () => ReturnType<typeof schemaOf>) => {
  const schema = schemas.get(code) ?? make()
  schemas.set(code, schema)
  return schema
}
const cached = (code: Code) => kept(code, () => schemaOf(code, catalogue[code], exampleOf(code)))

/** A store that may be away may be overloaded too. */
export type Told<C extends Code> = C | (C extends "store_unavailable" ? "overloaded" : never)

/** How the answers with these codes look. An endpoint names all of its codes here: a handler with another one does not compile. */
export const of = <const Codes extends ReadonlyArray<Code>>(...codes: Codes): ReadonlyArray<Schema.Codec<Failure<Told<Codes[number]>>>> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- in a list that is mapped, the compiler does not know which code each schema is for
  codes.flatMap((code) =>
    code === "store_unavailable" ? [cached(code), cached("overloaded")] : [cached(code)]
  ) as unknown as ReadonlyArray<Schema.Codec<Failure<Told<Codes[number]>>>>

/**
 * The answers that an endpoint names, as `of` has them: the framework keeps them encoded, and an endpoint made of another's would have each
 * twice in the document.
 */
export const among = (errors: Iterable<Schema.Constraint>): ReadonlyArray<Schema.Top> => {
  const names = new Set(Array.from(errors, ({ ast }) => SchemaAST.resolveIdentifier(ast)))
  return Array.from(schemas).flatMap(([code, schema]) => (names.has(componentOf(code)) ? [schema] : []))
}
