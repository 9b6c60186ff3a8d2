import { Context, Effect, Schema } from "effect"
import type { DomainTaken } from "../accounts/Domain.ts"
import * as Outage from "../base/Outage.ts"
import type { DepositMoved } from "../receiving/Deposit.ts"
import type { InvoiceNotPayable } from "../receiving/Invoice.ts"
import type { KeyRangeTaken } from "../receiving/KeyRange.ts"
import type { HandleTaken, LightningAddressGone } from "../receiving/LightningAddress.ts"
import type { VoucherNotOpen } from "../sending/Voucher.ts"
import type { AlreadyTerminal, CoinTaken, InsufficientBalance, PaymentHashTaken } from "../sending/Withdrawal.ts"
import type { Change } from "./Change.ts"

/** The key was used before for a request with another body. */
export class IdempotencyMismatch extends Schema.TaggedError<IdempotencyMismatch>()("IdempotencyMismatch", {
  key: Schema.String
}) {}

/** A Change with this id was applied before, with other content. Neither is what the other says. */
export class Conflict extends Schema.TaggedError<Conflict>()("Conflict", { change: Schema.String, id: Schema.String }) {}

/** Somebody else has claimed the task since: whoever holds this claim must stop. */
export class StaleFence extends Schema.TaggedError<StaleFence>()("StaleFence", { taskId: Schema.String }) {}

/** There is no such thing, or it is not yours: which of the two is not said. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { what: Schema.String, id: Schema.String }) {}

/**
 * The store could not be reached or did not answer. The Change may or may not have been applied: commit the same one again. `overloaded` and
 * `closed` turned it away before anything was done.
 */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  operation: Schema.String,
  /** `away` unless given. */
  why: Schema.Literals(["away", "overloaded", "closed"]).pipe(Schema.withConstructorDefault(Effect.succeed("away"))),
  cause: Schema.Defect(),
  ...Outage.words
}) {}

/** Applied by this call or an earlier one with the same id; or replayed: its key was used before, for this answer. */
export type Applied = { readonly _tag: "Applied" } | { readonly _tag: "Replayed"; readonly answer: string }

export const applied: Applied = { _tag: "Applied" }

/** How the rules may say no to each Change. */
interface Refusals {
  readonly CompanyOpened: Conflict | IdempotencyMismatch
  readonly PlanChanged: never
  readonly DomainVerified: DomainTaken
  readonly DomainChecked: never
  readonly ApiKeyIssued: Conflict
  readonly ApiKeyRevoked: never
  readonly ApiKeyUsed: never
  readonly InvoiceCreated: Conflict | IdempotencyMismatch
  readonly InvoiceClaimed: InvoiceNotPayable | StaleFence
  readonly InvoiceSettled: InvoiceNotPayable | StaleFence
  readonly InvoiceExpired: never
  readonly InvoiceForgotten: InvoiceNotPayable
  readonly PaymentUnmatched: Conflict | StaleFence
  readonly LightningAddressCreated: HandleTaken | Conflict | IdempotencyMismatch
  readonly LightningAddressChanged: LightningAddressGone
  readonly LightningAddressDeleted: never
  readonly KeyRangeReserved: KeyRangeTaken | Conflict
  readonly OnChainAddressCreated: Conflict | IdempotencyMismatch
  readonly DepositSeen: DepositMoved
  readonly DepositPlaced: DepositMoved
  readonly DepositConfirmed: DepositMoved
  readonly DepositReversed: DepositMoved | InsufficientBalance
  readonly DepositDropped: DepositMoved
  readonly WithdrawalRequested: InsufficientBalance | Conflict | IdempotencyMismatch
  readonly WithdrawalDispatched: AlreadyTerminal | PaymentHashTaken | CoinTaken | Conflict | StaleFence
  readonly WithdrawalReplaced: AlreadyTerminal | CoinTaken | Conflict | StaleFence
  readonly WithdrawalSettled: AlreadyTerminal | Conflict | StaleFence
  readonly WithdrawalFailed: AlreadyTerminal | StaleFence
  readonly InternalTransferred: AlreadyTerminal | InvoiceNotPayable | StaleFence
  readonly VoucherCreated: InsufficientBalance | Conflict | IdempotencyMismatch
  readonly VoucherClaimed: VoucherNotOpen
  readonly VoucherExpired: VoucherNotOpen | StaleFence
  readonly VoucherCanceled: VoucherNotOpen
  readonly ZapReceipted: StaleFence
  readonly PayoutBuried: never
  readonly CursorMoved: StaleFence
  readonly DutyBegun: never
  readonly AnswersForgotten: never
}
export type RefusalOf<C extends Change> = Refusals[C["_tag"]]
export type Refusal = RefusalOf<Change>

/** The one way to change anything. */
export class Journal extends Context.Service<
  Journal,
  {
    /**
     * Applies all of `change` or nothing. Applying the same Change twice is applying it once; the same id with other content is refused.
     * First come, first served for each company: a later small one may pass an earlier too-large one's refusal, never the other way round.
     */
    readonly commit: <C extends Change>(change: C) => Effect.Effect<Applied, RefusalOf<C> | StoreUnavailable>
  }
>()("@satrail/core/ledger/Journal") {}

/** A Journal from a commit that knows refusals only as their union, as a store that handles many kinds at once does. */
export const make = (commit: (change: Change) => Effect.Effect<Applied, Refusal | StoreUnavailable>): Journal["Service"] =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the union is wider than what one kind can be refused with; which refusals a kind has is the contract's to show
  Journal.of({ commit: commit as Journal["Service"]["commit"] })
