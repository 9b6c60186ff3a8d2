import { Clock, Context, Effect, Layer, Option } from "effect"
import { Installation } from "../../accounts/Installation.ts"
import type { Paused } from "../../accounts/Stops.ts"
import * as Amount from "../../base/Amount.ts"
import type * as CompanyId from "../../base/CompanyId.ts"
import * as Decimal from "../../base/Decimal.ts"
import { Entropy } from "../../base/Entropy.ts"
import * as Id from "../../base/Id.ts"
import { Invalid } from "../../base/Invalid.ts"
import * as Metadata from "../../base/Metadata.ts"
import * as Worker from "../../base/Worker.ts"
import * as Answer from "../../ledger/Answer.ts"
import * as Answers from "../../ledger/Answers.ts"
import { type Conflict, type IdempotencyMismatch, Journal, NotFound, type StoreUnavailable } from "../../ledger/Journal.ts"
import { LedgerReads } from "../../ledger/LedgerReads.ts"
import { NounReads } from "../../ledger/NounReads.ts"
import * as Page from "../../ledger/Page.ts"
import { Wakes } from "../../ledger/Wakes.ts"
import * as ChainSource from "../../nodes/ChainSource.ts"
import type { RateUnavailable } from "../../nodes/ExchangeRates.ts"
import type { NodeUnavailable } from "../../nodes/LightningReceiver.ts"
import type { Asked } from "../../nodes/Prices.ts"
import * as Checkout from "./Checkout.ts"
import * as CheckoutCancel from "./CheckoutCancel.ts"
import * as CheckoutSteps from "./CheckoutSteps.ts"
import * as CheckoutJobs from "./CheckoutJobs.ts"
import * as Confirmations from "../../receiving/Confirmations.ts"
import { Invoices } from "../../receiving/Invoices.ts"
import { OnChainAddresses } from "../../receiving/OnChainAddresses.ts"
import { CheckoutReads } from "./CheckoutReads.ts"

/** How many checkouts a page of a list has. */
export const limit = Page.limit

/** What is to be paid, and what its page says. The payer decides where `asked` is null. */
export interface Ask extends Pick<
  Checkout.Checkout,
  "companyId" | "description" | "orderId" | "metadata" | "tolerancePercent" | "returnUrl" | "cancelUrl" | "embedOrigin" | "color" | "locale"
> {
  readonly asked: Asked | null
  readonly expirySeconds: number
}

/** Asks to be paid, over Lightning or on-chain, on a page of its own. */
export class Checkouts extends Context.Service<
  Checkouts,
  {
    /** With an invoice and an address. What a crash leaves behind of them may be paid like any other. */
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
    /** As it stands now, by what came in until now. */
    readonly get: (companyId: CompanyId.CompanyId, id: string) => Effect.Effect<Checkout.Shown, NotFound | StoreUnavailable>
    /** The same for who was given its link, of whichever company. */
    readonly open: (publicId: string) => Effect.Effect<Checkout.Shown, NotFound | StoreUnavailable>
    /**
     * How deep the least deep of its payments is that are not credited yet, and how deep it has to be at least, which what its company waits for otherwise may
     * raise; null where nothing is on its way, or the chain cannot be read.
     */
    readonly depth: (checkout: Checkout.Shown) => Effect.Effect<{ readonly seen: number; readonly needed: number } | null>
    /** A page, the newest first; `next` is where the page after it starts, undefined when there is none. */
    readonly list: (
      companyId: CompanyId.CompanyId,
      query: Page.Asked
    ) => Effect.Effect<
      { readonly checkouts: ReadonlyArray<Checkout.Shown>; readonly next: Page.Position | undefined },
      Invalid | StoreUnavailable
    >
    /** Nobody is to pay it any more, and its invoice is canceled. Canceling it again changes nothing; what is paid on-chain all the same is credited. */
    readonly cancel: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Effect.Effect<Checkout.Shown, NotFound | Checkout.CheckoutNotOpen | StoreUnavailable>
    /** Has every checkout follow what is due, and answers how many tasks were. */
    readonly step: Effect.Effect<number, StoreUnavailable>
  }
>()("@satrail/core/features/checkouts/Checkouts") {}

const loopback = new Set(["localhost", "127.0.0.1", "[::1]"])

/** Why a payer cannot be sent to a URL, undefined where that can be. */
export const urlIssue = (text: string): string | undefined => {
  const issue = Metadata.textIssue(text, Checkout.limits.urlCharacters)
  if (issue !== undefined) return issue
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== "https:" && !(url.protocol === "http:" && loopback.has(url.hostname))))
    return "A URL that begins with https://; http:// only to this machine"
  return url.username === "" && url.password === "" ? undefined : "A URL without a user name or password"
}

