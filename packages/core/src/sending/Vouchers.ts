import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { Bounds } from "../accounts/Bounds.ts"
import type { Company } from "../accounts/Company.ts"
import { Fees } from "../accounts/Fees.ts"
import { Installation } from "../accounts/Installation.ts"
import type { AmountInvalid } from "../base/Amount.ts"
import type * as CompanyId from "../base/CompanyId.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import { Invalid } from "../base/Invalid.ts"
import * as Metadata from "../base/Metadata.ts"
import * as SecretHash from "../base/SecretHash.ts"
import * as Worker from "../base/Worker.ts"
import * as Answer from "../ledger/Answer.ts"
import * as Answers from "../ledger/Answers.ts"
import type { InsufficientBalance } from "../ledger/Balance.ts"
import { type Conflict, type IdempotencyMismatch, Journal, NotFound, type StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import * as Page from "../ledger/Page.ts"
import * as Shortage from "../ledger/Shortage.ts"
import type { RateUnavailable } from "../nodes/ExchangeRates.ts"
import { type Asked, Prices } from "../nodes/Prices.ts"
import { descriptionIssue } from "../receiving/Invoices.ts"
import { SendingReads } from "./SendingReads.ts"
import * as Voucher from "./Voucher.ts"
import * as VoucherClaims from "./VoucherClaims.ts"
import * as VoucherExpiry from "./VoucherExpiry.ts"
import { checkSendable } from "./Withdrawals.ts"

/** How many vouchers a page has. */
export const limit = Page.limit

/** A voucher and its secret, which is returned once. */
export interface Issued {
  readonly voucher: Voucher.Voucher
  /** What a wallet scans: the secret is in it. */
  readonly url: Redacted.Redacted
}

/** Money for the bearer of a link: held when a voucher is created, and paid once, to the first invoice that claims it (LUD-03). */
export class Vouchers extends Context.Service<
  Vouchers,
  {
    /** Holds amount and fee until the voucher is claimed, canceled, or expires. */
    readonly create: (
      ask: Asked & {
        readonly company: Pick<Company, "id" | "plan">
        readonly description: string
        readonly expirySeconds: number
        readonly metadata: Metadata.Metadata
        /** What it renders is stored: the link in it must be sealed. */
        readonly request?: Answer.Request<Issued>
      }
    ) => Effect.Effect<
      Answer.Outcome<Issued>,
      AmountInvalid | Invalid | RateUnavailable | InsufficientBalance | Conflict | IdempotencyMismatch | StoreUnavailable
    >
    readonly get: (companyId: CompanyId.CompanyId, id: string) => Effect.Effect<Voucher.Voucher, NotFound | StoreUnavailable>
    /** A page, the newest first; `next` is where the page after it starts, undefined when there is none. */
    readonly list: (
      companyId: CompanyId.CompanyId,
      query: Page.Asked
    ) => Effect.Effect<
      { readonly vouchers: ReadonlyArray<Voucher.Voucher>; readonly next: Page.Position | undefined },
      Invalid | StoreUnavailable
    >
    /** It cannot be claimed any more, and what it held is available again. Canceling it again changes nothing; one that was claimed stays claimed. */
    readonly cancel: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Effect.Effect<Voucher.Voucher, NotFound | Voucher.VoucherNotOpen | StoreUnavailable>
    /** The voucher behind a secret, as long as it can be claimed, and where. */
    readonly offer: (
      k1: string
    ) => Effect.Effect<{ readonly voucher: Voucher.Voucher; readonly callback: string }, Voucher.VoucherRefused | StoreUnavailable>
    /**
     * Has the invoice paid by a worker, if it asks for exactly the amount and may be paid. Of any number of claims at once one is the first, and the
     * others are refused. The same invoice again is no other claim.
     */
    readonly claim: (ask: VoucherClaims.Claim) => Effect.Effect<void, Voucher.VoucherRefused | StoreUnavailable>
    /** Voids every voucher that has expired, and answers how many tasks were due. */
    readonly step: Effect.Effect<number, StoreUnavailable>
  }
>()("@satrail/core/sending/Vouchers") {}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const records = yield* SendingReads
  const fees = yield* Fees
  const prices = yield* Prices
  const { domain } = yield* Installation
  const bounds = yield* Bounds
  const entropy = yield* Entropy
  const now = Clock.currentTimeMillis

  const get = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, id: string) {
    const found = Id.is(id) ? yield* records.voucher(companyId, id) : undefined
    return found?._tag === "Some" ? found.value : yield* new NotFound({ what: "voucher", id })
  })

  return Vouchers.of({
    create: Effect.fnUntraced(function* ({ company, description, expirySeconds, metadata, request, ...asked }) {
      const before = yield* Answers.earlier(ledger, company.id, request)
      if (before !== undefined) return before
      const message = descriptionIssue(description)
      if (message !== undefined) return yield* new Invalid({ path: "description", message })
      const { minimum, maximum } = Voucher.expirySeconds
      if (!Number.isInteger(expirySeconds) || expirySeconds < minimum || expirySeconds > maximum) {
        return yield* new Invalid({ path: "expiry_seconds", message: `A whole number of seconds from ${minimum} to ${maximum}` })
      }
      yield* Metadata.check(metadata)
      const { amount, rate, rateAtMillis } = yield* prices.price(asked)
      yield* checkSendable(amount, bounds)
      // Only the chain's fee can be unknown.
      const { service, network } = yield* Effect.orDie(fees.quote({ company, way: "lightning", amount }))
      const k1 = Id.toHex(entropy(32))
      const createdAtMillis = yield* now
      const voucher = Voucher.open({
        id: Id.fromMillis(createdAtMillis, entropy),
        companyId: company.id,
        ledgerTxId: Id.fromMillis(createdAtMillis, entropy),
        amount,
        serviceFee: service,
        networkAllowance: network,
        description,
        metadata,
        rate,
        rateAtMillis,
        secretHash: SecretHash.of(k1),
        createdAtMillis,
        expiresAtMillis: createdAtMillis + expirySeconds * 1000
      })
      const issued: Issued = { voucher, url: Redacted.make(Voucher.urlOf(domain, k1)) }
      const once = Answer.once(company.id, request, issued, createdAtMillis + Answer.keptMillis)
      return Answers.outcome(yield* Shortage.told(ledger, journal.commit(Voucher.created(voucher, once))), issued)
    }),
    get,
    list: Effect.fnUntraced(function* (companyId, query) {
      const { rows, next } = yield* Page.read(query, (before, limit) => records.vouchersOf(companyId, before, limit))
      return { vouchers: rows, next }
    }),
    cancel: Effect.fnUntraced(function* (companyId, id) {
      yield* journal.commit(Voucher.canceled(yield* get(companyId, id), yield* now))
      return yield* get(companyId, id)
    }),
    ...(yield* VoucherClaims.make),
    ...(yield* VoucherExpiry.make)
  })
})

export const layer = Layer.effect(Vouchers, make)

/** Voids what has expired for as long as the scope is open. */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const vouchers = yield* Vouchers
    yield* Worker.run(
      "vouchers",
      Effect.repeat(vouchers.step, { while: (claimed) => claimed === VoucherExpiry.tasksAtOnce }),
      Effect.sleep("1 second")
    )
  })
)
