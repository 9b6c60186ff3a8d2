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
import type { OperatorTokenIssued, OperatorTokenRevoked } from "../accounts/OperatorToken.ts"
import type { DomainChecked, DomainVerified } from "../accounts/Domain.ts"
import type { AnswerKept, AnswersForgotten } from "../ledger/Answer.ts"
import type { RefusalOf } from "../ledger/Change.ts"
import type { CursorMoved } from "../ledger/Cursor.ts"
import type { DutyBegun } from "../ledger/Duty.ts"
import { type Applied, Journal, type StoreUnavailable } from "../ledger/Journal.ts"
import type * as Written from "../ledger/Written.ts"
import type { PaymentAssigned } from "../receiving/Assignment.ts"
import type { DepositConfirmed, DepositDropped, DepositPlaced, DepositReversed, DepositSeen } from "../receiving/Deposit.ts"
import type {
  InvoiceClaimed,
  InvoiceCreated,
  InvoiceCanceled,
  InvoiceClosed,
  InvoiceExpired,
  InvoiceForgotten,
  InvoiceHeld,
  InvoiceReturned,
  InvoiceSettled,
  InvoiceSettling,
  PaymentUnmatched
} from "../receiving/Invoice.ts"
import type { KeyRangeReserved } from "../receiving/KeyRange.ts"
import type { LightningAddressChanged, LightningAddressCreated, LightningAddressDeleted } from "../receiving/LightningAddress.ts"
import type { OnChainAddressCreated } from "../receiving/OnChainAddress.ts"
import type { ChangeOf } from "../ledger/Feature.ts"
import type { everything } from "./Following.ts"
import type {
  InternalTransferred,
  PayoutBuried,
  WithdrawalDispatched,
  WithdrawalFailed,
  WithdrawalReplaced,
  WithdrawalRequested,
  WithdrawalSettled
} from "../sending/Withdrawal.ts"

/** Everything that can become true here. A storage adapter applies all of one Change or none of it. */
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
  | InvoiceCreated
  | InvoiceClaimed
  | InvoiceHeld
  | InvoiceSettling
  | InvoiceReturned
  | InvoiceSettled
  | InvoiceExpired
  | InvoiceCanceled
  | InvoiceClosed
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
  | DepositDropped
  | WithdrawalRequested
  | WithdrawalDispatched
  | WithdrawalReplaced
  | WithdrawalSettled
  | WithdrawalFailed
  | InternalTransferred
  | PayoutBuried
  | CursorMoved
  | DutyBegun
  | AnswerKept
  | AnswersForgotten
  | ChangeOf<(typeof everything)[number]>

/** Those that each store has a program of its own for: writes cannot express them. */
export type Program = Exclude<Change, Written.Any>

/** The programs by their tags: what a store has for each kind, it has by these. */
export type Programs = { readonly [C in Program as C["_tag"]]: C }

/** A program whose kind the compiler follows by its tag. */
export type Tagged<T extends keyof Programs> = Programs[T] & { readonly _tag: T }

/** What a store applies: the programs that it knows, and whatever says what it writes, such as a Change of a noun that another package declares. */
export type Storable = Program | Written.Any

/** How the rules may say no to any of them. */
export type Refusal = RefusalOf<Change>

/** A Journal from a commit that knows refusals only as their union, as a store that handles many kinds at once does. */
export const journal = (commit: (change: Change) => Effect.Effect<Applied, Refusal | StoreUnavailable>): Journal["Service"] =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the union is wider than what one kind can be refused with; which refusals a kind has is the contract's to show
  Journal.of({ commit: commit as Journal["Service"]["commit"] })
