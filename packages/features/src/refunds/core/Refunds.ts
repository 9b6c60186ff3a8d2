import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Layer, Option, type Redacted } from "effect"
import { AccountReads } from "@satrail/core/accounts/AccountReads"
import type { Sender } from "@satrail/core/accounts/Company"
import type { FeeChanged } from "@satrail/core/accounts/Fees"
import type * as Limits from "@satrail/core/accounts/Limits"
import { type Paused, Stops } from "@satrail/core/accounts/Stops"
import * as Amount from "@satrail/core/base/Amount"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import { Invalid } from "@satrail/core/base/Invalid"
import * as Answer from "@satrail/core/ledger/Answer"
import * as Answers from "@satrail/core/ledger/Answers"
import type { InsufficientBalance } from "@satrail/core/ledger/Balance"
import type { CompanyFrozen } from "@satrail/core/ledger/Freeze"
import {
  Conflict,
  found,
  type IdempotencyMismatch,
  Journal,
  type NotFound,
  type StoreUnavailable
} from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import type { LimitExceeded } from "@satrail/core/ledger/Limit"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as Page from "@satrail/core/ledger/Page"
import * as Shortage from "@satrail/core/ledger/Shortage"
import * as TaskBatch from "@satrail/core/ledger/TaskBatch"
import { type Asked, type Priced, Prices } from "@satrail/core/nodes/Prices"
import { AsksForRest } from "@satrail/core/receiving/AsksForRest"
import type { Deposit } from "@satrail/core/receiving/Deposit"
import { DepositsOf } from "@satrail/core/receiving/DepositsOf"
import { checkWords, type Words } from "@satrail/core/receiving/Invoices"
import * as Purpose from "@satrail/core/receiving/Purpose"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import * as FeeRetry from "@satrail/core/sending/FeeRetry"
import * as Refund from "./Refund.ts"
import * as RefundSteps from "./RefundSteps.ts"
import { RefundReads } from "./RefundReads.ts"
import { refundTask } from "@satrail/core/sending/Cause"
import * as SpendingLimits from "@satrail/core/sending/SpendingLimits"
import * as Voucher from "../../vouchers/core/Voucher.ts"
import * as VoucherDrafts from "../../vouchers/core/VoucherDrafts.ts"
import { Vouchers } from "../../vouchers/core/Vouchers.ts"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import * as WithdrawalDrafts from "@satrail/core/sending/WithdrawalDrafts"
import * as Rated from "@satrail/core/base/Rated"

/**
 * Maximum number of retries if concurrent refunds of the same deposit are committed first. After that, the
 * caller must retry.
 */
const maxTries = 200

/** Maximum number of deposits of a checkout named in an error. */
const maxListed = 10

/** Maximum number of refunds shown on a checkout page. */
const maxShown = 10

/** The error message that says how to identify the deposit. */
export const ofMessage = "or invoice_id or checkout_id is required, and only one of them"

/** The deposit to refund, or the invoice or checkout that it paid. Exactly one is set. */
export interface Of {
  readonly depositId?: string | undefined
  readonly invoiceId?: string | undefined
  /** If several deposits of the checkout can be refunded, `depositId` is required instead. */
  readonly checkoutId?: string | undefined
}

/** A refund, with its link if it has one. The link is returned only once. */
export interface Made {
  readonly refund: Refund.Refund
  readonly url: Redacted.Redacted | null
}

export interface Ask extends Of, Words, Limits.Spender {
  readonly company: Sender
  /**
   * If undefined, refunds the whole remaining amount in whole satoshis, or the amount that the destination
   * requests.
   */
  readonly asked: Asked | undefined
  /** If undefined, creates a link that the payer claims. */
  readonly destination: string | undefined
  /**
   * Shows the refund on the page of the deposit's checkout. `seal` encrypts the link shown there; without it,
   * the page shows no link.
   */
  readonly onCheckout?: { readonly seal: ((url: Redacted.Redacted) => string) | undefined } | undefined
  /** The rendered response is stored, so the link in it must be sealed. */
  readonly request?: Answer.Request<Made>
}

