import type * as Noun from "@satrail/core/ledger/Noun"

// Searches use a second kind of label: the value in lower case, with an empty key. Metadata keys are never
// empty, so the two kinds differ.
//
// An index of a company's records by label: one row per label and record, newest last. A record's labels never
// change, and a labeled record is never deleted (an invoice requested by a wallet can be deleted, but has no
// labels).

/** The table of a record type's labels. */
export const tableOf = ({ name }: Pick<Noun.Members, "name">): string => `satrail.${name}_labels`

/** A hash of a key and its value. Hashes may collide, so matches are verified. */
export const numberOf = (key: string, value: string): string =>
  `hashtextextended(${value}, hashtextextended(${key}, 0))`

/** Returns whether a record has any label in this field. */
export const isAny = (record: object, member: string): boolean => {
  for (const _ in Reflect.get(record, member) ?? {}) return true
  return false
}

// Two labels of one record may have the same hash, so the rows are distinct. No other statement writes a
// record's labels, so conflicts are not checked. A check would cost more than the row.
/** The part of a statement that writes the labels of `rows`, with these id, company and label columns. */
export const written = (
  part: string,
  noun: Pick<Noun.Members, "name">,
  rows: string,
  [companyId, id, labels]: readonly [string, string, string]
) => `
${part} as (
  insert into ${tableOf(noun)} (company_id, label, id)
    select distinct ${companyId}, ${numberOf("t.key", "t.value")}, ${id} from ${rows} cross join lateral json_each_text(${labels}) m
  cross join lateral (values (m.key, m.value), ('', lower(m.value))) t(key, value)
)`

/**
 * Selects the rows `r` of a table that have a label, by id. Each is found by its key, whatever the planner
 * estimates.
 */
export const rows = (
  noun: Pick<Noun.Members, "name">,
  { companyId, key, value }: { readonly [name in "companyId" | "key" | "value"]: string }
) => ({
  from: `${tableOf(noun)} l cross join lateral (
    select * from satrail.${noun.name} w where w.company_id = l.company_id and w.id = l.id limit 1
  ) r`,
  where: `l.company_id = ${companyId} and l.label = ${numberOf(key, value)}`
})
