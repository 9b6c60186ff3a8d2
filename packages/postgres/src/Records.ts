import { AccountReads } from "@satrail/core/accounts/AccountReads"
import { AuditStore } from "@satrail/core/ledger/Audit"
import { EventStore } from "@satrail/core/ledger/EventStore"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { NounReads } from "@satrail/core/ledger/NounReads"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import { ReportReads } from "@satrail/core/reports/ReportReads"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import { given } from "@satrail/core/features/index"
import { Features as CoreFeatures } from "@satrail/core/ledger/Features"
import { Context, Effect, Layer } from "effect"
import * as Features from "./features/index.ts"
import * as Answer from "./reads/Answer.ts"
import * as ApiKey from "./reads/ApiKey.ts"
import * as Audit from "./reads/AuditStore.ts"
import * as Bookings from "./reads/Bookings.ts"
import * as Books from "./reads/Books.ts"
import * as Coins from "./reads/Coins.ts"
import * as Company from "./reads/Company.ts"
import * as Cursor from "./reads/Cursor.ts"
import * as Deposit from "./reads/Deposit.ts"
import * as Domain from "./reads/Domain.ts"
import * as Events from "./reads/EventStore.ts"
import * as Invoice from "./reads/Invoice.ts"
import * as KeyRange from "./reads/KeyRange.ts"
import * as Ledger from "./reads/Ledger.ts"
import * as Nouns from "./reads/NounReads.ts"
import * as OnChainAddress from "./reads/OnChainAddress.ts"
import * as Search from "./reads/Search.ts"
import * as Steps from "./reads/Steps.ts"
import * as Transaction from "./reads/Transaction.ts"
import * as Withdrawal from "./reads/Withdrawal.ts"

export const make = Effect.gen(function* () {
  const { funds, audit, ...ledger } = yield* Effect.all(Ledger.reads)
  const { depositOfInvoice, unmatchedById, suspended, faults, companyNames, ...books } = yield* Effect.all(Books.reads)
  return Context.make(NounReads, yield* Nouns.make).pipe(
    Context.add(AuditStore, yield* Audit.make),
    Context.add(EventStore, yield* Events.make),
    Context.add(
      LedgerReads,
      LedgerReads.of({ ...ledger, ...books, ...(yield* Effect.all(Answer.reads)), ...(yield* Effect.all(Cursor.reads)) })
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
    Context.add(SendingReads, SendingReads.of({ ...(yield* Effect.all(Coins.reads)), ...(yield* Effect.all(Withdrawal.reads)) })),
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
    Context.merge(yield* Features.reads)
  )
})

/** Groups reads as the Journal groups commits: single rows requested at the same time are read in one query. */
export const layer = Layer.effectContext(Effect.provideServiceEffect(make, CoreFeatures, given))
