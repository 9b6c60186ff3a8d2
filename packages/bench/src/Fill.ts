import * as ApiKey from "@satrail/core/accounts/ApiKey"
import { Entropy } from "@satrail/core/base/Entropy"
import * as PgClient from "@satrail/postgres/client/PgClient"
import { Effect, Redacted, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { BenchFailed, failed } from "./Program.ts"

/**
 * Number of companies that share the load in the pattern `1000 companies`. The company with the next number is
 * the busy company of the pattern `one company`.
 */
export const spread = 1000
export const busy = spread + 1

/** Minimum number of history rows. With fewer, some companies would have no history. */
export const fewestRows = 2 * busy

/** The kinds of rows whose ids are derived from a number, so that they can be found by that number. */
export const kinds = {
  company: 0,
  history: 1,
  address: 2,
  settledByPgbench: 4,
  settledInProcess: 5,
  settledWith3: 6,
  settledWith10: 7
} as const

/** Returns the id of the row with this number. Must match the database function of the same name. */
export const id = (kind: number, number: number): string =>
  `00000000-000${kind}-7000-8000-${number.toString(16).padStart(12, "0")}`

/**
 * The Lightning address to which all withdrawals are sent. It belongs to this service, so payments are settled
 * internally and no simulated network is measured.
 */
export const destination = { handle: "bench", domain: "satrail.localhost" }

// Each function writes the rows of one operation in one call, without group commit. It inserts rows first and
// updates the contended row last. The rows must be the same as those that the service writes; a test detects a
// difference.
const functions = `
create schema bench;

create function bench.id(kind int, number bigint) returns uuid language sql immutable parallel safe as
$$ select ('00000000-000' || kind || '-7000-8000-' || lpad(to_hex(number), 12, '0'))::uuid $$;

create function bench.now_millis() returns bigint language sql volatile as
$$ select (extract(epoch from clock_timestamp()) * 1000)::bigint $$;

-- UUIDv7, put together from bytes: hardly more than a random one costs. From text it is four times as dear, and a group of 128 would wait for its ids.
create function bench.fresh_id() returns uuid language sql volatile as
$$ select encode(set_byte(overlay(uuid_send(gen_random_uuid()) placing substring(int8send(bench.now_millis()) from 3) from 1 for 6), 6, 112), 'hex')::uuid $$;

create function bench.next_event() returns bigint language sql volatile as
$$ select (pg_current_xact_id()::text::bigint - (select transactions from satrail.epoch where id = 1)) * 4096 $$;

create function bench.confirm(c int) returns void language plpgsql as $$
declare company uuid := bench.id(0, c); withdrawal uuid := bench.fresh_id(); transfer uuid := bench.fresh_id(); at bigint := bench.now_millis();
begin
  insert into satrail.withdrawals (id, company_id, ledger_tx_id, amount, service_fee, network_allowance, recipient, recipient_type, rail,
    network, metadata, status, created_at_millis, updated_at_millis)
  values (withdrawal, company, transfer, 1000, 0, 0, 'bench@satrail.localhost', 'lightning_address', 'lightning', 'regtest', '{}', 'pending', at, at);
  insert into satrail.tasks (id, kind, company_id, due_at_millis) values (withdrawal, 'withdrawal', company, at);
  insert into satrail.entries (company_id, transfer_id, from_account, to_account, amount, at_millis)
  values (company, transfer, 'available', 'held', 1000, at);
  insert into satrail.events (id, company_id, type, subject, at_millis)
  values (bench.next_event(), company, 'withdrawal.requested', withdrawal, at);
  update satrail.balances set held = held + 1000 where company_id = company and posted - held >= 1000;
  if not found then raise exception 'insufficient balance'; end if;
end $$;

-- Many of one company in one transaction: what fits, in order, one insert a table.
create function bench.confirm_many(c int, n int) returns int language plpgsql as $$
declare company uuid := bench.id(0, c); at bigint := bench.now_millis(); first_event bigint := bench.next_event(); fits int; ids uuid[]; transfers uuid[];
begin
  select array_agg(bench.fresh_id()), array_agg(bench.fresh_id()) into ids, transfers from generate_series(1, n);
  select least(n, (posted - held) / 1000) into fits from satrail.balances where company_id = company for no key update;
  insert into satrail.withdrawals (id, company_id, ledger_tx_id, amount, service_fee, network_allowance, recipient, recipient_type, rail,
    network, metadata, status, created_at_millis, updated_at_millis)
  select ids[k], company, transfers[k], 1000, 0, 0, 'bench@satrail.localhost', 'lightning_address', 'lightning', 'regtest', '{}', 'pending', at, at
  from generate_series(1, fits) k;
  insert into satrail.tasks (id, kind, company_id, due_at_millis) select ids[k], 'withdrawal', company, at from generate_series(1, fits) k;
  insert into satrail.entries (company_id, transfer_id, from_account, to_account, amount, at_millis)
  select company, transfers[k], 'available', 'held', 1000, at from generate_series(1, fits) k;
  insert into satrail.events (id, company_id, type, subject, at_millis)
  select first_event + k - 1, company, 'withdrawal.requested', ids[k], at from generate_series(1, fits) k;
  update satrail.balances set held = held + 1000 * fits where company_id = company;
  return fits;
end $$;

create function bench.create_invoice(c int) returns void language plpgsql as $$
declare company uuid := bench.id(0, c); invoice uuid := bench.fresh_id(); at bigint := bench.now_millis();
begin
  insert into satrail.invoices (id, company_id, node_id, memo, amount, payment_hash, payment_request, metadata, status, created_at_millis, expires_at_millis)
  values (invoice, company, repeat('02', 33), 'one of many', 1000000, encode(sha256(invoice::text::bytea), 'hex'), 'lnbcrt' || repeat('q', 290), '{}',
    'pending', at, at + 3600000);
  insert into satrail.events (id, company_id, type, subject, at_millis) values (bench.next_event(), company, 'invoice.created', invoice, at);
end $$;

create sequence bench.settled minvalue 0 start 0;

-- Settles the invoice whose turn it is, of those that bench.open made.
create function bench.settle() returns void language plpgsql as $$
declare number bigint := nextval('bench.settled'); company uuid := bench.id(0, 1 + number % 1000);
  invoice uuid := bench.id(4, number); deposit uuid := bench.fresh_id(); transfer uuid := bench.fresh_id(); at bigint := bench.now_millis();
begin
  update satrail.invoices set status = 'settled', received = 1000, preimage = repeat('ab', 32), settled_at_millis = at
  where company_id = company and id = invoice and status <> 'settled';
  if not found then raise exception 'no open invoice is left'; end if;
  insert into satrail.deposits (id, company_id, ledger_tx_id, recipient, amount, network, rail, status, lightning_invoice_id, metadata, absorbed,
    revision, created_at_millis, updated_at_millis)
  values (deposit, company, transfer, 'lnbcrt' || repeat('q', 290), 1000, 'regtest', 'lightning', 'settled', invoice, '{}', 0, 0, at, at);
  insert into satrail.entries (company_id, transfer_id, from_account, to_account, amount, at_millis)
  values (company, transfer, 'node', 'available', 1000, at);
  insert into satrail.events (id, company_id, type, subject, at_millis) values (bench.next_event(), company, 'invoice.settled', invoice, at);
  update satrail.balances set posted = posted + 1000 where company_id = company;
end $$;

-- Open invoices to be settled, of a thousand companies.
create function bench.open(kind int, first bigint, n bigint) returns void language sql as $$
  insert into satrail.invoices (id, company_id, node_id, memo, amount, payment_hash, payment_request, metadata, status, created_at_millis, expires_at_millis)
  select bench.id(kind, k), bench.id(0, 1 + k % 1000), repeat('02', 33), 'one of many', 1000,
    encode(sha256(bench.id(kind, k)::text::bytea), 'hex'), 'lnbcrt' || repeat('q', 290), '{}', 'pending', bench.now_millis(), bench.now_millis() + 31536000000
  from generate_series(first, first + n - 1) k
$$;

-- A past, of all companies alike: of 2002 rows 1001 are paid invoices of 2 sats, and as many withdrawals of 1.
create function bench.history(first bigint, n bigint) returns void language sql as $$
  insert into satrail.invoices (id, company_id, node_id, memo, amount, payment_hash, payment_request, metadata, status, received, preimage,
    created_at_millis, expires_at_millis, settled_at_millis)
  select bench.id(1, k), bench.id(0, 1 + k % 1001), repeat('02', 33), 'one of many', 2000, encode(sha256(bench.id(1, k)::text::bytea), 'hex'),
    'lnbcrt' || repeat('q', 290), '{}', 'settled', 2000, repeat('ab', 32), 1700000000000 + k, 1700003600000 + k, 1700000000000 + k
  from generate_series(first, first + n - 1) k where k / 1001 % 2 = 0;
  insert into satrail.deposits (id, company_id, ledger_tx_id, recipient, amount, network, rail, status, lightning_invoice_id, absorbed, revision,
    created_at_millis, updated_at_millis)
  select bench.id(1, k), bench.id(0, 1 + k % 1001), bench.id(1, k), 'lnbcrt' || repeat('q', 290), 2000, 'regtest', 'lightning', 'settled',
    bench.id(1, k), 0, 0, 1700000000000 + k, 1700000000000 + k
  from generate_series(first, first + n - 1) k where k / 1001 % 2 = 0;
  insert into satrail.withdrawals (id, company_id, ledger_tx_id, amount, service_fee, network_allowance, recipient, recipient_type, rail,
    network, metadata, status, preimage, network_fee, created_at_millis, updated_at_millis)
  select bench.id(1, k), bench.id(0, 1 + k % 1001), bench.id(1, k), 1000, 0, 0, 'bench@satrail.localhost', 'lightning_address', 'lightning', 'regtest',
    '{}', 'settled', repeat('ab', 32), 0, 1700000000000 + k, 1700000000000 + k
  from generate_series(first, first + n - 1) k where k / 1001 % 2 = 1;
  insert into satrail.entries (company_id, transfer_id, from_account, to_account, amount, at_millis)
  select bench.id(0, 1 + k % 1001), bench.id(1, k), step.from_account, step.to_account, step.amount, 1700000000000 + k
  from generate_series(first, first + n - 1) k
  join (values (0, 'node', 'available', 2000), (1, 'available', 'held', 1000), (1, 'held', 'node', 1000)) as step(side, from_account, to_account, amount)
    on step.side = k / 1001 % 2;
  insert into satrail.events (id, company_id, type, subject, at_millis)
  select 1 + k, bench.id(0, 1 + k % 1001), case k / 1001 % 2 when 0 then 'invoice.settled' else 'withdrawal.settled' end, bench.id(1, k), 1700000000000 + k
  from generate_series(first, first + n - 1) k;
  update satrail.balances b set posted = posted + past.amount
  from (
    select bench.id(0, 1 + k % 1001) as company_id, sum(case k / 1001 % 2 when 0 then 2000 else -1000 end) as amount
    from generate_series(first, first + n - 1) k group by 1
  ) past where b.company_id = past.company_id
$$;

-- Event ids begin with the number of a transaction: makes room for those of the history.
update satrail.epoch set transactions = transactions - 100000 where id = 1;

-- Companies with more money than a measurement can spend, which came from somewhere.
insert into satrail.companies (id, name, plan, created_at_millis) select bench.id(0, c), 'Company ' || c, 'free', 1700000000000 from generate_series(1, 1001) c;
insert into satrail.balances (company_id, posted) select bench.id(0, c), 1000000000000000 from generate_series(1, 1001) c;
insert into satrail.entries (company_id, transfer_id, from_account, to_account, amount, at_millis)
select bench.id(0, c), bench.id(0, c), 'node', 'available', 1000000000000000, 1700000000000 from generate_series(1, 1001) c;
insert into satrail.lightning_addresses (id, company_id, handle, domain, metadata, created_at_millis, updated_at_millis)
values (bench.id(2, 1), bench.id(0, 1), '${destination.handle}', '${destination.domain}', '{}', 1700000000000, 1700000000000);
`

const chunkRows = 200_000

const run = (text: string, values: ReadonlyArray<unknown> = []) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => failed(sql.unsafe<object>(text, values).unprepared))

