import type { Msat } from "@satrail/bitcoin/Msat"
import { Effect } from "effect"
import { AccountReads } from "../accounts/AccountReads.ts"
import type { Company } from "../accounts/Company.ts"
import * as Pages from "../base/Pages.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import * as Tally from "../ledger/Tally.ts"
import type { Fault } from "./Fault.ts"
import { ReportReads } from "./ReportReads.ts"

const pageSize = 100
const companiesAtOnce = 2

/**
 * Result of verifying a whole ledger. The ledger is sound if there are no violations and nothing is `stuck`.
 * Stuck funds are those left in the account for transfers between companies. Every transfer must leave this
 * account empty.
 */
export interface Verified {
  readonly companies: number
  readonly faults: number
  readonly stuck: Msat
}

/**
 * Checks every company's books against their entries, and reports the violations of each company as soon as
 * they are known. Each company is read in its own snapshot, so payments can continue in the meantime.
 */
export const verify = (
  tell: (company: Company, faults: ReadonlyArray<Fault>) => Effect.Effect<void>
): Effect.Effect<Verified, StoreUnavailable, AccountReads | LedgerReads | ReportReads> =>
  Effect.gen(function* () {
    const opened = yield* AccountReads
    const ledger = yield* LedgerReads
    const reports = yield* ReportReads
    let [companies, faults] = [0, 0]
    const check = Effect.fnUntraced(function* (company: Company) {
      const wrong = yield* reports.faults(company.id)
      yield* tell(company, wrong)
      companies++
      faults += wrong.length
    })
    yield* Pages.each(
      pageSize,
      (after: Company | null) => opened.companies(after?.id ?? null, pageSize),
      (page) => Effect.forEach(page, check, { concurrency: companiesAtOnce, discard: true })
    )
    const { accounts } = yield* ledger.tally(null)
    return { companies, faults, stuck: Tally.net(accounts.internal) }
  })
