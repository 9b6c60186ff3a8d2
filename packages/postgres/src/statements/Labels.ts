import type * as Noun from "@satrail/core/ledger/Noun"

// What a company's records are found by: a row for each label of each of them, the newest last. A record is written once and never deleted while it has one (an
// invoice that a wallet asked for has none), and its labels never change.

/** The table of a noun's labels. */
export const tableOf = ({ name }: Pick<Noun.Members, "name">): string => `satrail.${name}_labels`

/** One number for a key with its value. Others may have the same: what was found is looked at once more. */
export const numberOf = (key: string, value: string): string => `hashtextextended(${value}, hashtextextended(${key}, 0))`

/** Whether a record has any label in this member. */
export const isAny = (record: object, member: string): boolean => {
  for (const _ in Reflect.get(record, member) ?? {}) return true
  return false
}

// Two labels of one record may have one number, and nobody else writes a record's: no conflict has to be looked for, which costs more than the row.
/** The part of a statement that writes the labels of `rows`, whose id, company and labels are these. */
export const written = (
  part: string,
  noun: Pick<Noun.Members, "name">,
  rows: string,
  [companyId, id, labels]: readonly [string, string, string]
) => `
${part} as (
  insert into ${tableOf(noun)} (company_id, label, id)
  select distinct ${companyId}, ${numberOf("m.key", "m.value")}, ${id} from ${rows} cross join lateral json_each_text(${labels}) m
)`

/** The rows `r` of a table that have a label, by their ids. Each is found by its key, whatever the planner believes. */
export const rows = (
  noun: Pick<Noun.Members, "name">,
  { companyId, key, value }: { readonly [name in "companyId" | "key" | "value"]: string }
) => ({
  from: `${tableOf(noun)} l cross join lateral (
    select * from satrail.${noun.name} w where w.company_id = l.company_id and w.id = l.id limit 1
  ) r`,
  where: `l.company_id = ${companyId} and l.label = ${numberOf(key, value)}`
})
