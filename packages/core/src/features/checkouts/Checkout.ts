import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"
import { originOf } from "../../accounts/Installation.ts"
import * as CompanyId from "../../base/CompanyId.ts"
import * as Metadata from "../../base/Metadata.ts"
import * as Change from "../../ledger/Change.ts"
import * as Noun from "../../ledger/Noun.ts"
import type { Written } from "../../ledger/Written.ts"
import * as CheckoutJobs from "./CheckoutJobs.ts"

/**
 * `open` may be paid, and so may `underpaid`, of which a part was credited. `paid` is final: enough was credited. `expired` and `canceled` are asked for no
 * more; should they be paid all the same, the money is credited, and they are `paid`, late.
 */
export const Status = Schema.Literals(["open", "underpaid", "paid", "expired", "canceled"])
export type Status = typeof Status.Type

/** The languages that its page can be shown in. */
export const Locale = Schema.Literals(["en", "de", "es", "fr", "pt", "ar"])
export type Locale = typeof Locale.Type

/** How long a checkout may be open, in seconds. */
export const expirySeconds = { minimum: 60, default: 3600, maximum: 604_800 } as const

/** How much of the amount may be missing, in whole percent. */
export const tolerancePercent = { minimum: 0, default: 0, maximum: 50 } as const

/** The most that its texts have. */
export const limits = { orderIdCharacters: 200, urlCharacters: 2000 } as const

/** One thing to pay, over Lightning or on-chain. `amount` is what is asked for, null where the payer decides. */
export const Checkout = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  /** What its page is known by: 128 random bits, so that nobody finds a page that he was not given. */
  publicId: Schema.String,
  /** Where its page is: a host, with its port where it has one. */
  domain: Schema.String,
  amount: Schema.NullOr(Msat.Msat),
  /** The amount in fiat, in decimal digits, and its currency; null where it was given in bitcoin. */
  fiatAmount: Schema.NullOr(Schema.String),
  fiatCurrency: Schema.NullOr(Schema.String),
  /** Fiat units for one bitcoin, for as long as the checkout lives. */
  rate: Schema.NullOr(Schema.String),
  rateAtMillis: Schema.NullOr(Schema.Int),
  tolerancePercent: Schema.Int,
  description: Schema.String,
  orderId: Schema.NullOr(Schema.String),
  metadata: Metadata.Metadata,
  returnUrl: Schema.NullOr(Schema.String),
  cancelUrl: Schema.NullOr(Schema.String),
  /** The origin whose pages may show its page in a frame, and are told there when it is paid; null where none may. */
  embedOrigin: Schema.NullOr(Schema.String),
  /** The colour of its buttons, `#rrggbb`; null for ours. */
  color: Schema.NullOr(Schema.String),
  locale: Locale,
  /** The invoice of what is still to be paid, and the address. */
  invoiceId: Noun.Id,
  paymentRequest: Schema.String,
  onChainAddressId: Noun.Id,
  address: Schema.String,
  status: Status,
  /** What was credited, when it was looked at last. */
  received: Msat.Msat,
  paidAtMillis: Schema.NullOr(Schema.Int),
  /** When it expired or was canceled. Of one that is paid: it was paid late. */
  endedAtMillis: Schema.NullOr(Schema.Int),
  /** Counts its moves: each Change says which one it follows. */
  revision: Schema.Int,
  createdAtMillis: Schema.Int,
  expiresAtMillis: Schema.Int,
  updatedAtMillis: Schema.Int
})
export interface Checkout extends Schema.Schema.Type<typeof Checkout> {}

/** What came in for a checkout: what is credited, and what is on its way on-chain. */
export interface Arrived {
  readonly received: Msat.Msat
  readonly pending: Msat.Msat
  /** The block of what is on its way, of the highest where there are several; null while any of it is in none, and where there is nothing. */
  readonly pendingHeight: number | null
}

export const nothing: Arrived = { received: Msat.zero, pending: Msat.zero, pendingHeight: null }

