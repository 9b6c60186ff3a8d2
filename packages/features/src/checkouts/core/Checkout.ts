import * as Msat from "@satrail/bitcoin/Msat"
import { Schema, Struct } from "effect"
import { originOf } from "@satrail/core/accounts/Installation"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Language from "@satrail/core/base/Language"
import * as Metadata from "@satrail/core/base/Metadata"
import * as Change from "@satrail/core/ledger/Change"
import * as Noun from "@satrail/core/ledger/Noun"
import { type Written, written } from "@satrail/core/ledger/Written"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as Purpose from "@satrail/core/receiving/Purpose"
import * as CheckoutJobs from "./CheckoutJobs.ts"
import * as CheckoutUri from "./CheckoutUri.ts"
import * as Rated from "@satrail/core/base/Rated"

/**
 * `open`: can be paid. `underpaid`: can be paid, and part of the amount was credited. `paid`: final, enough
 * was credited. `expired` and `canceled`: closed, but a late payment is still credited and makes the checkout
 * `paid` if enough is credited without the refunded amounts.
 */
export const Status = Schema.Literals(["open", "underpaid", "paid", "expired", "canceled"])
export type Status = typeof Status.Type

/** Returns whether a checkout with this status requests payment. */
export const isOpen = (status: Status): boolean => status === "open" || status === "underpaid"

/** Limits and default of a checkout's lifetime, in seconds. */
export const expirySeconds = { minimum: 60, default: 3600, maximum: 604_800 } as const

/** Limits and default of the accepted underpayment, in whole percent of the amount. */
export const tolerancePercent = { minimum: 0, default: 0, maximum: 50 } as const

/**
 * Options that a seller can give the payer: request a new quote after expiry, add a tip, and leave an email
 * address for the seller.
 */
export const Option = Schema.Literals(["new_quote", "tip", "email"])
export type Option = typeof Option.Type

/** The tips that a payer can choose, in percent of the amount. */
export const tips: ReadonlyArray<number> = [0, 5, 10, 15]

/** A payer can request a new quote for this long after the checkout was created. */
export const renewableMillis = 30 * 86_400_000

/**
 * Number of changes after which the payer can no longer change a checkout. This limits the number of invoices,
 * because each new quote and each new tip issues one. Only one of several concurrent attempts succeeds. The others
 * issue no invoice or cancel it, and the rate limit for callers without a key limits their number.
 */
export const maxChanges = 100

/** Maximum lengths of a checkout's strings. */
export const limits = { orderIdCharacters: 200, urlCharacters: 2000, emailCharacters: 254 } as const

/**
 * A request for one payment, over Lightning or on-chain. `amount` is the amount requested in msat, or null if
 * the payer chooses.
 */
export const Checkout = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  /** Identifies the checkout page. It contains 128 random bits, so the page's URL cannot be guessed. */
  publicId: Schema.String,
  /** Host of the checkout page, with a port if needed. */
  domain: Schema.String,
  amount: Schema.NullOr(Msat.Msat),
  /** The fiat amount in decimal digits; null if the amount was given in bitcoin. */
  fiatAmount: Schema.NullOr(Schema.String),
  /** The rate is fixed until a payer renews the checkout. */
  ...Rated.members,
  tolerancePercent: Schema.Int,
  description: Schema.String,
  orderId: Schema.NullOr(Schema.String),
  metadata: Metadata.Metadata,
  returnUrl: Schema.NullOr(Schema.String),
  cancelUrl: Schema.NullOr(Schema.String),
  /**
   * The origin that may embed the page in a frame, and is then notified of the payment. Null if embedding is
   * not allowed.
   */
  embedOrigin: Schema.NullOr(Schema.String),
  /** Color of the page's buttons, as `#rrggbb`; null for the default. */
  color: Schema.NullOr(Schema.String),
  /** Language of the page. If the payer's browser decides, only for a browser that accepts none that is available. */
  locale: Language.Locale,
  localeSource: Schema.Literals(["seller", "browser"]),
  options: Schema.Array(Option),
  /** Email address or URL where payers can reach the seller; null if none is shown. */
  contact: Schema.NullOr(Schema.String),
  /** The payer's tip, in percent of the amount; null until they choose. */
  tipPercent: Schema.NullOr(Schema.Int),
  /** Email address that the payer gave. */
  payerEmail: Schema.NullOr(Schema.String),
  /** Companies that get a share of each payment. */
  splits: Purpose.members.splits,
  /** The invoice for the remaining amount, and the on-chain address. */
  invoiceId: Noun.Id,
  paymentRequest: Schema.String,
  onChainAddressId: Noun.Id,
  address: Schema.String,
  status: Status,
  /** The amount credited as of the last check. */
  received: Msat.Msat,
  /**
   * What was credited or pending when the current invoice was issued or canceled: the invoice asks for the rest. If
   * this covers the checkout, the invoice was canceled and no other one was issued.
   */
  deducted: Msat.Msat,
  paidAtMillis: Schema.NullOr(Schema.Int),
  /** Its deadline once it expired, or when it was canceled. If this is set on a paid checkout, the payment was late. */
  endedAtMillis: Schema.NullOr(Schema.Int),
  /** Number of changes so far. Each Change names the revision on which it is based. */
  revision: Schema.Int,
  createdAtMillis: Schema.Int,
  /** Time at which the payer requested the current quote; null for the first quote. */
  quotedAtMillis: Schema.NullOr(Schema.Int),
  expiresAtMillis: Schema.Int,
  updatedAtMillis: Schema.Int
})
export interface Checkout extends Schema.Schema.Type<typeof Checkout> {}

