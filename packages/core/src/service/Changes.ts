import type { Effect } from "effect"
import type {
  ApiKeyApproved,
  ApiKeyConfined,
  ApiKeyIssued,
  ApiKeyLimited,
  ApiKeyLooseningRequested,
  ApiKeyRevoked,
  ApiKeyUsed
} from "../accounts/ApiKey.ts"
import type {
  CompanyFeesChanged,
  CompanyLimited,
  CompanyLooseningRequested,
  CompanyOpened,
  FreezeChanged,
  PlanChanged
} from "../accounts/Company.ts"
import type { OperatorRequestCreated, OperatorRequestReplaced } from "../accounts/OperatorRequest.ts"
import type { OperatorTokenIssued, OperatorTokenRevoked } from "../accounts/OperatorToken.ts"
import type { DomainChecked, DomainVerified } from "../accounts/Domain.ts"
import type { AnswerKept, AnswersForgotten } from "../ledger/Answer.ts"
import type { RefusalOf } from "../ledger/Change.ts"
import type { CursorMoved } from "../ledger/Cursor.ts"
import type { DutyStarted } from "../ledger/Duty.ts"
import type { OnceClaimed } from "../ledger/RunOnce.ts"
import { type Applied, Journal, type StoreUnavailable } from "../ledger/Journal.ts"
import type * as Written from "../ledger/Written.ts"
import type { PaymentAssigned } from "../receiving/SuspenseAssignment.ts"
import type {
  DepositConfirmed,
  DepositDropped,
  DepositPlaced,
  DepositReclaimed,
  DepositReversed,
  DepositSeen
} from "../receiving/Deposit.ts"
import type {
  CancellationEnded,
  InvoiceClaimed,
  InvoiceCreated,
  InvoiceCanceled,
  InvoiceClosed,
  InvoiceExpired,
  InvoiceForgotten,
  InvoiceHeld,
  InvoiceReleased,
  InvoiceReturned,
  InvoiceSettled,
  InvoiceSettling,
  PaymentUnmatched
} from "../receiving/Invoice.ts"
import type { KeyRangeReserved } from "../receiving/KeyRange.ts"
import type {
  LightningAddressChanged,
  LightningAddressCreated,
  LightningAddressDeleted
} from "../receiving/LightningAddress.ts"
import type { OnChainAddressCreated } from "../receiving/OnChainAddress.ts"
import type { ChangeOf } from "../ledger/Feature.ts"
import type { Registered } from "../ledger/Registry.ts"
import type { PayoutReleased } from "../sending/LostPayout.ts"
import type {
  InternalTransferred,
  PayoutBuried,
  WithdrawalDispatched,
  WithdrawalFailed,
  WithdrawalReplaced,
  WithdrawalRequested,
  WithdrawalSettled
} from "../sending/Withdrawal.ts"

/** All Changes. A storage adapter applies all of a Change or none of it. */
export type Change =
  | CompanyOpened
  | PlanChanged
  | CompanyLimited
  | CompanyLooseningRequested
  | CompanyFeesChanged
  | FreezeChanged
  | DomainVerified
  | DomainChecked
  | ApiKeyIssued
  | ApiKeyApproved
  | ApiKeyRevoked
  | ApiKeyLimited
  | ApiKeyConfined
  | ApiKeyLooseningRequested
  | ApiKeyUsed
  | OperatorTokenIssued
  | OperatorTokenRevoked
  | OperatorRequestCreated
  | OperatorRequestReplaced
  | InvoiceCreated
  | InvoiceClaimed
  | InvoiceReleased
  | InvoiceHeld
  | InvoiceSettling
  | InvoiceReturned
  | InvoiceSettled
  | InvoiceExpired
  | InvoiceCanceled
  | InvoiceClosed
  | CancellationEnded
  | InvoiceForgotten
  | PaymentUnmatched
  | PaymentAssigned
  | LightningAddressCreated
  | LightningAddressChanged
  | LightningAddressDeleted
  | KeyRangeReserved
  | OnChainAddressCreated
  | DepositSeen
  | DepositPlaced
  | DepositConfirmed
  | DepositReversed
  | DepositReclaimed
  | DepositDropped
  | WithdrawalRequested
  | WithdrawalDispatched
  | WithdrawalReplaced
  | WithdrawalSettled
  | WithdrawalFailed
  | InternalTransferred
  | PayoutBuried
  | PayoutReleased
  | CursorMoved
  | DutyStarted
  | OnceClaimed
  | AnswerKept
  | AnswersForgotten
  | ChangeOf<Registered>

/** Changes that cannot be expressed as a list of writes. Each store implements them in code. */
export type Program = Exclude<Change, Written.Any>

/** All programs by tag. A store implements each of them. */
export type Programs = { readonly [C in Program as C["_tag"]]: C }

/** The program with this tag. */
export type Tagged<T extends keyof Programs> = Programs[T] & { readonly _tag: T }

/**
 * Changes that a store applies: the programs it implements, and any Change that lists its writes, such as a
 * Change to a record type declared by another package.
 */
export type Storable = Program | Written.Any

/** All refusals of all Changes. */
export type Refusal = RefusalOf<Change>

/**
 * Returns a Journal made from a `commit` that declares all refusals as one union. Meant for stores whose
 * `commit` handles many kinds of Changes.
 */
export const journal = (
  commit: (change: Change) => Effect.Effect<Applied, Refusal | StoreUnavailable>
): Journal["Service"] =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the union is wider than the refusals of one kind; the contract tests check which refusals a kind has
  Journal.of({ commit: commit as Journal["Service"]["commit"] })
