import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Layer, Option, type Redacted } from "effect"
import { AccountReads } from "../../accounts/AccountReads.ts"
import type { Sender } from "../../accounts/Company.ts"
import type { FeeChanged } from "../../accounts/Fees.ts"
import type * as Limits from "../../accounts/Limits.ts"
import { type Paused, Stops } from "../../accounts/Stops.ts"
import type * as CompanyId from "../../base/CompanyId.ts"
import { Entropy } from "../../base/Entropy.ts"
import * as Id from "../../base/Id.ts"
import type { Invalid } from "../../base/Invalid.ts"
import * as Worker from "../../base/Worker.ts"
import * as Answer from "../../ledger/Answer.ts"
import * as Answers from "../../ledger/Answers.ts"
import type { InsufficientBalance } from "../../ledger/Balance.ts"
import type { CompanyFrozen } from "../../ledger/Freeze.ts"
import { Conflict, type IdempotencyMismatch, Journal, NotFound, type StoreUnavailable } from "../../ledger/Journal.ts"
import { LedgerReads } from "../../ledger/LedgerReads.ts"
import type { LimitExceeded } from "../../ledger/Limit.ts"
import { NounReads } from "../../ledger/NounReads.ts"
import * as Page from "../../ledger/Page.ts"
import * as Shortage from "../../ledger/Shortage.ts"
import { Wakes } from "../../ledger/Wakes.ts"
import { type Asked, Prices } from "../../nodes/Prices.ts"
import type { Deposit } from "../../receiving/Deposit.ts"
import { ReceivingReads } from "../../receiving/ReceivingReads.ts"
import * as Priced from "../../sending/Priced.ts"
import * as Refund from "./Refund.ts"
import * as RefundSteps from "./RefundSteps.ts"
import * as RefundsTold from "./RefundsTold.ts"
import * as RefundTask from "../../sending/RefundTask.ts"
import * as Spending from "../../sending/Spending.ts"
import * as Voucher from "../vouchers/Voucher.ts"
import * as VoucherDrafts from "../vouchers/VoucherDrafts.ts"
import { Vouchers } from "../vouchers/Vouchers.ts"
import * as Withdrawal from "../../sending/Withdrawal.ts"
import * as WithdrawalDrafts from "../../sending/WithdrawalDrafts.ts"

/** How many refunds a page has. */
export const limit = Page.limit

/** So many others may refund the same deposit at the same time before one is told to try again. */
const maxTries = 200

/** What is refunded: a deposit, or the one that settled an invoice. */
export type Of = { readonly depositId: string } | { readonly invoiceId: string }

/** A refund, and its link where it has one, which is returned once. */
export interface Made {
  readonly refund: Refund.Refund
  readonly url: Redacted.Redacted | null
}

export interface Ask extends VoucherDrafts.Words, Limits.Spender {
  readonly company: Sender
  readonly of: Of
  /** Undefined: all that is left, in whole satoshis, or what the destination asks for. */
  readonly asked: Asked | undefined
  /** Undefined: a link that the payer claims. */
  readonly destination: string | undefined
  /** Has the page of the checkout that the deposit paid tell its payer of it. `seal` encrypts the link that it shows: without one it shows none. */
  readonly onCheckout?: { readonly seal: ((url: Redacted.Redacted) => string) | undefined } | undefined
  /** What it renders is stored: the link in it must be sealed. */
  readonly request?: Answer.Request<Made>
}

