import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import type { Records } from "@satrail/core/service/Records"
import * as Contract from "../Contract.ts"
import * as Companies from "./JournalCompanies.ts"
import * as Deposits from "./JournalDeposits.ts"
import * as Events from "./JournalEvents.ts"
import * as Fees from "./JournalFees.ts"
import * as Freezes from "./JournalFreezes.ts"
import * as Holds from "./JournalHolds.ts"
import * as Invoices from "./JournalInvoices.ts"
import * as Keys from "./JournalKeys.ts"
import * as Limits from "./JournalLimits.ts"
import * as Payouts from "./JournalPayouts.ts"
import * as ReleasedPayouts from "./JournalReleasedPayouts.ts"
import * as SharedPayouts from "./JournalSharedPayouts.ts"
import * as Nouns from "../Nouns.ts"
import * as Suspense from "./JournalSuspense.ts"
import * as Transfers from "./JournalTransfers.ts"
import { together } from "../features/Feature.ts"
import { features } from "../features/index.ts"
import * as Withdrawals from "./JournalWithdrawals.ts"

/** Guarantees that protect customers' money. No adapter may skip one. */
export const money = {
  ...Withdrawals.money,
  ...Payouts.money,
  ...SharedPayouts.money,
  ...ReleasedPayouts.money,
  ...Transfers.money,
  ...Holds.money,
  ...Invoices.money,
  ...Suspense.money,
  ...Deposits.money,
  ...Keys.money,
  ...Limits.money,
  ...Freezes.money,
  ...Fees.money,
  ...Companies.money,
  ...Nouns.money,
  ...together(features, "money")
}

/** Other guarantees. */
export const other = {
  ...Invoices.other,
  ...Suspense.other,
  ...Keys.other,
  ...Fees.other,
  ...Companies.other,
  ...Events.other,
  ...together(features, "other")
}

/**
 * The guarantees that every Journal must provide. Each entry is one guarantee; a number such as C12 names the
 * incident that it prevents.
 */
export const promises = { ...money, ...other }

/**
 * Runs the contract against a layer. The store may be used before and after, and the tests are independent of
 * each other, but nothing else may commit to the store while they run.
 */
export const suite = Contract.suite<Journal | Records | Tasks, typeof money, typeof other>("Journal", {
  money,
  other
})
