import { Clock, Effect, Option, Schema } from "effect"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Invalid } from "@satrail/core/base/Invalid"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { Page, Position } from "@satrail/core/ledger/Page"
import * as Invoice from "@satrail/core/receiving/Invoice"
import { Invoices } from "@satrail/core/receiving/Invoices"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import type { Transaction } from "@satrail/core/reports/Transaction"
import { Transactions } from "@satrail/core/reports/Transactions"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import { type Call, paramsOf, refuse } from "./WalletRefused.ts"
import * as WalletView from "./WalletView.ts"

/**
 * Default and maximum number of transactions in a response, which must fit into an event that relays accept.
 */
export const listed = { default: 10, maximum: 20 } as const

/** Maximum offset of a list. Older transactions are available over HTTP. */
export const maxOffset = 500

/** Maximum number of pages read for a response. It is enough for the largest offset, however large the metadata. */
const maxPages = 10

const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))
const Params = Schema.Struct({
  from: Schema.optionalKey(Count),
  until: Schema.optionalKey(Count),
  limit: Schema.optionalKey(Count),
  offset: Schema.optionalKey(Count),
  type: Schema.optionalKey(Schema.Literals(["incoming", "outgoing"])),
  unpaid: Schema.optionalKey(Schema.Boolean)
})

/** Every status of an invoice that was not paid. */
const unpaidStandings = Invoice.Standing.literals.filter((standing) => standing !== "settled")

interface Row extends Position {
  readonly type: Transaction["type"] | "invoice"
}

type Find = (
  limit: number,
  after: Position | undefined
) => Effect.Effect<Page<Row>, Invalid | StoreUnavailable>

/** Reads the first rows of a list. Their metadata is not kept. */
const firstOf = Effect.fnUntraced(function* (count: number, find: Find) {
  const rows: Array<Row> = []
  let after: Position | undefined
  for (let pages = 0; pages < maxPages && rows.length < count; pages++) {
    const found = yield* Effect.catchTag(find(count - rows.length, after), "Invalid", ({ message }) =>
      refuse("OTHER", message)
    )
    rows.push(...found.rows.map(({ createdAtMillis, id, type }) => ({ createdAtMillis, id, type })))
    after = found.next
    if (after === undefined) break
  }
  return rows
})

const newestFirst = (a: Position, b: Position): number =>
  b.createdAtMillis - a.createdAtMillis || (a.id < b.id ? 1 : -1)

/** Lists a company's Lightning payments and, if the app asks for them, its unpaid invoices. */
export const make = Effect.gen(function* () {
  const receiving = yield* ReceivingReads
  const sending = yield* SendingReads
  const transactions = yield* Transactions
  const invoices = yield* Invoices

  const shown = Effect.fnUntraced(function* (
    companyId: CompanyId.CompanyId,
    { id, type }: Row,
    apiKeyId: string,
    nowMillis: number
  ) {
    if (type === "withdrawal") {
      const found = yield* sending.withdrawal(companyId, id)
      return Option.isSome(found) ? WalletView.outgoing(found.value) : undefined
    }
    const deposit =
      type === "invoice" ? undefined : Option.getOrUndefined(yield* receiving.deposit(companyId, id))
    const invoiceId = type === "invoice" ? id : (deposit?.lightningInvoiceId ?? null)
    const found = invoiceId === null ? Option.none() : yield* receiving.invoice(companyId, invoiceId)
    return Option.isSome(found) ? WalletView.incoming(found.value, apiKeyId, nowMillis) : undefined
  })

  return Effect.fnUntraced(function* (call: Call) {
    const {
      from,
      until,
      limit = listed.default,
      offset: skipped = 0,
      type,
      unpaid = false
    } = yield* paramsOf(call, Params)
    if (skipped > maxOffset)
      return yield* refuse(
        "OTHER",
        `offset must be at most ${maxOffset}. Narrow the range with from and until.`
      )
    const size = Math.min(limit, listed.maximum)
    const { id: apiKeyId, companyId } = call.holder.apiKey
    // Both bounds are inclusive, in whole seconds.
    const times = {
      ...(from !== undefined && { createdAfterMillis: from * 1000 - 1 }),
      ...(until !== undefined && { createdBeforeMillis: (until + 1) * 1000 })
    }
    const only =
      type === undefined ? {} : { type: type === "incoming" ? ("deposit" as const) : ("withdrawal" as const) }
    const paid: Find = (limit, after) =>
      transactions.list(companyId, { rail: "lightning", ...only, ...times, limit, ...(after && { after }) })
    const unpaidWith =
      (standing: Invoice.Standing): Find =>
      (limit, after) =>
        Effect.map(
          invoices.list(companyId, { ...times, standing, limit, before: after?.id ?? null }),
          ({ rows, next }) => ({
            rows: rows.map((row) => ({ ...row, type: "invoice" as const })),
            next
          })
        )
    const finds = unpaid && type !== "outgoing" ? [paid, ...unpaidStandings.map(unpaidWith)] : [paid]
    const rows = yield* Effect.forEach(finds, (find) => firstOf(skipped + size, find))
    const nowMillis = yield* Clock.currentTimeMillis
    const asRead = rows
      .flat()
      .toSorted(newestFirst)
      .slice(skipped, skipped + size)
    const all = yield* Effect.forEach(asRead, (row) => shown(companyId, row, apiKeyId, nowMillis), {
      concurrency: 5
    })
    return { transactions: WalletView.fitting(all.filter((one) => one !== undefined)) }
  })
})
