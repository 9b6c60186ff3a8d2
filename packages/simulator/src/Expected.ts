import type { Change } from "@satrail/core/service/Changes"
import type { How, Moving } from "./features/Feature.ts"
import { all, type features } from "./features/index.ts"
import { tags } from "./plot/Plot.ts"
import { type Coverage, type Kind, kinds } from "./world/Coverage.ts"
import { ports } from "./world/Fault.ts"

/** Excludes the Changes that features list themselves (see `Feature.make`). */
type Own = Exclude<Change, { readonly _tag: TagOf<(typeof features)[number]> }>
type TagOf<F> = F extends { readonly changes: infer C } ? keyof C : never

/**
 * States for each kind of Change whether scenarios produce it, and if not, why. Lists every kind that may move
 * money, and some others.
 */
const changes: { readonly [tag in Moving<Own>]: How } & { readonly [tag in Own["_tag"]]?: How } = {
  CompanyOpened: "happens",
  PlanChanged: "happens",
  FreezeChanged: "happens",
  CompanyFeesChanged: {
    never: "no scenario sets one company's fees; the contract JournalFees tests this, with concurrent changes"
  },
  CompanyLimited: "happens",
  CompanyLooseningRequested: {
    never: "scenarios have one operator; the contract JournalCompanies tests this"
  },
  ApiKeyLimited: "happens",
  DomainVerified: "happens",
  DomainChecked: "happens",
  ApiKeyIssued: "happens",
  ApiKeyApproved: { never: "scenarios have one operator; the contract JournalCompanies tests this" },
  ApiKeyRevoked: "happens",
  ApiKeyUsed: "happens",
  InvoiceCreated: "happens",
  InvoiceClaimed: "happens",
  InvoiceSettled: "happens",
  InvoiceExpired: "happens",
  InvoiceForgotten: "happens",
  PaymentUnmatched: "happens",
  OperatorRequestCreated: "happens",
  PaymentAssigned: "happens",
  LightningAddressCreated: "happens",
  LightningAddressChanged: "happens",
  LightningAddressDeleted: "happens",
  KeyRangeReserved: { never: "the simulated wallet numbers its keys itself" },
  OnChainAddressCreated: "happens",
  DepositSeen: "happens",
  DepositPlaced: "happens",
  DepositConfirmed: "happens",
  DepositReversed: "happens",
  DepositReclaimed: "happens",
  DepositDropped: "happens",
  WithdrawalRequested: "happens",
  WithdrawalDispatched: "happens",
  WithdrawalReplaced: "happens",
  WithdrawalSettled: "happens",
  WithdrawalFailed: "happens",
  InternalTransferred: "happens",
  InvoiceHeld: "happens",
  InvoiceSettling: "happens",
  InvoiceReturned: { never: "the sandbox's node never returns a held payment unless the service cancels it" },
  PayoutBuried: "happens",
  PayoutReleased: {
    never:
      "no scenario spends our coins in another wallet; LostPayouts.test.ts and the contract JournalReleasedPayouts test this"
  },
  CancellationEnded: "happens",
  CursorMoved: "happens",
  DutyStarted: "happens",
  OnceClaimed: { never: "only the package satrail has `once`; RunOnce.test.ts tests it" },
  AnswerKept: { never: "no scenario sends an idempotent request that has nothing to change" },
  AnswersForgotten: "happens"
}

const befall = [
  "dies before",
  "dies after",
  "orphaned",
  "unanswered before",
  "unanswered after",
  "stray",
  "late before",
  "late after"
] as const
const freeze = ["frozen before", "frozen after", "repeated", "away"] as const

/**
 * Everything that must happen at least once in a batch of scenarios. A batch in which something is missing
 * proves less than it appears to.
 */
const expected: { readonly [kind in Kind]: ReadonlyArray<string> } = {
  operation: tags,
  change: [changes, ...all.map(({ changes }) => changes)]
    .flatMap(Object.entries<How>)
    .flatMap(([tag, how]) => (how === "happens" ? [tag] : [])),
  fault: [
    ...["store", "node", "chain"].flatMap((port) => [...befall, ...freeze].map((fate) => `${port}: ${fate}`)),
    ...ports.map((port) => `${port}: away`),
    "node: contradicted",
    "chain: contradicted",
    "node: notice repeated",
    "IndexBehind",
    "LoseNotice",
    "LieOnce",
    "Forget",
    "RoutesDown",
    "Kill",
    "Freeze",
    "Skew",
    "Jump",
    "Reorg",
    "DoubleSpend",
    ...all.flatMap(({ faults = [] }) => faults)
  ],
  transition: [
    "withdrawal: nothing to pending",
    "withdrawal: pending to settled",
    "withdrawal: pending to failed",
    "deposit: nothing to pending",
    "deposit: nothing to settled",
    "deposit: nothing to failed",
    "deposit: pending to settled",
    "deposit: pending to failed",
    "deposit: settled to pending",
    "invoice: nothing to pending",
    "invoice: pending to claimed",
    "invoice: pending to settled",
    "invoice: pending to expired",
    "invoice: pending to canceling",
    "invoice: canceling to canceled",
    "invoice: claimed to settled",
    "invoice: pending to held",
    "invoice: held to settling",
    "invoice: held to canceling",
    ...all.flatMap(({ transitions = [] }) => transitions)
  ],
  answer: [
    "GET 200",
    "GET 503",
    "POST 200",
    "POST 201",
    "POST 400",
    "POST 401",
    "POST 403",
    "POST 409",
    "POST 422",
    "POST 503",
    "PUT 200",
    "DELETE 200"
  ]
}

/** Number of scenarios after which all of this should have happened. */
export const storiesNeeded = 200

/** Returns the expected events that never happened. */
export const missing = (coverage: Coverage): ReadonlyArray<string> =>
  kinds.flatMap((kind) =>
    expected[kind].flatMap((name) => (coverage.counts(kind).has(name) ? [] : [`${kind} ${name}`]))
  )