/** Gives deposits back to who paid them. */
export class Refunds extends Context.Service<
  Refunds,
  {
    /** Takes its part of the deposit and holds amount and fee, in one commit: all refunds of a deposit together are never more than came in. */
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
    readonly get: (companyId: CompanyId.CompanyId, id: string) => Effect.Effect<Refund.Refund, NotFound | StoreUnavailable>
    /** A page, the newest first; `next` is where the page after it starts, undefined when there is none. */
    readonly list: (
      companyId: CompanyId.CompanyId,
      query: Page.Asked
    ) => Effect.Effect<Page.Page<Refund.Refund>, Invalid | StoreUnavailable>
    /** What the page of a checkout tells its payer, the newest first: what is still to be claimed, on its way, or there; at most `RefundsTold.limit`. */
    readonly ofCheckout: (companyId: CompanyId.CompanyId, checkoutId: string) => Effect.Effect<ReadonlyArray<Refund.Told>, StoreUnavailable>
    /** Its link cannot be claimed any more, and what it took and held is given back. Canceling it again changes nothing. */
    readonly cancel: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Effect.Effect<Refund.Refund, NotFound | Refund.RefundNotOpen | StoreUnavailable>
    /** Has refunds follow what pays them, and answers how many were due. */
    readonly step: Effect.Effect<number, StoreUnavailable>
  }
>()("@satrail/core/features/refunds/Refunds") {}

/** What can be said of a deposit before anything is committed. The commit says it again. */
const check = (deposit: Deposit, amount: Msat.Msat): Effect.Effect<void, Refund.NotRefundable | Refund.RefundTooLarge> => {
  const { id: depositId, status } = deposit
  if (status !== "settled") return Effect.fail(new Refund.NotRefundable({ depositId, status }))
  const left = Refund.left(deposit)
  return amount <= left ? Effect.void : Effect.fail(new Refund.RefundTooLarge({ depositId, left }))
}

