import * as Balance from "@satrail/core/ledger/Balance"
import { InsufficientBalance } from "@satrail/core/ledger/Balance"
import { Conflict } from "@satrail/core/ledger/Journal"
import * as Voucher from "@satrail/core/sending/Voucher"
import * as Reads from "./Reads.ts"
import { granted, insufficient, joinTarget, type Kind, own, sameAsAsked, statement, target } from "./Statements.ts"
import * as Table from "./Table.ts"
import { withdrawals } from "./Withdrawal.ts"

const vouchers = Table.of(Voucher.noun)

const created: Kind<Voucher.VoucherCreated> = {
  statement: statement({
    columns: own(vouchers),
    takes: true,
    parts: () => [
      granted(`
    select f.* from fresh f
    left join lateral (select true as known from satrail.vouchers v where v.company_id = f.company_id and v.id = f.id limit 1) v on true
    where known is null
  `),
      `
applied as (
  insert into satrail.vouchers (${vouchers.columns}) select ${vouchers.columns} from granted order by n returning company_id, id
)`
    ],
    before: sameAsAsked(vouchers, "Conflict"),
    guards: insufficient
  }),
  row: ({ voucher }) => vouchers.toRow(voucher),
  refusals: {
    Conflict: (change) => new Conflict({ change: change._tag, id: change.id }),
    InsufficientBalance: ({ companyId, legs }) =>
      new InsufficientBalance({ companyId, needed: Balance.need(legs.flatMap(({ postings }) => postings)) })
  }
}

const notOpen = ({ id }: { readonly id: string }, status: string) => new Voucher.VoucherNotOpen({ id, status })

const claimed: Kind<Voucher.VoucherClaimed> = {
  statement: statement({
    columns: "withdrawal json, withdrawal_id uuid",
    parts: (locks) => [
      target(vouchers, locks),
      `
applied as (
  update satrail.vouchers t set status = 'claimed', withdrawal_id = f.withdrawal_id, updated_at_millis = f.at_millis
  from fresh f join target g using (n)
  where t.company_id = f.company_id and t.id = f.id and g.status = 'open' returning t.company_id, t.id
)`
    ],
    effects: [
      `
requested as (
  insert into satrail.withdrawals (${withdrawals.columns})
  select ${withdrawals.columns.replaceAll(/\b\w+/g, "r.$&")} from done f cross join lateral json_to_record(f.withdrawal) as r(${withdrawals.definition})
  order by f.n
)`
    ],
    joins: joinTarget,
    before: `case when g.status <> 'open' then case when g.withdrawal_id = a.withdrawal_id then 'Applied' else 'VoucherNotOpen ' || g.status end end`,
    guards: "case when g.n is null then 'missing' end"
  }),
  row: ({ withdrawal }) => ({ withdrawal: withdrawals.toRow(withdrawal), withdrawal_id: withdrawal.id }),
  refusals: { VoucherNotOpen: notOpen }
}

const voided = (status: "expired" | "canceled"): Kind<Voucher.VoucherExpired | Voucher.VoucherCanceled> => ({
  statement: statement({
    parts: (locks) => [
      target(vouchers, locks),
      `
applied as (
  update satrail.vouchers t set status = '${status}', updated_at_millis = f.at_millis
  from fresh f join target g using (n)
  where t.company_id = f.company_id and t.id = f.id and g.status = 'open' returning t.company_id, t.id
)`
    ],
    joins: joinTarget,
    before: "case g.status when 'claimed' then 'VoucherNotOpen claimed' when 'expired' then 'Applied' when 'canceled' then 'Applied' end",
    guards: "case when g.n is null then 'missing' end"
  }),
  row: () => ({}),
  refusals: { VoucherNotOpen: notOpen }
})

export const kinds = {
  VoucherCreated: created,
  VoucherClaimed: claimed,
  VoucherExpired: voided("expired"),
  VoucherCanceled: voided("canceled")
}

export const reads = {
  voucher: Reads.one("Records.voucher", {
    key: { company_id: "uuid", id: "uuid" },
    select: `select ${vouchers.selected} from ${vouchers.name} t where t.company_id = a.company_id and t.id = a.id`,
    read: vouchers.ofRow,
    keyOf: (companyId: string, id: string) => [companyId, id]
  }),
  voucherBySecret: Reads.one("Records.voucherBySecret", {
    key: { secret_hash: "text" },
    select: `select ${vouchers.selected} from ${vouchers.name} t where t.secret_hash = a.secret_hash`,
    read: vouchers.ofRow,
    keyOf: (secretHash: string) => [secretHash]
  }),
  vouchersOf: Reads.newestFirst("Records.vouchersOf", vouchers)
}