/** The initial values of a checkout. */
export const unpaid = {
  status: "open",
  tipPercent: null,
  payerEmail: null,
  received: Msat.zero,
  deducted: Msat.zero,
  paidAtMillis: null,
  endedAtMillis: null,
  quotedAtMillis: null,
  revision: 0
} as const

/** Payments toward a checkout: the amount credited, and the amount pending on-chain. */
export interface Arrived {
  readonly received: Msat.Msat
  readonly pending: Msat.Msat
  /** The part of `received` that was refunded or may still be, in open and pending refunds. */
  readonly refunded: Msat.Msat
  /**
   * The part of `received` and `pending` that was paid in time: by Lightning, because an invoice cannot be paid after
   * it expires, or on-chain and first seen before the deadline, or proven by the chain (see `Deposit.paidAtMillis`).
   */
  readonly inTime: Msat.Msat
  /**
   * Height of the highest block with a pending payment; null if no payment is pending, or if any pending
   * payment is not in a block yet.
   */
  readonly pendingHeight: number | null
  /** The newest pending and credited deposits, newest first. */
  readonly depositIds: ReadonlyArray<string>
}

/** Maximum number of payments that a checkout shows. */
export const shownDeposits = 10

export const nothing: Arrived = {
  received: Msat.zero,
  pending: Msat.zero,
  refunded: Msat.zero,
  inTime: Msat.zero,
  pendingHeight: null,
  depositIds: []
}

/** The checkout cannot be changed or canceled because its status is `status`. */
export class CheckoutNotOpen extends Schema.TaggedError<CheckoutNotOpen>()("CheckoutNotOpen", {
  id: Schema.String,
  status: Schema.String
}) {}

/** The fields that a Change can set. */
const moving = [
  "status",
  "amount",
  "rate",
  "rateAtMillis",
  "rateSource",
  "tipPercent",
  "payerEmail",
  "invoiceId",
  "paymentRequest",
  "received",
  "deducted",
  "paidAtMillis",
  "endedAtMillis",
  "quotedAtMillis",
  "expiresAtMillis",
  "revision"
] as const

export const noun = Noun.make("checkouts", Checkout, {
  moving: [...moving, "updatedAtMillis"],
  unique: [["publicId"]],
  refused: (id, status) => new CheckoutNotOpen({ id, status })
})

/**
 * Transitions of a checkout. Each sets the new state, and applies only if the checkout has not changed since it
 * was read.
 */
export const life = {
  moved: Noun.move(noun, "moved", {
    expects: ["revision"],
    sets: moving,
    stamps: ["updatedAtMillis"],
    again: { same: ["status", "invoiceId", "received", "revision", "updatedAtMillis"] }
  })
}

type Moved = readonly [Noun.TransitionOf<typeof life.moved, Checkout>]