/**
 * Fills a database whose tables the service has created. Returns the API key of each company. The busy
 * company's key is the last.
 */
export const companies: Effect.Effect<ReadonlyArray<string>, BenchFailed, SqlClient.SqlClient> = Effect.gen(
  function* () {
    const entropy = yield* Entropy
    yield* run(functions)
    const keys = Array.from({ length: busy }, (_, i) => ({
      ...ApiKey.generate("regtest", entropy),
      company: i + 1
    }))
    yield* run(
      `insert into satrail.api_keys (id, company_id, name, secret_hash, scopes, created_at_millis, last_used_at_millis)
     select id, bench.id(0, company), 'bench', hash, '["admin"]', 1700000000000, bench.now_millis()
     from json_to_recordset($1) as k(id text, hash text, company int)`,
      [JSON.stringify(keys.map(({ id, secretHash, company }) => ({ id, hash: secretHash, company })))]
    )
    return keys.map(({ text }) => Redacted.value(text))
  }
)

/**
 * The busy company has at least twice as many rows as the longest list that is requested, even in a small
 * database, so that lists cost the same in databases of all sizes.
 */
const fewestOfBusy = 100

/**
 * Adds this number of history rows, plus a few for the busy company if it has fewer than `fewestOfBusy`. `tell`
 * receives the progress.
 */