/** Why pages of an origin cannot frame a checkout's, undefined where they can. It is an origin as a browser writes it, since it becomes part of a header. */
export const originIssue = (text: string): string | undefined =>
  urlIssue(text) ??
  (URL.parse(text)?.origin === text && !/[;,'*\s]/.test(text)
    ? undefined
    : "An origin as a browser writes it, such as https://shop.example")

/** Why a text is no colour of a page, undefined where it is one. */
export const colorIssue = (text: string): string | undefined =>
  /^#[0-9a-f]{6}$/.test(text) ? undefined : "A colour such as #1d4ed8, in lower case"

const orderIdIssue = (orderId: string): string | undefined => Metadata.textIssue(orderId, Checkout.limits.orderIdCharacters)

const within = (value: number, { minimum, maximum }: { readonly minimum: number; readonly maximum: number }): string | undefined =>
  Number.isInteger(value) && value >= minimum && value <= maximum ? undefined : `A whole number from ${minimum} to ${maximum}`

const issueOf = (text: string | null, issue: (text: string) => string | undefined) => (text === null ? undefined : issue(text))

/** What a checkout may say. What its invoice says as well, that one checks. */
const check = Effect.fnUntraced(function* (ask: Ask) {
  const issues: ReadonlyArray<readonly [path: string, message: string | undefined]> = [
    ["expiry_seconds", within(ask.expirySeconds, Checkout.expirySeconds)],
    ["tolerance_percent", within(ask.tolerancePercent, Checkout.tolerancePercent)],
    ["order_id", issueOf(ask.orderId, orderIdIssue)],
    ["return_url", issueOf(ask.returnUrl, urlIssue)],
    ["cancel_url", issueOf(ask.cancelUrl, urlIssue)],
    ["embed_origin", issueOf(ask.embedOrigin, originIssue)],
    ["color", issueOf(ask.color, colorIssue)]
  ]
  for (const [path, message] of issues) if (message !== undefined) return yield* new Invalid({ path, message })
})

const publicIdBytes = 16

/** For how long the height of the chain is taken for what it was. */
const tipMillis = 2000

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
  const { step } = yield* CheckoutSteps.make
  const options = yield* Confirmations.Options
  // Every page that waits asks for it.
  const tip = yield* Effect.cachedWithTTL((yield* ChainSource.ChainSource).tip, tipMillis)
  const now = Clock.currentTimeMillis

  const show = Effect.fnUntraced(function* (checkout: Checkout.Checkout) {
    return Checkout.shown(checkout, yield* reads.arrivedFor(checkout.companyId, checkout.id), yield* now)
  })

  const find = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, id: string) {
    const found = Id.is(id) ? yield* nouns.get(Checkout.noun, companyId, id) : Option.none()
    return Option.isSome(found) ? found.value : yield* new NotFound({ what: "checkout", id })
  })

  const get = (companyId: CompanyId.CompanyId, id: string) => Effect.flatMap(find(companyId, id), show)

  /** The invoice and the address, and the checkout that has them. */
  const draft = Effect.fnUntraced(function* ({ asked, expirySeconds, ...words }: Ask) {
    const { companyId, description, metadata } = words
    const id = Id.fromMillis(yield* now, entropy)
    const own = { companyId, metadata, checkoutId: id }
    const amount = asked ?? { amount: null, minAmount: null, maxAmount: null }
    const invoice = yield* invoices
      .create({ ...own, ...amount, description, expirySeconds })
      .pipe(Effect.flatMap(Answer.made), Effect.catchTag("TooManyHeld", Effect.die)) // it is none that is held
    const address = yield* Effect.flatMap(addresses.create({ ...own, type: "segwit" }), Answer.made)
    const isFiat = asked !== null && Amount.isFiat(asked.currency)
    const checkout: Checkout.Checkout = {
      id,
      ...words,
      publicId: Id.toHex(entropy(publicIdBytes)),
      domain: linkHost,
      amount: invoice.amount,
      fiatAmount: isFiat ? Decimal.format(asked.amount) : null,
      fiatCurrency: isFiat ? asked.currency : null,
      rate: invoice.rate,
      rateAtMillis: invoice.rateAtMillis,
      invoiceId: invoice.id,
      paymentRequest: invoice.paymentRequest,
      onChainAddressId: address.id,
      address: address.address,
      status: "open",
      received: Checkout.nothing.received,
      paidAtMillis: null,
      endedAtMillis: null,
      revision: 0,
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
      const made = Checkout.shown(checkout, Checkout.nothing, checkout.createdAtMillis)
      const once = Answer.once(checkout.companyId, request, made, checkout.createdAtMillis + Answer.keptMillis)
      return Answers.outcome(yield* journal.commit(Checkout.created(checkout, once)), made)
    }),
    get,
    open: Effect.fnUntraced(function* (publicId) {
      const found = Metadata.isText(publicId) ? yield* nouns.named(Checkout.noun, { publicId }) : Option.none()
      return yield* Option.isSome(found) ? show(found.value) : new NotFound({ what: "checkout", id: publicId })
    }),
    depth: ({ pending, pendingHeight: height }) => {
      if (pending === 0n) return Effect.succeed(null)
      const needed = Confirmations.neededFor(options, pending)
      if (height === null) return Effect.succeed({ seen: 0, needed })
      return Effect.match(tip, {
        onSuccess: (tip) => {
          const seen = ChainSource.confirmations(tip, height)
          // Deep enough for itself and still waiting: for what else its company waits for.
          return { seen, needed: Math.max(needed, seen + 1) }
        },
        onFailure: () => null
      })
    },
    list: Effect.fnUntraced(function* (companyId, query) {
      const { rows, next } = yield* Page.read(query, (before, limit) => nouns.newestFirst(Checkout.noun, companyId, before, limit))
      return { checkouts: yield* Effect.forEach(rows, show, { concurrency: "unbounded" }), next }
    }),
    cancel: (companyId, id) => Effect.andThen(cancel(find(companyId, id)), get(companyId, id)),
    step
  })
})

export const layer = Layer.effect(Checkouts, make)

/** Has checkouts follow their payments for as long as the scope is open. */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const checkouts = yield* Checkouts
    const { listen } = yield* Wakes
    const due = Effect.raceAllFirst(yield* Effect.forEach(CheckoutJobs.kinds, listen))
    yield* Worker.run("checkouts", Effect.repeat(checkouts.step, { while: (claimed) => claimed >= CheckoutSteps.tasksAtOnce }), due)
  })
)