export interface CheckoutCreated extends Written<
  "CheckoutCreated",
  readonly [Noun.InsertOf<typeof noun>],
  "once",
  never
> {}
export interface CheckoutPaid extends Written<"CheckoutPaid", Moved, "fence", "checkout.paid"> {}
export interface CheckoutUnderpaid extends Written<
  "CheckoutUnderpaid",
  Moved,
  "fence",
  "checkout.underpaid"
> {}
export interface CheckoutExpired extends Written<"CheckoutExpired", Moved, "fence", "checkout.expired"> {}
export interface CheckoutCanceled extends Written<"CheckoutCanceled", Moved, never, "checkout.canceled"> {}
/** The payer requested a new quote. */
export interface CheckoutRenewed extends Written<"CheckoutRenewed", Moved, never, never> {}
/** The payer chose a tip or gave an email address. */
export interface CheckoutAnswered extends Written<"CheckoutAnswered", Moved, never, never> {}
/** A payment was counted, or undone by a reorganization, without an event. */
export interface CheckoutCounted extends Written<"CheckoutCounted", Moved, "fence", never> {}

/** A Change caused by a payment or by the passage of time. */
export type Next = CheckoutPaid | CheckoutUnderpaid | CheckoutExpired | CheckoutCounted

/** Returns the URL of the checkout page. */
export const urlOf = ({ domain, publicId }: Pick<Checkout, "domain" | "publicId">): string =>
  `${originOf(domain)}/pay/${publicId}`

/**
 * Returns the minimum amount that pays the checkout. For example, it is 970 for an amount of 1000 with a
 * tolerance of 3 percent.
 */
export const least = ({
  amount,
  tolerancePercent
}: Pick<Checkout, "amount" | "tolerancePercent">): Msat.Msat =>
  amount === null ? Msat.make(1n) : Msat.make((amount * BigInt(100 - tolerancePercent) + 99n) / 100n)

type Tipped = Pick<Checkout, "amount" | "tipPercent">

/** Returns the payer's tip, rounded up to whole satoshis; null if the payer chooses the amount. */
export const tipOf = ({ amount, tipPercent }: Tipped): Msat.Msat | null =>
  amount === null ? null : Msat.make(((amount * BigInt(tipPercent ?? 0) + 99_999n) / 100_000n) * 1000n)

/** Returns the amount with the tip. A tip is voluntary, so `least` excludes it. */
export const total = (checkout: Tipped): Msat.Msat | null => {
  const [{ amount }, tip] = [checkout, tipOf(checkout)]
  return amount === null || tip === null ? null : Msat.sum(amount, tip)
}

/**
 * Returns the remaining amount, rounded up to whole satoshis because on-chain amounts have no fractions of a
 * satoshi. Null if the payer chooses the amount.
 */
export const rest = (checkout: Tipped, received: Msat.Msat): Msat.Msat | null => {
  const all = total(checkout)
  if (all === null) return null
  const missing = all > received ? all - received : 0n
  return Msat.make(((missing + 999n) / 1000n) * 1000n)
}

/** Returns what was credited or is pending. */
export const sent = ({ received, pending }: Pick<Arrived, "received" | "pending">): Msat.Msat =>
  Msat.sum(received, pending)

/** Returns whether enough was credited or is pending, so that no further payment is requested. */
export const isCovered = (
  checkout: Pick<Checkout, "amount" | "tolerancePercent">,
  arrived: Pick<Arrived, "received" | "pending">
): boolean => sent(arrived) >= least(checkout)

/**
 * Returns the status at a point in time. A checkout does not expire while enough money that was seen in time is
 * pending on-chain. Once it has ended, its payments can be refunded, and then do not count.
 */
export const standing = (
  checkout: Checkout,
  { received, refunded, inTime }: Pick<Arrived, "received" | "refunded" | "inTime">,
  atMillis: number
): Status => {
  const { status, expiresAtMillis } = checkout
  const enough = least(checkout)
  const hasEnded = status === "expired" || status === "canceled"
  const kept = hasEnded ? received - refunded : received
  if (status === "paid" || kept >= enough) return "paid"
  if (hasEnded) return status
  if (atMillis >= expiresAtMillis && inTime < enough) return "expired"
  return received > 0n ? "underpaid" : "open"
}

