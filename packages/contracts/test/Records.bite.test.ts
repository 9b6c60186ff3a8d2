import * as Msat from "@satrail/bitcoin/Msat"
import * as CompanyId from "@satrail/core/base/CompanyId"
import type { Balance } from "@satrail/core/ledger/Balance"
import type { Account } from "@satrail/core/ledger/Change"
import * as Tally from "@satrail/core/ledger/Tally"
import { Effect, Option } from "effect"
import { invoice } from "../src/Fixtures.ts"
import { promises } from "../src/Records.ts"
import { bites, sabotage } from "./bite.ts"

const throughFloat = (amount: Msat.Msat): Msat.Msat => Msat.make(BigInt(Number(amount)))
const floating = ({ posted, held }: Balance): Balance => ({ posted: throughFloat(posted), held: throughFloat(held) })

bites("Records", promises, {
  "one that does not ask whose it is": [
    sabotage({
      records: ({ companies, withdrawal }) => ({
        withdrawal: Effect.fnUntraced(function* (_, id) {
          const rows = yield* Effect.forEach(yield* companies(null, 1000), (company) => withdrawal(company.id, id))
          return Option.firstSomeOf(rows)
        })
      })
    }),
    ["C53: no company reads another's records"]
  ],
  "one that counts in floating-point numbers": [
    sabotage({ records: ({ balance }) => ({ balance: (companyId) => Effect.map(balance(companyId), floating) }) }),
    ["C29 C34: an amount is kept to the msat, also above what a floating-point number holds"]
  ],
  "one that gives its readers each other's answers": [
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
    ["64 balances read at once are each company's own"]
  ],
  "one that promises a company what the operator bears": [
    sabotage({
      records: ({ funds, transactions }) => ({
        funds: Effect.fnUntraced(function* (companyId) {
          const pending = yield* transactions(companyId, { limit: 1000, type: "deposit", status: "pending" })
          return { ...(yield* funds(companyId)), pendingDeposits: Msat.sum(...pending.map(({ amount }) => amount)) }
        })
      })
    }),
    ["what a company has is what was posted, what is held of it, and what pending deposits will bring, to the msat"]
  ],
  "one that takes the end of its look for the end of the list": [
    sabotage({
      records: ({ search, invoicesOf }) => ({
        search: (...ask) => Effect.map(search(...ask), ({ rows }) => ({ rows, lookedTo: null })),
        invoicesOf: (...ask) => Effect.map(invoicesOf(...ask), ({ rows }) => ({ rows, lookedTo: null }))
      })
    }),
    ["a list that may look at few rows only goes on where it stopped, and leaves nothing out"]
  ],
  "one that looks at everything, whatever it is told": [
    sabotage({
      records: ({ search, invoicesOf }) => ({
        search: (companyId, query) => search(companyId, query, 1_000_000),
        invoicesOf: (companyId, query) => invoicesOf(companyId, query, 1_000_000)
      })
    }),
    ["a list that may look at few rows only goes on where it stopped, and leaves nothing out"]
  ],
  "one that finds all, whatever is in their metadata": [
    sabotage({ records: ({ search }) => ({ search: (companyId, { label: _, ...query }, looks) => search(companyId, query, looks) }) }),
    ["transactions are found by a key of their metadata with its value"]
  ],
  "one that finds anybody's payment by its hash": [
    sabotage({
      records: ({ search, companies }) => ({
        search: (companyId, query, looks) =>
          query.paymentHash === undefined
            ? search(companyId, query, looks)
            : Effect.gen(function* () {
                const found = yield* Effect.forEach(yield* companies(null, 1000), ({ id }) => search(id, query, looks))
                return { rows: found.flatMap(({ rows }) => rows), lookedTo: null }
              })
      })
    }),
    ["transactions are found by payment hash, by transaction and by invoice"]
  ],
  "one that has no clock: what is late is open": [
    sabotage({ records: ({ invoicesOf }) => ({ invoicesOf: (id, query, looks) => invoicesOf(id, { ...query, atMillis: 0 }, looks) }) }),
    ["invoices are picked by where they stand, by address, label, hash and time, and by all of them"]
  ],
  "one that forgets what is claimed": [
    sabotage({
      records: ({ openInvoices }) => ({
        openInvoices: (after, limit) => Effect.map(openInvoices(after, limit), (rows) => rows.filter(({ status }) => status === "pending"))
      })
    }),
    ["open invoices are those that may still be paid, each once, by id"]
  ],
  "one that finds open invoices only where their ids end": [
    sabotage({
      records: ({ openInvoicesWithin }) => ({
        openInvoicesWithin: (ranges, after, limit) => openInvoicesWithin(ranges.slice(0, 1), after, limit)
      })
    }),
    ["open invoices of some times are those whose ids were made then, each once, by id"]
  ],
  "one that counts everybody's hold invoices": [
    sabotage({
      records: ({ openHolds, openInvoices }) => ({
        openHolds: (companyId, limit) =>
          Effect.zipWith(openHolds(companyId, limit), openInvoices(null, limit), (own, all) => Math.max(own, all.length))
      })
    }),
    ["hold invoices are counted until they end, by company, up to a limit"]
  ],
  "one that lists what wallets may still pay": [
    sabotage({
      records: ({ endedForWallets }) => ({ endedForWallets: (until, after, limit) => endedForWallets(until + 1, after, limit) })
    }),
    ["invoices of wallets are listed after their expiry, by its time"]
  ],
  "one that starts a page with the last one's end": [
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
      "deposits in blocks are those to be confirmed, each once, by id",
      "a company is read as it was committed; companies are listed by id, each once",
      "events are read from where one was, oldest first, each once"
    ]
  ],
  "one that pages by time alone": [
    sabotage({
      records: ({ transactions }) => ({
        transactions: (companyId, { after, ...query }) =>
          transactions(companyId, after === undefined ? query : { ...query, createdBeforeMillis: after.createdAtMillis })
      })
    }),
    ["250 lines in pages are each read once, in order, whatever the page's size"]
  ],
  "one that picks after it has cut the page": [
    sabotage({
      records: ({ transactions }) => ({
        transactions: (companyId, { rail, ...query }) =>
          Effect.map(transactions(companyId, query), (rows) => rows.filter((row) => rail === undefined || row.rail === rail))
      })
    }),
    ["lines are picked by type, rail, status and time, and by all of them"]
  ],
  "one that takes both ends in": [
    sabotage({
      records: ({ transactions }) => ({
        transactions: (companyId, { createdAfterMillis, ...query }) =>
          transactions(companyId, createdAfterMillis === undefined ? query : { ...query, createdAfterMillis: createdAfterMillis - 1 })
      })
    }),
    ["lines are picked by type, rail, status and time, and by all of them"]
  ],
  "one that forgets which coins are spent": [
    sabotage({ records: () => ({ spentCoins: () => Effect.succeed(new Set()) }) }),
    ["spent coins are those that a payout has taken"]
  ],
  "one that knows an output by its transaction alone": [
    sabotage({
      records: ({ depositByOutpoint }) => ({
        depositByOutpoint: (txId) =>
          Effect.map(
            Effect.forEach([0, 1, 2, 3], (vout) => depositByOutpoint(txId, vout)),
            Option.firstSomeOf
          )
      })
    }),
    ["a deposit is read as it was committed, by its id and by its output"]
  ],
  "one that remembers an old plan": [
    sabotage({
      records: ({ apiKey }) => ({
        apiKey: (id) =>
          Effect.map(
            apiKey(id),
            Option.map((holder) => ({ ...holder, plan: "free" as const }))
          )
      })
    }),
    ["a key is read as it was committed, with the plan its company has now"]
  ],
  "one that forgets when a rate was one": [
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
      "an invoice is read as it was committed, by its id and by its hash",
      "a withdrawal is read as it was committed, by its id and by its hash"
    ]
  ],
  "one that lists addresses with the page's end": [
    sabotage({
      records: ({ lightningAddressesOf }) => ({
        lightningAddressesOf: (companyId, before, limit) => lightningAddressesOf(companyId, before === null ? null : `${before}0`, limit)
      })
    }),
    ["a company's Lightning addresses are listed newest first, each once, and no other company's"]
  ],
  "one that has everything checked all the time": [
    sabotage({
      records: ({ domainsToCheck }) => ({ domainsToCheck: (_, after, limit) => domainsToCheck(2_000_000_000_000, after, limit) })
    }),
    ["domains are listed by name, and those verified by DNS are due for a check after a while"]
  ],
  "one that makes something up": [
    sabotage({ records: () => ({ invoiceByHash: (hash) => Effect.asSome(invoice(CompanyId.make(hash), 1)) }) }),
    ["a record that was never committed is not found", "an invoice is read as it was committed, by its id and by its hash"]
  ],
  "one whose totals are not what its entries say": [
    sabotage({
      records: ({ trialBalance }) => ({
        trialBalance: Effect.map(trialBalance, (accounts) => ({ ...accounts, node: Msat.make(accounts.node + 1n) }))
      })
    }),
    ["C41: the books of all companies together are sound", "a company that was not opened has nothing"]
  ],
  "one that counts only what is new": [
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
      "a tally is what all entries come to, counted on from any earlier one",
      "a tally that is counted on while others commit leaves nothing out"
    ]
  ],
  "one that counts what it has counted once more": [
    sabotage({
      records: ({ tally }) => ({
        tally: (before) =>
          Effect.map(tally(null), (now) => (before === null ? now : { ...now, accounts: Tally.add(now.accounts, before.accounts) }))
      })
    }),
    ["a tally is what all entries come to, counted on from any earlier one"]
  ],
  "one that finds no fault": [
    sabotage({ records: () => ({ faults: () => Effect.succeed([]) }) }),
    [
      "what was booked otherwise than its record says is a fault, of both accounts",
      "what was booked without a record, and what is recorded and was not booked, is a fault",
      "C33: an invoice that received something else than its deposit is a fault",
      "a preimage that proves nothing is a fault, of an invoice and of a withdrawal"
    ]
  ],
  "one that finds fault with everybody": [
    sabotage({
      records: () => ({
        faults: (id) => Effect.succeed([{ kind: "posted", id, account: null, expected: Msat.zero, found: Msat.fromSats(1) }])
      })
    }),
    ["the books of a company with money in every state have no fault"]
  ],
  "one that takes any deposit of the company for the invoice's": [
    sabotage({
      records: ({ deposit, transactions }) => ({
        depositOfInvoice: Effect.fnUntraced(function* (companyId) {
          const [line] = yield* transactions(companyId, { limit: 1, type: "deposit" })
          return yield* deposit(companyId, line?.id ?? "")
        })
      })
    }),
    ["the deposit of an invoice is the one that credited it, and there is none before"]
  ],
  "one that shows nobody what is in suspense": [
    sabotage({ records: () => ({ unmatched: () => Effect.succeedNone }) }),
    ["what is in suspense is read as it was committed, by its company alone"]
  ],
  "one that starts a page of what is under way with the last one's end": [
    sabotage({
      records: ({ withdrawalsUnderWay }) => ({
        withdrawalsUnderWay: (after, limit) => withdrawalsUnderWay(after === null ? null : after.slice(0, -1), limit)
      })
    }),
    ["withdrawals under way are those that were dispatched and have not ended, each once, by id"]
  ],
  "one that is an event behind": [
    sabotage({ records: ({ lastEvent }) => ({ lastEvent: Effect.map(lastEvent, (id) => id - 1n) }) }),
    ["what comes after the last event is what was committed since"]
  ],
  "one that counts what waits, and not since when": [
    sabotage({
      records: ({ waiting }) => ({
        waiting: (before) => Effect.map(waiting(before), (all) => ({ ...all, voucher_open: { ...all.voucher_open, oldestAtMillis: null } }))
      })
    }),
    ["what waits is counted by what it waits for, with its amount and since when"]
  ]
})
