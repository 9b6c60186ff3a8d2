import type { Msat } from "@satrail/bitcoin/Msat"
import { Effect } from "effect"
import { AccountReads } from "../accounts/AccountReads.ts"
import * as Pages from "../base/Pages.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import * as Tally from "../ledger/Tally.ts"
import type { Fault } from "./Fault.ts"
import { type Named, ReportReads } from "./ReportReads.ts"

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
 * they are known. Each company is read in its own snapshot, so payments can continue in the meantime. Malformed
 * data is a violation like any other.
 */
export const verify = (
  tell: (company: Named, faults: ReadonlyArray<Fault>) => Effect.Effect<void>
): Effect.Effect<Verified, StoreUnavailable, AccountReads | LedgerReads | ReportReads> =>
  Effect.gen(function* () {
    const opened = yield* AccountReads
    const ledger = yield* LedgerReads
    const reports = yield* ReportReads
    let [companies, faults] = [0, 0]
    // A read of malformed data fails with a defect. A store that is away fails with StoreUnavailable, which ends the run.
    const unreadable = ({ id }: Named): ReadonlyArray<Fault> => [
      { kind: "unreadable", id, account: null, expected: null, found: null }
    ]
    const check = Effect.fnUntraced(function* (company: Named) {
      const malformed = Effect.succeed(unreadable(company))
      const row = Effect.catchDefect(Effect.as(opened.company(company.id), []), () => malformed)
      const books = Effect.catchDefect(reports.faults(company.id), () => malformed)
      const wrong = [...(yield* row), ...(yield* books)]
      yield* tell(company, wrong)
      companies++
      faults += wrong.length
    })
    yield* Pages.each(
      pageSize,
      (after: Named | null) => reports.companyNames(after?.id ?? null, pageSize),
      (page) => Effect.forEach(page, check, { concurrency: companiesAtOnce, discard: true })
    )
    const { accounts } = yield* ledger.tally(null)
    return { companies, faults, stuck: Tally.between(accounts) }
  })