/** Returns when a checkout with this status ended. Whether a payment was late does not depend on when the expiry was recorded. */
export const endedAt = (
  checkout: Checkout,
  status: Status,
  { inTime }: Pick<Arrived, "inTime">
): number | null => {
  const isNewlyPaid = status === "paid" && checkout.status !== "paid"
  if (!isNewlyPaid || checkout.status === "canceled") return checkout.endedAtMillis
  return inTime < least(checkout) ? checkout.expiresAtMillis : null
}

/** A checkout with its current state. */
export interface Shown extends Checkout {
  readonly pending: Msat.Msat
  readonly pendingHeight: number | null
  /** Null in an event. */
  readonly depositIds: ReadonlyArray<string> | null
  /**
   * True if its invoice is for the remaining amount. After a payment, this is false until the payment is
   * processed.
   */
  readonly isAsking: boolean
  /** The URI that pays the amount due (`CheckoutUri`). Null if nothing is due or it cannot be paid yet, and in an event. */
  readonly bip21: string | null
}

/** Returns what neither was credited nor is pending, so that a payer is not asked to pay a pending part again. */
export const unsent = (checkout: Tipped & Pick<Arrived, "received" | "pending">): Msat.Msat | null =>
  rest(checkout, sent(checkout))

/** Returns whether the payer still has to send something. */
export const isDue = (
  checkout: Pick<Checkout, "status" | "amount" | "tolerancePercent"> & Pick<Arrived, "received" | "pending">
): boolean => isOpen(checkout.status) && !isCovered(checkout, checkout)

/** Returns a checkout with its current state. An on-chain payment of less than `minOnChain` is not requested. */
export const shown = (
  checkout: Checkout,
  arrived: Arrived,
  atMillis: number,
  minOnChain: Msat.Msat
): Shown => {
  const status = standing(checkout, arrived, atMillis)
  const endedAtMillis = endedAt(checkout, status, arrived)
  const isAsking = sent(arrived) === checkout.deducted
  const now = {
    ...checkout,
    ...Struct.omit(arrived, ["inTime", "refunded"]),
    isAsking,
    status,
    endedAtMillis
  }
  const { address, paymentRequest } = checkout
  const ways = { address, invoice: isAsking ? paymentRequest : null, due: unsent(now), minOnChain }
  return { ...now, bip21: isDue(now) ? CheckoutUri.make(ways) : null }
}

const isUnpaid = ({ received, pending }: Shown): boolean => received === 0n && pending === 0n

/**
 * Returns whether the payer can request a new quote. The expiry must be recorded, and the checkout must not
 * have received any payment. Otherwise, the payer and the seller would have to agree on the value of the
 * partial payment at the new rate.
 */
export const isRenewable = (checkout: Shown, atMillis: number): boolean =>
  checkout.options.includes("new_quote") &&
  checkout.status === "expired" &&
  checkout.endedAtMillis !== null &&
  isUnpaid(checkout) &&
  checkout.revision < maxChanges &&
  atMillis < checkout.createdAtMillis + renewableMillis

/** Returns whether the payer can choose a tip or give an email address. */
export const isAnswerable = (checkout: Shown): boolean =>
  (checkout.options.includes("tip") || checkout.options.includes("email")) &&
  checkout.status === "open" &&
  isUnpaid(checkout) &&
  checkout.revision < maxChanges

/** Returns whether the payment arrived after the checkout expired, or was credited after it was canceled. */
export const isLate = ({ status, endedAtMillis }: Pick<Checkout, "status" | "endedAtMillis">): boolean =>
  status === "paid" && endedAtMillis !== null

/** Creates a checkout. No money moves. */
export const created = (checkout: Checkout, once?: Change.Once): CheckoutCreated =>
  written("CheckoutCreated", checkout.createdAtMillis, [Noun.insert(noun, checkout)], {
    jobs: [
      Change.enqueue({
        kind: CheckoutJobs.expiryKind,
        id: checkout.id,
        dueAtMillis: checkout.expiresAtMillis
      })
    ],
    ...(once && { once })
  })

/** The invoice for the remaining amount. */
export type Asking = Pick<Checkout, "invoiceId" | "paymentRequest">

