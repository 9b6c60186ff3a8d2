-- A database at the first release: two companies, and at least one row in every table. Never changed, because later
-- migrations run on it.
create table satrail.migrations (
  migration_id integer primary key, created_at timestamp with time zone not null default now(), name text not null
);
insert into satrail.migrations (migration_id, name) values (80, 'first_release');

-- Companies and access
insert into satrail.companies (id, name, plan, created_at_millis, limits, frozen, fees, fees_revision) values
  ('01900000-0000-7000-8000-00000000000a', 'Acme', 'paid', 1700000000000, '{"daySats":1000}', null, null, 0),
  ('01900000-0000-7000-8000-00000000000b', 'Böhm & Søn', 'free', 1700000000001, null, '{"reason":"Dispute","pending":"go_on","sinceMillis":1700000000900}', null, 0);
insert into satrail.domains (domain, company_id, verified_at_millis, shown_by, checked_at_millis) values
  ('acme.example', '01900000-0000-7000-8000-00000000000a', 1700000000100, 'dns', 1700000000100);
insert into satrail.api_keys (id, company_id, name, secret_hash, scopes, created_at_millis, expires_at_millis, revoked_at_millis, last_used_at_millis, limits, allowed_from) values
  ('k1', '01900000-0000-7000-8000-00000000000a', 'till', repeat('aa', 32), '["read","send"]', 1700000000200, null, null, 1700000000900, '{"hourSats":500}', '{"for":"everything","ranges":["203.0.113.0/24"]}'),
  ('k2', '01900000-0000-7000-8000-00000000000a', 'old', repeat('bb', 32), '["admin"]', 1700000000200, 1700000000300, 1700000000250, null, null, null);
insert into satrail.operator_tokens (id, company_id, name, secret_hash, scopes, created_at_millis) values
  ('01900000-0000-7000-8000-000000000040', '00000000-0000-0000-0000-000000000000', 'Anna', repeat('cc', 32), '["all"]', 1700000000000);
insert into satrail.console_sessions (id, company_id, holder, holder_id, slot, secret_hash, created_at_millis, expires_at_millis, stepped_up_at_millis) values
  ('01900000-0000-7000-8000-000000000041', '01900000-0000-7000-8000-00000000000a', 'key', 'k1', 0, repeat('dd', 32), 1700000000210, 1700043200210, 1700000000220);
insert into satrail.wallet_connections (id, company_id, api_key_id, app_key, created_at_millis) values
  ('01900000-0000-7000-8000-000000000042', '01900000-0000-7000-8000-00000000000a', 'k1', repeat('ee', 32), 1700000000230);

-- Ledger
insert into satrail.balances (company_id, posted, held, frozen) values
  ('01900000-0000-7000-8000-00000000000a', 95000, 30150, false),
  ('01900000-0000-7000-8000-00000000000b', 8000, 1000, true);
insert into satrail.entries (company_id, transfer_id, from_account, to_account, amount, at_millis) values
  ('01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000106', 'node', 'available', 100000, 1700000000600),
  ('01900000-0000-7000-8000-00000000000a', '01900000-0000-8000-8000-000000000005', 'node', 'suspense', 2000, 1700000000650),
  ('01900000-0000-7000-8000-00000000000a', '01900000-0000-8000-8000-000000000025', 'node', 'suspense', 3000, 1700000000660),
  ('01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000109', 'available', 'held', 5000, 1700000000790),
  ('01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000109', 'held', 'internal', 5000, 1700000000800),
  ('01900000-0000-7000-8000-00000000000b', '01900000-0000-7000-8000-000000000109', 'internal', 'available', 5000, 1700000000800),
  ('01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000110', 'available', 'held', 20150, 1700000000810),
  ('01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000111', 'available', 'held', 10000, 1700000000820),
  ('01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000112', 'available', 'held', 700, 1700000000840),
  ('01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000112', 'held', 'available', 700, 1700000000850),
  ('01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000126', 'suspense', 'internal', 3000, 1700000000860),
  ('01900000-0000-7000-8000-00000000000b', '01900000-0000-7000-8000-000000000126', 'internal', 'available', 3000, 1700000000860),
  ('01900000-0000-7000-8000-00000000000b', '01900000-0000-7000-8000-000000000120', 'available', 'held', 1000, 1700000000870);
insert into satrail.spent (company_id, subject, span, place, bucket, amount, times) values
  ('01900000-0000-7000-8000-00000000000a', 'k1', 'hour', 21, 28333333, 20150, 1),
  ('01900000-0000-7000-8000-00000000000a', 'k1', 'day', 60, 944444, 20150, 1),
  ('01900000-0000-7000-8000-00000000000a', 'k1', 'month', 55, 39351, 20150, 1);
