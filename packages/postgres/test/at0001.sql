-- A database as the first version left it: two companies, and in every table at least one row. Never changed: later versions migrate it.
create table satrail.migrations (migration_id integer primary key, created_at timestamp with time zone not null default now(), name varchar(255) not null);
insert into satrail.migrations (migration_id, name) values (1, 'everything');

insert into satrail.companies (id, name, plan, created_at_millis) values
  ('01900000-0000-7000-8000-00000000000a', 'Acme', 'paid', 1700000000000),
  ('01900000-0000-7000-8000-00000000000b', 'Böhm & Søn', 'free', 1700000000001);
insert into satrail.balances (company_id, posted, held) values
  ('01900000-0000-7000-8000-00000000000a', 95000, 30150),
  ('01900000-0000-7000-8000-00000000000b', 5000, 0);
insert into satrail.domains (domain, company_id, verified_at_millis) values
  ('acme.example', '01900000-0000-7000-8000-00000000000a', 1700000000100);
insert into satrail.api_keys (id, company_id, name, secret_hash, scopes, created_at_millis, expires_at_millis, revoked_at_millis, last_used_at_millis) values
  ('k1', '01900000-0000-7000-8000-00000000000a', 'till', 'aa', '["read","send"]', 1700000000200, null, null, 1700000000900),
  ('k2', '01900000-0000-7000-8000-00000000000a', 'old', 'bb', '["admin"]', 1700000000200, 1700000000300, 1700000000250, null);
insert into satrail.lightning_addresses (id, company_id, handle, domain, metadata, created_at_millis, updated_at_millis, last_used_at_millis) values
  ('01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-00000000000b', 'tea', 'pay.example', '{"shelf":"3"}', 1700000000300, 1700000000800, 1700000000800);
insert into satrail.on_chain_addresses (id, company_id, node_id, address, script_pub_key, type, index, metadata, created_at_millis) values
  ('01900000-0000-7000-8000-000000000002', '01900000-0000-7000-8000-00000000000a', 'd34db33f', 'bcrt1qtest', '0014aa', 'segwit', 7, '{}', 1700000000400);
insert into satrail.invoices (id, company_id, node_id, memo, amount, payment_hash, payment_request, metadata, lightning_address_id, rate, status, received, preimage, created_at_millis, expires_at_millis, settled_at_millis) values
  ('01900000-0000-7000-8000-000000000003', '01900000-0000-7000-8000-00000000000a', '02aa', 'two ☕', 100000, repeat('a1', 32), 'lnbcrt1settled', '{"order":"7"}', null, '65000.12', 'settled', 100000, repeat('b1', 32), 1700000000500, 1700003600500, 1700000000600),
  ('01900000-0000-7000-8000-000000000004', '01900000-0000-7000-8000-00000000000a', '02aa', '', 1000, repeat('a2', 32), 'lnbcrt1open', '{}', null, null, 'pending', null, null, 1700000000500, 1700003600500, null);
insert into satrail.unmatched (id, company_id, payment_hash, received, reason, created_at_millis) values
  ('01900000-0000-8000-8000-000000000005', '01900000-0000-7000-8000-00000000000a', repeat('a1', 32), 2000, 'invoice settled by another payment', 1700000000650);
insert into satrail.deposits (id, company_id, ledger_tx_id, recipient, amount, network, rail, status, chain_tx_id, vout, height, lightning_invoice_id, absorbed, revision, created_at_millis, updated_at_millis) values
  ('01900000-0000-7000-8000-000000000006', '01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000106', 'lnbcrt1settled', 100000, 'regtest', 'lightning', 'settled', null, null, null, '01900000-0000-7000-8000-000000000003', 0, 0, 1700000000600, 1700000000600),
  ('01900000-0000-7000-8000-000000000007', '01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000107', 'bcrt1qtest', 9000, 'regtest', 'on_chain', 'pending', repeat('c1', 32), 1, 120, null, 0, 1, 1700000000700, 1700000000750),
  ('01900000-0000-7000-8000-000000000008', '01900000-0000-7000-8000-00000000000b', '01900000-0000-7000-8000-000000000109', 'tea@pay.example', 5000, 'regtest', 'lightning', 'settled', null, null, null, null, 0, 0, 1700000000800, 1700000000800);