const moved = (before: Checkout, values: Partial<Checkout>, atMillis: number) => {
  const set = Struct.pick({ ...before, ...values, revision: before.revision + 1 }, moving)
  return { ...Change.on(before, atMillis), writes: [Noun.step(life.moved, before, set)] as const }
}

/** A new quote for the same price. */
export interface Quote extends Asking, Rated.Rated, Pick<Checkout, "amount" | "expiresAtMillis"> {}

/** Reopens an expired checkout with a new quote. Its expiry job was completed, so another one is enqueued. */
export const renewed = (before: Checkout, quote: Quote, atMillis: number): CheckoutRenewed => ({
  _tag: "CheckoutRenewed",
  ...moved(
    before,
    {
      ...quote,
      status: "open",
      deducted: Msat.zero,
      endedAtMillis: null,
      tipPercent: null,
      quotedAtMillis: atMillis
    },
    atMillis
  ),
  jobs: [Change.enqueue({ kind: CheckoutJobs.expiryKind, id: before.id, dueAtMillis: quote.expiresAtMillis })]
})

/** The tip and email address given by the payer, and another invoice if the tip changes the amount. */
export interface Answered extends Pick<Checkout, "tipPercent" | "payerEmail">, Partial<Asking> {}

export const answered = (before: Checkout, answer: Answered, atMillis: number): CheckoutAnswered => ({
  _tag: "CheckoutAnswered",
  ...moved(
    before,
    { ...answer, ...(answer.invoiceId !== undefined && { deducted: before.received }) },
    atMillis
  ),
  jobs: answer.invoiceId === undefined ? [] : [Invoice.cancels(before.invoiceId, atMillis)]
})

/** Completes the expiry job, which is no longer needed. */
const ended = ({ id }: Checkout) => Change.complete(id)

/** Cancels the checkout and completes the job that was enqueued when its invoice was canceled. */
export const canceled = (before: Checkout, atMillis: number): CheckoutCanceled => ({
  _tag: "CheckoutCanceled",
  ...moved(before, { status: "canceled", endedAtMillis: atMillis }, atMillis),
  jobs: [ended(before), Change.complete(before.onChainAddressId)],
  event: { type: "checkout.canceled", subject: before.id }
})

/** The claim on the job that makes the change, and whether the change completes the job. */
export interface Work {
  readonly fence: Change.Fence
  readonly isDone: boolean
}

/** What a Change records: the status, the payments, and the new invoice for the remaining amount, if any. */
export interface Followed {
  readonly status: Status
  readonly arrived: Arrived
  readonly asking?: Asking | undefined
  /** True if a job must cancel the current invoice, because it could not be canceled yet. */
  readonly isPayable?: boolean
}

/** Returns the Change that records the status and the payments of a checkout. */
export const next = (
  before: Checkout,
  { status, arrived, asking, isPayable = false }: Followed,
  atMillis: number,
  { fence, isDone }: Work
): Next => {
  const cancels = isPayable ? [Invoice.cancels(before.invoiceId, atMillis)] : []
  const done = [...(isDone ? [Change.complete(fence.taskId)] : []), ...cancels]
  const { received } = arrived
  const subject = before.id
  const isMoved = status !== before.status
  if (status === "paid" && isMoved) {
    const parts = moved(
      before,
      { status, received, paidAtMillis: atMillis, endedAtMillis: endedAt(before, status, arrived) },
      atMillis
    )
    const jobs = [ended(before), ...done]
    return { _tag: "CheckoutPaid", ...parts, fence, jobs, event: { type: "checkout.paid", subject } }
  }
  if (status === "expired" && isMoved) {
    const parts = moved(before, { status, received, endedAtMillis: before.expiresAtMillis }, atMillis)
    const jobs = [ended(before), ...done]
    return { _tag: "CheckoutExpired", ...parts, fence, jobs, event: { type: "checkout.expired", subject } }
  }
  const values = { status, received, ...(isOpen(status) && { deducted: sent(arrived) }), ...asking }
  if (status === "underpaid" && received !== before.received)
    return {
      _tag: "CheckoutUnderpaid",
      ...moved(before, values, atMillis),
      fence,
      jobs: done,
      event: { type: "checkout.underpaid", subject }
    }
  return { _tag: "CheckoutCounted", ...moved(before, values, atMillis), fence, jobs: done }
}