export const history = (
  rows: number,
  tell: (loaded: number) => void
): Effect.Effect<void, BenchFailed, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    for (let first = 0; first < rows; first += chunkRows) {
      yield* run("select bench.history($1, $2)", [first, Math.min(chunkRows, rows - first)])
      tell(Math.min(rows, first + chunkRows))
    }
    const more = "select bench.history($1 * k + $1 - 1, 1) from generate_series($2::bigint, $3::bigint - 1) k"
    yield* run(more, [busy, Math.ceil(rows / busy), fewestOfBusy])
    yield* run("vacuum (analyze)")
  })

/** Creates open invoices of one kind, numbered from `first`. */
export const open = (kind: number, first: number, count: number) =>
  run("select bench.open($1, $2, $3)", [kind, first, count])

/** Tries to enable the counting of statements. Returns whether the server counts them. */
export const countStatements: Effect.Effect<boolean, never, SqlClient.SqlClient> = Effect.match(
  Effect.andThen(
    run("create extension if not exists pg_stat_statements"),
    run("select 1 from pg_stat_statements limit 1")
  ),
  { onFailure: () => false, onSuccess: () => true }
)

const decodeNumber = Schema.decodeUnknownSync(Schema.Struct({ number: Schema.FiniteFromString }))

const number = (text: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      failed(sql.unsafe<object>(`select (${text})::text as number`)),
      ([row]) => decodeNumber(row).number
    )
  )

