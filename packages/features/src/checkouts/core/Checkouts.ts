import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Layer } from "effect"
import { Installation } from "@satrail/core/accounts/Installation"
import type { Paused } from "@satrail/core/accounts/Stops"
import * as Amount from "@satrail/core/base/Amount"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Decimal from "@satrail/core/base/Decimal"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import { Invalid } from "@satrail/core/base/Invalid"
import * as Language from "@satrail/core/base/Language"
import * as Metadata from "@satrail/core/base/Metadata"
import * as Answer from "@satrail/core/ledger/Answer"
import * as Answers from "@satrail/core/ledger/Answers"
import {
  type Conflict,
  found,
  type IdempotencyMismatch,
  Journal,
  type NotFound,
  type StoreUnavailable
} from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as Page from "@satrail/core/ledger/Page"
import * as TaskBatch from "@satrail/core/ledger/TaskBatch"
import * as ChainSource from "@satrail/core/nodes/ChainSource"
import * as Coin from "@satrail/core/nodes/Coin"
import type { RateUnavailable } from "@satrail/core/nodes/ExchangeRates"
import type { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import type { Asked } from "@satrail/core/nodes/Prices"
import * as Checkout from "./Checkout.ts"
import * as CheckoutCancel from "./CheckoutCancel.ts"
import * as CheckoutPayer from "./CheckoutPayer.ts"
import * as CheckoutSteps from "./CheckoutSteps.ts"
import * as CheckoutJobs from "./CheckoutJobs.ts"
import type { Deposit } from "@satrail/core/receiving/Deposit"
import * as Confirmations from "@satrail/core/receiving/Confirmations"
import { Invoices } from "@satrail/core/receiving/Invoices"
import { OnChainAddresses } from "@satrail/core/receiving/OnChainAddresses"
import { CheckoutReads } from "./CheckoutReads.ts"
import * as Rated from "@satrail/core/base/Rated"

/** The amount to be paid, and the texts of the page. The payer chooses the amount if `asked` is null. */
export interface Ask extends Pick<
  Checkout.Checkout,
  | "companyId"
  | "description"
  | "orderId"
  | "metadata"
  | "tolerancePercent"
  | "returnUrl"
  | "cancelUrl"
  | "embedOrigin"
  | "color"
  | "options"
  | "contact"
> {
  readonly asked: Asked | null
  /** Default: the company keeps everything. */
  readonly splits?: Checkout.Checkout["splits"]
  readonly expirySeconds: number
  /** Language tag or POSIX locale. If null, `auto` or a language that is not available, the payer's browser decides. */
  readonly locale: string | null
}

/** Creates and manages checkouts: requests for payment, over Lightning or on-chain, on a hosted page. */
export class Checkouts extends Context.Service<
  Checkouts,
  {
    /**
     * Creates a checkout with an invoice and an address. If a crash leaves an invoice or address without a
     * checkout, it can still be paid like any other.
     */
    readonly create: (
      ask: Ask & { readonly request?: Answer.Request<Checkout.Shown> }
    ) => Effect.Effect<
      Answer.Outcome<Checkout.Shown>,
      | Amount.AmountInvalid
      | Invalid
      | Paused
      | RateUnavailable
      | NodeUnavailable
      | ChainSource.ChainUnavailable
      | Conflict
      | IdempotencyMismatch
      | StoreUnavailable
    >
    /** Returns a checkout with its current status and payments. */
    readonly get: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Effect.Effect<Checkout.Shown, NotFound | StoreUnavailable>
    /** Returns any company's checkout by its public id. */
    readonly open: (publicId: string) => Effect.Effect<Checkout.Shown, NotFound | StoreUnavailable>
    /**
     * Returns the confirmations of the checkout's newest payment that is not credited yet, and the number
     * required. Other pending deposits of the company may increase the number required. Null if nothing is
     * pending or the chain cannot be read.
     */
    readonly depth: (
      checkout: Checkout.Shown
    ) => Effect.Effect<{ readonly seen: number; readonly needed: number } | null>
    /** Returns the latest pending or credited payments toward the checkout, newest first. */
    readonly deposits: (checkout: Checkout.Shown) => Effect.Effect<ReadonlyArray<Deposit>, StoreUnavailable>
    /**
     * Returns a page of the checkouts that match, newest first. `next` is the start of the following page, or undefined
     * on the last one. A page that skips very many checkouts may have fewer than `limit`, or none, and still have a
     * `next`.
     */
    readonly list: (
      companyId: CompanyId.CompanyId,
      query: Page.Dated & {
        readonly orderId?: string | undefined
        readonly status?: Checkout.Status | undefined
      }
    ) => Effect.Effect<Page.Page<Checkout.Shown>, Invalid | StoreUnavailable>
    /**
     * Cancels the checkout and its invoice. Canceling it again changes nothing. A later on-chain payment is
     * still credited.
     */
    readonly cancel: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Effect.Effect<Checkout.Shown, NotFound | Checkout.CheckoutNotOpen | StoreUnavailable>
    /**
     * Reopens the expired checkout with this public id, with a new invoice at the current rate, if its seller
     * allows it. Payments of earlier invoices still count.
     */
    readonly renew: (
      publicId: string
    ) => Effect.Effect<
      void,
      | NotFound
      | Checkout.CheckoutNotOpen
      | Amount.AmountInvalid
      | Invalid
      | Paused
      | RateUnavailable
      | NodeUnavailable
      | Conflict
      | IdempotencyMismatch
      | StoreUnavailable
    >
    /** Stores the tip and the email address given by the payer of the checkout with this public id. */
    readonly answer: (
      publicId: string,
      answered: CheckoutPayer.Answered
    ) => Effect.Effect<
      void,
      | NotFound
      | Checkout.CheckoutNotOpen
      | Invalid
      | Paused
      | NodeUnavailable
      | Conflict
      | IdempotencyMismatch
      | StoreUnavailable
    >
    /** Updates every checkout with due tasks, and returns the number of tasks. */
    readonly step: Effect.Effect<number, StoreUnavailable>
  }
>()("@satrail/features/checkouts/core/Checkouts") {}

const loopback = new Set(["localhost", "127.0.0.1", "[::1]"])

/** Returns why a payer cannot be redirected to a URL, or undefined if they can. */
export const urlIssue = (text: string): string | undefined => {
  const issue = Metadata.textIssue(text, Checkout.limits.urlCharacters)
  if (issue !== undefined) return issue
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (
    url === undefined ||
    (url.protocol !== "https:" && !(url.protocol === "http:" && loopback.has(url.hostname)))
  )
    return "must be an https:// URL (http:// only for this machine)"
  return url.username === "" && url.password === ""
    ? undefined
    : "must be a URL without a user name or password"
}

/**
 * Returns why an origin cannot embed the checkout page, or undefined if it can. The origin must be written as a
 * browser sends it, because it becomes part of a header.
 */
export const originIssue = (text: string): string | undefined =>
  urlIssue(text) ??
  (URL.parse(text)?.origin === text && !/[;,'*\s]/.test(text)
    ? undefined
    : "must be only an origin, such as https://shop.example")

/** Returns why a string is not a seller's contact (an email address or a URL), or undefined if it is. */
export const contactIssue = (text: string): string | undefined =>
  CheckoutPayer.emailIssue(text) === undefined || urlIssue(text) === undefined
    ? undefined
    : "must be an email address or an https:// URL"

/** Returns why a string is not a valid page color, or undefined if it is. */
export const colorIssue = (text: string): string | undefined =>
  /^#[0-9a-f]{6}$/.test(text) ? undefined : "must be a color in lower case, such as #1d4ed8"

export const orderIdIssue = (orderId: string): string | undefined =>
  Metadata.textIssue(orderId, Checkout.limits.orderIdCharacters)

const within = (
  value: number,
  { minimum, maximum }: { readonly minimum: number; readonly maximum: number }
): string | undefined =>
  Number.isInteger(value) && value >= minimum && value <= maximum
    ? undefined
    : `must be a whole number from ${minimum} to ${maximum}`

const issueOf = (text: string | null, issue: (text: string) => string | undefined) =>
  text === null ? undefined : issue(text)

/**
 * Validates what the page of a checkout shows. Texts that the invoice also contains are validated when the
 * invoice is created.
 */
const check = Effect.fnUntraced(function* (ask: Ask) {
  const issues: ReadonlyArray<readonly [path: string, message: string | undefined]> = [
    ["amount", ask.asked === null ? undefined : Amount.decimalsIssue(ask.asked.amount, ask.asked.currency)],
    ["expiry_seconds", within(ask.expirySeconds, Checkout.expirySeconds)],
    ["tolerance_percent", within(ask.tolerancePercent, Checkout.tolerancePercent)],
    ["order_id", issueOf(ask.orderId, orderIdIssue)],
    ["return_url", issueOf(ask.returnUrl, urlIssue)],
    ["cancel_url", issueOf(ask.cancelUrl, urlIssue)],
    ["embed_origin", issueOf(ask.embedOrigin, originIssue)],
    ["color", issueOf(ask.color, colorIssue)],
    ["locale", issueOf(ask.locale, Language.tagIssue)],
    ["contact", issueOf(ask.contact, contactIssue)],
    [
      "options",
      ask.options.includes("tip") && ask.asked === null
        ? "must not include tip: the payer chooses the amount"
        : undefined
    ]
  ]
  for (const [path, message] of issues)
    if (message !== undefined) return yield* new Invalid({ path, message })
})

const publicIdBytes = 16

const addressType = "segwit"

/** Time for which the chain's height and fee rate are cached, and the longest wait for the rate. */
const tipMillis = 2000
const rateMillis = { cached: 15_000, wait: 1000 } as const

/**
 * Returns the smallest on-chain payment that a checkout may ask for. A smaller one may not be credited, because spending
 * its coin would cost more at the current fee rate. The rate is ignored while the chain does not respond.
 */
const smallest = (
  { feeRate }: ChainSource.ChainSource["Service"],
  { minDeposit }: Confirmations.Options["Service"]
) =>
  Effect.cachedWithTTL(
    Effect.match(Effect.timeout(feeRate, rateMillis.wait), {
      onSuccess: (rate) => Msat.greatest(minDeposit, Msat.fromSats(Coin.spendingSats(addressType, rate))),
      onFailure: () => minDeposit
    }),
    rateMillis.cached
  )

const checkOrderId = (orderId: string | null) => {
  const message = issueOf(orderId, orderIdIssue)
  return message === undefined ? Effect.void : Effect.fail(new Invalid({ path: "order_id", message }))
}

/** Returns the list of a company's checkouts. `show` adds what was paid. */
const listed = (
  nouns: NounReads["Service"],
  reads: CheckoutReads["Service"],
  show: (row: Checkout.Checkout) => Effect.Effect<Checkout.Shown, StoreUnavailable>
): Checkouts["Service"]["list"] =>
  Effect.fnUntraced(function* (companyId, { orderId = null, status = null, ...query }) {
    yield* checkOrderId(orderId)
    const find = (before: string | null, limit: number) =>
      orderId === null
        ? nouns.newestFirst(Checkout.noun, companyId, before, limit)
        : reads.ofOrder(companyId, orderId, before, limit)
    // A checkout that is stored as paid stays paid.
    const mayBe = (row: Checkout.Checkout) => status === null || row.status !== "paid" || status === "paid"
    const isAsked = (row: Checkout.Shown) => status === null || row.status === status
    return yield* Page.filtered(query, find, (rows) =>
      Effect.map(Page.shown(companyId, rows.filter(mayBe), show), (shown) => shown.filter(isAsked))
    )
  })

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const nouns = yield* NounReads
  const reads = yield* CheckoutReads
  const invoices = yield* Invoices
  const addresses = yield* OnChainAddresses
  const { domain, linkHost = domain } = yield* Installation
  const entropy = yield* Entropy
  const { cancel } = yield* CheckoutCancel.make
  const payer = yield* CheckoutPayer.make
  const { step } = yield* CheckoutSteps.make
  const options = yield* Confirmations.Options
  // Cached, because every open checkout page requests them.
  const chain = yield* ChainSource.ChainSource
  const tip = yield* Effect.cachedWithTTL(chain.tip, tipMillis)
  const minOnChain = yield* smallest(chain, options)
  const now = Clock.currentTimeMillis

  const show = Effect.fnUntraced(function* (checkout: Checkout.Checkout) {
    return Checkout.shown(checkout, yield* reads.arrivedFor(checkout), yield* now, yield* minOnChain)
  })

  const find = (companyId: CompanyId.CompanyId, id: string) =>
    found("checkout", id, nouns.get(Checkout.noun, companyId, id))

  const get = (companyId: CompanyId.CompanyId, id: string) => Effect.flatMap(find(companyId, id), show)

  const open = (publicId: string) =>
    Effect.flatMap(found("checkout", publicId, nouns.named(Checkout.noun, { publicId })), show)

  /** Creates the checkout's invoice, address and record. */
  const draft = Effect.fnUntraced(function* ({ asked, expirySeconds, locale, splits = null, ...words }: Ask) {
    const { companyId, description, metadata } = words
    const id = Id.fromMillis(yield* now, entropy)
    const own = { companyId, metadata, checkoutId: id, splits }
    const amount = asked ?? { amount: null, minAmount: null, maxAmount: null }
    const invoice = yield* invoices
      .create({ ...own, ...amount, description, expirySeconds })
      .pipe(Effect.flatMap(Answer.made), Effect.catchTag("TooManyHeld", Effect.die)) // the invoice is not a hold invoice
    const address = yield* Effect.flatMap(addresses.create({ ...own, type: addressType }), Answer.made)
    const isFiat = asked !== null && Amount.isFiat(asked.currency)
    const language = locale === null ? undefined : Language.languageOf(locale)
    const checkout: Checkout.Checkout = {
      id,
      ...words,
      splits,
      locale: language ?? "en",
      localeSource: language === undefined ? "browser" : "seller",
      ...Checkout.unpaid,
      publicId: Id.toHex(entropy(publicIdBytes)),
      domain: linkHost,
      amount: invoice.amount,
      fiatAmount: isFiat ? Decimal.format(asked.amount) : null,
      ...Rated.of(invoice),
      invoiceId: invoice.id,
      paymentRequest: invoice.paymentRequest,
      onChainAddressId: address.id,
      address: address.address,
      createdAtMillis: invoice.createdAtMillis,
      expiresAtMillis: invoice.expiresAtMillis,
      updatedAtMillis: invoice.createdAtMillis
    }
    return checkout
  })

  return Checkouts.of({
    create: Effect.fnUntraced(function* ({ request, ...ask }) {
      const before = yield* Answers.earlier(ledger, ask.companyId, request)
      if (before !== undefined) return before
      yield* check(ask)
      const checkout = yield* draft(ask)
      const made = Checkout.shown(checkout, Checkout.nothing, checkout.createdAtMillis, yield* minOnChain)
      const once = Answer.once(
        checkout.companyId,
        request,
        made,
        checkout.createdAtMillis + Answer.keptMillis
      )
      return Answers.outcome(yield* journal.commit(Checkout.created(checkout, once)), made)
    }),
    get,
    open,
    renew: (publicId) => payer.alone(publicId, Effect.flatMap(open(publicId), payer.renew)),
    answer: (publicId, answered) =>
      payer.alone(publicId, Effect.flatMap(open(publicId), payer.answer(answered))),
    depth: ({ pending, pendingHeight: height }) => {
      if (pending === 0n) return Effect.succeed(null)
      const needed = Confirmations.neededFor(options, pending)
      if (height === null) return Effect.succeed({ seen: 0, needed })
      return Effect.match(tip, {
        onSuccess: (tip) => {
          const seen = ChainSource.confirmations(tip, height)
          // The payment has enough confirmations on its own, but still waits because of the company's other
          // pending deposits.
          return { seen, needed: Math.max(needed, seen + 1) }
        },
        onFailure: () => null
      })
    },
    deposits: ({ companyId, id, received, pending }) =>
      received === 0n && pending === 0n
        ? Effect.succeed([])
        : reads.depositsFor(companyId, id, Checkout.shownDeposits),
    list: listed(nouns, reads, show),
    cancel: (companyId, id) => Effect.andThen(cancel(find(companyId, id)), get(companyId, id)),
    step
  })
})

export const layer = Layer.effect(Checkouts, make)

/** Updates checkouts while the scope is open. */
export const layerWorker = TaskBatch.layerWorker("checkouts", Checkouts, CheckoutJobs.kinds)
