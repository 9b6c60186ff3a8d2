import { AccountReads } from "@satrail/core/accounts/AccountReads"
import { AuditStore } from "@satrail/core/ledger/Audit"
import { EventStore } from "@satrail/core/ledger/EventStore"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { NounReads } from "@satrail/core/ledger/NounReads"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import { ReportReads } from "@satrail/core/reports/ReportReads"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import { Context, Effect, Layer, Option } from "effect"
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
import * as LightningAddress from "./reads/LightningAddress.ts"
import * as Nouns from "./reads/NounReads.ts"
import * as OnChainAddress from "./reads/OnChainAddress.ts"
import * as Search from "./reads/Search.ts"
import * as Steps from "./reads/Steps.ts"
import * as Transaction from "./reads/Transaction.ts"
import * as Withdrawal from "./reads/Withdrawal.ts"

const accountReads = Effect.gen(function* () {
  return AccountReads.of({
    company: yield* Company.reads.company,
    apiKey: yield* ApiKey.reads.apiKey,
    spent: yield* ApiKey.reads.spent,
    domain: yield* Domain.reads.domain,
    domainsOf: yield* Domain.reads.domainsOf,
    domainsToCheck: yield* Domain.reads.domainsToCheck,
    companies: yield* Company.reads.companies,
    companiesAsked: yield* Company.reads.companiesAsked,
    standings: yield* Company.reads.standings,
    keysOf: yield* ApiKey.reads.keysOf
  })
})

export const make = Effect.gen(function* () {
  const spentCoins = yield* Coins.reads.spentCoins
  const settledOverLightning = yield* Withdrawal.reads.settledOverLightning
  const nextKey = yield* KeyRange.reads.nextKey
  return Context.make(NounReads, yield* Nouns.make).pipe(
    Context.add(AuditStore, yield* Audit.make),
    Context.add(EventStore, yield* Events.make),
    Context.add(
      LedgerReads,
      LedgerReads.of({
        balance: yield* Ledger.reads.balance,
        answer: yield* Answer.reads.answer,
        expiredAnswers: yield* Answer.reads.expiredAnswers,
        cursor: yield* Cursor.reads.cursor,
        events: yield* Ledger.reads.events,
        lastEvent: yield* Ledger.reads.lastEvent,
        waiting: yield* Books.reads.waiting,
        backlog: yield* Books.reads.backlog,
        job: yield* Books.reads.job,
        trialBalance: yield* Ledger.reads.trialBalance,
        tally: yield* Books.reads.tally
      })
    ),
    Context.add(AccountReads, yield* accountReads),
    Context.add(
      ReceivingReads,
      ReceivingReads.of({
        invoice: yield* Invoice.reads.invoice,
        invoiceWithDeposit: yield* Invoice.reads.invoiceWithDeposit,
        invoiceByHash: yield* Invoice.reads.invoiceByHash,
        invoicesOf: yield* Invoice.reads.invoicesOf,
        openInvoices: yield* Invoice.reads.openInvoices,
        openInvoicesWithin: yield* Invoice.reads.openInvoicesWithin,
        openHolds: yield* Invoice.reads.openHolds,
        endedForWallets: yield* Invoice.reads.endedForWallets,
        depositOfInvoice: yield* Books.reads.depositOfInvoice,
        unmatched: yield* Books.reads.unmatched,
        unmatchedById: yield* Books.reads.unmatchedById,
        suspended: yield* Books.reads.suspended,
        lightningAddress: yield* LightningAddress.reads.lightningAddress,
        lightningAddressById: yield* LightningAddress.reads.lightningAddressById,
        lightningAddressesOf: yield* LightningAddress.reads.lightningAddressesOf,
        onChainAddresses: yield* OnChainAddress.reads.onChainAddresses,
        deposit: yield* Deposit.reads.deposit,
        depositById: yield* Deposit.reads.depositById,
        depositByOutpoint: yield* Deposit.reads.depositByOutpoint,
        depositsInBlocks: yield* Deposit.reads.depositsInBlocks,
        depositsAbove: yield* Deposit.reads.depositsAbove,
        depositsInNoBlock: yield* Deposit.reads.depositsInNoBlock,
        depositsUnconfirmed: yield* Deposit.depositsUnconfirmed,
        depositsGivenUp: yield* Deposit.reads.depositsGivenUp,
        nextKey: (wallet, type, branch) => Effect.map(nextKey(wallet, type, branch), ([next = 0]) => next)
      })
    ),
    Context.add(
      SendingReads,
      SendingReads.of({
        coins: yield* Coins.reads.coins,
        followers: yield* Withdrawal.reads.followers,
        withdrawalsUnderWay: yield* Withdrawal.reads.withdrawalsUnderWay,
        candidates: yield* Coins.reads.candidates,
        settledPayouts: yield* Coins.reads.settledPayouts,
        withdrawal: yield* Withdrawal.reads.withdrawal,
        withdrawalById: yield* Withdrawal.reads.withdrawalById,
        withdrawalByHash: yield* Withdrawal.reads.withdrawalByHash,
        settledOverLightning: (since, before) =>
          Effect.map(settledOverLightning(since, before), ([found]) => Option.fromUndefinedOr(found)),
        spentCoins: (outpoints) => Effect.map(spentCoins(outpoints), (spent) => new Set(spent))
      })
    ),
    Context.add(
      ReportReads,
      ReportReads.of({
        search: yield* Transaction.reads.search,
        transactions: yield* Transaction.reads.transactions,
        funds: yield* Ledger.reads.funds,
        audit: yield* Ledger.reads.audit,
        ...(yield* Effect.all(Bookings.reads)),
        found: yield* Search.found,
        postingsOf: yield* Steps.postingsOf,
        turnedSince: yield* Steps.turnedSince,
        faults: yield* Books.reads.faults
      })
    ),
    Context.merge(yield* Features.reads)
  )
})

/** Groups reads as the Journal groups commits: single rows requested at the same time are read in one query. */
export const layer = Layer.effectContext(make)
