/**
 * Refunds of deposits. The deposit's row limits how much of it can be refunded.
 */
export const tables = `
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
  checkout_id uuid, -- whose page shows the refund to the payer
  sealed_link text,
  primary key (company_id, id),
  check (voucher_id is not null or withdrawal_id is not null)
) with (fillfactor = 90);
create index refunds_of_checkout on satrail.refunds (uuid_send(checkout_id), id desc)
  where checkout_id is not null;
`

export const migrations = {
  "0085_refunds_of_deposit":
    "create index refunds_of_deposit on satrail.refunds (uuid_send(deposit_id), uuid_send(id))",
  "0092_refund_makers": "alter table satrail.refunds add column created_by text",
  "0100_refund_rates": `alter table satrail.refunds
    add column rate text, add column rate_at_millis bigint, add column fiat_currency text, add column rate_source text`
}
