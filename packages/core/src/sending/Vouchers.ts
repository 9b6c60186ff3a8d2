import { Clock, Context, Effect, Layer, Redacted } from "effect"
import type { Company } from "../accounts/Company.ts"
import { Fees } from "../accounts/Fees.ts"
import type { AmountInvalid } from "../base/Amount.ts"
import type * as CompanyId from "../base/CompanyId.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import { Invalid } from "../base/Invalid.ts"
import * as Metadata from "../base/Metadata.ts"
import * as Throttle from "../base/Throttle.ts"
import * as Worker from "../base/Worker.ts"
import * as Answer from "../ledger/Answer.ts"
import * as Answers from "../ledger/Answers.ts"
import type { InsufficientBalance } from "../ledger/Balance.ts"
import { type Conflict, type IdempotencyMismatch, Journal, NotFound, type StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import type { Position } from "../ledger/Page.ts"
import { fence, type Task, Tasks } from "../ledger/Tasks.ts"
import type { RateUnavailable } from "../nodes/ExchangeRates.ts"
import { type Asked, Prices } from "../nodes/Prices.ts"
import { Policy } from "../policy/Policy.ts"
import { descriptionIssue } from "../receiving/Invoices.ts"
import * as Destination from "./Destination.ts"
import { Recipients } from "./Recipients.ts"
import { SendingReads } from "./SendingReads.ts"
import * as Voucher from "./Voucher.ts"
import { checkSendable } from "./Withdrawals.ts"

const tasksAtOnce = 20
const leaseMillis = 60_000
const laterMillis = 10_000

/** How many vouchers a page has. */
export const limit = { default: 100, maximum: 1000 } as const

/** A voucher and its secret, which nobody can ask for again. */
export interface Issued {
  readonly voucher: Voucher.Voucher
  /** What a wallet scans: the secret is in it. */
  readonly url: Redacted.Redacted
}

/** What a wallet sends to claim a voucher, each as it came. */
export interface Claim {
  readonly k1: string
  /** The invoice that is to be paid. */
  readonly pr: string
  /** Whoever asks, by whatever he is told apart: he may claim only so often. */
  readonly caller: string
}

/** Money for whoever has the link: held when a voucher is created, and paid once, to the first invoice that claims it (LUD-03). */
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
      query: { readonly limit: number; readonly before: string | null }
    ) => Effect.Effect<
      { readonly vouchers: ReadonlyArray<Voucher.Voucher>; readonly next: Position | undefined },
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
    readonly claim: (ask: Claim) => Effect.Effect<void, Voucher.VoucherRefused | StoreUnavailable>
    /** Voids every voucher that has expired, and answers how many tasks were due. */
    readonly step: Effect.Effect<number, StoreUnavailable>
  }
>()("@satrail/core/sending/Vouchers") {}