/** It is `status` already: only one that may be paid can be canceled. */
export class CheckoutNotOpen extends Schema.TaggedError<CheckoutNotOpen>()("CheckoutNotOpen", {
  id: Schema.String,
  status: Schema.String
}) {}

export const noun = Noun.make("checkouts", Checkout, {
  moving: ["status", "invoiceId", "paymentRequest", "received", "paidAtMillis", "endedAtMillis", "revision", "updatedAtMillis"],
  unique: [["publicId"]],
  refused: (id, status) => new CheckoutNotOpen({ id, status })
})

/** Its life: each step says where it stands from here on, and applies where it stands as it was found. */
export const life = {
  moved: Noun.move(noun, "moved", {
    expects: ["revision"],
    sets: ["status", "invoiceId", "paymentRequest", "received", "paidAtMillis", "endedAtMillis", "revision"],
    stamps: ["updatedAtMillis"],
    again: { same: ["status", "invoiceId", "received", "revision", "updatedAtMillis"] }
  })
}

type Moved = readonly [Noun.TransitionOf<typeof life.moved, Checkout>]

export interface CheckoutCreated extends Written<"CheckoutCreated", readonly [Noun.InsertOf<typeof noun>], "once", never> {}
export interface CheckoutPaid extends Written<"CheckoutPaid", Moved, "fence", "checkout.paid"> {}
export interface CheckoutUnderpaid extends Written<"CheckoutUnderpaid", Moved, "fence", "checkout.underpaid"> {}
export interface CheckoutExpired extends Written<"CheckoutExpired", Moved, "fence", "checkout.expired"> {}
export interface CheckoutCanceled extends Written<"CheckoutCanceled", Moved, never, "checkout.canceled"> {}
/** A payment was counted, and the checkout stands where it stood. */
export interface CheckoutCounted extends Written<"CheckoutCounted", Moved, "fence", never> {}

/** A step that follows from what came in, or from the time. */
export type Next = CheckoutPaid | CheckoutUnderpaid | CheckoutExpired | CheckoutCounted

/** Where it can be paid. */
export const urlOf = ({ domain, publicId }: Pick<Checkout, "domain" | "publicId">): string => `${originOf(domain)}/pay/${publicId}`

/** The least that pays it. Of 1000 with a tolerance of 3 percent: 970. */
export const least = ({ amount, tolerancePercent }: Pick<Checkout, "amount" | "tolerancePercent">): Msat.Msat =>
  amount === null ? Msat.make(1n) : Msat.make((amount * BigInt(100 - tolerancePercent) + 99n) / 100n)

/** What is still to be paid: in whole satoshis, since on-chain there are no parts of them. Null where the payer decides. */
export const rest = ({ amount }: Pick<Checkout, "amount">, received: Msat.Msat): Msat.Msat | null => {
  if (amount === null) return null
  const missing = amount > received ? amount - received : 0n
  return Msat.make(((missing + 999n) / 1000n) * 1000n)
}

/** Where it stands at a moment. What may be paid does not expire while enough is on its way: an on-chain payment takes its time. */
export const standing = (checkout: Checkout, { received, pending }: Pick<Arrived, "received" | "pending">, atMillis: number): Status => {
  const { status, expiresAtMillis } = checkout
  const enough = least(checkout)
  if (status === "paid" || received >= enough) return "paid"
  if (status === "expired" || status === "canceled") return status
  if (atMillis >= expiresAtMillis && Msat.sum(received, pending) < enough) return "expired"
  return received > 0n ? "underpaid" : "open"
}

/** A checkout as it stands now. */
export interface Shown extends Checkout {
  readonly pending: Msat.Msat
  readonly pendingHeight: number | null
  /** Whether its invoice asks for what is still to be paid: not for the moment until a payment of a part was looked at. */
  readonly isAsking: boolean
}

