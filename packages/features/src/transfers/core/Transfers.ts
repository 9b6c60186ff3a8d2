import type * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Layer } from "effect"
import { AccountReads } from "@satrail/core/accounts/AccountReads"
import { Bounds } from "@satrail/core/accounts/Bounds"
import type { Sender } from "@satrail/core/accounts/Company"
import { Installation } from "@satrail/core/accounts/Installation"
import * as Limits from "@satrail/core/accounts/Limits"
import { type Paused, Stops } from "@satrail/core/accounts/Stops"
import type { AmountInvalid } from "@satrail/core/base/Amount"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import { Invalid } from "@satrail/core/base/Invalid"
import * as Metadata from "@satrail/core/base/Metadata"
import * as Rated from "@satrail/core/base/Rated"
import * as Answer from "@satrail/core/ledger/Answer"
import * as Answers from "@satrail/core/ledger/Answers"
import type { InsufficientBalance } from "@satrail/core/ledger/Balance"
import type { CompanyFrozen } from "@satrail/core/ledger/Freeze"
import {
  type Conflict,
  found,
  type IdempotencyMismatch,
  Journal,
  NotFound,
  type StoreUnavailable
} from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import type * as Limit from "@satrail/core/ledger/Limit"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as Page from "@satrail/core/ledger/Page"
import { retryIfMoved } from "@satrail/core/ledger/RetryIfMoved"
import * as Shortage from "@satrail/core/ledger/Shortage"
import type { RateUnavailable } from "@satrail/core/nodes/ExchangeRates"
import { type Asked, type Priced, Prices } from "@satrail/core/nodes/Prices"
import { descriptionIssue, type Words } from "@satrail/core/receiving/Invoices"
import * as SpendingLimits from "@satrail/core/sending/SpendingLimits"
import { checkSendable } from "@satrail/core/sending/WithdrawalDrafts"
import * as WithdrawalHooks from "@satrail/core/sending/WithdrawalHooks"
import * as Transfer from "./Transfer.ts"

type Ask = Limits.Spender & {
  readonly company: Sender
  readonly request?: Answer.Request<Transfer.Transfer>
}
type Text = Pick<Words, "description" | "metadata">

/** Reasons for which a transfer or a return may be refused. */
export type Refused =
  | AmountInvalid
  | Invalid
  | RateUnavailable
  | InsufficientBalance
  | Limit.LimitExceeded
  | CompanyFrozen
  | Paused
  | Conflict
  | IdempotencyMismatch
  | StoreUnavailable

/** Selects transfers of a company. */
export interface Query extends Page.Dated {
  readonly direction?: "sent" | "received" | undefined
  /** The other company. */
  readonly accountId?: string | undefined
}

/** Money between companies of this service. It moves only by the authority of the company that it leaves. */
export class Transfers extends Context.Service<
  Transfers,
  {
    /**
     * Sends an amount to another company, in one commit. Limits, freezes, pauses and hooks apply as to a voucher: above
     * the approval threshold, it is refused. A frozen company can receive.
     */
    readonly send: (
      ask: Ask & Asked & Text & { readonly to: string }
    ) => Effect.Effect<Answer.Outcome<Transfer.Transfer>, Refused | NotFound>
    /**
     * Returns a received transfer, or a part of it, with its description and metadata. Returns of one transfer never
     * exceed it in total. `asked` undefined returns what is left.
     */
    readonly returnTransfer: (
      ask: Ask & { readonly id: string; readonly asked: Asked | undefined }
    ) => Effect.Effect<Answer.Outcome<Transfer.Transfer>, Refused | NotFound | Transfer.ReturnTooLarge>
    /** Returns a transfer that this company sent or received. */
    readonly get: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Effect.Effect<Transfer.Transfer, NotFound | StoreUnavailable>
    /** Returns a page of the transfers that this company sent or received, newest first. */
    readonly list: (
      companyId: CompanyId.CompanyId,
      query: Query
    ) => Effect.Effect<Page.Page<Transfer.Transfer>, Invalid | StoreUnavailable>
  }
>()("@satrail/features/transfers/core/Transfers") {}

const checkWords = Effect.fnUntraced(function* ({ description, metadata }: Text) {
  const message = descriptionIssue(description)
  if (message !== undefined) return yield* new Invalid({ path: "description", message })
  yield* Metadata.check(metadata)
})

