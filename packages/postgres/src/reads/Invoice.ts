import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import type { Change } from "@satrail/core/service/Changes"
import * as Invoice from "@satrail/core/receiving/Invoice"
import { Effect, Schema } from "effect"
import { credited, deposits } from "./Deposit.ts"
import * as Labels from "../statements/Labels.ts"
import * as Lists from "../statements/Lists.ts"
import * as Reads from "../statements/Reads.ts"
import { joinTarget, type Kind, statement, target } from "../statements/Statements.ts"
import * as Table from "../statements/Table.ts"

const invoices = Table.of(Invoice.noun)

/** Rows of a list, as selected by its parts. */
const table = Table.of(Invoice.noun, "t")

export const unmatched = Table.of(Invoice.unmatchedNoun)

const notPayable = (change: Change, status: string) =>
  new Invoice.InvoiceNotPayable({ invoiceId: change.id, status })

const forgotten: Kind<Invoice.InvoiceForgotten> = {
  statement: statement({
    parts: (locks) => [
      target(invoices, locks),
      `
applied as (
  delete from satrail.invoices t using fresh f join target g using (n)
  where t.company_id = f.company_id and t.id = f.id and g.status in ('pending', 'expired') returning t.company_id, t.id
)`
    ],
    joins: joinTarget,
    before: "case when g.n is null then 'Applied' end",
    guards: "'InvoiceNotPayable ' || g.status"
  }),
  row: () => ({}),
  refusals: { InvoiceNotPayable: notPayable }
}

export const kinds = {
  InvoiceForgotten: forgotten
}

// The status, as in `Invoice.standing`.
const standing = `case when r.status = 'settled' then 'settled' when r.status in ('claimed', 'held', 'settling') then 'accepted'
  when r.status in ('canceling', 'canceled') then 'canceled'
  when r.status = 'expired' or r.expires_at_millis <= {at}::bigint then 'expired' else 'open' end`

const listed = (from: string, where: string, id: string): string =>
  Lists.part({
    columns: invoices.columns,
    from,
    where: `${where} and ${id} < {before}::uuid and ${id} >= {fromId}::uuid and ${id} < {untilId}::uuid`,
    order: `${id} desc`,
    picked: `coalesce(${standing} = {standing}::text, true) and ({address}::uuid is null or r.lightning_address_id = {address}::uuid)
      and ({key}::text is null or r.metadata ->> {key}::text = {value}::text)
      and coalesce(r.created_at_millis > {createdAfter}::bigint, true) and coalesce(r.created_at_millis < {createdBefore}::bigint, true)`
  })

const labelled = Labels.rows(Invoice.noun, {
  companyId: "{company}::uuid",
  key: "{key}::text",
  value: "{value}::text"
})

/**
 * A list's access paths. The first one whose filter is given is used. The company is compared as text, so that
 * the planner cannot use its key instead of the intended index.
 */
const ways = [
  [
    "paymentHash",
    listed(
      "satrail.invoices r",
      "r.payment_hash = {paymentHash}::text and r.company_id::text = {company}::text",
      "r.id"
    )
  ],
  ["label", listed(labelled.from, labelled.where, "l.id")],
  [
    "lightningAddressId",
    listed(
      "satrail.invoices r",
      "r.lightning_address_id = {address}::uuid and r.company_id::text = {company}::text",
      "r.id"
    )
  ],
  [null, listed("satrail.invoices r", "r.company_id = {company}::uuid", "r.id")]
] as const

