-- Creates a role for each task, with only the privileges it needs. Run it once, as a superuser or the provider's administrator, in the database for
-- the service:
--
--   createdb satrail && psql -d satrail -v ON_ERROR_STOP=1 -f roles.sql
--
-- Running it again changes nothing. A role can't log in until `\password` sets its password. `satrail migrate` grants the privileges on the tables,
-- and updates them with each version.

-- Owns the tables. Only `satrail migrate`, pg_dump and pg_restore use this role.
select 'create role satrail_migration login' where not exists (select from pg_roles where rolname = 'satrail_migration') \gexec
-- The service uses this role.
select 'create role satrail_application login' where not exists (select from pg_roles where rolname = 'satrail_application') \gexec
-- For people and reports. It can read everything except stored responses and the columns with secrets or their hashes.
select 'create role satrail_reader login' where not exists (select from pg_roles where rolname = 'satrail_reader') \gexec
alter role satrail_reader set default_transaction_read_only = on;

-- Only these roles can connect, and only to use the tables of satrail.
select format('revoke all on database %I from public', current_database()) \gexec
select format('grant connect on database %I to satrail_migration, satrail_application, satrail_reader', current_database()) \gexec
revoke create on schema public from public;

-- Only a member can give a schema to a role. A superuser needs no membership.
select format('grant satrail_migration to %I', current_user) where not (select rolsuper from pg_roles where rolname = current_user) \gexec
create schema if not exists satrail;
alter schema satrail owner to satrail_migration;