/** Checks that the company can send this amount, before anything is committed. The commit checks counted limits. */
const checking = Effect.gen(function* () {
  const { network } = yield* Installation
  const mayIssue = yield* WithdrawalHooks.issuing
  return Effect.fnUntraced(function* (spender: Limits.Spender, amount: Msat.Msat, to: CompanyId.CompanyId) {
    yield* SpendingLimits.check(spender, { amount, recipientType: "account", recipient: to, network })
    yield* mayIssue({ spender, amount, to })
  })
})

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const nouns = yield* NounReads
  const accounts = yield* AccountReads
  const stops = yield* Stops
  const prices = yield* Prices
  const entropy = yield* Entropy
  const bounds = yield* Bounds
  const check = yield* checking

  const get = (companyId: CompanyId.CompanyId, id: string) =>
    found("transfer", id, nouns.get(Transfer.noun, companyId, id))

  const payee = Effect.fnUntraced(function* (company: Sender, to: string) {
    const id = CompanyId.make(to.toLowerCase())
    if (id === company.id)
      return yield* new Invalid({ path: "to", message: "must be another account, not your own" })
    yield* found("account", id, accounts.company(id))
    return id
  })

  const commit = <C extends Transfer.TransferSent | Transfer.TransferReturned>(
    spender: Limits.Spender,
    amount: Msat.Msat,
    change: C
  ) =>
    Shortage.withBalance(ledger, journal.commit(change)).pipe(
      SpendingLimits.withRemaining(accounts, spender, amount)
    )

  /** Returns the record, and the part of its Change that the request determines. */
  const drafted = Effect.fnUntraced(function* (
    { company, apiKey, request }: Ask,
    priced: Priced,
    more: Pick<Transfer.Transfer, "recipientId" | "description" | "metadata"> &
      Partial<Pick<Transfer.Transfer, "returnOf" | "returnedBefore">>
  ) {
    const spender = { company, apiKey }
    yield* check(spender, priced.amount, more.recipientId)
    const createdAtMillis = yield* Clock.currentTimeMillis
    const transfer = Transfer.of({
      ...more,
      ...Rated.of(priced),
      id: Id.fromMillis(createdAtMillis, entropy),
      companyId: company.id,
      ledgerTxId: Id.fromMillis(createdAtMillis, entropy),
      amount: priced.amount,
      createdAtMillis
    })
    return {
      transfer,
      spender,
      once: Answer.once(company.id, request, transfer, createdAtMillis + Answer.keptMillis),
      counts: Limits.countsOf(spender, createdAtMillis)
    }
  })

  const retried = retryIfMoved(Transfer.TransferMoved)

  const returnOnce = Effect.fnUntraced(function* (
    ask: Parameters<Transfers["Service"]["returnTransfer"]>[0]
  ) {
    const { company, id, asked } = ask
    const original = yield* get(company.id, id)
    // Its sender has no money of it left.
    if (original.recipientId !== company.id) return yield* new NotFound({ what: "received transfer", id })
    const left = Transfer.left(original)
    const priced = asked === undefined ? { amount: left, ...Rated.none } : yield* prices.price(asked)
    if (priced.amount > left || left === 0n) return yield* new Transfer.ReturnTooLarge({ id, left })
    const { transfer, spender, once, counts } = yield* drafted(ask, priced, {
      recipientId: original.companyId,
      description: original.description,
      metadata: original.metadata,
      returnOf: original.id,
      returnedBefore: original.returned
    })
    const applied = yield* commit(
      spender,
      transfer.amount,
      Transfer.returned(original, transfer, once, counts)
    )
    return Answers.outcome(applied, transfer)
  })

  return Transfers.of({
    send: Effect.fnUntraced(function* (ask) {
      const { company, request, to, description, metadata } = ask
      const before = yield* Answers.earlier(ledger, company.id, request)
      if (before !== undefined) return before
      yield* stops.check("sending")
      yield* checkWords(ask)
      const recipientId = yield* payee(company, to)
      const priced = yield* prices.price({ amount: ask.amount, currency: ask.currency })
      yield* checkSendable(priced.amount, bounds)
      const { transfer, spender, once, counts } = yield* drafted(ask, priced, {
        recipientId,
        description,
        metadata
      })
      const applied = yield* commit(spender, transfer.amount, Transfer.sent(transfer, once, counts)).pipe(
        // Only a return has the unique name that can be taken.
        Effect.catchTag("TransferMoved", Effect.die)
      )
      return Answers.outcome(applied, transfer)
    }),
    returnTransfer: Effect.fnUntraced(function* (ask) {
      const { company, request } = ask
      const before = yield* Answers.earlier(ledger, company.id, request)
      if (before !== undefined) return before
      yield* stops.check("sending")
      // A repetition in another process may have returned the rest.
      return yield* Answers.orEarlier(ledger, company.id, request)(retried(returnOnce(ask)))
    }),
    get,
    list: (companyId, { direction, accountId, ...query }) =>
      Page.filtered(
        query,
        (before, limit) => nouns.newestFirst(Transfer.noun, companyId, before, limit),
        (rows) =>
          Effect.succeed(
            rows.filter((row) => {
              const isSent = row.companyId === companyId
              return (
                (direction === undefined || (direction === "sent") === isSent) &&
                (accountId === undefined || accountId === (isSent ? row.recipientId : row.companyId))
              )
            })
          )
      )
  })
})

export const layer = Layer.effect(Transfers, make)
