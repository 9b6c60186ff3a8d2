import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import type { Feature } from "@satrail/core/ledger/Feature"
import * as Noun from "@satrail/core/ledger/Noun"
import * as Deposit from "@satrail/core/receiving/Deposit"
import type { Position } from "@satrail/core/ledger/Page"
import type { Query } from "@satrail/core/reports/Transaction"
import * as Transaction from "@satrail/core/reports/Transaction"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect } from "effect"
import * as Labels from "../statements/Labels.ts"
import * as Lists from "../statements/Lists.ts"
import * as Described from "./Described.ts"
import * as Posted from "./Posted.ts"
import * as Stored from "./Stored.ts"
import * as Table from "../statements/Table.ts"

/** The common columns of deposits, withdrawals and features' postings. There is no such table. */
const transactions = Table.of(Noun.members("transactions", Transaction.Transaction, []), "t")

type Source = Pick<Lists.Part, "from" | "where"> & { readonly order?: string }

const label = { companyId: "{company}::uuid", key: "{key}::text", value: "{value}::text" }

// The id contains the time.
const labelled = (noun: Noun.Noun): Source => {
  const { from, where } = Labels.rows(noun, label)
  return {
    from,
    where: `${where} and l.id < {afterId}::uuid and l.id >= {fromId}::uuid and l.id < {untilId}::uuid`,
    order: "l.id desc"
  }
}

/**
 * The access path to a company's records: an index of the company's id as bytes (see migrations/Baseline.ts).
 */
const listed = (table: string): Source => ({
  from: `${table} r`,
  where: "uuid_send(r.company_id) = uuid_send({company}::uuid)"
})

// Compare the company as text, so that the planner cannot use its key instead of the intended index.
const ofTransaction = (table: string): Source => ({
  from: `${table} r`,
  where: "r.chain_tx_id = {chainTxId}::text and r.company_id::text = {company}::text"
})

/** The deposit of an invoice. Both contain the settlement time, by which deposits are indexed. */
const ofInvoice = (which: string): Source => ({
  from: `satrail.invoices i cross join lateral (
    select * from satrail.deposits d
    where uuid_send(d.company_id) = uuid_send(i.company_id) and d.created_at_millis = i.settled_at_millis and d.lightning_invoice_id = i.id limit 1
  ) r`,
  where: which
})

const tablesOf = (features: ReadonlyArray<Feature>) => ({
  withdrawal: {
    table: "satrail.withdrawals",
    fee: "service_fee + network_allowance",
    // As in `Withdrawal.standing`: a waiting withdrawal is pending, which the table checks.
    status: "case when approval = 'waiting' then 'pending_approval' else status end",
    failure: "failure",
    links: Described.links(features, Withdrawal.noun),
    isOfInvoice: "{lightningInvoiceId}::uuid is null"
  },
  deposit: {
    table: "satrail.deposits",
    fee: "0",
    status: "status",
    failure: "null",
    links: Described.links(features, Deposit.noun),
    isOfInvoice: "({lightningInvoiceId}::uuid is null or lightning_invoice_id = {lightningInvoiceId}::uuid)"
  }
})

/** Each half uses its own index. Filters that the index doesn't cover are applied to its rows. */
const halfOf = (features: ReadonlyArray<Feature>) => {
  const tables = tablesOf(features)
  return (
    type: keyof typeof tables,
    { from, where, order = "r.created_at_millis desc, r.id desc" }: Source
  ): string => {
    const { fee, status, failure, links, isOfInvoice } = tables[type]
    return Lists.part({
      columns: `id, company_id, amount, recipient, rail, '${type}' as type, ${fee} as fee, ${status} as status, null as reason,
      coalesce(metadata, '{}'::json) as metadata, ${failure} as failure, ${links}, null::text as own_description, created_at_millis`,
      from,
      where: `${where} and (r.created_at_millis, r.id) < ({startMillis}::bigint, {startId}::uuid)
      and r.created_at_millis > {createdAfter}::bigint and coalesce({type} = '${type}', true)`,
      order,
      picked: `coalesce(${status} = {status}, true) and coalesce(rail = {rail}, true) and ({chainTxId}::text is null or chain_tx_id = {chainTxId}::text)
      and ({key}::text is null or metadata ->> {key}::text = {value}::text) and ${isOfInvoice}`
    })
  }
}

