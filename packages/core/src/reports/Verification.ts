import type { Msat } from "@satrail/bitcoin/Msat"
import { Effect } from "effect"
import { AccountReads } from "../accounts/AccountReads.ts"
import type { Company } from "../accounts/Company.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import * as Tally from "../ledger/Tally.ts"
import type { Fault } from "./Fault.ts"
import { ReportReads } from "./ReportReads.ts"

const pageSize = 100
const companiesAtOnce = 2

/** What a whole ledger came to. It is sound when there is no fault and nothing is `stuck`: left between two companies, where a transfer must leave nothing. */
export interface Verified {
  readonly companies: number
  readonly faults: number
  readonly stuck: Msat
}

/**
 * Checks every company's books from their entries, and tells of each company what is wrong with it as soon as it is known. Every company is read in one moment of
 * its own, so that money may move meanwhile.
 */
export const verify = (
  tell: (company: Company, faults: ReadonlyArray<Fault>) => Effect.Effect<void>
): Effect.Effect<Verified, StoreUnavailable, AccountReads | LedgerReads | ReportReads> =>
  Effect.gen(function* () {
    const opened = yield* AccountReads
    const ledger = yield* LedgerReads
    const reports = yield* ReportReads
    let [after, companies, faults]: [string | null, number, number] = [null, 0, 0]
    do {
      const page: ReadonlyArray<Company> = yield* opened.companies(after, pageSize)
      const found = yield* Effect.forEach(page, (company) => Effect.tap(reports.faults(company.id), (wrong) => tell(company, wrong)), {
        concurrency: companiesAtOnce
      })
      companies += page.length
      faults += found.reduce((sum, wrong) => sum + wrong.length, 0)
      after = page.length < pageSize ? null : (page.at(-1)?.id ?? null)
    } while (after !== null)
    const { accounts } = yield* ledger.tally(null)
    return { companies, faults, stuck: Tally.net(accounts.internal) }
  })