const gone: { readonly [status in Exclude<Voucher.Status, "open">]: Voucher.VoucherRefused } = {
  claimed: new Voucher.VoucherRefused({ code: "claimed", message: "The voucher was claimed already" }),
  expired: new Voucher.VoucherRefused({ code: "expired", message: "The voucher has expired" }),
  canceled: new Voucher.VoucherRefused({ code: "canceled", message: "The voucher was canceled" })
}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const records = yield* SendingReads
  const fees = yield* Fees
  const tasks = yield* Tasks
  const prices = yield* Prices
  const recipients = yield* Recipients
  const policy = yield* Policy
  const entropy = yield* Entropy
  const callerMayClaim = Throttle.make(policy.lnurl.perCaller)
  const now = Clock.currentTimeMillis

  const get = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, id: string) {
    const found = Id.is(id) ? yield* records.voucher(companyId, id) : undefined
    return found?._tag === "Some" ? found.value : yield* new NotFound({ what: "voucher", id })
  })

  const bySecret = Effect.fnUntraced(function* (k1: string) {
    const found = yield* records.voucherBySecret(Voucher.hashOf(k1))
    return found._tag === "Some"
      ? found.value
      : yield* new Voucher.VoucherRefused({ code: "not_found", message: "There is no such voucher" })
  })

  const open = Effect.fnUntraced(function* (voucher: Voucher.Voucher) {
    if (voucher.status !== "open") return yield* gone[voucher.status]
    // The worker that voids it may be late.
    return voucher.expiresAtMillis <= (yield* now) ? yield* gone.expired : voucher
  })

  /** The invoice, read, if it is one that this voucher may pay. */
  const payable = Effect.fnUntraced(
    function* (voucher: Voucher.Voucher, pr: string) {
      const destination = yield* Effect.fromResult(Destination.parse(pr, policy.network))
      if (destination._tag !== "LightningInvoice" || destination.invoice.amount !== voucher.amount) {
        return yield* new Voucher.VoucherRefused({
          code: "invoice",
          message: `pr must be a Lightning invoice for exactly ${voucher.amount} millisatoshis`
        })
      }
      yield* recipients.payable(voucher.companyId, destination, voucher.amount)
      return Destination.text(destination)
    },
    Effect.catchTags({
      DestinationInvalid: ({ message }) => new Voucher.VoucherRefused({ code: "invoice", message }),
      DestinationRefused: ({ message }) => new Voucher.VoucherRefused({ code: "invoice", message }),
      RecipientRefused: Effect.die, // only servers of other people say that, and an invoice asks none
      RecipientUnreachable: Effect.die
    })
  )

  /** Whether this very invoice is what the voucher was claimed for: the wallet did not hear our answer. */
  const isPaidTo = Effect.fnUntraced(function* ({ companyId, withdrawalId }: Voucher.Voucher, pr: string) {
    const withdrawal = withdrawalId === null ? undefined : yield* records.withdrawal(companyId, withdrawalId)
    return withdrawal?._tag === "Some" && withdrawal.value.recipient === pr.trim().toLowerCase()
  })

  const commitClaim = Effect.fnUntraced(function* (voucher: Voucher.Voucher, recipient: string) {
    const atMillis = yield* now
    const to = { id: Id.fromMillis(atMillis, entropy), recipient, network: policy.network }
    yield* journal.commit(Voucher.claimed(voucher, to, atMillis))
  })

  const expire = Effect.fnUntraced(function* (task: Task) {
    const found = yield* records.voucher(task.companyId, task.id)
    if (found._tag === "None") return yield* Effect.die(`the expiry of a voucher that is not there: ${task.id}`)
    // Claimed a moment ago, or voided by somebody else: nothing is left to do.
    const overtaken = () => Effect.void
    yield* Effect.catchTags(journal.commit(Voucher.expired(found.value, fence(task), yield* now)), {
      VoucherNotOpen: overtaken,
      StaleFence: overtaken
    })
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
      yield* checkSendable(amount, policy)
      // Only the chain's fee can be unknown.
      const { service, network } = yield* Effect.orDie(fees.quote({ company, way: "lightning", amount }))
      const k1 = Id.toHex(entropy(32))
      const createdAtMillis = yield* now
      const voucher: Voucher.Voucher = {
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
        secretHash: Voucher.hashOf(k1),
        status: "open",
        withdrawalId: null,
        createdAtMillis,
        expiresAtMillis: createdAtMillis + expirySeconds * 1000,
        updatedAtMillis: createdAtMillis
      }
      const issued: Issued = { voucher, url: Redacted.make(Voucher.urlOf(policy.domain, k1)) }
      const once = Answer.once(company.id, request, issued, createdAtMillis + Answer.keptMillis)
      return Answers.outcome(yield* journal.commit(Voucher.created(voucher, once)), issued)
    }),
    get,
    list: Effect.fnUntraced(function* (companyId, query) {
      if (!Number.isInteger(query.limit) || query.limit < 1 || query.limit > limit.maximum) {
        return yield* new Invalid({ path: "limit", message: `A whole number from 1 to ${limit.maximum}` })
      }
      // One more than asked for tells whether there is another page, without counting.
      const found = yield* records.vouchersOf(companyId, query.before, query.limit + 1)
      const vouchers = found.slice(0, query.limit)
      return { vouchers, next: found.length > query.limit ? vouchers.at(-1) : undefined }
    }),
    cancel: Effect.fnUntraced(function* (companyId, id) {
      yield* journal.commit(Voucher.canceled(yield* get(companyId, id), yield* now))
      return yield* get(companyId, id)
    }),
    offer: Effect.fnUntraced(function* (k1) {
      return { voucher: yield* open(yield* bySecret(k1)), callback: Voucher.callbackOf(policy.domain) }
    }),
    claim: Effect.fnUntraced(function* ({ k1, pr, caller }) {
      if (!callerMayClaim(caller, yield* now)) {
        return yield* new Voucher.VoucherRefused({ code: "too_many", message: "Too many claims: try again in a moment" })
      }
      const voucher = yield* bySecret(k1)
      if (yield* isPaidTo(voucher, pr)) return
      const recipient = yield* payable(yield* open(voucher), pr)
      yield* Effect.catchTag(
        commitClaim(voucher, recipient),
        "VoucherNotOpen",
        Effect.fnUntraced(function* () {
          const since = yield* bySecret(k1)
          if (!(yield* isPaidTo(since, pr))) return yield* Effect.asVoid(open(since))
        })
      )
    }),
    step: Effect.gen(function* () {
      const nowMillis = yield* now
      const claimed = yield* tasks.claim({ kind: Voucher.taskKind, nowMillis, leaseMillis, limit: tasksAtOnce })
      yield* Effect.forEach(
        claimed,
        (task) =>
          expire(task).pipe(
            Effect.catchCause((cause) =>
              Effect.andThen(
                Effect.logError("voucher: could not be voided; will retry", cause),
                Effect.ignore(tasks.postpone(task, nowMillis + laterMillis))
              )
            ),
            Effect.annotateLogs({ voucherId: task.id })
          ),
        { concurrency: tasksAtOnce, discard: true }
      )
      return claimed.length
    })
  })
})

export const layer = Layer.effect(Vouchers, make)

/** Voids what has expired for as long as the scope is open. */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const vouchers = yield* Vouchers
    yield* Worker.run("vouchers", Effect.repeat(vouchers.step, { while: (claimed) => claimed === tasksAtOnce }), Effect.sleep("1 second"))
  })
)
