import * as Id from "@satrail/core/base/Id"
import type { Change } from "@satrail/core/service/Changes"
import * as Invoice from "@satrail/core/receiving/Invoice"
import { Schema } from "effect"
import * as Reads from "./Reads.ts"
import { joinTarget, type Kind, statement, target } from "./Statements.ts"
import * as Table from "./Table.ts"

const invoices = Table.of(Invoice.noun)

export const unmatched = Table.of(Invoice.unmatchedNoun)

const notPayable = (change: Change, status: string) => new Invoice.InvoiceNotPayable({ invoiceId: change.id, status })

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

const open = "status in ('pending', 'claimed')"
const forWallets = "t.lightning_address_id is not null and t.status = 'pending'"

export const reads = {
  invoice: Reads.get("Records.invoice", Invoice.noun),
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