insert into satrail.adjustments (id, company_id, ledger_tx_id, amount, reason, note, requested_by_id, requested_by, status, created_at_millis) values
  ('01900000-0000-7000-8000-000000000043', '01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000143', -1000, 'Chargeback', null, '01900000-0000-7000-8000-000000000040', 'Anna', 'pending', 1700000000880);
insert into satrail.month_ends (id, company_id, number, until_millis, last_entry, created_at_millis) values
  ('01900000-0000-7000-8000-000000000044', '01900000-0000-7000-8000-00000000000a', 1, 1701388800000, '11', 1701396000000);

-- Receiving
insert into satrail.lightning_addresses (id, company_id, handle, domain, metadata, created_at_millis, updated_at_millis, last_used_at_millis, max_sendable, success_message) values
  ('01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-00000000000b', 'tea', 'pay.example', '{"shelf":"3"}', 1700000000300, 1700000000800, 1700000000800, 500000, 'Enjoy');
insert into satrail.offers (id, company_id, node_id, offer, memo, metadata, lightning_address_id, lightning_address, created_at_millis) values
  ('01900000-0000-7000-8000-000000000045', '01900000-0000-7000-8000-00000000000b', '02aa', 'lno1tea', 'Tea', '{}', '01900000-0000-7000-8000-000000000001', 'tea@pay.example', 1700000000310);
insert into satrail.on_chain_addresses (id, company_id, node_id, address, script_pub_key, type, index, metadata, created_at_millis, checkout_id) values
  ('01900000-0000-7000-8000-000000000002', '01900000-0000-7000-8000-00000000000a', 'd34db33f', 'bcrt1qtest', '0014aa', 'segwit', 7, '{}', 1700000000400, null),
  ('01900000-0000-7000-8000-000000000031', '01900000-0000-7000-8000-00000000000a', 'd34db33f', 'bcrt1qcheckout', '0014bb', 'segwit', 8, '{}', 1700000000500, '01900000-0000-7000-8000-000000000030');
insert into satrail.invoices (id, company_id, node_id, memo, amount, payment_hash, payment_request, metadata, rate, status, received, preimage, created_at_millis, expires_at_millis, settled_at_millis, rate_at_millis, checkout_id, api_key_id) values
  ('01900000-0000-7000-8000-000000000003', '01900000-0000-7000-8000-00000000000a', '02aa', 'two ☕', 100000, '3112fa1d1185697e9239f5dc13df9d188d6a18eb4c1c578c88479b44d8a31466', 'lnbcrt1settled', '{"order":"7"}', '65000.12', 'settled', 100000, repeat('b1', 32), 1700000000500, 1700003600500, 1700000000600, 1700000000490, null, 'k1'),
  ('01900000-0000-7000-8000-000000000004', '01900000-0000-7000-8000-00000000000a', '02aa', '', 1000, repeat('a2', 32), 'lnbcrt1open', '{}', null, 'pending', null, null, 1700000000500, 1700003600500, null, null, '01900000-0000-7000-8000-000000000030', null);
insert into satrail.checkouts (id, company_id, public_id, domain, amount, tolerance_percent, description, order_id, metadata, locale, invoice_id, payment_request, on_chain_address_id, address, status, received, revision, created_at_millis, expires_at_millis, updated_at_millis) values
  ('01900000-0000-7000-8000-000000000030', '01900000-0000-7000-8000-00000000000a', repeat('30', 16), 'pay.example', 1000, 1, 'A spoon', '8', '{}', 'en', '01900000-0000-7000-8000-000000000004', 'lnbcrt1open', '01900000-0000-7000-8000-000000000031', 'bcrt1qcheckout', 'open', 0, 0, 1700000000500, 1700003600500, 1700000000500);
insert into satrail.deposits (id, company_id, ledger_tx_id, recipient, amount, network, rail, status, chain_tx_id, vout, height, lightning_invoice_id, absorbed, revision, created_at_millis, updated_at_millis, metadata, refunded) values
  ('01900000-0000-7000-8000-000000000006', '01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000106', 'lnbcrt1settled', 100000, 'regtest', 'lightning', 'settled', null, null, null, '01900000-0000-7000-8000-000000000003', 0, 0, 1700000000600, 1700000000600, '{"order":"7"}', 0),
  ('01900000-0000-7000-8000-000000000007', '01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000107', 'bcrt1qtest', 9000, 'regtest', 'on_chain', 'pending', repeat('c1', 32), 1, 120, null, 0, 1, 1700000000700, 1700000000750, '{}', 0),
  ('01900000-0000-7000-8000-000000000008', '01900000-0000-7000-8000-00000000000b', '01900000-0000-7000-8000-000000000109', 'tea@pay.example', 5000, 'regtest', 'lightning', 'settled', null, null, null, null, 0, 0, 1700000000800, 1700000000800, '{"shelf":"3"}', 1000),
  ('01900000-0000-7000-8000-000000000026', '01900000-0000-7000-8000-00000000000b', '01900000-0000-7000-8000-000000000126', 'lnbcrt1settled', 3000, 'regtest', 'lightning', 'settled', null, null, null, null, 0, 0, 1700000000860, 1700000000860, '{}', 0);
