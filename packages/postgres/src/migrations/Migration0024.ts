/**
 * Deposits are refunded: what was refunded of each is guarded by its own row. A payment names the refund that it pays. No row is written anew, and the
 * constraint holds for what is written from here on: nothing was refunded before.
 */
export const script = `
create table satrail.refunds (
  id uuid not null,
  company_id uuid not null,
  deposit_id uuid not null,
  amount bigint not null check (amount > 0),
  description text not null,
  metadata json not null,
  status text not null check (status in ('open', 'pending', 'completed', 'failed', 'expired', 'canceled')),
  voucher_id uuid,
  withdrawal_id uuid,
  created_at_millis bigint not null,
  updated_at_millis bigint not null,
  primary key (company_id, id),
  check (voucher_id is not null or withdrawal_id is not null)
) with (fillfactor = 90);

alter table satrail.deposits add column refunded bigint not null default 0;
alter table satrail.deposits add column refund_id uuid;
alter table satrail.deposits add constraint deposits_refunded check (refunded >= 0 and refunded <= amount) not valid;
alter table satrail.withdrawals add column refund_id uuid;
alter table satrail.vouchers add column refund_id uuid;
`
