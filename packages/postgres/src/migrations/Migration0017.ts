/**
 * Records are found by a key of their metadata with its value, the transactions of a payout by their id, invoices by their Lightning address. A company that gives no
 * metadata has no rows here, and its commits no part that would write them.
 */
export const script = `
${["invoices", "deposits", "withdrawals"]
  .map(
    (table) => `
create table satrail.${table}_labels (
  company_id uuid not null,
  label bigint not null,
  id uuid not null,
  primary key (company_id, label, id)
);
insert into satrail.${table}_labels (company_id, label, id)
select r.company_id, hashtextextended(m.value, hashtextextended(m.key, 0)), r.id from satrail.${table} r cross join lateral json_each_text(r.metadata) m
on conflict do nothing;`
  )
  .join("\n")}

create index withdrawals_by_transaction on satrail.withdrawals (chain_tx_id) where chain_tx_id is not null;
create index invoices_of_address on satrail.invoices (lightning_address_id, id) where lightning_address_id is not null;
`
