-- The roles of a deployment that gives each no more than it needs. Run it once as a superuser, in the database that is to be the service's:
--
--   createdb satrail && psql -d satrail -v ON_ERROR_STOP=1 -f roles.sql
--
-- A second time it changes nothing. Nobody can log in before `\password` has given a role its password; what each may do with the tables
-- comes with `satrail migrate`, and is brought up to date by every later one.

-- Owns the tables, and changes them when a new version wants it. Nothing runs as this role but `satrail migrate`, pg_dump and pg_restore.
select 'create role satrail_migration login' where not exists (select from pg_roles where rolname = 'satrail_migration') \gexec
-- What the service runs as.
select 'create role satrail_application login' where not exists (select from pg_roles where rolname = 'satrail_application') \gexec
-- For people and reports: reads everything but the hashes of keys and the answers kept for idempotency.
select 'create role satrail_reader login' where not exists (select from pg_roles where rolname = 'satrail_reader') \gexec
alter role satrail_reader set default_transaction_read_only = on;

-- Whoever is not named here does not come in, and nobody leaves tables of their own beside ours.
select format('revoke all on database %I from public', current_database()) \gexec
select format('grant connect on database %I to satrail_migration, satrail_application, satrail_reader', current_database()) \gexec
revoke create on schema public from public;

create schema if not exists satrail;
alter schema satrail owner to satrail_migration;