const invoicesOf = Effect.gen(function* () {
  const reads = yield* Effect.forEach(ways, ([name, part]) =>
    Effect.map(
      Lists.picking("Records.invoicesOf", table, [part], Lists.byId),
      (read) => [name, read] as const
    )
  )
  return (companyId: CompanyId.CompanyId, query: Invoice.Query, looks: number) => {
    const [, read] = reads.find(([name]) => name === null || query[name] !== undefined) ?? []
    if (read === undefined) return Effect.die(new Error("every list has an access path"))
    const { createdAfterMillis: after, createdBeforeMillis: before } = query
    const values = {
      company: companyId,
      at: String(query.atMillis),
      before: query.before ?? Id.max,
      fromId: after === undefined ? Id.nil : Id.floorOf(after + 1),
      untilId: before === undefined ? Id.max : Id.floorOf(before),
      createdAfter: after === undefined ? null : String(after),
      createdBefore: before === undefined ? null : String(before),
      standing: query.standing ?? null,
      address: query.lightningAddressId ?? null,
      key: query.label?.key ?? null,
      value: query.label?.value ?? null,
      paymentHash: query.paymentHash ?? null
    }
    return read(values, query.limit, looks)
  }
})

const ItsDeposit = Schema.decodeUnknownSync(Schema.Struct({ depositId: Schema.NullOr(Schema.String) }))

const open = "status in ('pending', 'claimed', 'canceling')"
const forWallets = "t.lightning_address_id is not null and t.status = 'pending'"

export const reads = {
  invoice: Reads.get("Records.invoice", Invoice.noun),
  invoiceWithDeposit: Reads.one("Records.invoiceWithDeposit", {
    key: { company_id: "uuid", id: "uuid" },
    select: `
select ${invoices.selected}, (select d.id::text from ${deposits.name} d where ${credited("d", "t")}) as "depositId"
from ${invoices.name} t where t.company_id = a.company_id and t.id = a.id`,
    read: (row) => ({ invoice: invoices.ofRow(row), ...ItsDeposit(row) }),
    keyOf: (companyId: CompanyId.CompanyId, id: string) => [companyId, id]
  }),
  invoicesOf,
  invoiceByHash: Reads.named("Records.invoiceByHash", Invoice.noun, ["paymentHash"]),
  openInvoices: Reads.page("Records.openInvoices", invoices, open),
  openInvoicesWithin: Reads.many("Records.openInvoicesWithin", {
    text: `
select t.* from json_to_recordset($1) as r(from_id uuid, until_id uuid) cross join lateral (
  select ${invoices.selected} from ${invoices.name} t
  where ${open} and t.id >= r.from_id and t.id < r.until_id and t.id > $2::uuid order by t.id limit $3::bigint
) t order by t."id" limit $3::bigint`,
    values: (ranges: ReadonlyArray<readonly [string, string]>, after: string | null, limit: number) => [
      JSON.stringify(ranges.map(([from, until]) => ({ from_id: from, until_id: until }))),
      after ?? Id.nil,
      String(limit)
    ],
    read: invoices.ofRow
  }),
  // A hold invoice has a job until it is settled or canceled, and jobs are indexed by kind and company.
  openHolds: Reads.mapped(
    Reads.many("Records.openHolds", {
      text: `
select count(*)::int as count from (
  select 1 from satrail.tasks where kind = '${Invoice.holdTask}' and company_id = $1::uuid limit $2::bigint
) t`,
      values: (companyId: CompanyId.CompanyId, limit: number) => [companyId, String(limit)],
      read: Schema.decodeUnknownSync(Schema.Struct({ count: Schema.Int }))
    }),
    ([found]) => found?.count ?? 0
  ),
  endedForWallets: Reads.many("Records.endedForWallets", {
    text: `
select ${invoices.selected} from ${invoices.name} t
where ${forWallets} and t.expires_at_millis <= $1::bigint and (t.expires_at_millis, t.id) > ($2::bigint, $3::uuid)
order by t.expires_at_millis, t.id limit $4::bigint`,
    values: (
      untilMillis: number,
      after: Pick<Invoice.Invoice, "expiresAtMillis" | "id"> | null,
      limit: number
    ) => [String(untilMillis), String(after?.expiresAtMillis ?? 0), after?.id ?? Id.nil, String(limit)],
    read: invoices.ofRow
  })
}
