import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import type { Change } from "@satrail/core/Changes"
import { Conflict } from "@satrail/core/ledger/Journal"
import * as Invoice from "@satrail/core/receiving/Invoice"
import { Schema } from "effect"
import { deposits } from "./Deposit.ts"
import * as Reads from "./Reads.ts"
import { creation, joinTarget, type Kind, statement, target } from "./Statements.ts"
import * as Table from "./Table.ts"

const invoices = Table.of(Invoice.noun)

export const unmatched = Table.of(Invoice.unmatchedNoun)

const conflict = (change: Change) => new Conflict({ change: change._tag, id: change.id })

const notPayable = (change: Change, status: string) => new Invoice.InvoiceNotPayable({ invoiceId: change.id, status })

const created: Kind<Invoice.InvoiceCreated> = {
  statement: creation(invoices, {
    // A payment is credited by its hash: no two invoices may have one.
    guards: "(select 'Conflict' from satrail.invoices t where t.payment_hash = a.payment_hash)"
  }),
  row: ({ invoice }) => invoices.toRow(invoice),
  identities: ({ invoice }) => [invoice.paymentHash],
  refusals: { Conflict: conflict }
}

const claimed: Kind<Invoice.InvoiceClaimed> = {
  statement: statement({
    columns: "withdrawal_id uuid",
    parts: (locks) => [
      target(invoices, locks),
      `
applied as (
  update satrail.invoices t set status = 'claimed', claimed_by = f.withdrawal_id from fresh f join target g using (n)
  where t.company_id = f.company_id and t.id = f.id and g.status = 'pending' returning t.company_id, t.id
)`
    ],
    joins: joinTarget,
    before: "case when g.status = 'claimed' and g.claimed_by = a.withdrawal_id then 'Applied' end",
    guards: "case when g.n is null then 'missing' else 'InvoiceNotPayable ' || g.status end"
  }),
  row: ({ withdrawalId }) => ({ withdrawal_id: withdrawalId }),
  refusals: { InvoiceNotPayable: notPayable }
}

const settled: Kind<Invoice.InvoiceSettled> = {
  statement: statement({
    columns: "received bigint, preimage text, deposit json",
    parts: (locks) => [
      target(invoices, locks),
      `
applied as (
  update satrail.invoices t set
    status = 'settled', received = f.received, preimage = f.preimage, claimed_by = null, settled_at_millis = f.at_millis
  from fresh f join target g using (n)
  where t.company_id = f.company_id and t.id = f.id and g.status <> 'settled' returning t.company_id, t.id
)`
    ],
    effects: [
      `
deposited as (
  insert into satrail.deposits (${deposits.columns})
  select ${deposits.columns.replaceAll(/\b\w+/g, "r.$&")} from done d cross join lateral json_to_record(d.deposit) as r(${deposits.definition})
), paid as (
  update satrail.lightning_addresses t set last_used_at_millis = u.at_millis, updated_at_millis = u.at_millis
  from (
    select g.company_id, g.lightning_address_id, max(d.at_millis) as at_millis from done d join target g using (n)
    where g.lightning_address_id is not null group by g.company_id, g.lightning_address_id
  ) u
  where t.company_id = u.company_id and t.id = u.lightning_address_id
)`
    ],
    joins: joinTarget,
    // An invoice has one preimage: whoever pays from outside what was paid from inside has the same proof, and is another payer.
    before: `case when g.status = 'settled' then
    case when (g.preimage, g.received) is not distinct from (a.preimage, a.received) and g.claimed_by is null
    then 'Applied' else 'InvoiceNotPayable settled' end end`,
    guards: "case when g.n is null then 'missing' end"
  }),
  row: ({ received, preimage, deposit }) => ({ received: String(received), preimage, deposit: deposits.toRow(deposit) }),
  identities: ({ deposit }) => [deposit.id],
  refusals: { InvoiceNotPayable: notPayable }
}

const expired: Kind<Invoice.InvoiceExpired> = {
  statement: statement({
    parts: (locks) => [
      target(invoices, locks),
      `
applied as (
  update satrail.invoices t set status = 'expired' from fresh f join target g using (n)
  where t.company_id = f.company_id and t.id = f.id and g.status in ('pending', 'claimed') returning t.company_id, t.id
)`
    ],
    joins: joinTarget,
    // What another process has forgotten meanwhile is over as well.
    before: "case when g.n is null or g.status in ('settled', 'expired') then 'Applied' end"
  }),
  row: () => ({}),
  refusals: {}
}

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

const paymentUnmatched: Kind<Invoice.PaymentUnmatched> = {
  statement: creation(unmatched, { stamp: "created_at_millis" }),
  row: (change) => unmatched.toRow(change.unmatched),
  refusals: { Conflict: conflict }
}

export const kinds = {
  InvoiceCreated: created,
  InvoiceClaimed: claimed,
  InvoiceSettled: settled,
  InvoiceExpired: expired,
  InvoiceForgotten: forgotten,
  PaymentUnmatched: paymentUnmatched
}

const open = "status in ('pending', 'claimed')"
const forWallets = "t.lightning_address_id is not null and t.status = 'pending'"

export const reads = {
  invoice: Reads.one("Records.invoice", {
    key: { company_id: "uuid", id: "uuid" },
    select: `select ${invoices.selected} from ${invoices.name} t where t.company_id = a.company_id and t.id = a.id`,
    read: invoices.ofRow,
    keyOf: (companyId: CompanyId.CompanyId, id: string) => [companyId, id]
  }),
  invoiceByHash: Reads.one("Records.invoiceByHash", {
    key: { payment_hash: "text" },
    select: `select ${invoices.selected} from ${invoices.name} t where t.payment_hash = a.payment_hash`,
    read: invoices.ofRow,
    keyOf: (paymentHash: PaymentHash.PaymentHash) => [paymentHash]
  }),
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
  openForWallets: Reads.many("Records.openForWallets", {
    text: `
select t.lightning_address_id::text as "lightningAddressId", count(*)::text as count from ${invoices.name} t
where ${forWallets} and t.expires_at_millis > $1::bigint group by t.lightning_address_id`,
    values: (nowMillis: number) => [String(nowMillis)],
    read: Schema.decodeUnknownSync(Schema.Struct({ lightningAddressId: Schema.String, count: Schema.NumberFromString }))
  }),
  endedForWallets: Reads.many("Records.endedForWallets", {
    text: `
select ${invoices.selected} from ${invoices.name} t
where ${forWallets} and t.expires_at_millis <= $1::bigint and (t.expires_at_millis, t.id) > ($2::bigint, $3::uuid)
order by t.expires_at_millis, t.id limit $4::bigint`,
    values: (untilMillis: number, after: Pick<Invoice.Invoice, "expiresAtMillis" | "id"> | null, limit: number) => [
      String(untilMillis),
      String(after?.expiresAtMillis ?? 0),
      after?.id ?? Id.nil,
      String(limit)
    ],
    read: invoices.ofRow
  })
}