/** Returns the number of WAL bytes that the server has written. */
export const walBytes = number("pg_current_wal_insert_lsn() - '0/0'")

/** Returns the number of statements that were sent to this database. */
export const statements = number(
  "select sum(calls) from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database())"
)

/** Returns the number of the next invoice that pgbench will settle. */
export const settledByPgbench = number("select last_value + is_called::int from bench.settled")

const maxCarriedOutMillis = 300_000

/** Waits until no withdrawal has work left. Fails unless all are settled. */
export const carriedOut = Effect.gen(function* () {
  const left = Effect.map(
    run("select from satrail.tasks where kind = 'withdrawal' limit 1"),
    (rows) => rows.length
  )
  yield* Effect.repeat(left, { schedule: Schedule.spaced(10), until: (rows) => rows === 0 })
  const failures = yield* run("select from satrail.withdrawals where status <> 'settled' limit 1")
  if (failures.length > 0) return yield* new BenchFailed({ message: "a withdrawal was not settled" })
}).pipe(
  Effect.timeoutOrElse({
    duration: maxCarriedOutMillis,
    orElse: () =>
      Effect.fail(
        new BenchFailed({ message: "withdrawals are not settled minutes after they were confirmed" })
      )
  })
)

/** A client for occasional statements, which may take a long time because they load millions of rows. */
export const client = (url: string) =>
  PgClient.layer({ url: Redacted.make(url), maxConnections: 1, statementTimeoutMillis: 600_000 })