export const shown = (checkout: Checkout, arrived: Arrived, atMillis: number): Shown => ({
  ...checkout,
  ...arrived,
  isAsking: arrived.received === checkout.received,
  status: standing(checkout, arrived, atMillis)
})

/** Whether enough is on its way: then nothing more is asked for. */
export const isSeen = (checkout: Shown): boolean =>
  checkout.pending > 0n && Msat.sum(checkout.received, checkout.pending) >= least(checkout)

/** Whether it was paid when nobody asked for it any more. */
export const isLate = ({ status, endedAtMillis }: Pick<Checkout, "status" | "endedAtMillis">): boolean =>
  status === "paid" && endedAtMillis !== null

/** There is something to pay. No money moves. */
export const created = (checkout: Checkout, once?: Change.Once): CheckoutCreated => ({
  _tag: "CheckoutCreated",
  id: checkout.id,
  companyId: checkout.companyId,
  atMillis: checkout.createdAtMillis,
  legs: [],
  writes: [Noun.insert(noun, checkout)],
  jobs: [Change.enqueue({ kind: CheckoutJobs.expiryKind, id: checkout.id, dueAtMillis: checkout.expiresAtMillis })],
  ...(once && { once })
})

/** What the rest is to be paid with. */
export type Asking = Pick<Checkout, "invoiceId" | "paymentRequest">

const moved = (before: Checkout, values: Partial<Checkout>, atMillis: number) => {
  const { id, companyId, status, invoiceId, paymentRequest, received, paidAtMillis, endedAtMillis, revision } = before
  const found = { status, invoiceId, paymentRequest, received, paidAtMillis, endedAtMillis }
  return {
    id,
    companyId,
    atMillis,
    legs: [],
    writes: [Noun.step(life.moved, before, { ...found, ...values, revision: revision + 1 })] as const
  }
}

/** The job of its expiry, where it has none to wait for any more. */
const ended = ({ id }: Checkout) => Change.complete(id)

/** Nobody is to pay it any more. The job that the cancellation of its invoice began ends with it. */
export const canceled = (before: Checkout, atMillis: number): CheckoutCanceled => ({
  _tag: "CheckoutCanceled",
  ...moved(before, { status: "canceled", endedAtMillis: atMillis }, atMillis),
  jobs: [ended(before), Change.complete(before.invoiceId)],
  event: { type: "checkout.canceled", subject: before.id }
})

/** Whose work it is: the claim on a job, and whether the job is done with it. */
export interface Work {
  readonly fence: Change.Fence
  readonly isDone: boolean
}

/** Where it stands from here on, with `received` credited. `asking` is the invoice of the rest, where there is another one. */
export const next = (
  before: Checkout,
  { status, received, asking }: { readonly status: Status; readonly received: Msat.Msat; readonly asking?: Asking | undefined },
  atMillis: number,
  { fence, isDone }: Work
): Next => {
  const done = isDone ? [Change.complete(fence.taskId)] : []
  const subject = before.id
  const isMoved = status !== before.status
  if (status === "paid" && isMoved) {
    const parts = moved(before, { status, received, paidAtMillis: atMillis }, atMillis)
    const jobs = [ended(before), ...done]
    return { _tag: "CheckoutPaid", ...parts, fence, jobs, event: { type: "checkout.paid", subject } }
  }
  if (status === "expired" && isMoved) {
    const parts = moved(before, { status, received, endedAtMillis: atMillis }, atMillis)
    const jobs = [ended(before), ...done]
    return { _tag: "CheckoutExpired", ...parts, fence, jobs, event: { type: "checkout.expired", subject } }
  }
  if (status === "underpaid" && received !== before.received) {
    const parts = moved(before, { status, received, ...asking }, atMillis)
    return { _tag: "CheckoutUnderpaid", ...parts, fence, jobs: done, event: { type: "checkout.underpaid", subject } }
  }
  return { _tag: "CheckoutCounted", ...moved(before, { received }, atMillis), fence, jobs: done }
}