insert into satrail.withdrawals (id, company_id, ledger_tx_id, amount, service_fee, network_allowance, recipient, recipient_type, rail, network, metadata, status, payment_hash, payment_request, chain_tx_id, raw_tx, dispatched_at_millis, network_fee, failure, created_at_millis, updated_at_millis) values
  ('01900000-0000-7000-8000-000000000009', '01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000109', 5000, 0, 0, 'tea@pay.example', 'lightning_address', 'lightning', 'regtest', '{}', 'settled', null, null, null, null, null, 0, null, 1700000000790, 1700000000800),
  ('01900000-0000-7000-8000-000000000010', '01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000110', 20000, 50, 100, 'lnbcrt1out', 'lightning_invoice', 'lightning', 'regtest', '{"payroll":"may"}', 'pending', null, null, null, null, null, null, null, 1700000000810, 1700000000810),
  ('01900000-0000-7000-8000-000000000011', '01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000111', 9000, 0, 1000, 'bcrt1qout', 'chain_address', 'on_chain', 'regtest', '{}', 'pending', null, null, repeat('d1', 32), '02ff', 1700000000830, 300, null, 1700000000820, 1700000000830),
  ('01900000-0000-7000-8000-000000000012', '01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000112', 700, 0, 0, 'lnbcrt1no', 'lightning_invoice', 'lightning', 'regtest', '{}', 'failed', repeat('a9', 32), 'lnbcrt1no', null, null, 1700000000845, null, 'no_route', 1700000000840, 1700000000850);
insert into satrail.coins (outpoint, company_id, withdrawal_id) values
  (repeat('e1', 32) || ':0', '01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000011');
insert into satrail.tasks (id, company_id, due_at_millis, token, attempts) values
  ('01900000-0000-7000-8000-000000000010', '01900000-0000-7000-8000-00000000000a', 1700000000810, 0, 0),
  ('01900000-0000-7000-8000-000000000011', '01900000-0000-7000-8000-00000000000a', 1700000030000, 3, 3);
insert into satrail.entries (company_id, transfer_id, from_account, to_account, amount, at_millis) values
  ('01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000106', 'node', 'available', 100000, 1700000000600),
  ('01900000-0000-7000-8000-00000000000a', '01900000-0000-8000-8000-000000000005', 'node', 'suspense', 2000, 1700000000650),
  ('01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000109', 'available', 'held', 5000, 1700000000790),
  ('01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000109', 'held', 'internal', 5000, 1700000000800),
  ('01900000-0000-7000-8000-00000000000b', '01900000-0000-7000-8000-000000000109', 'internal', 'available', 5000, 1700000000800),
  ('01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000110', 'available', 'held', 20150, 1700000000810),
  ('01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000111', 'available', 'held', 10000, 1700000000820),
  ('01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000112', 'available', 'held', 700, 1700000000840),
  ('01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-000000000112', 'held', 'available', 700, 1700000000850);
insert into satrail.answers (owner, key, fingerprint, answer, forget_at_millis) values
  ('01900000-0000-7000-8000-00000000000a', 'order-1042', 'body', '{"status":201}', null),
  ('01900000-0000-7000-8000-00000000000a', 'order-1043', 'body', '{"status":201}', 1702592000000);
insert into satrail.events (id, company_id, type, subject, at_millis) values
  (4097, '01900000-0000-7000-8000-00000000000a', 'company.opened', '01900000-0000-7000-8000-00000000000a', 1700000000000),
  (8193, '01900000-0000-7000-8000-00000000000a', 'invoice.settled', '01900000-0000-7000-8000-000000000003', 1700000000600);
insert into satrail.cursors (source, value) values ('lightning:02aa', '42');
