import { Effect, Option } from "effect"
import type { Balance } from "@satrail/core/Balance"
import { invoice } from "../src/Fixtures.ts"
import * as Msat from "@satrail/core/Msat"
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
    ["C53: nobody reads what is another company's"]
  ],
  "one that counts in floating-point numbers": [
    sabotage({ records: ({ balance }) => ({ balance: (companyId) => Effect.map(balance(companyId), floating) }) }),
    ["C29 C34: an amount is kept to the msat, also above what a floating-point number holds"]
  ],
  "one that gives its readers each other's answers": [
    sabotage({
      records: ({ balance }) => {
        let last = ""
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
    ["64 balances asked for at once are each company's own"]
  ],
  "one that forgets what is claimed": [
    sabotage({
      records: ({ openInvoices }) => ({
        openInvoices: (after, limit) => Effect.map(openInvoices(after, limit), (rows) => rows.filter(({ status }) => status === "pending"))
      })
    }),
    ["open invoices are those that may still be paid, each once, by id"]
  ],
  "one that starts a page with the last one's end": [
    sabotage({
      records: ({ companies, depositsInBlocks, events, allOnChainAddresses }) => {
        const before = (id: string | null): string | null => (id === null ? null : id.slice(0, -1))
        return {
          companies: (after, limit) => companies(before(after), limit),
          depositsInBlocks: (after, limit) => depositsInBlocks(before(after), limit),
          allOnChainAddresses: (after, limit) => allOnChainAddresses(before(after), limit),
          events: (after, limit) => events(after > 0n ? after - 1n : after, limit)
        }
      }
    }),
    [
      "deposits in blocks are those to be confirmed, each once, by id",
      "every address we gave out, each once, by id",
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
    ["a company's Lightning addresses are listed newest first, each once, and nobody else's"]
  ],
  "one that lists vouchers with the page's end": [
    sabotage({
      records: ({ vouchersOf }) => ({
        vouchersOf: (companyId, before, limit) => vouchersOf(companyId, before === null ? null : `${before}0`, limit)
      })
    }),
    ["a voucher is read as it was committed, by its id and by its secret; a company's are listed newest first, each once"]
  ],
  "one that has everything checked all the time": [
    sabotage({
      records: ({ domainsToCheck }) => ({ domainsToCheck: (_, after, limit) => domainsToCheck(2_000_000_000_000, after, limit) })
    }),
    ["domains are listed by name, and those are to be checked that DNS shows and nobody looked at for long"]
  ],
  "one that makes something up": [
    sabotage({ records: () => ({ invoiceByHash: (hash) => Effect.asSome(invoice(hash, 1)) }) }),
    ["what was never committed is not there", "an invoice is read as it was committed, by its id and by its hash"]
  ],
  "one whose totals are not what its entries say": [
    sabotage({
      records: ({ trialBalance }) => ({
        trialBalance: Effect.map(trialBalance, (accounts) => ({ ...accounts, node: Msat.make(accounts.node + 1n) }))
      })
    }),
    ["C41: the books of all companies together are sound", "a company that nobody opened has nothing"]
  ]
})
