/**
 * A deposit says what the metadata of the invoice or address was that it paid. Where there was none it stays null, so that a large table is not written anew: what is
 * null is looked up where it is asked for, as it is of deposits that a process of the version before writes. What pending deposits come to is read from an index alone.
 */
export const script = `
alter table satrail.deposits add column metadata json;

update satrail.deposits d set metadata = i.metadata from satrail.invoices i
where i.company_id = d.company_id and i.id = d.lightning_invoice_id and i.lightning_address_id is null and i.metadata::text <> '{}';

update satrail.deposits d set metadata = r.metadata from satrail.invoices i
join satrail.lightning_addresses r on r.company_id = i.company_id and r.id = i.lightning_address_id
where i.company_id = d.company_id and i.id = d.lightning_invoice_id and r.metadata::text <> '{}';

update satrail.deposits d set metadata = r.metadata from satrail.on_chain_addresses r
where r.address = d.recipient and r.company_id = d.company_id and r.metadata::text <> '{}';

update satrail.deposits d set metadata = r.metadata from satrail.lightning_addresses r
where d.lightning_invoice_id is null and d.rail = 'lightning' and r.company_id = d.company_id and r.metadata::text <> '{}'
  and r.handle = regexp_replace(split_part(d.recipient, '@', 1), '[+].*$', '') and r.domain = split_part(d.recipient, '@', 2);

create index deposits_pending on satrail.deposits (uuid_send(company_id)) include (company_id, amount, absorbed) where status = 'pending';
`