insert into satrail.unmatched (id, company_id, payment_hash, received, reason, created_at_millis) values
  ('01900000-0000-8000-8000-000000000005', '01900000-0000-7000-8000-00000000000a', '3112fa1d1185697e9239f5dc13df9d188d6a18eb4c1c578c88479b44d8a31466', 2000, 'invoice settled by another payment', 1700000000650),
  ('01900000-0000-8000-8000-000000000025', '01900000-0000-7000-8000-00000000000a', '3112fa1d1185697e9239f5dc13df9d188d6a18eb4c1c578c88479b44d8a31466', 3000, 'invoice settled by another payment', 1700000000660);
insert into satrail.suspense_assignments (id, company_id, unmatched_id, unmatched_company_id, ledger_tx_id, amount, created_at_millis) values
  ('01900000-0000-7000-8000-000000000026', '01900000-0000-7000-8000-00000000000b', '01900000-0000-8000-8000-000000000025', '01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000126', 3000, 1700000000860);

-- Sending
insert into satrail.withdrawals (id, company_id, ledger_tx_id, amount, service_fee, network_allowance, recipient, recipient_type, rail, network, metadata, status, payment_hash, payment_request, chain_tx_id, raw_tx, dispatched_at_millis, network_fee, failure, created_at_millis, updated_at_millis, counted) values
  ('01900000-0000-7000-8000-000000000009', '01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000109', 5000, 0, 0, 'tea@pay.example', 'lightning_address', 'lightning', 'regtest', '{}', 'settled', null, null, null, null, null, 0, null, 1700000000790, 1700000000800, null),
  ('01900000-0000-7000-8000-000000000010', '01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000110', 20000, 50, 100, 'lnbcrt1out', 'lightning_invoice', 'lightning', 'regtest', '{"payroll":"may"}', 'pending', null, null, null, null, null, null, null, 1700000000810, 1700000000810, '{"atMillis":1700000000810,"subjects":["k1"]}'),
  ('01900000-0000-7000-8000-000000000011', '01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000111', 9000, 0, 1000, 'bcrt1qout', 'chain_address', 'on_chain', 'regtest', '{}', 'pending', null, null, repeat('d1', 32), '02ff', 1700000000830, 300, null, 1700000000820, 1700000000830, null),
  ('01900000-0000-7000-8000-000000000012', '01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000112', 700, 0, 0, 'lnbcrt1no', 'lightning_invoice', 'lightning', 'regtest', '{}', 'failed', repeat('a9', 32), 'lnbcrt1no', null, null, 1700000000845, null, 'no_route', 1700000000840, 1700000000850, null);
insert into satrail.vouchers (id, company_id, ledger_tx_id, amount, service_fee, network_allowance, description, metadata, secret_hash, status, created_at_millis, expires_at_millis, updated_at_millis, refund_id) values
  ('01900000-0000-7000-8000-000000000020', '01900000-0000-7000-8000-00000000000b', '01900000-0000-7000-8000-000000000120', 1000, 0, 0, 'Refund of tea', '{}', repeat('ff', 32), 'open', 1700000000870, 1700086400870, 1700000000870, '01900000-0000-7000-8000-000000000021');
insert into satrail.refunds (id, company_id, deposit_id, amount, description, metadata, status, voucher_id, created_at_millis, updated_at_millis) values
  ('01900000-0000-7000-8000-000000000021', '01900000-0000-7000-8000-00000000000b', '01900000-0000-7000-8000-000000000008', 1000, 'Refund of tea', '{}', 'open', '01900000-0000-7000-8000-000000000020', 1700000000870, 1700000000870);
insert into satrail.invoices_labels (company_id, label, id) values
  ('01900000-0000-7000-8000-00000000000a', hashtextextended('7', hashtextextended('order', 0)), '01900000-0000-7000-8000-000000000003');
insert into satrail.deposits_labels (company_id, label, id) values
  ('01900000-0000-7000-8000-00000000000a', hashtextextended('7', hashtextextended('order', 0)), '01900000-0000-7000-8000-000000000006'),
  ('01900000-0000-7000-8000-00000000000b', hashtextextended('3', hashtextextended('shelf', 0)), '01900000-0000-7000-8000-000000000008');