const payment = "payment_hash = {paymentHash}::text"

/** Returns a search's access paths. The first one whose filter is given is used. */
const waysOf = (features: ReadonlyArray<Feature>) => {
  const { withdrawal, deposit } = tablesOf(features)
  const half = halfOf(features)
  return [
    [
      "paymentHash",
      [
        half("withdrawal", {
          from: `${withdrawal.table} r`,
          where: `(r.${payment} or r.reported_hash = {paymentHash}::text) and r.company_id::text = {company}::text`
        }),
        half("deposit", ofInvoice(`i.${payment} and i.company_id::text = {company}::text`))
      ]
    ],
    [
      "lightningInvoiceId",
      [half("deposit", ofInvoice("i.company_id = {company}::uuid and i.id = {lightningInvoiceId}::uuid"))]
    ],
    [
      "chainTxId",
      [half("withdrawal", ofTransaction(withdrawal.table)), half("deposit", ofTransaction(deposit.table))]
    ],
    ["label", [half("withdrawal", labelled(Withdrawal.noun)), half("deposit", labelled(Deposit.noun))]],
    [
      null,
      [
        half("withdrawal", listed(withdrawal.table)),
        half("deposit", listed(deposit.table)),
        ...Posted.transactions(features)
      ]
    ]
  ] as const
}

const earliest = "-9223372036854775808"

/**
 * Where the list starts (exclusive): at the end of the period, or after the previous page. With two conditions, the
 * database would start at one of them and read all rows up to the other.
 */
const startOf = ({ after, createdBeforeMillis: before }: Query): Position =>
  before !== undefined && before <= (after?.createdAtMillis ?? before)
    ? { createdAtMillis: before, id: Id.nil }
    : (after ?? { createdAtMillis: Number.MAX_SAFE_INTEGER, id: Id.max })

const isFromEnd = ({ after, createdBeforeMillis }: Query): boolean =>
  after === undefined && createdBeforeMillis === undefined

const valuesOf = (companyId: CompanyId.CompanyId, query: Query): Readonly<Record<string, string | null>> => ({
  company: companyId,
  startMillis: String(startOf(query).createdAtMillis),
  startId: startOf(query).id,
  afterId: query.after?.id ?? Id.max,
  createdAfter: String(query.createdAfterMillis ?? earliest),
  beforeId: isFromEnd(query) ? Id.max : Id.floorOf(startOf(query).createdAtMillis + 1),
  fromId: query.createdAfterMillis === undefined ? Id.nil : Id.floorOf(query.createdAfterMillis + 1),
  untilId: query.createdBeforeMillis === undefined ? Id.max : Id.floorOf(query.createdBeforeMillis),
  type: query.type ?? null,
  status: query.status ?? null,
  rail: query.rail ?? null,
  key: query.label?.key ?? null,
  value: query.label?.value ?? null,
  paymentHash: query.paymentHash ?? null,
  chainTxId: query.chainTxId ?? null,
  lightningInvoiceId: query.lightningInvoiceId ?? null
})

const search = Stored.by(
  Effect.fnUntraced(function* (features) {
    const reads = yield* Effect.forEach(waysOf(features), ([name, halves]) =>
      Effect.map(
        Lists.picking("Records.search", transactions, halves, Lists.byTime, Described.column(features)),
        (read) => [name, read] as const
      )
    )
    return (companyId: CompanyId.CompanyId, query: Query, looks: number) => {
      const [, read] = reads.find(([name]) => name === null || query[name] !== undefined) ?? []
      return read === undefined
        ? Effect.die(new Error("every search has an access path"))
        : read(valuesOf(companyId, query), query.limit, looks)
    }
  })
)

export const reads = {
  search,
  transactions: Effect.map(
    search,
    (search) => (companyId: CompanyId.CompanyId, query: Query) =>
      Effect.map(search(companyId, query, Lists.all), ({ rows }) => rows)
  )
}