/** A request, and when it began. */
interface Begun extends Ask {
  readonly askedAtMillis: number
}

/** Refunds deposits to their payers. */
export class Refunds extends Context.Service<
  Refunds,
  {
    /**
     * Adds the refund to the deposit's refunded total and holds amount and fee, in one commit. The refunds of a
     * deposit never exceed it in total.
     */
    readonly create: (
      ask: Ask
    ) => Effect.Effect<
      Answer.Outcome<Made>,
      | WithdrawalDrafts.Refused
      | NotFound
      | Refund.NotRefundable
      | Refund.RefundTooLarge
      | FeeChanged
      | InsufficientBalance
      | LimitExceeded
      | CompanyFrozen
      | Paused
      | Conflict
      | IdempotencyMismatch
    >
    readonly get: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Effect.Effect<Refund.Refund, NotFound | StoreUnavailable>
    /**
     * Returns a page, newest first: of one deposit, or of all. `next` is the start of the following page, or
     * undefined on the last one.
     */
    readonly list: (
      companyId: CompanyId.CompanyId,
      query: Page.Dated & { readonly depositId?: string | undefined }
    ) => Effect.Effect<Page.Page<Refund.Refund>, Invalid | StoreUnavailable>
    /**
     * Returns the refunds shown on a checkout page, newest first: claimable, pending and paid ones, at most
     * `maxShown`.
     */
    readonly ofCheckout: (
      companyId: CompanyId.CompanyId,
      checkoutId: string
    ) => Effect.Effect<ReadonlyArray<Refund.Shown>, StoreUnavailable>
    /**
     * Cancels a refund link, releases its hold, and makes its amount refundable again. Canceling it again
     * changes nothing.
     */
    readonly cancel: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Effect.Effect<Refund.Refund, NotFound | Refund.RefundNotOpen | StoreUnavailable>
    /** Updates refunds whose payments have progressed, and returns the number of refunds that were due. */
    readonly step: Effect.Effect<number, StoreUnavailable>
  }
>()("@satrail/features/refunds/core/Refunds") {}

/** Checks a deposit before anything is committed. The commit checks it again. */
const check = (
  deposit: Deposit,
  amount: Msat.Msat
): Effect.Effect<void, Refund.NotRefundable | Refund.RefundTooLarge> => {
  const { id: depositId, status } = deposit
  if (status !== "settled") return Effect.fail(new Refund.NotRefundable({ depositId, status }))
  const left = Refund.left(deposit)
  return amount <= left ? Effect.void : Effect.fail(new Refund.RefundTooLarge({ depositId, left }))
}

const refundOf = (
  { company, apiKey, description, metadata, onCheckout }: Ask,
  { id: depositId, checkoutId }: Deposit,
  paid: {
    readonly id: string
    readonly atMillis: number
    readonly priced: Priced
    readonly voucher: Voucher.Voucher | null
    readonly withdrawal: Withdrawal.Withdrawal | null
    readonly url: Redacted.Redacted | null
  }
): Refund.Refund => ({
  id: paid.id,
  companyId: company.id,
  depositId,
  amount: paid.priced.amount,
  ...Rated.of(paid.priced),
  description,
  metadata,
  status: paid.voucher === null ? "pending" : "open",
  voucherId: paid.voucher && paid.voucher.id,
  withdrawalId: paid.withdrawal && paid.withdrawal.id,
  checkoutId: onCheckout === undefined ? null : checkoutId,
  sealedLink: checkoutId === null || paid.url === null ? null : (onCheckout?.seal?.(paid.url) ?? null),
  createdBy: apiKey?.id ?? null,
  createdAtMillis: paid.atMillis,
  updatedAtMillis: paid.atMillis
})

const shownOn = Effect.fnUntraced(function* ({
  payment
}: Pick<Effect.Success<typeof RefundSteps.make>, "payment">) {
  const records = yield* RefundReads
  return Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, checkoutId: string) {
    const atMillis = yield* Clock.currentTimeMillis
    const found = yield* records.refundsOf(companyId, checkoutId, maxShown)
    const told = yield* Effect.forEach(found, (refund) =>
      Effect.map(refund.status === "completed" ? Effect.succeed(undefined) : payment(refund), (paidBy) =>
        Refund.shownAt(refund, paidBy, atMillis)
      )
    )
    return told.filter((one) => one !== undefined)
  })
})

