import { AccountReads } from "@satrail/core/accounts/AccountReads"
import { AuditStore } from "@satrail/core/ledger/Audit"
import { EventStore } from "@satrail/core/ledger/EventStore"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { NounReads } from "@satrail/core/ledger/NounReads"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import { ReportReads } from "@satrail/core/reports/ReportReads"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import { given } from "../features/core.ts"
import { Features as CoreFeatures } from "@satrail/core/ledger/Features"
import { Context, Effect, Layer } from "effect"
import * as Features from "../features/postgres.ts"
import * as Answer from "@satrail/postgres/reads/Answer"
import * as ApiKey from "@satrail/postgres/reads/ApiKey"
import * as Audit from "./reads/AuditStore.ts"
import * as Bookings from "@satrail/postgres/reads/Bookings"
import * as Books from "@satrail/postgres/reads/Books"
import * as Coins from "@satrail/postgres/reads/Coins"
import * as Company from "@satrail/postgres/reads/Company"
import * as Cursor from "@satrail/postgres/reads/Cursor"
import * as Deposit from "@satrail/postgres/reads/Deposit"
import * as Domain from "@satrail/postgres/reads/Domain"
import * as Events from "@satrail/postgres/reads/EventStore"
import * as Invoice from "@satrail/postgres/reads/Invoice"
import * as KeyRange from "@satrail/postgres/reads/KeyRange"
import * as Ledger from "@satrail/postgres/reads/Ledger"
import * as Nouns from "@satrail/postgres/reads/NounReads"
import * as OnChainAddress from "@satrail/postgres/reads/OnChainAddress"
import * as Search from "@satrail/postgres/reads/Search"
import * as Steps from "@satrail/postgres/reads/Steps"
import * as Transaction from "@satrail/postgres/reads/Transaction"
import * as Withdrawal from "@satrail/postgres/reads/Withdrawal"

const reads = Effect.gen(function* () {
  const { funds, audit, ...ledger } = yield* Effect.all(Ledger.reads)
  const { depositOfInvoice, unmatchedById, suspended, faults, companyNames, ...books } = yield* Effect.all(
    Books.reads
  )
  return Context.make(NounReads, yield* Nouns.make).pipe(
    Context.add(AuditStore, yield* Audit.make),
    Context.add(EventStore, yield* Events.make),
    Context.add(
      LedgerReads,
      LedgerReads.of({
        ...ledger,
        ...books,
        ...(yield* Effect.all(Answer.reads)),
        ...(yield* Effect.all(Cursor.reads))
      })
    ),
    Context.add(
      AccountReads,
      AccountReads.of({
        ...(yield* Effect.all(Company.reads)),
        ...(yield* Effect.all(ApiKey.reads)),
        ...(yield* Effect.all(Domain.reads))
      })
    ),
    Context.add(
      ReceivingReads,
      ReceivingReads.of({
        ...(yield* Effect.all(Invoice.reads)),
        ...(yield* Effect.all(OnChainAddress.reads)),
        ...(yield* Effect.all(Deposit.reads)),
        depositOfInvoice,
        unmatchedById,
        suspended,
        ...(yield* Effect.all(KeyRange.reads))
      })
    ),
    Context.add(
      SendingReads,
      SendingReads.of({ ...(yield* Effect.all(Coins.reads)), ...(yield* Effect.all(Withdrawal.reads)) })
    ),
    Context.add(
      ReportReads,
      ReportReads.of({
        ...(yield* Effect.all(Transaction.reads)),
        ...(yield* Effect.all(Bookings.reads)),
        found: yield* Search.found,
        postingsOf: yield* Steps.postingsOf,
        turnedSince: yield* Steps.turnedSince,
        funds,
        audit,
        companyNames,
        faults
      })
    ),
    Context.merge(yield* Features.reads),
    Context.add(CoreFeatures, yield* given)
  )
})

/** Groups reads as the Journal groups commits: single rows requested at the same time are read in one query. */
export const make = Effect.provideServiceEffect(reads, CoreFeatures, given)

export const layer = Layer.effectContext(make)