insert into satrail.withdrawals_labels (company_id, label, id) values
  ('01900000-0000-7000-8000-00000000000a', hashtextextended('may', hashtextextended('payroll', 0)), '01900000-0000-7000-8000-000000000010');

-- The on-chain wallet
insert into satrail.key_ranges (id, wallet, type, branch, first, next) values
  ('01900000-0000-7000-8000-000000000046', 'd34db33f', 'segwit', 0, 0, 100);
insert into satrail.unspent (outpoint, wallet, script_pub_key, amount, type, branch, index, is_confirmed) values
  (repeat('e2', 32) || ':1', 'd34db33f', '0014cc', 50000000, 'segwit', 1, 3, 1);
insert into satrail.coins (outpoint, company_id, withdrawal_id) values
  (repeat('e1', 32) || ':0', '01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000011');
insert into satrail.candidates (company_id, withdrawal_id, place, tx_id, raw_tx, psbt, network_fee, is_deep) values
  ('01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000011', 0, repeat('d1', 32), '02ff', '', 300, 0);

-- Events and the audit log
insert into satrail.events (id, company_id, type, subject, at_millis) values
  (4097, '01900000-0000-7000-8000-00000000000a', 'company.opened', '01900000-0000-7000-8000-00000000000a', 1700000000000),
  (8193, '01900000-0000-7000-8000-00000000000a', 'invoice.settled', '01900000-0000-7000-8000-000000000003', 1700000000600);
insert into satrail.told_events (id, company_id, tellings) values
  (8193, '01900000-0000-7000-8000-00000000000a', '[{"type":"invoice.settled","subject":"01900000-0000-7000-8000-000000000003","body":"{}"}]');
insert into satrail.forgotten_events (company_id, until) values
  ('00000000-0000-0000-0000-000000000000', 1);
insert into satrail.audit_entries (id, company_id, at_millis, body) values
  (6145, '01900000-0000-7000-8000-00000000000a', 1700000000000, '{"actor":"token","actor_id":"01900000-0000-7000-8000-000000000040","actor_name":"Anna","verb":"companies.open","subject":"01900000-0000-7000-8000-00000000000a","outcome":"done","count":1,"address":"","request_id":"r1"}');
insert into satrail.audit_links (entry_id, company_id, seq, hash, whole, place) values
  (6145, '01900000-0000-7000-8000-00000000000a', 1, '7894ac92f23bd56079dd2299fd307d6135569ef0355bcd0cac942a31ecc9067d', '15fb8121c8a08f212d217100f859c39628b3af9d2daba814dac912cc5bb8571c', 1);
insert into satrail.cursors (source, value) values
  ('lightning:02aa', '42'),
  ('audit head', '6145:1:15fb8121c8a08f212d217100f859c39628b3af9d2daba814dac912cc5bb8571c:');
insert into satrail.webhook_endpoints (id, company_id, url, description, types, secret, status, cursor, epoch, created_at_millis, updated_at_millis) values
  ('01900000-0000-7000-8000-000000000047', '01900000-0000-7000-8000-00000000000a', 'https://shop.example/hooks', '', '[]', 'sealed', 'enabled', '8193.2', 0, 1700000000240, 1700000000600);
insert into satrail.webhook_deliveries (id, company_id, endpoint_id, epoch, place, event_company_id, type, record_id, status, attempts, last_at_millis, duration_millis, answered, response, created_at_millis) values
  ('01900000-0000-7000-8000-000000000048', '01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000047', 0, '8193.1', '01900000-0000-7000-8000-00000000000a', 'invoice.settled', '01900000-0000-7000-8000-000000000003', 'delivered', 1, 1700000000700, 12, 200, 'ok', 1700000000600);

-- Work
insert into satrail.processes (id, alive_until_millis) values
  ('01900000-0000-7000-8000-000000000049', 1700000000900);
insert into satrail.tasks (id, company_id, due_at_millis, token, attempts, kind, holder) values
  ('01900000-0000-7000-8000-000000000010', '01900000-0000-7000-8000-00000000000a', 1700000000810, 0, 0, 'withdrawal', null),
  ('01900000-0000-7000-8000-000000000011', '01900000-0000-7000-8000-00000000000a', 1700000030000, 3, 3, 'withdrawal', '01900000-0000-7000-8000-000000000049'),
  ('01900000-0000-7000-8000-000000000020', '01900000-0000-7000-8000-00000000000b', 1700086400870, 0, 0, 'voucher', null);
insert into satrail.answers (owner, key, fingerprint, answer, forget_at_millis) values
  ('01900000-0000-7000-8000-00000000000a', 'order-1042', 'body', '{"status":201}', null),
  ('01900000-0000-7000-8000-00000000000a', 'order-1043', 'body', '{"status":201}', 1702592000000);
