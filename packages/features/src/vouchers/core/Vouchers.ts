import { Clock, Context, Effect, Layer } from "effect"
import { AccountReads } from "@satrail/core/accounts/AccountReads"
import type { Sender } from "@satrail/core/accounts/Company"
import type { FeeChanged } from "@satrail/core/accounts/Fees"
import type * as Limits from "@satrail/core/accounts/Limits"
import { type Paused, Stops } from "@satrail/core/accounts/Stops"
import type { AmountInvalid } from "@satrail/core/base/Amount"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Invalid } from "@satrail/core/base/Invalid"
import * as Answer from "@satrail/core/ledger/Answer"
import * as Answers from "@satrail/core/ledger/Answers"
import type { InsufficientBalance } from "@satrail/core/ledger/Balance"
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
import type { CompanyFrozen } from "@satrail/core/ledger/Freeze"
import type * as Limit from "@satrail/core/ledger/Limit"
import * as Page from "@satrail/core/ledger/Page"
import * as Shortage from "@satrail/core/ledger/Shortage"
import * as TaskBatch from "@satrail/core/ledger/TaskBatch"
import type { RateUnavailable } from "@satrail/core/nodes/ExchangeRates"
import { type Asked, Prices } from "@satrail/core/nodes/Prices"
import { checkWords, type Words } from "@satrail/core/receiving/Invoices"
import * as FeeRetry from "@satrail/core/sending/FeeRetry"
import * as SpendingLimits from "@satrail/core/sending/SpendingLimits"
import * as Voucher from "./Voucher.ts"
import * as VoucherCancels from "./VoucherCancels.ts"
import * as VoucherClaims from "./VoucherClaims.ts"
import type { Issued } from "./VoucherDrafts.ts"
import * as VoucherDrafts from "./VoucherDrafts.ts"
import * as VoucherExpiry from "./VoucherExpiry.ts"

/**
 * Payments to anyone who holds a link. The money is held when a voucher is created, and is paid only once, to
 * the first invoice that claims the voucher (LUD-03).
 */
export class Vouchers extends Context.Service<
  Vouchers,
  {
    /** Holds the amount and the fee until the voucher is claimed, canceled, or expires. */
    readonly create: (
      ask: Asked &
        Limits.Spender &
        Words & {
          readonly company: Sender
          /** The rendered response is stored, so the link in it must be sealed. */
          readonly request?: Answer.Request<Issued>
        }
    ) => Effect.Effect<
      Answer.Outcome<Issued>,
      | AmountInvalid
      | Invalid
      | RateUnavailable
      | FeeChanged
      | InsufficientBalance
      | Limit.LimitExceeded
      | CompanyFrozen
      | Paused
      | Conflict
      | IdempotencyMismatch
      | StoreUnavailable
    >
    readonly get: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Effect.Effect<Voucher.Voucher, NotFound | StoreUnavailable>
    /**
     * Returns a page, newest first. `next` is the start of the following page, or undefined on the last one.
     */
    readonly list: (
      companyId: CompanyId.CompanyId,
      query: Page.Dated & {
        /** Only vouchers created by this API key or person. */
        readonly createdBy?: string | undefined
        readonly status?: Voucher.Status | undefined
      }
    ) => Effect.Effect<Page.Page<Voucher.Voucher>, Invalid | StoreUnavailable>
    /**
     * Cancels a voucher and releases its hold. Canceling it again changes nothing. A claimed or expired voucher
     * cannot be canceled.
     */
    readonly cancel: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Effect.Effect<Voucher.Voucher, NotFound | Voucher.VoucherNotOpen | StoreUnavailable>
    /**
     * Cancels every open voucher that an API key or person created, including those of refund links, and releases
     * their holds. Returns their number. For a stolen key: revoke it first, so that it creates no more.
     */
    readonly cancelCreatedBy: (
      companyId: CompanyId.CompanyId,
      createdBy: string
    ) => Effect.Effect<number, StoreUnavailable>
    /** Returns the voucher with this secret while it can be claimed, and its callback URL. */
    readonly offer: (
      k1: string
    ) => Effect.Effect<
      { readonly voucher: Voucher.Voucher; readonly callback: string },
      Voucher.VoucherRefused | StoreUnavailable
    >
    /**
     * Claims the voucher with an invoice for exactly its amount, which a worker then pays. If several claims
     * are concurrent, the first one succeeds and the others are rejected. Repeating the same invoice counts as
     * the same claim.
     */
    readonly claim: (
      ask: VoucherClaims.Claim
    ) => Effect.Effect<void, Voucher.VoucherRefused | StoreUnavailable>
    /** Voids every expired voucher, and returns the number of tasks that were due. */
    readonly step: Effect.Effect<number, StoreUnavailable>
  }
>()("@satrail/features/vouchers/core/Vouchers") {}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const nouns = yield* NounReads
  const accounts = yield* AccountReads
  const retryOnFeeChange = FeeRetry.retryOnFeeChange(accounts)
  const stops = yield* Stops
  const prices = yield* Prices
  const draft = yield* VoucherDrafts.make
  const now = Clock.currentTimeMillis

  const get = (companyId: CompanyId.CompanyId, id: string) =>
    found("voucher", id, nouns.get(Voucher.noun, companyId, id))

  return Vouchers.of({
    create: Effect.fnUntraced(function* ({ company, apiKey, request, amount, currency, ...words }) {
      const before = yield* Answers.earlier(ledger, company.id, request)
      if (before !== undefined) return before
      yield* stops.check("sending")
      yield* checkWords(words, Voucher.expirySeconds)
      const price = yield* prices.price({ amount, currency })
      return yield* retryOnFeeChange(
        company,
        Effect.fnUntraced(function* (company) {
          const spender = { company, apiKey }
          const { counts, feesRevision, ...issued } = yield* draft({ ...spender, priced: price, words })
          const { voucher } = issued
          const once = Answer.once(company.id, request, issued, voucher.createdAtMillis + Answer.keptMillis)
          const committed = Shortage.withBalance(
            ledger,
            journal.commit(Voucher.created(voucher, once, counts, feesRevision))
          )
          return Answers.outcome(
            yield* committed.pipe(SpendingLimits.withRemaining(accounts, spender, Voucher.held(voucher))),
            issued
          )
        })
      )
    }),
    get,
    list: (companyId, { createdBy, status, ...query }) =>
      Page.filtered(
        query,
        (before, limit) => nouns.newestFirst(Voucher.noun, companyId, before, limit),
        (rows) =>
          Effect.succeed(
            rows.filter(
              (row) =>
                (createdBy === undefined || row.createdBy === createdBy) &&
                (status === undefined || row.status === status)
            )
          )
      ),
    cancel: Effect.fnUntraced(function* (companyId, id) {
      yield* journal.commit(Voucher.canceled(yield* get(companyId, id), yield* now))
      return yield* get(companyId, id)
    }),
    cancelCreatedBy: yield* VoucherCancels.make,
    ...(yield* VoucherClaims.make),
    ...(yield* VoucherExpiry.make)
  })
})

export const layer = Layer.effect(Vouchers, make)

/** Voids expired vouchers while the scope is open. */
export const layerWorker = TaskBatch.layerWorker("vouchers", Vouchers, [Voucher.taskKind])