/** Makes a function that finds the deposit to refund. */
const finding = Effect.gen(function* () {
  const receiving = yield* ReceivingReads
  const depositsOf = yield* DepositsOf

  /**
   * Returns the checkout's refundable deposit. If there is none, returns the newest deposit, which `check` then
   * rejects.
   */
  const depositOfCheckout = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, id: string) {
    const deposits = Id.is(id) ? yield* depositsOf(companyId, id, maxListed + 1) : []
    const open = deposits.filter((deposit) => deposit.status === "settled" && Refund.left(deposit) > 0n)
    // With more deposits than were read, an older one may be refundable, too.
    if (open.length < 2 && deposits.length <= maxListed) return Option.fromNullishOr(open[0] ?? deposits[0])
    const ids = open.slice(0, maxListed).map((deposit) => deposit.id)
    const which = ids.length === 0 ? "" : `, such as ${ids.join(", ")}`
    return yield* new Invalid({
      path: "checkout_id",
      message: `was paid by several deposits; set deposit_id${which}`
    })
  })

  return Effect.fnUntraced(function* (
    companyId: CompanyId.CompanyId,
    { depositId, invoiceId, checkoutId }: Of
  ) {
    const given = [depositId, invoiceId, checkoutId].filter((id) => id !== undefined)
    const [id] = given
    if (id === undefined || given.length > 1)
      return yield* new Invalid({ path: "deposit_id", message: ofMessage })
    if (checkoutId !== undefined) return yield* found("paid checkout", id, depositOfCheckout(companyId, id))
    return yield* depositId === undefined
      ? found("settled invoice", id, receiving.depositOfInvoice(companyId, id))
      : found("deposit", id, receiving.deposit(companyId, id))
  })
})