/** A refund as it will be once it is committed. */
const refundOf = (
  { company, description, metadata, onCheckout }: Ask,
  { id: depositId, checkoutId }: Deposit,
  paid: {
    readonly id: string
    readonly atMillis: number
    readonly amount: Msat.Msat
    readonly voucher: Voucher.Voucher | null
    readonly withdrawal: Withdrawal.Withdrawal | null
    readonly url: Redacted.Redacted | null
  }
): Refund.Refund => ({
  id: paid.id,
  companyId: company.id,
  depositId,
  amount: paid.amount,
  description,
  metadata,
  status: paid.voucher === null ? "pending" : "open",
  voucherId: paid.voucher && paid.voucher.id,
  withdrawalId: paid.withdrawal && paid.withdrawal.id,
  checkoutId: onCheckout === undefined ? null : checkoutId,
  sealedLink: checkoutId === null || paid.url === null ? null : (onCheckout?.seal?.(paid.url) ?? null),
  createdAtMillis: paid.atMillis,
  updatedAtMillis: paid.atMillis
})

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const accounts = yield* AccountReads
  const nouns = yield* NounReads
  const receiving = yield* ReceivingReads
  const stops = yield* Stops
  const prices = yield* Prices
  const vouchers = yield* Vouchers
  const drafts = { voucher: yield* VoucherDrafts.make, withdrawal: (yield* WithdrawalDrafts.make).withdrawal }
  const { followed, step } = yield* RefundSteps.make
  const entropy = yield* Entropy
  const now = Clock.currentTimeMillis

  const depositOf = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, of: Of) {
    const [what, id] = "depositId" in of ? ["deposit", of.depositId] : ["settled invoice", of.invoiceId]
    const read = "depositId" in of ? receiving.deposit : receiving.depositOfInvoice
    const found = Id.is(id) ? yield* read(companyId, id) : Option.none()
    return Option.isSome(found) ? found.value : yield* new NotFound({ what, id })
  })

  /** What will pay it: a withdrawal of its own, or a voucher. */
  const paymentOf = Effect.fnUntraced(function* (
    { company, apiKey, asked, destination, ...words }: Ask,
    refundId: string,
    otherwise: Msat.Msat
  ) {
    if (destination !== undefined) {
      const ask = { company, apiKey, asked, destination, otherwise, metadata: words.metadata, refundId }
      const { withdrawal, work, counts, feesRevision } = yield* drafts.withdrawal(ask)
      return {
        change: Withdrawal.requested(withdrawal, undefined, work, counts, feesRevision),
        held: Withdrawal.held(withdrawal),
        voucher: null,
        withdrawal,
        url: null
      }
    }
    const priced = asked === undefined ? { amount: otherwise, rate: null, rateAtMillis: null } : yield* prices.price(asked)
    const { voucher, url, counts, feesRevision } = yield* drafts.voucher({ company, apiKey, priced, words, refundId })
    return {
      change: Voucher.created(voucher, undefined, counts, feesRevision),
      held: Voucher.held(voucher),
      voucher,
      withdrawal: null,
      url
    }
  })

  /** Of a deposit as it is found. */
  const made = Effect.fnUntraced(function* (ask: Ask, deposit: Deposit) {
    const { company, request } = ask
    yield* check(deposit, Msat.zero)
    const atMillis = yield* now
    const id = Id.fromMillis(atMillis, entropy)
    const { change, held, voucher, withdrawal, url } = yield* paymentOf(ask, id, Msat.fromSats(Msat.toSats(Refund.left(deposit))))
    const refund = refundOf(ask, deposit, { id, atMillis, voucher, withdrawal, url, amount: (voucher ?? withdrawal).amount })
    const made: Made = { refund, url }
    // Kept for ever, as a withdrawal's: a retry may come at any time.
    const once = Answer.once(company.id, request, made, null)
    const attempt = (found: Deposit) =>
      Effect.andThen(
        check(found, refund.amount),
        Shortage.told(ledger, journal.commit(Refund.created(refund, found, change, once))).pipe(Spending.told(accounts, ask, held))
      )
    // Another refund of the deposit came between: what is left is looked at anew.
    const again = Effect.flatMap(depositOf(company.id, { depositId: deposit.id }), attempt)
    const applied = yield* Effect.catchTag(attempt(deposit), "DepositMoved", () =>
      again.pipe(
        Effect.retry({ times: maxTries, while: ({ _tag }) => _tag === "DepositMoved" }),
        Effect.catchTag("DepositMoved", () => Effect.fail(new Conflict({ change: "RefundCreated", id })))
      )
    )
    return Answers.outcome(applied, made)
  })

  const get = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, id: string) {
    const found = yield* nouns.get(Refund.noun, companyId, id)
    return Option.isSome(found) ? found.value : yield* new NotFound({ what: "refund", id })
  })

  return Refunds.of({
    create: Effect.fnUntraced(function* (ask) {
      const { company, of, request } = ask
      const before = yield* Answers.earlier(ledger, company.id, request)
      if (before !== undefined) return before
      yield* stops.check("sending")
      yield* VoucherDrafts.check(ask)
      return yield* Priced.priced(accounts)(company, (company) =>
        Effect.flatMap(depositOf(company.id, of), (deposit) => made({ ...ask, company }, deposit))
      )
    }),
    get,
    list: (companyId, query) => Page.read(query, (before, limit) => nouns.newestFirst(Refund.noun, companyId, before, limit)),
    ofCheckout: yield* RefundsTold.make,
    cancel: Effect.fnUntraced(function* (companyId, id) {
      const refund = yield* get(companyId, id)
      if (refund.status === "canceled") return refund
      const { status, voucherId } = refund
      if (status !== "open" || voucherId === null) return yield* new Refund.RefundNotOpen({ id, status })
      // What is refused changes nothing: its job has it follow what pays it.
      yield* Effect.catchTag(vouchers.cancel(companyId, voucherId), "VoucherNotOpen", ({ status }) =>
        Effect.fail(new Refund.RefundNotOpen({ id, status: status === "claimed" ? "being paid" : status }))
      )
      return yield* followed(refund)
    }),
    step
  })
})

export const layer = Layer.effect(Refunds, make)

/** Has refunds follow what pays them for as long as the scope is open. */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const refunds = yield* Refunds
    yield* Worker.run(
      "refunds",
      Effect.repeat(refunds.step, { while: (claimed) => claimed === RefundSteps.tasksAtOnce }),
      yield* (yield* Wakes).listen(RefundTask.taskKind)
    )
  })
)
