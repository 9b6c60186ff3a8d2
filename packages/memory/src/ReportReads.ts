import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Balance from "@satrail/core/ledger/Balance"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Fault from "@satrail/core/reports/Fault"
import type { Audit, Funds, ReportReads } from "@satrail/core/reports/ReportReads"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { HashMap } from "effect"
import * as Bookings from "./Bookings.ts"
import * as Books from "./Books.ts"
import * as Lists from "./Lists.ts"
import { compare, type Read } from "./Reading.ts"
import * as Search from "./Search.ts"
import * as State from "./State.ts"

const funds = (state: State.State, companyId: CompanyId.CompanyId): Funds => ({
  ...State.balanceOf(state, companyId),
  pendingDeposits: Msat.sum(
    ...State.ownedBy(state, Deposit.noun, companyId)
      .filter(({ status }) => status === "pending")
      .map(({ amount, absorbed }) => Msat.make(amount - absorbed))
  )
})

const recount = (state: State.State, companyId: CompanyId.CompanyId): Audit => ({
  totals: State.balanceOf(state, companyId),
  entries: Balance.effect(Array.from(State.listed(state.entries, companyId))),
  pending: Msat.sum(
    ...State.ownedBy(state, Withdrawal.noun, companyId)
      .filter(({ status }) => status === "pending")
      .map(Withdrawal.held),
    ...Fault.holding(state.features, (noun) => State.ownedBy(state, noun, companyId)).map(
      ({ amount }) => amount
    )
  )
})

export const make = (read: Read): ReportReads["Service"] => ({
  search: (companyId, query, looks) => read((now) => Lists.transactions(now, companyId, query, looks)),
  transactions: (companyId, query) => read((now) => Lists.transactions(now, companyId, query, Infinity).rows),
  funds: (companyId) => read((now) => funds(now, companyId)),
  audit: (companyId) => read((now) => recount(now, companyId)),
  bookedSums: (companyId, period) => read((now) => Bookings.sums(now, companyId, period)),
  bookedEntries: (query) => read((now) => Bookings.entries(now, query)),
  subjects: (companyId, transferIds) => read((now) => Bookings.subjects(now, companyId, transferIds)),
  found: (companyId, sought) => read((now) => Search.found(now, companyId, sought)),
  postingsOf: (companyId, transferId) =>
    read((now) => Bookings.all(now, companyId).filter((entry) => entry.transferId === transferId)),
  turnedSince: (companyId, boundaries) => read((now) => Bookings.turnedSince(now, companyId, boundaries)),
  companyNames: (after, limit) =>
    read((now) =>
      HashMap.toValues(now.companies)
        .filter(({ id }) => after === null || id > after)
        .toSorted((a, b) => compare(a.id, b.id))
        .slice(0, limit)
    ),
  faults: (companyId) => read((now) => Books.faults(now, companyId))
})