/** Makes a function that prepares a refund's payment: a withdrawal or a voucher. */
const paying = Effect.gen(function* () {
  const prices = yield* Prices
  const [draftVoucher, withdrawalDrafts] = [yield* VoucherDrafts.make, yield* WithdrawalDrafts.make]
  return Effect.fnUntraced(function* (
    { company, apiKey, asked, destination, askedAtMillis, ...words }: Begun,
    refundId: string,
    otherwise: Msat.Msat
  ) {
    if (destination !== undefined) {
      const methods = yield* withdrawalDrafts.parse(destination)
      const ask = {
        company,
        apiKey,
        asked,
        methods,
        otherwise,
        metadata: words.metadata,
        refundId,
        askedAtMillis
      }
      const { withdrawal, work, counts, spender, feesRevision } = yield* withdrawalDrafts.withdrawal(ask)
      const change = Withdrawal.requested(withdrawal, undefined, work, counts, feesRevision)
      return { change, held: Withdrawal.held(withdrawal), spender, voucher: null, withdrawal, url: null }
    }
    const priced = asked === undefined ? { amount: otherwise, ...Rated.none } : yield* prices.price(asked)
    const { voucher, url, counts, feesRevision } = yield* draftVoucher({
      company,
      apiKey,
      priced,
      words,
      refundId
    })
    const change = Voucher.created(voucher, undefined, counts, feesRevision)
    return {
      change,
      held: Voucher.held(voucher),
      spender: { company, apiKey },
      voucher,
      withdrawal: null,
      url
    }
  })
})

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const accounts = yield* AccountReads
  const nouns = yield* NounReads
  const records = yield* RefundReads
  const depositOf = yield* finding
  const asksForRest = yield* AsksForRest
  const stops = yield* Stops
  const vouchers = yield* Vouchers
  const paymentOf = yield* paying
  const steps = yield* RefundSteps.make
  const entropy = yield* Entropy
  const now = Clock.currentTimeMillis

  /** Creates a refund of a deposit. `deposit` is the record as last read. */
  const made = Effect.fnUntraced(function* (ask: Begun, deposit: Deposit) {
    const { company, request } = ask
    yield* check(deposit, Amount.min)
    // The rest alone would pay the checkout, because a refunded payment still counts. A checkout that has ended
    // does not ask again, so the commit need not check this.
    const collector = Purpose.collectorOf(deposit)
    if (collector !== null && (yield* asksForRest(company.id, collector)))
      return yield* new Refund.NotRefundable({ depositId: deposit.id, status: "underpaid" })
    const atMillis = yield* now
    const id = Id.fromMillis(atMillis, entropy)
    const left = Msat.fromSats(Msat.toSats(Refund.left(deposit)))
    const { change, held, spender, voucher, withdrawal, url } = yield* paymentOf(ask, id, left)
    const refund = refundOf(ask, deposit, {
      id,
      atMillis,
      voucher,
      withdrawal,
      url,
      priced: voucher ?? withdrawal
    })
    const made: Made = { refund, url }
    // The response is stored permanently, as for a withdrawal, because a retry may come at any time.
    const once = Answer.once(company.id, request, made, null)
    const attempt = (found: Deposit) =>
      Effect.andThen(
        check(found, refund.amount),
        Shortage.withBalance(ledger, journal.commit(Refund.created(refund, found, change, once))).pipe(
          SpendingLimits.withRemaining(accounts, spender, held)
        )
      )
    // Another refund of the deposit was committed first. Read the remaining amount again.
    const again = Effect.flatMap(depositOf(company.id, { depositId: deposit.id }), attempt)
    const applied = yield* Effect.catchTag(attempt(deposit), "DepositMoved", () =>
      again.pipe(
        Effect.retry({ times: maxTries, while: ({ _tag }) => _tag === "DepositMoved" }),
        Effect.catchTag("DepositMoved", () => Effect.fail(new Conflict({ change: "RefundCreated", id })))
      )
    )
    return Answers.outcome(applied, made)
  })

  const get = (companyId: CompanyId.CompanyId, id: string) =>
    found("refund", id, nouns.get(Refund.noun, companyId, id))

  return Refunds.of({
    create: Effect.fnUntraced(function* (ask) {
      const { company, request } = ask
      const askedAtMillis = yield* now
      const before = yield* Answers.earlier(ledger, company.id, request)
      if (before !== undefined) return before
      yield* stops.check("sending")
      yield* checkWords(ask, Voucher.expirySeconds)
      return yield* FeeRetry.retryOnFeeChange(accounts)(company, (company) =>
        Effect.flatMap(depositOf(company.id, ask), (deposit) =>
          made({ ...ask, company, askedAtMillis }, deposit)
        )
      ).pipe(Answers.orEarlier(ledger, company.id, request))
    }),
    get,
    list: (companyId, { depositId, ...query }) => {
      if (depositId === undefined)
        return Page.read(query, (before, limit) => nouns.newestFirst(Refund.noun, companyId, before, limit))
      if (!Id.is(depositId))
        return Effect.fail(new Invalid({ path: "deposit_id", message: "must be the id of a deposit" }))
      return Page.read(query, (before, limit) => records.ofDeposit(companyId, depositId, before, limit))
    },
    ofCheckout: yield* shownOn(steps),
    cancel: Effect.fnUntraced(function* (companyId, id) {
      const refund = yield* get(companyId, id)
      if (refund.status === "canceled") return refund
      const { status, voucherId } = refund
      if (status !== "open" || voucherId === null) return yield* new Refund.RefundNotOpen({ id, status })
      // A crash after this call is harmless, because the refund's job then records the cancellation.
      yield* Effect.catchTag(vouchers.cancel(companyId, voucherId), "VoucherNotOpen", ({ status }) =>
        Effect.fail(new Refund.RefundNotOpen({ id, status: status === "claimed" ? "being paid" : status }))
      )
      return yield* steps.followed(refund)
    }),
    step: steps.step
  })
})

export const layer = Layer.effect(Refunds, make)

/** Updates refunds while the scope is open. */
export const layerWorker = TaskBatch.layerWorker("refunds", Refunds, [refundTask])
