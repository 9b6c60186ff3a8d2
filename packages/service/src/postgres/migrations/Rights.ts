import * as Nouns from "../../core/Nouns.ts"
import type { Members } from "@satrail/core/ledger/Noun"
import type { Feature } from "@satrail/postgres/client/Feature"
import { all as features } from "../../features/postgres.ts"
import * as Table from "@satrail/postgres/statements/Table"

// The rights of each role of roles.sql, by table. They are strict to protect the ledger: with a stolen
// application password, an attacker can append bookings but not change or delete them.
const append = "select, insert"
const change = "select, insert, update"

/** Privileges on tables that don't contain records, and on records that need additional ones. */
const besides: Readonly<Record<string, string>> = {
  migrations: "select",
  epoch: "select",
  entries: append,
  events: `${append}, delete`, // deletes old ones
  forgotten_events: change,
  told_events: "select, insert, update, delete",
  unmatched: append, // the first detection time stays
  balances: change,
  spent: change,
  candidates: change,
  cursors: change,
  coins: "select, insert, delete",
  unspent: "select, insert, update, delete",
  tasks: "select, insert, update, delete",
  processes: "select, insert, update, delete",
  answers: "select, insert, delete",
  ...Object.assign({}, ...features.map(({ rights }) => rights))
}

const deletedBy = (features: ReadonlyArray<Feature>) => features.flatMap(({ deletes = [] }) => deletes)

/** Records that the application may also delete, such as unpaid invoices requested by wallets. */
const deleted: ReadonlySet<string> = new Set(["invoices", ...deletedBy(features)])

/** Columns that are not fields of their record: the leader of a withdrawal's batch. */
const own: Readonly<Record<string, string>> = { withdrawals: "follows" }

/**
 * Records can be inserted, and only fields that the record type declares as mutable can be updated. A key's
 * hash and scopes are not among them.
 */
export const rightsOf = ({ name, moving }: Members, deletes = deleted): string => {
  const columns = [...[...moving].map(Table.columnOf), ...(own[name] === undefined ? [] : [own[name]])].join(
    ", "
  )
  return [
    append,
    ...(columns === "" ? [] : [`update (${columns})`]),
    ...(deletes.has(name) ? ["delete"] : [])
  ].join(", ")
}

/** Labels can only be added. */
const application: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Nouns.all.flatMap((noun) => ("labels" in noun ? [[`${noun.name}_labels`, append]] : []))
  ),
  ...Object.fromEntries(Nouns.all.map((noun) => [noun.name, rightsOf(noun)])),
  ...besides
}

// Only roles that check keys need their hashes.
const readable: Readonly<Record<string, string>> = {
  api_keys: `id, company_id, name, scopes, created_at_millis, expires_at_millis, revoked_at_millis, last_used_at_millis, limits, spends_as,
  allowed_from, loosening, approval, approved_by, approved_at_millis`,
  operator_tokens: "id, company_id, name, scopes, created_at_millis, revoked_at_millis",
  ...Object.assign({}, ...features.map(({ readable }) => readable))
}

// A stored response contains a company's data.
const isWithheld = (table: string) => table === "answers"

const whereThereIs = (
  role: string,
  grants: ReadonlyArray<readonly [table: string, grant: string | undefined]>
) => `
if exists (select from pg_roles where rolname = '${role}') then
grant usage on schema satrail to ${role};
revoke all on ${grants.map(([table]) => `satrail.${table}`).join(", ")} from ${role};
${grants
  .flatMap(([table, grant]) =>
    grant === undefined ? [] : [`grant ${grant} on satrail.${table} to ${role};`]
  )
  .join("\n")}
end if;`

/** The application's rights on the tables of a program's own features. */
const ofOwn = (
  nouns: ReadonlyArray<Members>,
  own: ReadonlyArray<Feature>
): Readonly<Record<string, string>> => {
  const deletes = new Set(deletedBy(own))
  return {
    ...Object.fromEntries(nouns.map((noun) => [noun.name, rightsOf(noun, deletes)])),
    ...Object.assign({}, ...own.map(({ rights }) => rights))
  }
}

/**
 * Grants the roles their rights and revokes all others, also on the tables of a program's own features. Tables
 * that it does not know keep their privileges: they belong to another program's features. It does nothing if
 * these roles don't exist. Run it as the owner of the tables.
 */
export const script = (nouns: ReadonlyArray<Members>, own: ReadonlyArray<Feature>): string => {
  const tables = Object.entries({ ...application, ...ofOwn(nouns, own) })
  const columns: Readonly<Record<string, string>> = Object.assign(
    {},
    readable,
    ...own.map(({ readable }) => readable)
  )
  const ofReader = (table: string) =>
    isWithheld(table) ? undefined : columns[table] === undefined ? "select" : `select (${columns[table]})`
  return `
do $rights$ begin
${whereThereIs("satrail_application", tables)}
${whereThereIs(
  "satrail_reader",
  tables.map(([table]) => [table, ofReader(table)])
)}
end $rights$`
}
