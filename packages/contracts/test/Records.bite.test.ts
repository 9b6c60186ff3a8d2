import * as Msat from "@satrail/bitcoin/Msat"
import * as CompanyId from "@satrail/core/base/CompanyId"
import type { Balance } from "@satrail/core/ledger/Balance"
import type { Account } from "@satrail/core/ledger/Change"
import * as Tally from "@satrail/core/ledger/Tally"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import { Effect, Option } from "effect"
import { invoice } from "../src/Fixtures.ts"
import { promises } from "../src/records/Records.ts"
import { bites, sabotage } from "./bite.ts"

const throughFloat = (amount: Msat.Msat): Msat.Msat => Msat.make(BigInt(Number(amount)))
const floating = ({ posted, held }: Balance): Balance => ({
  posted: throughFloat(posted),
  held: throughFloat(held)
})

bites("Records", promises, {
  "a store that ignores which company owns a record": [
    sabotage({
      records: ({ companies, withdrawal }) => ({
        withdrawal: Effect.fnUntraced(function* (_, id) {
          const rows = yield* Effect.forEach(yield* companies(null, 1000), (company) =>
            withdrawal(company.id, id)
          )
          return Option.firstSomeOf(rows)
        })
      })
    }),
    ["C53: no company reads another's records"]
  ],
  "a store that uses floating-point numbers": [
    sabotage({
      records: ({ balance }) => ({ balance: (companyId) => Effect.map(balance(companyId), floating) })
    }),
    ["C29 C34: amounts are exact to the millisatoshi, even above the floating-point range"]
  ],
  "a store that swaps the results of concurrent reads": [
    sabotage({
      records: ({ balance }) => {
        let last = CompanyId.operator
        return {
          balance: (companyId) => {
            last = companyId
            return Effect.andThen(
              Effect.yieldNow,
              Effect.suspend(() => balance(last))
            )
          }
        }
      }
    }),
    ["each of 64 concurrent reads of balances returns the right company's balance"]
  ],
  "a store that counts pending deposits in full, without deducting the operator's loss": [
    sabotage({
      records: ({ funds, transactions }) => ({
        funds: Effect.fnUntraced(function* (companyId) {
          const pending = yield* transactions(companyId, { limit: 1000, type: "deposit", status: "pending" })
          return {
            ...(yield* funds(companyId)),
            pendingDeposits: Msat.sum(...pending.map(({ amount }) => amount))
          }
        })
      })
    }),
    ["a company's holdings are the posted, held and pending amounts, to the millisatoshi"]
  ],
  "a store that treats its scan limit as the end of the list": [
    sabotage({
      records: ({ search, invoicesOf }) => ({
        search: (...ask) => Effect.map(search(...ask), ({ rows }) => ({ rows, lookedTo: null })),
        invoicesOf: (...ask) => Effect.map(invoicesOf(...ask), ({ rows }) => ({ rows, lookedTo: null }))
      })
    }),
    ["a list limited to scanning a few rows continues where it stopped and omits nothing"]
  ],
  "a store that ignores the scan limit": [
    sabotage({
      records: ({ search, invoicesOf }) => ({
        search: (companyId, query) => search(companyId, query, 1_000_000),
        invoicesOf: (companyId, query) => invoicesOf(companyId, query, 1_000_000)
      })
    }),
    ["a list limited to scanning a few rows continues where it stopped and omits nothing"]
  ],
  "a store that ignores the metadata filter": [
    sabotage({
      records: ({ search }) => ({
        search: (companyId, { label: _, ...query }, looks) => search(companyId, query, looks)
      })
    }),
    ["transactions are found by a metadata key and its value"]
  ],
  "a store that finds any company's payment by its hash": [
    sabotage({
      records: ({ search, companies }) => ({
        search: (companyId, query, looks) =>
          query.paymentHash === undefined
            ? search(companyId, query, looks)
            : Effect.gen(function* () {
                const found = yield* Effect.forEach(yield* companies(null, 1000), ({ id }) =>
                  search(id, query, looks)
                )
                return { rows: found.flatMap(({ rows }) => rows), lookedTo: null }
              })
      })
    }),
    ["transactions are found by payment hash, transaction id or invoice"]
  ],
  "a store that lists expired invoices as open": [
    sabotage({
      records: ({ invoicesOf }) => ({
        invoicesOf: (id, query, looks) => invoicesOf(id, { ...query, atMillis: 0 }, looks)
      })
    }),
    ["invoices are filtered by status, address, label, hash and time, separately and combined"]
  ],
  "a store that omits claimed invoices": [
    sabotage({
      records: ({ openInvoices }) => ({
        openInvoices: (after, limit) =>
          Effect.map(openInvoices(after, limit), (rows) => rows.filter(({ status }) => status === "pending"))
      })
    }),
    ["open invoices are those that can still be paid; each is listed once, ordered by id"]
  ],
  "a store that reads only the first of several time ranges": [
    sabotage({
      records: ({ openInvoicesWithin }) => ({
        openInvoicesWithin: (ranges, after, limit) => openInvoicesWithin(ranges.slice(0, 1), after, limit)
      })
    }),
    ["open invoices are selected by the time in their ids, and each is listed once, ordered by id"]
  ],
  "a store that counts the hold invoices of all companies": [
    sabotage({
      records: ({ openHolds, openInvoices }) => ({
        openHolds: (companyId, limit) =>
          Effect.zipWith(openHolds(companyId, limit), openInvoices(null, limit), (own, all) =>
            Math.max(own, all.length)
          )
      })
    }),
    ["hold invoices that are still open are counted by company, up to a limit"]
  ],
  "a store that lists wallet invoices that can still be paid": [
    sabotage({
      records: ({ endedForWallets }) => ({
        endedForWallets: (until, after, limit) => endedForWallets(until + 1, after, limit)
      })
    }),
    ["wallet invoices are listed after their expiry, by expiry time"]
  ],
  "a store that repeats the last row on the next page": [
    sabotage({
      records: ({ companies, depositsInBlocks, events }) => {
        const before = (id: string | null): string | null => (id === null ? null : id.slice(0, -1))
        return {
          companies: (after, limit) => companies(before(after), limit),
          depositsInBlocks: (after, limit) => depositsInBlocks(before(after), limit),
          events: (after, limit) => events(after > 0n ? after - 1n : after, limit)
        }
      }
    }),
    [
      "mined deposits that await confirmations are each listed once, ordered by id",
      "a company is returned as committed; each company is listed once, ordered by id",
      "events are read from a position, oldest first, each once"
    ]
  ],
  "a store that pages by time alone": [
    sabotage({
      records: ({ transactions }) => ({
        transactions: (companyId, { after, ...query }) =>
          transactions(
            companyId,
            after === undefined ? query : { ...query, createdBeforeMillis: after.createdAtMillis }
          )
      })
    }),
    ["250 transactions are read once each, in order, whatever the page size"]
  ],
  "a store that filters after it pages": [
    sabotage({
      records: ({ transactions }) => ({
        transactions: (companyId, { rail, ...query }) =>
          Effect.map(transactions(companyId, query), (rows) =>
            rows.filter((row) => rail === undefined || row.rail === rail)
          )
      })
    }),
    ["transactions are filtered by type, rail, status and time, separately and combined"]
  ],
  "a store that includes both ends of a range": [
    sabotage({
      records: ({ transactions }) => ({
        transactions: (companyId, { createdAfterMillis, ...query }) =>
          transactions(
            companyId,
            createdAfterMillis === undefined
              ? query
              : { ...query, createdAfterMillis: createdAfterMillis - 1 }
          )
      })
    }),
    ["transactions are filtered by type, rail, status and time, separately and combined"]
  ],
  "a store that omits spent coins": [
    sabotage({ records: () => ({ spentCoins: () => Effect.succeed(new Set()) }) }),
    ["spent coins are those that a payout uses"]
  ],
  "a store that identifies an output by its transaction only": [
    sabotage({
      records: ({ depositByOutpoint }) => ({
        depositByOutpoint: (txId) =>
          Effect.map(
            Effect.forEach([0, 1, 2, 3], (vout) => depositByOutpoint(txId, vout)),
            Option.firstSomeOf
          )
      })
    }),
    ["a deposit is returned as committed, by its id and by its output"]
  ],
  "a store that returns a previous plan": [
    sabotage({
      records: ({ apiKey }) => ({
        apiKey: (id) =>
          Effect.map(
            apiKey(id),
            Option.map((holder) => ({ ...holder, plan: "free" as const }))
          )
      })
    }),
    ["a key is returned as committed, with its company's current plan"]
  ],
  "a store that omits the time of a rate": [
    sabotage({
      records: ({ invoice, withdrawal }) => ({
        invoice: (...ask) =>
          Effect.map(
            invoice(...ask),
            Option.map((row) => ({ ...row, rateAtMillis: null }))
          ),
        withdrawal: (...ask) =>
          Effect.map(
            withdrawal(...ask),
            Option.map((row) => ({ ...row, rateAtMillis: null }))
          )
      })
    }),
    [
      "an invoice is returned as committed, by its id and by its hash",
      "a withdrawal is returned as committed, by its id and by its hash"
    ]
  ],
  "a store that repeats the last Lightning address on the next page": [
    sabotage({
      records: ({ newestFirst }) => ({
        newestFirst: (noun, companyId, before, limit) =>
          newestFirst(
            noun,
            companyId,
            before === null || noun.name !== LightningAddress.noun.name ? before : `${before}0`,
            limit
          )
      })
    }),
    ["a company's Lightning addresses are listed newest first, each once, without those of other companies"]
  ],
  "a store that reports every domain as due for a check": [
    sabotage({
      records: ({ domainsToCheck }) => ({
        domainsToCheck: (_, after, limit) => domainsToCheck(2_000_000_000_000, after, limit)
      })
    }),
    ["domains are listed by name, and those verified by DNS become due for a check"]
  ],
  "a store that returns a record that does not exist": [
    sabotage({
      records: () => ({ invoiceByHash: (hash) => Effect.asSome(invoice(CompanyId.make(hash), 1)) })
    }),
    [
      "a record that was never committed is not found",
      "an invoice is returned as committed, by its id and by its hash"
    ]
  ],
  "a store whose totals differ from their entries": [
    sabotage({
      records: ({ trialBalance }) => ({
        trialBalance: Effect.map(trialBalance, (accounts) => ({
          ...accounts,
          node: Msat.make(accounts.node + 1n)
        }))
      })
    }),
    ["C41: all companies' books balance together", "a company that was never created has no balance"]
  ],
  "a store that totals only new entries": [
    sabotage({
      records: ({ tally }) => ({
        tally: (before) =>
          Effect.map(tally(null), (now) => {
            const since = (account: Account) => ({
              into: Msat.make(now.accounts[account].into - (before?.accounts[account].into ?? 0n)),
              out: Msat.make(now.accounts[account].out - (before?.accounts[account].out ?? 0n))
            })
            return { ...now, accounts: Tally.byAccount(since) }
          })
      })
    }),
    [
      "a running total is the sum of all entries, whichever earlier total it starts from",
      "a running total omits no entry that is committed while it is computed"
    ]
  ],
  "a store that counts entries twice": [
    sabotage({
      records: ({ tally }) => ({
        tally: (before) =>
          Effect.map(tally(null), (now) =>
            before === null ? now : { ...now, accounts: Tally.add(now.accounts, before.accounts) }
          )
      })
    }),
    ["a running total is the sum of all entries, whichever earlier total it starts from"]
  ],
  "a store that finds no violation": [
    sabotage({ records: () => ({ faults: () => Effect.succeed([]) }) }),
    [
      "a posting that differs from its record is a violation on both accounts",
      "a posting without a record, or a record without its posting, is a violation",
      "C33: an invoice whose received amount differs from its deposit is a violation",
      "an invalid preimage of an invoice or withdrawal is a violation"
    ]
  ],
  "a store that finds violations everywhere": [
    sabotage({
      records: () => ({
        faults: (id) =>
          Effect.succeed([
            { kind: "posted", id, account: null, expected: Msat.zero, found: Msat.fromSats(1) }
          ])
      })
    }),
    ["the books of a company with money in every state have no violation"]
  ],
  "a store that returns any deposit of the company for an invoice": [
    sabotage({
      records: ({ deposit, transactions }) => ({
        depositOfInvoice: Effect.fnUntraced(function* (companyId) {
          const [line] = yield* transactions(companyId, { limit: 1, type: "deposit" })
          return yield* deposit(companyId, line?.id ?? "")
        })
      })
    }),
    ["the deposit of a paid invoice is returned; an unpaid invoice has none"]
  ],
  "a store that returns no suspense items": [
    sabotage({
      records: ({ get }) => ({
        get: (noun, companyId, id) =>
          noun.name === Invoice.unmatchedNoun.name ? Effect.succeedNone : get(noun, companyId, id)
      })
    }),
    ["a suspense item is returned as committed, to its company only"]
  ],
  "a store that repeats the last pending withdrawal on the next page": [
    sabotage({
      records: ({ withdrawalsUnderWay }) => ({
        withdrawalsUnderWay: (after, limit) =>
          withdrawalsUnderWay(after === null ? null : after.slice(0, -1), limit)
      })
    }),
    ["withdrawals in progress are those dispatched but not final; each is listed once, ordered by id"]
  ],
  "a store that is one event behind": [
    sabotage({ records: ({ lastEvent }) => ({ lastEvent: Effect.map(lastEvent, (id) => id - 1n) }) }),
    ["the events after the last one read are those committed since then"]
  ],
  "a store that omits the time since which records have been waiting": [
    sabotage({
      records: ({ waiting }) => ({
        waiting: (before) =>
          Effect.map(waiting(before), (all) => ({
            ...all,
            voucher_open: { ...all.voucher_open, oldestAtMillis: null }
          }))
      })
    }),
    ["waiting records are counted by reason, with their total amount and the oldest record's time"]
  ]
})
