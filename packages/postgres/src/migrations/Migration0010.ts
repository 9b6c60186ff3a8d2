/** Whom an invoice was claimed by says, once it is settled, whether it was paid from inside: no more where somebody outside was faster. */
export const script = `
update satrail.invoices i set claimed_by = null
where i.status = 'settled' and i.claimed_by is not null and not exists (
  select from satrail.withdrawals w where w.payment_hash = i.payment_hash and w.dispatched_at_millis is null
);
`
