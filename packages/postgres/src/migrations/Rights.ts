import * as Nouns from "@satrail/core/service/Nouns"
import type { Members } from "@satrail/core/ledger/Noun"
import * as Table from "../statements/Table.ts"

// What each role of roles.sql may do, table by table. The reason to be strict is the ledger: with a stolen password of the application one can
// append to it, and cannot change or remove what was booked.
const append = "select, insert"
const change = "select, insert, update"

/** Of the tables that are no kind of record, and of records that the application may do more with. */
const besides: Readonly<Record<string, string>> = {
  migrations: "select",
  epoch: "select",
  entries: append,
  events: `${append}, delete`, // what is older than it is kept
  audit_entries: append,
  audit_links: append,
  forgotten_events: change,
  told_events: "select, insert, update, delete",
  unmatched: append, // when it was noticed is of the first time, and stays
  balances: change,
  spent: change,
  candidates: change,
  cursors: change,
  coins: "select, insert, delete",
  unspent: "select, insert, update, delete",
  tasks: "select, insert, update, delete",
  processes: "select, insert, update, delete",
  answers: "select, insert, delete"
}

/** Records that the application also deletes: invoices that a wallet asked for and did not pay, and deliveries that are over. */
const deleted: ReadonlySet<string> = new Set(["invoices", "webhook_deliveries"])

/** Columns that are no member of their record: which transaction leads the batch that a withdrawal is in. */
const own: Readonly<Record<string, string>> = { withdrawals: "follows" }

/** A record can be added, and only the members that its noun declares as moving can be changed: a key's hash and scopes are not among them. */
export const rightsOf = ({ name, moving }: Members): string => {
  const columns = [...[...moving].map(Table.columnOf), ...(own[name] === undefined ? [] : [own[name]])].join(", ")
  return [append, ...(columns === "" ? [] : [`update (${columns})`]), ...(deleted.has(name) ? ["delete"] : [])].join(", ")
}

/** Labels can only be added. */
const application: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Nouns.all.flatMap((noun) => ("labels" in noun ? [[`${noun.name}_labels`, append]] : []))),
  ...Object.fromEntries(Nouns.all.map((noun) => [noun.name, rightsOf(noun)])),
  ...besides
}

// A stored response repeats a company's data; the hash of a key is for those who check keys.
const withheld = `
revoke all on satrail.answers, satrail.api_keys, satrail.operator_tokens, satrail.console_sessions,
  satrail.webhook_endpoints from satrail_reader;
grant select (id, company_id, name, scopes, created_at_millis, expires_at_millis, revoked_at_millis, last_used_at_millis, limits, spends_as, allowed_from, loosening,
  approval, approved_by, approved_at_millis)
  on satrail.api_keys to satrail_reader;
grant select (id, company_id, name, scopes, created_at_millis, revoked_at_millis) on satrail.operator_tokens to satrail_reader;
grant select (id, company_id, holder, holder_id, slot, created_at_millis, expires_at_millis, stepped_up_at_millis, ended_at_millis)
  on satrail.console_sessions to satrail_reader;
grant select (id, company_id, url, description, types, signature_header, status, disabled_reason, cursor, epoch, failing_since_millis,
  created_at_millis, updated_at_millis) on satrail.webhook_endpoints to satrail_reader;`

const whereThereIs = (role: string, script: string) => `
if exists (select from pg_roles where rolname = '${role}') then
grant usage on schema satrail to ${role};
revoke all on all tables in schema satrail from ${role};
${script}
end if;`

/** Gives the roles their rights and takes away what they had besides. Without these roles it does nothing. By the owner of the tables. */
export const script = `
do $rights$ begin
${whereThereIs(
  "satrail_application",
  Object.entries(application)
    .map(([table, rights]) => `grant ${rights} on satrail.${table} to satrail_application;`)
    .join("\n")
)}
${whereThereIs("satrail_reader", `grant select on all tables in schema satrail to satrail_reader;${withheld}`)}
end $rights$`
